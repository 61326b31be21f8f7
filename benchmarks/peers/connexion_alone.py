"""Stock Connexion with nothing behind it: the document's operations, validated in and out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any
from uuid import uuid4

from connexion import AsyncApp
from connexion.resolver import Resolver

from connexion_document import read_document

sys.path.append(str(Path(__file__).parents[1]))

from alone.monitor import LOCATION, MONITOR


async def get_monitor(monitor_id: str) -> Any:  # noqa: ARG001 - reading the parameter is part of the cost
    """Answer one monitor."""
    return MONITOR, 200, _headers()


async def create_monitor(body: dict[str, Any]) -> Any:
    """Answer what was sent, as if it had been created."""
    return MONITOR | body, 201, _headers() | {"Location": LOCATION}


def _headers() -> dict[str, str]:
    sent_always = {"X-Request-Id": uuid4().hex, "X-Content-Type-Options": "nosniff"}
    return {"ETag": '"1"', "RateLimit": "x", "RateLimit-Policy": "x", **sent_always}


def _read_open_document() -> dict[str, Any]:
    document = read_document({"/api/monitors": ("post",), "/api/monitors/{monitor_id}": ("get",)}, "")
    del document["components"]["securitySchemes"]
    for path_item in document["paths"].values():
        for name, operation in path_item.items():
            if name != "parameters":
                operation["security"] = []
    return document


app = AsyncApp(__name__)
app.add_api(
    _read_open_document(),
    resolver=Resolver(lambda operation_id: globals()[operation_id]),
    strict_validation=True,
    validate_responses=True,
)
