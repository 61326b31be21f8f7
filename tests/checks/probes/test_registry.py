"""What holds for every type of monitor, and that what is around probes does not know types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from checks.rounds import NOON, SECOND, claim_one, make_due
from checks.watched_site import WatchedSite, watched_site
from monitoring.checks.fair_queue import FairQueue, Turn
from monitoring.checks.prober import open_prober
from monitoring.checks.probes import registry
from monitoring.checks.result_buffer import ResultBuffer
from monitoring.checks.storing import Checked
from monitoring.history.queries import list_results
from monitoring.incidents.models import Incident
from monitoring.monitors.configuration import monitor_types
from monitoring.monitors.models import Monitor
from temporary_backends import temporary_backends

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from monitoring.checks.probes.protocol import Probe
    from monitoring.history.models import CheckResult

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("probe", registry.PROBES.values(), ids=registry.PROBES)
def test_every_probe_reads_columns_of_monitors(probe: type[Probe]) -> None:
    assert set(probe.columns) <= Monitor._meta.fields_db_projection.keys()  # noqa: SLF001


def test_every_type_of_the_document_has_a_probe() -> None:
    assert tuple(registry.PROBES) == monitor_types()


class TestAnotherType:
    @pytest.fixture
    async def site(self) -> AsyncIterator[WatchedSite]:
        async with watched_site() as watched:
            yield watched

    async def check(self, folder: Path, url: str, **given: Any) -> CheckResult:
        """Claim the monitor, give it a lane, make its check, and store what it found."""
        async with temporary_backends(folder, allowed_networks="127.0.0.0/8") as backends:
            [monitor] = await make_due(url=url, failure_threshold=1, **given)
            claimed = await claim_one()
            assert FairQueue(1, 1, 1).take(claimed) is Turn.NOW
            async with open_prober(backends.settings) as prober:
                finding = await prober.probe(claimed)
            buffer = ResultBuffer(lambda: NOON + SECOND)
            buffer.add(Checked(claimed, NOON, finding))
            await buffer.store_all()
            [result] = await list_results(monitor.id, limit=10)
            incidents = await Incident.filter(monitor_id=monitor.id)
            assert [each.error for each in incidents] == ([result.error] if result.error else [])
            return result

    async def test_is_claimed_made_and_stored_without_any_http(
        self, site: WatchedSite, tmp_path: Path
    ) -> None:
        result = await self.check(tmp_path, f"tcp://127.0.0.1:{site.port}", type="tcp")
        assert (result.outcome, result.status_code, result.first_byte_ms) == ("up", None, None)
        assert result.connect_ms is not None
        assert result.response_time_ms is not None
        assert not site.asked

    async def test_fails_in_the_words_of_the_network(self, tmp_path: Path) -> None:
        result = await self.check(tmp_path, "tcp://127.0.0.1:1", type="tcp")
        assert (result.outcome, result.error) == ("down", "connection_refused")
        assert result.error_message == "The connection was refused"

    async def test_that_cannot_be_read_counts_as_the_host_of_all_such(self, tmp_path: Path) -> None:
        result = await self.check(tmp_path, "tcp://127.0.0.1:99999", type="tcp")
        assert (result.outcome, result.error) == ("down", "blocked_address")

    async def test_that_only_a_newer_release_knows_is_not_judged(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(registry, "PROBES", {"http": registry.PROBES["http"]})
        result = await self.check(tmp_path, "tcp://127.0.0.1:1", type="tcp")
        assert (result.outcome, result.error) == ("unknown", None)
        assert result.error_message == "This checker does not know the type tcp yet"
