from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from checks.rounds import MINUTE, NOON, SECOND, UP, claim_one, found, make_due
from monitoring.checks.storing import store
from monitoring.checks.upkeep import tell_unwatched
from monitoring.monitors.health import GRACE
from monitoring.monitors.models import Monitor, Watch

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("backends")]

INTERVAL = timedelta(seconds=300)


async def _look(now: datetime = NOON) -> None:
    await store(found([await claim_one(now)], UP, now), now)


async def test_a_monitor_that_is_not_checked_any_more_becomes_unknown_since_its_last_check_vouches() -> None:
    [monitor] = await make_due()
    await _look()
    assert await tell_unwatched(NOON + INTERVAL + GRACE) == 0
    assert await tell_unwatched(NOON + 2 * INTERVAL + GRACE) == 1
    told = await Monitor.get(id=monitor.id)
    assert (told.status, told.status_changed_at) == ("unknown", NOON + INTERVAL + GRACE)
    assert await tell_unwatched(NOON + 3 * INTERVAL + GRACE) == 0


async def test_the_next_check_says_again_what_it_sees() -> None:
    [monitor] = await make_due()
    await _look()
    later = NOON + timedelta(hours=1)
    await tell_unwatched(later)
    await _look(later + SECOND)
    assert (await Monitor.get(id=monitor.id)).status == "up"


async def test_what_was_never_checked_is_still_pending_and_what_rests_still_paused() -> None:
    pending, paused = await make_due(2)
    await Watch.filter(monitor_id=paused.id).update(due_at=None, seen_until=NOON)
    await Monitor.filter(id=paused.id).update(status="paused")
    assert await tell_unwatched(NOON + 60 * MINUTE) == 0
    assert (await Monitor.get(id=pending.id)).status == "pending"
