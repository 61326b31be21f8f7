"""Creates incidents in sandboxes, and empties sandboxes. Each function is one transaction."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from monitoring.audit.actions import Action
from monitoring.audit.actors import Actor
from monitoring.audit.service import record
from monitoring.auth.models import Team
from monitoring.auth.sandboxes import demand_sandbox
from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.checks.claims import SANDBOX_INTERVAL_SECONDS, claim_for_ping
from monitoring.checks.probes.protocol import Finding
from monitoring.checks.storing import Checked, store_within
from monitoring.contract.problems import Problem
from monitoring.idempotency.models import IdempotencyKey
from monitoring.incidents.models import Incident
from monitoring.monitors.health import Outcome, State
from monitoring.monitors.maintenance.models import MaintenanceWindow
from monitoring.monitors.models import CheckState, Monitor
from monitoring.monitors.recording import record_act
from monitoring.monitors.service import get_monitor
from monitoring.notifications.models import NotificationChannel
from monitoring.outbound.failures import FailureCode

ASKED_FOR = "Somebody asked for this incident"


async def make_incident(team_id: UUID, monitor_id: UUID, *, by: Actor) -> tuple[Incident, list[UUID]]:
    """Open an incident by storing a failed check that needs no confirmation.

    Returns the incident, and the ids of its deliveries, which the caller passes to `nudge` after the commit.
    The next check follows after five seconds, and resolves the incident if the monitor is healthy. Raises
    Problem for a live team, an unknown monitor, or a monitor that cannot have a new incident now, for example
    because it is already down.
    """
    async with transaction():
        await demand_sandbox(team_id)
        monitor = await get_monitor(team_id, monitor_id)
        now = current_backends().clock.now()
        claimed = await claim_for_ping(monitor.id, now)
        if claimed is None or claimed.health.settled == State.DOWN or claimed.is_in_maintenance(now):
            raise Problem("sandbox_incident_impossible")
        finding = Finding(
            Outcome.DOWN,
            FailureCode.CONNECTION_FAILED,
            ASKED_FOR,
            holds_until=now + timedelta(seconds=SANDBOX_INTERVAL_SECONDS),
        )
        stored = await store_within([Checked(claimed, claimed.date(now), finding)], now)
        await record_act(monitor, Action.INCIDENT_MADE, by)
        return await Incident.get(monitor_id=monitor.id, resolved_at=None), stored.delivery_ids


async def reset(team_id: UUID, *, by: Actor) -> None:
    """Delete all data of a sandbox except its API keys and its audit log. Raises Problem for a live team."""
    async with transaction():
        await demand_sandbox(team_id)
        team = await Team.lock(team_id)
        of_team = Monitor.filter(team_id=team_id)
        check_states = CheckState.filter(monitor__team_id=team_id).order_by("monitor_id")
        await check_states.select_for_update(of=("watches",)).only("id")
        await of_team.delete()
        for model in (Incident, NotificationChannel, MaintenanceWindow, IdempotencyKey):
            await model.filter(team_id=team_id).delete()
        await Team.filter(id=team_id).update(monitors_count=0)
        await record(team_id, by, Action.SANDBOX_RESET, team.name, team_id)
