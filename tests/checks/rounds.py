"""Due monitors, and the results of their checks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from monitoring.auth.service import create_team
from monitoring.checks.claims import claim_due
from monitoring.checks.prober import BLIND
from monitoring.checks.probes.protocol import Finding
from monitoring.checks.storing import Checked
from monitoring.monitors import rules
from monitoring.monitors.configuration import default_configuration, store_configuration
from monitoring.monitors.health import Outcome
from monitoring.monitors.models import CheckState, Monitor, StateChange
from monitoring.outbound.stopwatch import Timings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from uuid import UUID

    from monitoring.checks.claims import Claimed

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)

UP = Finding(Outcome.UP, status_code=200, timings=Timings(total_ms=95.6))
DEGRADED = UP._replace(outcome=Outcome.DEGRADED, error="slow", message="Answered in 96 ms, slower than 50 ms")
DOWN = Finding(Outcome.DOWN, "timeout", "No answer within 15 seconds")
UNKNOWN = BLIND


async def make_due(
    count: int = 1, since: datetime = NOON, team_id: UUID | None = None, **configuration: Any
) -> list[Monitor]:
    """Make monitors that are due since then, as if they had been created then; none counts them."""
    team_id = team_id or (await create_team(f"Team {uuid4()}", "free", count)).id
    given = {"url": "https://shop.example.com/", **configuration}
    columns = store_configuration(rules.complete(given, default_configuration()))
    ages = {"status_changed_at": since, "created_at": since, "updated_at": since}
    monitors = [
        Monitor(team_id=team_id, status="pending", search_text="", **ages, **columns) for _ in range(count)
    ]
    await Monitor.bulk_create(monitors)
    await CheckState.bulk_create(
        [CheckState(monitor_id=monitor.id, due_at=since, next_check_at=since) for monitor in monitors]
    )
    await StateChange.bulk_create(
        [StateChange(monitor_id=monitor.id, changed_at=since, state="pending") for monitor in monitors]
    )
    return monitors


async def claim_one(now: datetime = NOON) -> Claimed:
    """Claim the only monitor that is due."""
    [claimed] = await claim_due(now, 2)
    return claimed


def found(claimed: Iterable[Claimed], finding: Finding, checked_at: datetime = NOON) -> list[Checked]:
    """Say what checks of these monitors found."""
    return [Checked(each, checked_at, finding) for each in claimed]


async def read_states(monitor: Monitor) -> list[tuple[datetime, str]]:
    """Return how the time of a monitor counts, oldest first."""
    changes = await StateChange.filter(monitor_id=monitor.id).order_by("changed_at")
    return [(change.changed_at, change.state) for change in changes]


def ids_of(claimed: Sequence[Claimed]) -> list[UUID]:
    return [each.monitor_id for each in claimed]
