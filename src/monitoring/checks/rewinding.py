"""Takes back what a clock that was ahead has written of a monitor, once it is right again.

Results stay as they were stored. How time counts is put in order: what lies in the future has not happened.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import TYPE_CHECKING

from monitoring.history.results import list_results
from monitoring.incidents.models import Incident
from monitoring.monitors.models import StateChange

if TYPE_CHECKING:
    from monitoring.checks.storing import Checked

_MICROSECOND = timedelta(microseconds=1)


async def rewind(checked: Checked) -> Checked:
    """Return a check as if the one before it were the last that lies before it.

    Nothing is known since that one, so the time from there to this check counts as unknown.
    """
    if not _follows_the_future(checked):
        return checked
    claimed, checked_at = checked.claimed, checked.checked_at
    before = await list_results(claimed.monitor_id, before=checked_at, limit=1)
    seen_until = before[0].checked_at + _MICROSECOND if before else checked_at - _MICROSECOND
    health = claimed.health._replace(is_blind=False, streak=0, streak_started_at=None, seen_until=seen_until)
    # Without a status it is written anew, with its date.
    return checked._replace(claimed=claimed._replace(health=health, status=""))


async def forget_future(stored: Iterable[Checked]) -> None:
    """Delete state changes that lie after these checks, and let open incidents begin with them at the latest.

    Runs in the caller's transaction, before what follows from the checks is stored.
    """
    for checked in filter(_follows_the_future, stored):
        monitor_id, checked_at = checked.claimed.monitor_id, checked.checked_at
        await StateChange.filter(monitor_id=monitor_id, changed_at__gt=checked_at).delete()
        misdated = Incident.filter(monitor_id=monitor_id, resolved_at=None, confirmed_at__gt=checked_at)
        await misdated.filter(started_at__gt=checked_at).update(started_at=checked_at)
        await misdated.update(confirmed_at=checked_at)


def _follows_the_future(checked: Checked) -> bool:
    last_checked_at = checked.claimed.last_checked_at
    return checked.claimed.is_misdated or bool(last_checked_at and last_checked_at > checked.checked_at)
