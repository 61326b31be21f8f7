"""Requests checks on demand, in addition to the scheduled ones."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from monitoring.backends.database import transaction
from monitoring.contract.problems import Problem
from monitoring.monitors.models import HEARTBEAT, CheckState, Monitor


async def request_check(monitor_id: UUID, now: datetime) -> None:
    """Make a monitor due now, or as soon as the check in progress has ended.

    Raises Problem if the monitor is paused, is a heartbeat, or has been deleted.
    """
    async with transaction():
        check_state = await CheckState.select_for_update().get_or_none(monitor_id=monitor_id)
        if check_state is None:
            raise Problem("monitor_not_found")
        if await Monitor.exists(id=monitor_id, type=HEARTBEAT):
            raise Problem("heartbeat_not_asked")
        if check_state.due_at is None:
            raise Problem("monitor_paused")
        check_state.next_check_at = now  # storing the check in progress keeps this time
        if check_state.claim is None:
            check_state.due_at = min(check_state.due_at, now)
        await check_state.save(update_fields=["due_at", "next_check_at"])
