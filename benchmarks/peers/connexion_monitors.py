"""The same document under stock Connexion, with rows by asyncpg."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import orjson
from connexion import AsyncApp
from connexion.lifecycle import ConnexionResponse
from connexion.resolver import Resolver

from asyncpg_rows import JSON, Rows
from callers import Refused
from connexion_document import read_document

if TYPE_CHECKING:
    import asyncpg
    from connexion.lifecycle import ConnexionRequest

SERVED = {"/api/monitors": ("get", "post"), "/api/monitors/{monitor_id}": ("get",)}
MOMENTS = ("status_changed_at", "last_checked_at", "next_check_at", "created_at", "updated_at")

shared = Rows()


async def verify_bearer(token: str, request: ConnexionRequest) -> dict[str, Any]:
    """Authenticate the caller, and count the request."""
    scope = "monitors:write" if request.method == "POST" else "monitors:read"
    key, headers = await shared.let_in(f"Bearer {token}", scope)
    headers |= {"X-Request-Id": uuid4().hex, "X-Content-Type-Options": "nosniff"}
    address = request.client.host if request.client else None
    return {"sub": key.client_id, "key": key, "address": address, "headers": headers}


async def list_monitors(token_info: dict[str, Any], limit: int = 50, cursor: str | None = None) -> Any:
    """Answer a page, newest first."""
    rows, next_cursor = await shared.fetch_page(token_info["key"].team_id, limit, cursor)
    page = {"monitors": [_represent(row) for row in rows], "next_cursor": next_cursor}
    return page, 200, token_info["headers"]


async def create_monitor(body: dict[str, Any], token_info: dict[str, Any]) -> Any:
    """Create a monitor."""
    monitor = await shared.insert(token_info["key"], token_info["address"], body)
    location = {"Location": f"/api/monitors/{monitor['id']}", "ETag": '"1"'}
    return _write(monitor), 201, {**token_info["headers"], **location}


async def get_monitor(monitor_id: str, token_info: dict[str, Any]) -> Any:
    """Answer one monitor."""
    row = await shared.fetch_one(token_info["key"].team_id, UUID(monitor_id))
    return _represent(row), 200, {**token_info["headers"], "ETag": f'"{row["version"]}"'}


def _represent(row: asyncpg.Record) -> dict[str, Any]:
    monitor = dict(row)
    del monitor["version"]
    mute = monitor["mute"] and orjson.loads(monitor["mute"])
    return _write(monitor | {name: orjson.loads(monitor[name]) for name in JSON} | {"mute": mute})


def _write(monitor: dict[str, Any]) -> dict[str, Any]:
    moments = {name: monitor[name] and monitor[name].strftime("%Y-%m-%dT%H:%M:%S.%fZ") for name in MOMENTS}
    return monitor | moments | {"id": str(monitor["id"])}


def refuse(_: ConnexionRequest, refused: Exception) -> ConnexionResponse:
    """Answer a refusal."""
    assert isinstance(refused, Refused)  # noqa: S101 - it is registered for these only
    return ConnexionResponse(refused.status, body=orjson.dumps({"error": refused.error}))


app = AsyncApp(__name__, lifespan=shared.open)
app.add_api(
    read_document(SERVED, f"{__name__}.verify_bearer"),
    resolver=Resolver(lambda operation_id: globals()[operation_id]),
    strict_validation=True,
    validate_responses=True,
)
app.add_error_handler(Refused, refuse)
