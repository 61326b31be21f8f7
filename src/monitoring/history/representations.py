"""Renders checks, uptime and response times as the OpenAPI document's schemas describe them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from monitoring.contract.timestamps import write_timestamp
from monitoring.history.cursors import encode_moment
from monitoring.history.models import CheckResult
from monitoring.history.queries import COLUMNS
from monitoring.history.response_times import ResponseTimes
from monitoring.history.tallies import Tally
from monitoring.history.timeline import Durations, Window
from monitoring.history.uptime import Uptime

PERCENTS = (50, 90, 95, 99)


def represent_request(monitor_id: UUID, requested_at: datetime) -> dict[str, Any]:
    """Render a requested check as the schema `CheckRequested` describes it."""
    return {"monitor_id": str(monitor_id), "requested_at": write_timestamp(requested_at)}


def represent_page(results: Sequence[CheckResult], limit: int) -> dict[str, Any]:
    """Render at most `limit` results as the schema `CheckList` describes them.

    If `results` has more than `limit` results, the response has a cursor for the next page.
    """
    page = results[:limit]
    return {
        "checks": [_represent_check(result) for result in page],
        "next_cursor": encode_moment(page[-1].checked_at) if len(results) > limit else None,
    }


def represent_uptime(monitor_id: UUID, uptime: Uptime) -> dict[str, Any]:
    """Render a monitor's uptime as the schema `Uptime` describes it."""
    windows = [_represent_durations(*window) for window in uptime.windows]
    return {"monitor_id": str(monitor_id), **_represent_durations(*uptime.whole), "windows": windows}


def represent_response_times(monitor_id: UUID, response_times: ResponseTimes) -> dict[str, Any]:
    """Render a monitor's response times as the schema `ResponseTimes` describes them."""
    windows = [_represent_tally(*window) for window in response_times.windows]
    return {"monitor_id": str(monitor_id), **_represent_tally(*response_times.whole), "windows": windows}


def _represent_check(result: CheckResult) -> dict[str, Any]:
    fields = {name: getattr(result, name) for name in COLUMNS if name != "monitor_id"}
    return fields | {"checked_at": write_timestamp(result.checked_at)}


def _represent_durations(window: Window, durations: Durations) -> dict[str, Any]:
    return {
        **_represent_window(window),
        "uptime_ratio": durations.uptime_ratio,
        "up_seconds": durations.up_seconds,
        "down_seconds": durations.down_seconds,
        "paused_seconds": durations.paused_seconds,
        "maintenance_seconds": durations.maintenance_seconds,
        "unknown_seconds": durations.unknown_seconds,
    }


def _represent_tally(window: Window, tally: Tally) -> dict[str, Any]:
    return {
        **_represent_window(window),
        "check_count": tally.check_count,
        "failed_check_count": tally.failed_check_count,
        **{f"p{percent}_ms": tally.latencies.percentile(percent) for percent in PERCENTS},
    }


def _represent_window(window: Window) -> dict[str, Any]:
    starts_at, ends_at = window
    return {"starts_at": write_timestamp(starts_at), "ends_at": write_timestamp(ends_at)}
