"""The monitors API with the minimum of overhead: Starlette, asyncpg and orjson.

This is about the lowest possible cost.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from uuid import UUID

import orjson
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

from asyncpg_rows import CONFIGURED, JSON, Rows
from callers import Refused

if TYPE_CHECKING:
    import asyncpg
    from starlette.requests import Request

URL = re.compile(
    r"https?://(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9][A-Za-z0-9._-]{0,253})(:[0-9]{1,5})?([/?][^\s#]*)?"
)
STATUS_CODES = re.compile(r"[1-5][0-9]{2}|[1-5]xx|[1-5][0-9]{2}-[1-5][0-9]{2}")
HEADER_NAME = re.compile(r"[A-Za-z0-9-]{1,64}")
TAG = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
CHOICES = {"type": {"http"}, "method": {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}}
RESERVED_HEADERS = {"accept-encoding", "connection", "content-length", "expect", "host", "te", "upgrade"}

SOURCES = {"json", "header", "body", "first_byte_ms"}
COMPARISONS = {"equals", "not_equals", "contains", "not_contains", "greater_than", "less_than"}
ASSERTION = {"source", "comparison", "path", "name", "value"}

TEXTS = {
    "name": 100,
    "url": 2048,
    "request_body": 8192,
    "required_keyword": 255,
    "forbidden_keyword": 255,
    "certificate_authority": 65536,
    "client_certificate": 65536,
}
NUMBERS = {
    "interval_seconds": (30, 86400),
    "timeout_seconds": (1, 60),
    "tls_expiry_warning_days": (0, 90),
    "slow_threshold_ms": (1, 60000),
    "failure_threshold": (1, 10),
    "recovery_threshold": (1, 10),
    "retry_interval_seconds": (5, 3600),
}
NULLABLE = {
    *("request_body", "required_keyword", "forbidden_keyword", "contract", "certificate_authority"),
    *("client_certificate", "slow_threshold_ms"),
}

shared = Rows()


async def list_monitors(request: Request) -> Response:
    """Return a page of monitors, newest first."""
    key, headers = await shared.let_in(request.headers.get("authorization"), "monitors:read")
    asked = request.query_params.get("limit", "50")
    if not asked.isdecimal() or not 1 <= (limit := int(asked)) <= 100:
        raise Refused(400, "limit: must be between 1 and 100")
    rows, next_cursor = await shared.fetch_page(key.team_id, limit, request.query_params.get("cursor"))
    return _answer({"monitors": [_represent(row) for row in rows], "next_cursor": next_cursor}, 200, headers)


async def create_monitor(request: Request) -> Response:
    """Create a monitor."""
    key, headers = await shared.let_in(request.headers.get("authorization"), "monitors:write")
    try:
        given = orjson.loads(await request.body())
    except orjson.JSONDecodeError:
        raise Refused(400, "must be JSON") from None
    address = request.client.host if request.client else None
    monitor = await shared.insert(key, address, _check(given))
    return _answer(monitor, 201, {**headers, "Location": f"/api/monitors/{monitor['id']}", "ETag": '"1"'})


async def get_monitor(request: Request) -> Response:
    """Return one monitor."""
    key, headers = await shared.let_in(request.headers.get("authorization"), "monitors:read")
    try:
        monitor_id = UUID(request.path_params["monitor_id"])
    except ValueError:
        raise Refused(400, "monitor_id: must be a UUID") from None
    row = await shared.fetch_one(key.team_id, monitor_id)
    return _answer(_represent(row), 200, {**headers, "ETag": f'"{row["version"]}"'})


def _represent(row: asyncpg.Record) -> dict[str, Any]:
    monitor = dict(row)
    del monitor["version"]
    monitor["id"] = str(monitor["id"])  # asyncpg has its own UUID type
    for name in JSON:
        if monitor[name] is not None:
            monitor[name] = orjson.Fragment(monitor[name])  # the value is JSON already
    if monitor["mute"]:
        monitor["mute"] = orjson.Fragment(monitor["mute"])
    return monitor


def _answer(content: Any, status: int, headers: dict[str, str]) -> Response:
    return Response(
        orjson.dumps(content, option=orjson.OPT_UTC_Z), status, headers, media_type="application/json"
    )


def _check(given: Any) -> dict[str, Any]:
    """Raise `Refused` for an invalid configuration."""
    if not isinstance(given, dict) or "url" not in given or not given.keys() <= set(CONFIGURED):
        raise Refused(400, "must be an object with url and known fields only")
    for name, value in given.items():
        if not (value is None and name in NULLABLE) and not _is_good(name, value):
            raise Refused(400, f"{name}: must be as the document says")
    return given


def _is_good(name: str, value: Any) -> bool:
    if name in NUMBERS:
        low, high = NUMBERS[name]
        return type(value) is int and low <= value <= high
    if name in TEXTS:
        return isinstance(value, str) and len(value) <= TEXTS[name] and _is_good_text(name, value)
    if name in JSON:
        return _is_good_collection(name, value)
    if name in CHOICES:
        return value in CHOICES[name]
    return isinstance(value, bool)


def _is_good_text(name: str, value: str) -> bool:
    if name == "url":
        return URL.fullmatch(value) is not None
    return name != "name" or bool(value.strip())


def _is_good_collection(name: str, value: Any) -> bool:
    if name == "request_headers":
        return isinstance(value, dict) and len(value) <= 20 and _are_headers(value)
    if name == "contract":
        return isinstance(value, dict)
    if not isinstance(value, list) or len(value) > 10:
        return False
    if name == "assertions":
        return all(map(_is_assertion, value))
    if name == "tags":
        return _all_match(TAG, value) and len(set(value)) == len(value)
    return len(value) >= 1 and _all_match(STATUS_CODES, value)


def _is_assertion(value: Any) -> bool:
    if not isinstance(value, dict) or not value.keys() <= ASSERTION:
        return False
    return value.get("source") in SOURCES and value.get("comparison") in COMPARISONS


def _are_headers(headers: dict[str, Any]) -> bool:
    names = {name.lower() for name in headers}
    if len(names) < len(headers) or names & RESERVED_HEADERS or not _all_match(HEADER_NAME, list(headers)):
        return False
    return all(isinstance(value, str) and len(value) <= 2048 for value in headers.values())


def _all_match(pattern: re.Pattern[str], values: list[Any]) -> bool:
    return all(isinstance(value, str) and pattern.fullmatch(value) for value in values)


async def refuse(_: Request, refused: Refused) -> Response:
    """Return the error response for a `Refused` exception."""
    return _answer({"error": refused.error}, refused.status, {})


app = Starlette(
    routes=[
        Route("/api/monitors", list_monitors, methods=["GET"]),
        Route("/api/monitors", create_monitor, methods=["POST"]),
        Route("/api/monitors/{monitor_id}", get_monitor, methods=["GET"]),
    ],
    exception_handlers={Refused: refuse},  # type: ignore[dict-item]
    lifespan=shared.open,
)
