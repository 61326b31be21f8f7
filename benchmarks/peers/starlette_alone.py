"""Bare Starlette with nothing behind it, and without any validation."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

sys.path.append(str(Path(__file__).parents[1]))

from alone.monitor import LOCATION, MONITOR

if TYPE_CHECKING:
    from starlette.requests import Request


async def get_monitor(_: Request) -> Response:
    """Answer one monitor."""
    return Response(orjson.dumps(MONITOR), headers={"ETag": '"1"'}, media_type="application/json")


async def create_monitor(request: Request) -> Response:
    """Answer what was sent, as if it had been created."""
    monitor = MONITOR | orjson.loads(await request.body())
    return Response(
        orjson.dumps(monitor), 201, {"ETag": '"1"', "Location": LOCATION}, media_type="application/json"
    )


app = Starlette(
    routes=[
        Route("/api/monitors", create_monitor, methods=["POST"]),
        Route("/api/monitors/{monitor_id}", get_monitor, methods=["GET"]),
    ]
)
