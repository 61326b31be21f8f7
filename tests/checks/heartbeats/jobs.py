"""Heartbeats, and the jobs that ping them at moments that a test chooses."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from checks.rounds import HOUR, NOON
from monitoring.auth.service import create_team
from monitoring.backends.clock import Clock
from monitoring.backends.current import current_backends
from monitoring.backends.encryption import decrypt
from monitoring.checks.claims import claim_due
from monitoring.checks.heartbeats.pings import Sent, take_ping
from monitoring.checks.storing import Checked, store
from monitoring.monitors.heartbeats.models import Heartbeat, PingKind, PingReception
from monitoring.monitors.models import Monitor, StateChange
from monitoring.monitors.service import create_monitor

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from datetime import datetime

    from monitoring.checks.probes.protocol import Finding

LONG_BEFORE = NOON - 24 * HOUR
HOURLY = {"period_seconds": 3600, "grace_seconds": 300}


def at(moment: datetime) -> AbstractContextManager[None]:
    """Let the clock of the backends stand at a moment."""
    clock = Clock(read_machine_time=lambda: moment, monotonic=lambda: 0.0)
    return replace(current_backends(), clock=clock).activate()


class Job:
    """A job with a heartbeat of its own."""

    def __init__(self, monitor: Monitor, token: UUID) -> None:
        self.monitor_id, self.team_id, self.token = monitor.id, monitor.team_id, token

    async def read(self) -> Monitor:
        return await Monitor.get(id=self.monitor_id).select_related("check_state")

    async def ping(self, moment: datetime, kind: PingKind = PingKind.SUCCESS, **sent: Any) -> None:
        whole = Sent(kind, None, None, "POST", "curl/8.14.1", b"", is_body_cut=False)
        with at(moment):
            await take_ping(self.token, whole._replace(**sent))


async def make_job(**settings: Any) -> Job:
    team = await create_team(f"Team {uuid4()}", "free", 10)
    given = {"type": "heartbeat", "name": "Backup", "heartbeat": settings or HOURLY}
    monitor = await create_monitor(team.id, given)
    await StateChange.filter(monitor_id=monitor.id).update(changed_at=LONG_BEFORE)
    await Monitor.filter(id=monitor.id).update(created_at=LONG_BEFORE, status_changed_at=LONG_BEFORE)
    heartbeat = await Heartbeat.get(monitor_id=monitor.id)
    return Job(monitor, UUID(decrypt(heartbeat.encrypted_token)))


async def look(moment: datetime) -> list[Finding]:
    """Check what is due, as a checker does at a moment, while pings can be received. Return the findings."""
    await PingReception.update_or_create({"received_until": moment}, id=1)
    return await look_blindly(moment)


async def look_blindly(moment: datetime) -> list[Finding]:
    """Check what is due, while pings cannot be received unless another test said so."""
    claimed = await claim_due(moment, 100)
    with at(moment):
        findings = [await each.probe.ask(None) for each in claimed]  # type: ignore[arg-type]
    await store(
        [Checked(*each) for each in zip(claimed, [moment] * len(claimed), findings, strict=True)], moment
    )
    return findings
