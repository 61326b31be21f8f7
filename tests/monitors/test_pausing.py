from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from incidents.breakdowns import break_down
from monitoring.audit.actors import COMMAND_LINE
from monitoring.audit.models import AuditEntry
from monitoring.auth.service import create_team
from monitoring.incidents.models import Incident
from monitoring.monitors.models import CheckState, Monitor, StateChange
from monitoring.monitors.service import create_monitor, set_paused, update_monitor
from temporary_backends import temporary_backends

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from monitoring.auth.models import Team

pytestmark = pytest.mark.anyio

HOUR = timedelta(hours=1)


@pytest.fixture
async def team(tmp_path: Path) -> AsyncIterator[Team]:
    async with temporary_backends(tmp_path):
        yield await create_team("Alice's", "free", 20)


async def _make(team: Team) -> list[Monitor]:
    """Make a monitor that is new, and others that are down, under way, unseen, in maintenance and ahead."""
    now = datetime.now(UTC)
    made = [await create_monitor(team.id, {"url": "https://shop.example/"}) for _ in range(6)]
    _, down, under_way, unseen, maintained, ahead = (each.id for each in made)
    await Monitor.filter(id=down).update(status="down")
    await break_down(made[1])
    await CheckState.filter(monitor_id=under_way).update(claim=uuid4(), due_at=now + HOUR)
    await CheckState.filter(monitor_id=unseen).update(settled="up", seen_until=now - HOUR)
    await CheckState.filter(monitor_id=maintained).update(
        maintenance_from=now - HOUR, maintenance_until=now + HOUR
    )
    await StateChange.create(monitor_id=ahead, changed_at=now + HOUR, state="up")
    return made


async def _look_at(monitors: list[Monitor]) -> list[dict[str, Any]]:
    """Return what pausing changes, without the moments of this minute."""
    seen = []
    for each in monitors:
        monitor = await Monitor.get(id=each.id).select_related("check_state")
        incident = await Incident.get_or_none(monitor_id=each.id)
        entries = await AuditEntry.filter(subject_id=str(each.id)).order_by("id")
        seen.append(
            {
                "monitor": (monitor.paused, monitor.status, monitor.version),
                "is_ahead": monitor.status_changed_at > datetime.now(UTC),
                "checks": (
                    monitor.check_state.settled,
                    monitor.check_state.due_at is None,
                    bool(monitor.check_state.claim),
                ),
                "waits": bool(
                    monitor.check_state.next_check_at
                    and monitor.check_state.next_check_at > datetime.now(UTC)
                ),
                "states": [
                    change.state
                    for change in await StateChange.filter(monitor_id=each.id).order_by("changed_at")
                ],
                "resolution": incident.resolution if incident else None,
                "acts": [(entry.action, entry.subject) for entry in entries],
            }
        )
    return seen


async def test_many_are_paused_and_resumed_as_each_is_by_itself(team: Team) -> None:
    together, alone = await _make(team), await _make(team)
    for paused in (True, False):
        for _ in range(2):  # the second time changes nothing
            await set_paused(team.id, [each.id for each in together], paused=paused, by=COMMAND_LINE)
            for each in alone:
                await update_monitor(team.id, each.id, {"paused": paused}, by=COMMAND_LINE)
        assert await _look_at(together) == await _look_at(alone)
    assert [each["monitor"] for each in await _look_at(together)][4] == (False, "maintenance", 3)


async def test_nothing_happens_to_monitors_of_others(team: Team) -> None:
    theirs = await create_monitor((await create_team("Bob's", "free", 1)).id, {"url": "https://b.example/"})
    await set_paused(team.id, [theirs.id], paused=True, by=COMMAND_LINE)
    assert not (await Monitor.get(id=theirs.id)).paused
