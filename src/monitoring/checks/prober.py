"""Runs a monitor's probe. If the probe fails because this service is offline, the outcome is unknown."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any
from uuid import UUID

import orjson

from monitoring.auth.sandboxes import is_sandbox
from monitoring.backends.current import current_backends
from monitoring.checks.claims import Claimed
from monitoring.checks.connectivity import Connectivity, is_about_the_network
from monitoring.checks.probes.heartbeat import MISSING_PING
from monitoring.checks.probes.protocol import Finding, Probe
from monitoring.checks.probes.registry import COLUMNS, read_probe
from monitoring.checks.witnesses import Witnesses
from monitoring.contract.document import Json
from monitoring.contract.problems import Problem
from monitoring.monitors import rules
from monitoring.monitors.configuration import (
    default_configuration,
    sent_configuration_of,
    store_configuration,
)
from monitoring.monitors.contracts.preparing import prepare_contract
from monitoring.monitors.health import Outcome, State
from monitoring.monitors.heartbeats.reception import note_interruption
from monitoring.monitors.models import HEARTBEAT, Monitor
from monitoring.monitors.settings_rules import demand_offered
from monitoring.outbound.client import HttpClient
from monitoring.outbound.dialer import Dialer, open_configured_dialer
from monitoring.outbound.resolving import Resolver
from monitoring.outbound.scripted_web import open_scripted_dialer
from monitoring.settings import Settings

BLIND = Finding(Outcome.UNKNOWN, message="The service itself was offline")


@asynccontextmanager
async def open_prober(settings: Settings) -> AsyncIterator[Prober]:
    """Open a prober with these settings. When the block ends, running checks are cancelled."""
    async with open_configured_dialer(settings) as dialer, open_scripted_dialer() as scripted:
        witnesses = Witnesses(dialer, partial(Resolver, settings.dns_servers))
        connectivity = Connectivity(HttpClient(dialer).send, settings.reference_urls, witnesses=witnesses)
        yield Prober(dialer, scripted, connectivity, witnesses)


class Prober:
    """Checks monitors of every type."""

    def __init__(
        self, dialer: Dialer, scripted: Dialer, connectivity: Connectivity, witnesses: Witnesses
    ) -> None:
        self._dialer = dialer
        self._scripted = scripted
        self._witnesses = witnesses
        self.connectivity = connectivity

    @property
    def max_connections(self) -> int:
        """How many connections may be open at once, for checks and requests to reference URLs together."""
        return self._dialer.max_connections

    async def probe(self, claimed: Claimed) -> Finding:
        """Check a monitor. Return `BLIND` if the check failed because this service is offline.

        A sandbox's monitor is checked against scripted hosts, so its failures are never caused by the
        network. Raises OSError when this machine has no sockets left.
        """
        if claimed.is_sandbox:
            return await self.ask_scripted(claimed.probe)
        self._witnesses.note_check(claimed)
        return await self.ask(claimed.probe, is_down=claimed.health.settled == State.DOWN)

    async def ask_scripted(self, probe: Probe) -> Finding:
        """Run a probe against the scripted hosts."""
        return await probe.ask(self._scripted)

    async def ask(self, probe: Probe, *, is_down: bool = False) -> Finding:
        """Run a probe. Return `BLIND` if it failed because this service is offline.

        `is_down` means that the monitor was already down before this check.
        """
        began_at = time.monotonic()
        finding = await probe.ask(self._dialer)
        is_missing_ping = finding.error in MISSING_PING
        if is_missing_ping or (finding.error and is_about_the_network(finding.error)):
            if not await self.connectivity.is_blind(began_at, is_news=not is_down):
                return finding
            if is_missing_ping:  # while outgoing connections fail, incoming pings may be lost, too
                await note_interruption(current_backends().clock.now())
            return BLIND
        return finding


async def try_configuration(
    team_id: UUID, given: Mapping[str, Json], monitor: Monitor | None = None
) -> Finding:
    """Check a team's new monitor, or an existing monitor changed by a merge patch, without storing anything.

    The same IP addresses are allowed as in scheduled checks. Raises Problem for a configuration that could
    not be saved.
    """
    given = await prepare_contract(team_id, given, monitor)
    defaults = default_configuration()
    if monitor:
        configuration = rules.change(sent_configuration_of(monitor), given, defaults)
    else:
        configuration = rules.complete(given, defaults)
    if configuration["type"] == HEARTBEAT:
        raise Problem("heartbeat_not_asked")
    settings = current_backends().settings
    demand_offered(configuration, settings)
    columns = store_configuration(configuration)
    if monitor:  # an unchanged contract is read from its stored columns
        columns = {name: getattr(monitor, name) for name in COLUMNS} | columns
    row = {"id": "to be tried"} | {name: _as_driver_returns(columns[name]) for name in COLUMNS}
    async with open_prober(settings) as prober:
        probe = read_probe(row)
        return await (prober.ask_scripted(probe) if await is_sandbox(team_id) else prober.ask(probe))


def _as_driver_returns(value: Any) -> Any:  # noqa: ANN401
    return orjson.dumps(value).decode() if isinstance(value, dict | list) else value
