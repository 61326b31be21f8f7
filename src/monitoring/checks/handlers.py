"""Handlers for the operations that the OpenAPI document tags with Checks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial
from uuid import UUID

from starlette.requests import Request

from monitoring.audit.actions import Action
from monitoring.auth.callers import Caller
from monitoring.auth.limits import count_request
from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.checks.requests import request_check
from monitoring.history.cursors import decode_moment
from monitoring.history.queries import list_results
from monitoring.history.ranges import WindowName, read_limits, read_range
from monitoring.history.representations import (
    represent_page,
    represent_request,
    represent_response_times,
    represent_uptime,
)
from monitoring.history.response_times import measure_response_times
from monitoring.history.uptime import measure_uptime
from monitoring.monitors.models import Monitor
from monitoring.monitors.recording import record_act
from monitoring.monitors.service import get_monitor
from monitoring.web.endpoint import ActOnce
from monitoring.web.replies import Reply

UPTIME_RANGE = timedelta(days=30)
RESPONSE_TIMES_RANGE = timedelta(hours=24)


async def check_monitor_now(monitor_id: str, caller: Caller, request: Request, act_once: ActOnce) -> Reply:
    """Request a check of a monitor.

    A request that repeats an Idempotency-Key counts against the rate limit, too.
    """
    monitor = await get_monitor(caller.team_id, UUID(monitor_id))
    await count_request(request, current_backends().settings.rate_limit_check_now, str(caller.team_id))
    return await act_once(partial(_ask_for_check, monitor, caller))


async def _ask_for_check(monitor: Monitor, caller: Caller) -> Reply:
    now = datetime.now(UTC)
    async with transaction():
        await request_check(monitor.id, now)
        await record_act(monitor, Action.CHECK_REQUESTED, caller.actor)
    location = {"Location": f"/api/monitors/{monitor.id}/checks"}
    return Reply(represent_request(monitor.id, now), 202, location)


async def list_checks(  # noqa: PLR0913 - one argument a parameter of the document
    *,
    monitor_id: str,
    caller: Caller,
    limit: int,
    cursor: str | None = None,
    from_: str | None = None,
    to: str | None = None,
    outcome: str | None = None,
) -> Reply:
    """Return a page of a monitor's checks."""
    before = decode_moment(cursor)
    start, end = read_limits(from_, to)
    monitor = await get_monitor(caller.team_id, UUID(monitor_id))
    results = await list_results(
        monitor.id, start=start, end=end, outcome=outcome, before=before, limit=limit + 1
    )
    return Reply(represent_page(results, limit))


async def get_uptime(
    *,
    monitor_id: str,
    caller: Caller,
    from_: str | None = None,
    to: str | None = None,
    window: WindowName | None = None,
) -> Reply:
    """Return a monitor's uptime in a range of time, and in each window of the range."""
    asked = read_range(from_, to, window, now=datetime.now(UTC), default=UPTIME_RANGE)
    monitor = await get_monitor(caller.team_id, UUID(monitor_id))
    return Reply(represent_uptime(monitor.id, await measure_uptime(monitor, asked)))


async def get_response_times(
    *,
    monitor_id: str,
    caller: Caller,
    from_: str | None = None,
    to: str | None = None,
    window: WindowName | None = None,
) -> Reply:
    """Return a monitor's response times in a range of time, and in each window of the range."""
    now = datetime.now(UTC)
    asked = read_range(from_, to, window, now=now, default=RESPONSE_TIMES_RANGE)
    monitor = await get_monitor(caller.team_id, UUID(monitor_id))
    return Reply(represent_response_times(monitor.id, await measure_response_times(monitor.id, asked, now)))
