"""The time zone in which a page shows times: the user's zone, which a script stores in a cookie, or UTC."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from zoneinfo import ZoneInfo

from starlette.requests import Request

from monitoring.contract.time_zones import find_time_zone

COOKIE = "zone"

MAX_NAME_CHARACTERS = 64

UTC_ZONE = ZoneInfo("UTC")

_current: ContextVar[ZoneInfo] = ContextVar("zone", default=UTC_ZONE)


def read_zone(request: Request) -> ZoneInfo:
    """Return the time zone in the browser's cookie; UTC without a cookie, or for an unknown zone."""
    name = request.cookies.get(COOKIE, "")
    if not name or len(name) > MAX_NAME_CHARACTERS:
        return UTC_ZONE
    return find_time_zone(name) or UTC_ZONE


def current_zone() -> ZoneInfo:
    """Return the time zone of the page being rendered."""
    return _current.get()


@contextmanager
def writing_in(zone: ZoneInfo) -> Iterator[None]:
    """Make all formatted times appear in this time zone until the block ends."""
    token = _current.set(zone)
    try:
        yield
    finally:
        _current.reset(token)
