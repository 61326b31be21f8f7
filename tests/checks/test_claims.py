from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from cryptography.fernet import Fernet

from checks.rounds import HOUR, MINUTE, NOON, SECOND, claim_one, ids_of, make_due
from monitoring.auth.service import create_team
from monitoring.backends.assembly import Backends, open_backends
from monitoring.backends.encryption import MASK
from monitoring.checks.claims import LEASE_MARGIN, claim_due, give_back
from monitoring.checks.probes.http import Expectation, HttpProbe
from monitoring.monitors.health import Health, Outcome, State
from monitoring.monitors.models import CheckState, Monitor
from monitoring.monitors.service import create_monitor, delete_monitor, update_monitor
from monitoring.outbound.dialer import open_dialer
from monitoring.outbound.exchanges import OutboundRequest
from temporary_backends import make_settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from monitoring.checks.claims import Claimed

pytestmark = pytest.mark.anyio


@pytest.fixture
async def replicas(backends: Backends, tmp_path: Path) -> AsyncIterator[list[Backends]]:
    """Open four processes' backends on one database, with connections of their own."""
    async with AsyncExitStack() as stack:
        others = [await stack.enter_async_context(open_backends(make_settings(tmp_path))) for _ in range(3)]
        yield [backends, *others]


def request_of(claimed: Claimed) -> OutboundRequest:
    assert isinstance(claimed.probe, HttpProbe)
    return claimed.probe.request


