"""A monitor's response times and checks as CSV, for the range that its page shows."""

from __future__ import annotations

from collections.abc import AsyncIterator
from uuid import UUID

from starlette.responses import Response, StreamingResponse

from monitoring.app.csv_files import write_rows
from monitoring.app.monitors.detail_page import period_of
from monitoring.app.rendering import PAGE_HEADERS
from monitoring.app.routing import for_members
from monitoring.app.visits import Visit
from monitoring.history.queries import COLUMNS, list_results
from monitoring.history.ranges import Range
from monitoring.history.response_times import measure_response_times
from monitoring.history.tallies import Phases
from monitoring.monitors import service

ROWS_AT_ONCE = 1000

_MEDIA_TYPE = "text/csv"
_OF_WINDOWS = ("from_utc", "to_utc", "checks", "failed_checks", "p50_ms", "p95_ms", *Phases._fields[1:])
_PHASES_END = COLUMNS.index("first_byte_ms") + 1
_OF_CHECKS = (*COLUMNS[1:_PHASES_END], "transfer_ms", *COLUMNS[_PHASES_END:])


async def download_response_times(visit: Visit) -> Response:
    """Return the table below the response time chart as CSV: percentiles and average phases by window."""
    monitor = await service.get_monitor(visit.team.id, visit.read_id("monitor_id"))
    period = period_of(visit)
    asked = Range(visit.now - period.length, visit.now, period.window)
    rows: list[tuple[object, ...]] = [_OF_WINDOWS]
    for (start, end), summary in (await measure_response_times(monitor.id, asked, visit.now)).summaries:
        *counts_and_percentiles, sums = summary
        averages = sums.averages() or (None,) * (len(Phases._fields) - 1)
        phases = (each if each is None else round(each, 1) for each in averages)
        rows.append((start, end, *counts_and_percentiles, *phases))
    return Response(write_rows(rows), 200, _name(visit, "response-times"), _MEDIA_TYPE)


async def download_checks(visit: Visit) -> Response:
    """Return all stored check results of the range as CSV, newest first."""
    monitor = await service.get_monitor(visit.team.id, visit.read_id("monitor_id"))
    rows = _write_checks(visit, monitor.id, Range(visit.now - period_of(visit).length, visit.now))
    return StreamingResponse(rows, 200, _name(visit, "checks"), _MEDIA_TYPE)


async def _write_checks(visit: Visit, monitor_id: UUID, asked: Range) -> AsyncIterator[str]:
    yield write_rows([_OF_CHECKS])
    before = asked.end
    while True:
        async with visit.take_turn():
            results = await list_results(monitor_id, start=asked.start, before=before, limit=ROWS_AT_ONCE)
            rows = write_rows([getattr(result, name) for name in _OF_CHECKS] for result in results)
        if not results:
            return
        yield rows
        before = results[-1].checked_at


def _name(visit: Visit, what: str) -> dict[str, str]:
    """Return the headers of a download. Its file name contains the time, but not the monitor's name."""
    return PAGE_HEADERS | {
        "Content-Disposition": f'attachment; filename="{what}-{visit.now:%Y%m%d-%H%M}.csv"'
    }


ROUTES = (
    for_members("/monitors/{monitor_id}/response-times.csv", get=download_response_times),
    for_members("/monitors/{monitor_id}/checks.csv", get=download_checks),
)
