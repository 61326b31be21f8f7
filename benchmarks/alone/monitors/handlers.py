"""Handlers with the answer in memory."""

from __future__ import annotations

from typing import Any

import orjson

from alone.monitor import LOCATION, MONITOR
from monitoring.web.replies import Reply


async def get_monitor(monitor_id: str) -> Reply:  # noqa: ARG001 - reading the parameter is part of the cost
    """Answer one monitor, in JSON as the service's database writes it."""
    return Reply(orjson.dumps(MONITOR), headers={"ETag": '"1"'})


async def create_monitor(body: dict[str, Any]) -> Reply:
    """Answer what was sent, as if it had been created."""
    return Reply(MONITOR | body, 201, {"ETag": '"1"', "Location": LOCATION})
