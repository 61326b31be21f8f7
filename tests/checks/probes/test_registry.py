"""What holds for every kind of probe, and that another kind needs no change of what is around probes."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import pytest

from checks.rounds import NOON, SECOND, claim_one, make_due
from checks.watched_site import WatchedSite, watched_site
from monitoring.checks.gathering import Gathering
from monitoring.checks.lanes import Lanes, Turn
from monitoring.checks.prober import open_prober
from monitoring.checks.probes import registry
from monitoring.checks.probes.protocol import Finding
from monitoring.checks.storing import Checked
from monitoring.history.queries import list_results
from monitoring.incidents.models import Incident
from monitoring.monitors.health import Outcome
from monitoring.monitors.models import Monitor
from monitoring.outbound.failures import ExchangeFailed
from monitoring.outbound.targets import UnusableUrl, read_endpoint
from temporary_backends import temporary_backends

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

    from monitoring.checks.probes.protocol import Probe
    from monitoring.history.models import CheckResult
    from monitoring.outbound.dialer import Call, Dialer
    from monitoring.outbound.stopwatch import Timings
    from monitoring.outbound.targets import Endpoint

pytestmark = pytest.mark.anyio


@dataclass(frozen=True)
class TcpProbe:
    """Connects, and that is all: what a file `tcp.py` beside `http.py` would hold."""

    columns: ClassVar[tuple[str, ...]] = ("url", "timeout_seconds")

    endpoint: Endpoint | None
    timeout_seconds: int

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Self:
        try:
            endpoint = read_endpoint(row["url"].removeprefix("tcp://"))
        except UnusableUrl:
            endpoint = None
        return cls(endpoint, row["timeout_seconds"])

    async def ask(self, dialer: Dialer) -> Finding:
        if self.endpoint is None:
            return Finding(Outcome.DOWN, "blocked_address", "The address cannot be read")
        try:
            timings = await dialer.call(partial(connect_to, self.endpoint), self.timeout_seconds)
        except ExchangeFailed as failed:
            failure = failed.failure
            return Finding(Outcome.DOWN, failure.code, failure.message, timings=failed.timings)
        return Finding(Outcome.UP, timings=timings)


async def connect_to(endpoint: Endpoint, call: Call) -> Timings:
    connection = await call.connect(endpoint, asyncio.Protocol)
    connection.transport.abort()
    return call.stopwatch.timings()


@pytest.mark.parametrize("probe", registry.PROBES.values(), ids=registry.PROBES)
def test_every_probe_reads_columns_of_monitors(probe: type[Probe]) -> None:
    assert set(probe.columns) <= Monitor._meta.fields_db_projection.keys()  # noqa: SLF001


class TestAnotherKind:
    @pytest.fixture
    async def site(self) -> AsyncIterator[WatchedSite]:
        async with watched_site() as watched:
            yield watched

    @pytest.fixture(autouse=True)
    def every_monitor_is_one(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(registry, "PROBES", {registry.DEFAULT_KIND: TcpProbe})

    async def check(self, folder: Path, url: str) -> CheckResult:
        """Claim the monitor, give it a lane, make its check, and store what it found."""
        async with temporary_backends(folder, allowed_networks="127.0.0.0/8") as backends:
            [monitor] = await make_due(url=url, failure_threshold=1)
            claimed = await claim_one()
            assert Lanes(1, 1, 1).take(claimed) is Turn.NOW
            async with open_prober(backends.settings) as prober:
                finding = await prober.probe(claimed)
            gathering = Gathering(lambda: NOON + SECOND)
            gathering.add(Checked(claimed, NOON, finding))
            await gathering.store_all()
            [result] = await list_results(monitor.id, limit=10)
            incidents = await Incident.filter(monitor_id=monitor.id)
            assert [each.error for each in incidents] == ([result.error] if result.error else [])
            return result

    async def test_is_claimed_made_and_stored_without_any_http(
        self, site: WatchedSite, tmp_path: Path
    ) -> None:
        result = await self.check(tmp_path, f"tcp://127.0.0.1:{site.port}")
        assert (result.outcome, result.status_code, result.first_byte_ms) == ("up", None, None)
        assert result.connect_ms is not None
        assert result.response_time_ms is not None
        assert not site.asked

    async def test_fails_in_the_words_of_the_network(self, tmp_path: Path) -> None:
        result = await self.check(tmp_path, "tcp://127.0.0.1:1")
        assert (result.outcome, result.error) == ("down", "connection_refused")
        assert result.error_message == "The connection was refused"

    async def test_that_cannot_be_read_counts_as_the_host_of_all_such(self, tmp_path: Path) -> None:
        result = await self.check(tmp_path, "tcp://127.0.0.1:99999")
        assert (result.outcome, result.error) == ("down", "blocked_address")