@pytest.mark.usefixtures("backends")
class TestClaimDue:
    async def test_takes_what_waits_the_longest_first(self) -> None:
        for minutes in (2, 0, 3, 1):
            await make_due(since=NOON + minutes * MINUTE)
        first, second = await claim_due(NOON + HOUR, 2)
        assert [first.planned_at, second.planned_at] == [NOON, NOON + MINUTE]
        third, fourth = await claim_due(NOON + HOUR, 100)
        assert [third.planned_at, fourth.planned_at] == [NOON + 2 * MINUTE, NOON + 3 * MINUTE]

    async def test_takes_nothing_before_its_time(self) -> None:
        await make_due()
        assert await claim_due(NOON - timedelta(microseconds=1), 100) == []
        assert len(await claim_due(NOON, 100)) == 1

    async def test_takes_nothing_that_is_paused(self) -> None:
        [monitor] = await make_due()
        await update_monitor(monitor.team_id, monitor.id, {"paused": True})
        assert await claim_due(NOON + 365 * 24 * HOUR, 100) == []

    async def test_takes_a_monitor_as_soon_as_it_is_created(self) -> None:
        team = await create_team("Alice's team", "free", 1)
        created = await create_monitor(team.id, {"url": "https://shop.example.com/"})
        assert ids_of(await claim_due(created.created_at, 100)) == [created.id]

    async def test_says_all_that_a_check_needs(self) -> None:
        [monitor] = await make_due(
            name="Shop",
            url="https://shop.example.com/search?q=ñ",
            method="POST",
            request_headers={"X-Shop": "yes"},
            request_body="¿shoes?",
            expected_status_codes=["2xx", "404"],
            required_keyword="In stock",
            interval_seconds=90,
            timeout_seconds=20,
            follow_redirects=False,
            verify_tls=False,
            tls_expiry_warning_days=3,
            slow_threshold_ms=700,
            failure_threshold=3,
            recovery_threshold=4,
        )
        checked_at, seen_until = NOON - MINUTE, NOON + HOUR + timedelta(microseconds=1)
        await CheckState.filter(monitor_id=monitor.id).update(
            settled="up", streak=2, streak_started_at=checked_at, seen_until=seen_until, last_checked_at=NOON
        )
        claimed = await claim_one(NOON + SECOND)
        assert (claimed.subject.id, claimed.subject.team_id) == (monitor.id, monitor.team_id)
        assert (claimed.subject.name, claimed.subject.url) == ("Shop", monitor.url)
        assert claimed.probe == HttpProbe(
            OutboundRequest(
                method="POST",
                url=monitor.url,
                headers={"X-Shop": "yes"},
                body="¿shoes?".encode(),
                timeout_seconds=20,
                follow_redirects=False,
                verify_tls=False,
            ),
            Expectation(
                expected_status_codes=("2xx", "404"),
                required_keyword="In stock",
                forbidden_keyword=None,
                tls_expiry_warning_days=3,
                slow_threshold_ms=700,
            ),
        )
        assert claimed.health == Health(
            State.UP, streak=2, streak_started_at=checked_at, seen_until=seen_until
        )
        assert (claimed.planned_at, claimed.last_checked_at, claimed.status) == (NOON, NOON, "pending")
        assert (claimed.interval_seconds, claimed.timeout_seconds) == (90, 20)
        assert (claimed.failure_threshold, claimed.recovery_threshold) == (3, 4)

    async def test_gives_the_probe_the_credentials_that_answers_hide(self) -> None:
        team = await create_team("Alice's team", "free", 1)
        headers = {"Accept": "a", "Authorization": "Bearer a-secret", "X-Key": "b"}
        given = {"url": "https://shop.example.com/", "request_headers": headers}
        created = await create_monitor(team.id, given)
        [claimed] = await claim_due(created.created_at, 2)
        assert request_of(claimed).headers == headers

    async def test_asks_nothing_where_no_key_decrypts_the_credentials(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        first, second = await make_due(2)
        lost = Fernet(Fernet.generate_key()).encrypt(b"{}").decode()
        await Monitor.filter(id=first.id).update(request_headers={"X-Key": MASK}, encrypted_headers=lost)
        probes = {claimed.monitor_id: claimed.probe for claimed in await claim_due(NOON, 2)}
        assert isinstance(probes[second.id], HttpProbe)
        async with open_dialer() as dialer:
            finding = await probes[first.id].ask(dialer)
        assert (finding.outcome, finding.error) == (Outcome.UNKNOWN, None)
        assert str(first.id) in caplog.text

    async def test_says_what_was_changed_since_the_last_claim(self) -> None:
        [monitor] = await make_due(name="Shop", timeout_seconds=20)
        last = await claim_one()
        await Monitor.filter(id=monitor.id).update(name="Store", timeout_seconds=5)
        claimed = await claim_one(last.lease_ends_at)
        assert (claimed.subject.name, claimed.timeout_seconds) == ("Store", 5)
        assert request_of(claimed).timeout_seconds == 5

    @pytest.mark.parametrize(
        "large",
        [
            {"method": "POST", "request_body": "👟" * 1000},
            {"request_headers": {"X-Shop": "x" * 1000}},
            {"url": f"https://shop.example/{'👟' * 1000}"},
            {"required_keyword": "👟" * 255, "forbidden_keyword": "x" * 255},
        ],
    )
    async def test_remembers_settings_unless_they_are_large(self, large: dict[str, Any]) -> None:
        for settings, is_remembered in (({}, True), (large, False)):
            await Monitor.all().delete()
            await make_due(**settings)
            first = await claim_one()
            second = await claim_one(first.lease_ends_at)
            assert second.probe == first.probe
            assert (second.probe is first.probe) == is_remembered


@pytest.mark.usefixtures("backends")
class TestLease:
    async def test_lasts_for_the_check_and_a_margin_and_nobody_else_gets_the_monitor(self) -> None:
        await make_due(timeout_seconds=20)
        claimed = await claim_one(NOON + MINUTE)
        assert claimed.lease_ends_at == NOON + MINUTE + 20 * SECOND + LEASE_MARGIN
        assert await claim_due(claimed.lease_ends_at - SECOND, 100) == []

    async def test_leaves_the_plan_of_the_next_check_as_it_was(self) -> None:
        [monitor] = await make_due()
        await claim_one(NOON + HOUR)
        assert (await CheckState.get(monitor_id=monitor.id)).next_check_at == NOON

    async def test_ends_and_then_the_monitor_is_somebody_elses(self) -> None:
        await make_due()
        first = await claim_one()
        second = await claim_one(first.lease_ends_at)
        assert second.monitor_id == first.monitor_id
        assert second.claim != first.claim
        assert second.planned_at == NOON

    async def test_of_a_deleted_monitor_is_in_nobodys_way(self) -> None:
        [monitor] = await make_due()
        claimed = await claim_one()
        await delete_monitor(monitor.team_id, monitor.id)
        await give_back([claimed], NOON)
        assert await claim_due(NOON + HOUR, 100) == []


@pytest.mark.usefixtures("backends")
class TestGiveBack:
    async def test_makes_monitors_due_at_the_moment_given(self) -> None:
        monitors = await make_due(3)
        await give_back(await claim_due(NOON, 100), NOON + MINUTE)
        assert await claim_due(NOON + MINUTE - SECOND, 100) == []
        again = await claim_due(NOON + MINUTE, 100)
        assert {each.monitor_id for each in again} == {monitor.id for monitor in monitors}

    async def test_frees_only_what_is_still_held(self) -> None:
        await make_due()
        lost = await claim_one()
        held = await claim_one(lost.lease_ends_at)
        await give_back([lost], NOON)
        check_state = await CheckState.get(monitor_id=held.monitor_id)
        assert (check_state.claim, check_state.due_at) == (held.claim, held.lease_ends_at)

    async def test_does_not_wake_what_was_paused_meanwhile(self) -> None:
        [monitor] = await make_due()
        claimed = await claim_one()
        await update_monitor(monitor.team_id, monitor.id, {"paused": True})
        await give_back([claimed], NOON)
        assert (await CheckState.get(monitor_id=monitor.id)).due_at is None

    async def test_of_nothing_does_nothing(self) -> None:
        await give_back([], NOON)


class TestClaimsAtOnce:
    async def test_give_every_monitor_to_one_however_many_claim(self, replicas: list[Backends]) -> None:
        monitors = await make_due(300)
        everybody_is_ready = asyncio.Barrier(len(replicas))

        async def claim_all(replica: Backends) -> list[object]:
            taken: list[object] = []
            with replica.activate():
                await replica.database.try_to_write()
                await everybody_is_ready.wait()
                while claimed := await claim_due(NOON, 7):
                    taken += ids_of(claimed)
            return taken

        shares = await asyncio.gather(*map(claim_all, replicas))
        taken = [monitor_id for share in shares for monitor_id in share]
        assert len(taken) == len(set(taken)) == 300
        assert set(taken) == {monitor.id for monitor in monitors}

    async def test_one_claim_has_one_name_of_its_own(self, backends: Backends) -> None:
        await make_due(4)
        with backends.activate():
            one, other = await claim_due(NOON, 2), await claim_due(NOON, 2)
        assert len({each.claim for each in one}) == len({each.claim for each in other}) == 1
        assert one[0].claim != other[0].claim
