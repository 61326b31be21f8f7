"""The checker at work, with real sockets to a site on loopback and the run's database."""

from __future__ import annotations

import asyncio
import logging
import resource
import sqlite3
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

import chosen_backends
from checks.rounds import DOWN, SECOND, claim_one, found, make_due
from checks.watched_site import WatchedSite, watched_site
from monitoring.backends.errors import BackendUnavailable, TransactionConflict
from monitoring.checks import result_buffer as result_buffer_module
from monitoring.checks import storing
from monitoring.checks.checker import KEPT_CONNECTIONS, run_checker
from monitoring.checks.claims import claim_due
from monitoring.checks.load import MAX_BUSY_RATIO, TRICKLE, Load
from monitoring.checks.result_buffer import ResultBuffer
from monitoring.history.queries import list_results
from monitoring.incidents.models import Incident
from monitoring.monitors.models import CheckState, Monitor
from real_servers import running_postgres
from temporary_backends import temporary_backends

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
    from pathlib import Path

    from monitoring.backends.assembly import Backends
    from monitoring.history.models import CheckResult

pytestmark = pytest.mark.anyio

NEVER_AGAIN = 86_400  # an interval that no test waits for
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
async def site() -> AsyncIterator[WatchedSite]:
    async with watched_site() as watched:
        yield watched


@asynccontextmanager
async def at_work(folder: Path, **settings: Any) -> AsyncIterator[Backends]:
    """Open backends that may reach this machine; whoever wants a checker runs it."""
    chosen = {"allowed_networks": "127.0.0.0/8", "checks_at_once": 200, "database_timeout_seconds": 1}
    async with temporary_backends(folder, **{**chosen, **settings}) as backends:
        yield backends


async def make(count: int = 1, **configuration: Any) -> list[Monitor]:
    """Make monitors that are due, and then not for a day unless a failure is to be confirmed."""
    given = {"interval_seconds": NEVER_AGAIN, "failure_threshold": 1, "timeout_seconds": 20}
    return await make_due(count, LONG_AGO, **{**given, **configuration})


async def until(condition: Callable[[], Awaitable[object]]) -> None:
    """Look again and again."""
    async with asyncio.timeout(60):
        while not await condition():  # noqa: ASYNC110 - a row has no event
            await asyncio.sleep(0.02)


async def _ends(backends: Backends, log: pytest.LogCaptureFixture) -> bool:
    """Say whether the log has told the end of an outage, which only a write ends."""
    with suppress(BackendUnavailable):
        await backends.database.try_to_write()
    return await _has_told(log, 2)


async def results_of(monitor: Monitor) -> list[CheckResult]:
    return await list_results(monitor.id, limit=100)


async def wait_until_checked(*monitors: Monitor) -> None:
    ids = [monitor.id for monitor in monitors]

    async def are_checked() -> bool:
        unchecked = CheckState.filter(monitor_id__in=ids, last_checked_at=None)
        return not await unchecked.exists()

    await until(are_checked)


class TestOutcomes:
    async def test_are_what_the_servers_say(self, site: WatchedSite, tmp_path: Path) -> None:
        async with at_work(tmp_path) as backends:
            [fine] = await make(url=site.url("/status/204"))
            [broken] = await make(url=site.url("/status/503"))
            [worded] = await make(url=site.url("/say/stock"), required_keyword="stock")
            [sold] = await make(url=site.url("/say/Sold"), forbidden_keyword="Sold")
            [silent] = await make(url=site.url("/hold"), timeout_seconds=1)
            [nobody] = await make(url="http://127.0.0.1:1/")
            [private] = await make(url="http://10.0.0.1/")
            monitors = [fine, broken, worded, sold, silent, nobody, private]
            async with run_checker(backends):
                await wait_until_checked(*monitors)
            told = [(await results_of(monitor))[0] for monitor in monitors]
            assert [(each.outcome, each.error) for each in told] == [
                ("up", None),
                ("down", "unexpected_status"),
                ("up", None),
                ("down", "keyword_forbidden"),
                ("down", "timeout"),
                ("down", "connection_refused"),
                ("down", "blocked_address"),
            ]
            assert told[1].status_code == 503
            assert told[1].error_message == "Answered 503 instead of 2xx"
            assert await Incident.all().count() == 5

    async def test_of_an_outage_are_confirmed_by_a_second_look_and_then_told(
        self, site: WatchedSite, tmp_path: Path
    ) -> None:
        async with at_work(tmp_path) as backends:
            [monitor] = await make(url=site.url("/status/503"), failure_threshold=2, recovery_threshold=1)
            async with run_checker(backends):
                await wait_until_checked(monitor)
                assert (await Monitor.get(id=monitor.id)).status == "validating"
                await CheckState.all().update(due_at=LONG_AGO)  # ten seconds later
                await until(lambda: Incident.filter(monitor_id=monitor.id, resolved_at=None).exists())
            first, second = reversed(await results_of(monitor))
            [incident] = await Incident.all()
            assert (incident.started_at, incident.confirmed_at) == (first.checked_at, second.checked_at)

    async def test_are_unknown_and_nobodys_incident_while_we_are_offline(
        self, site: WatchedSite, tmp_path: Path
    ) -> None:
        async with watched_site() as reference:
            reference.is_away = True
            async with at_work(tmp_path, reference_urls=reference.url("/status/200")) as backends:
                [monitor] = await make(url="http://127.0.0.1:1/")
                [fine] = await make(url=site.url("/status/200"))
                [broken] = await make(url=site.url("/status/503"))
                async with run_checker(backends):
                    await wait_until_checked(monitor, fine, broken)
                [result] = await results_of(monitor)
                assert (result.outcome, result.error, result.response_time_ms) == ("unknown", None, None)
                assert (await Monitor.get(id=monitor.id)).status == "unknown"
                # What has answered is beyond doubt.
                assert [each.monitor_id for each in await Incident.all()] == [broken.id]
                assert (await results_of(fine))[0].outcome == "up"

    async def test_of_a_clock_that_is_behind_come_after_those_before(
        self, site: WatchedSite, tmp_path: Path
    ) -> None:
        async with at_work(tmp_path) as backends:
            [monitor] = await make(url=site.url("/status/200"))
            ahead = datetime.now(UTC) + timedelta(minutes=1)
            await CheckState.all().update(last_checked_at=ahead)
            async with run_checker(backends):
                await until(lambda: CheckState.filter(settled="up").exists())
            [result] = await results_of(monitor)
            assert ahead < result.checked_at < ahead + SECOND


class TestBounds:
    async def test_one_host_gets_no_more_checks_at_once_and_the_others_do_not_wait(
        self, site: WatchedSite, tmp_path: Path
    ) -> None:
        async with watched_site() as other, at_work(tmp_path, checks_per_host=3) as backends:
            await make(10, url=site.url("/hold"))
            [elsewhere] = await make(url=other.url("/status/200"))
            async with run_checker(backends):
                await wait_until_checked(elsewhere)
                # As many run as may, as many wait in line, and the rest is due again later.
                await until(lambda: _are_given_back(4))
                await site.wait_until_held(3)
                assert site.held_count == 3
                site.let_go()
                await until(lambda: _are_checked(7))
            assert site.most_held_count == 3

    async def test_one_team_gets_no_more_checks_at_once_and_the_others_do_not_wait(
        self, site: WatchedSite, tmp_path: Path
    ) -> None:
        async with watched_site() as other, at_work(tmp_path, checks_per_team=2) as backends:
            [first] = await make(url=site.url("/hold"))
            for held in (other, site, other, site):
                await make(url=held.url("/hold"), team_id=first.team_id)
            [elsewhere] = await make(url=site.url("/status/200"))
            async with run_checker(backends):
                await wait_until_checked(elsewhere)
                await until(lambda: _are_given_back(1))
                assert site.held_count + other.held_count <= 2
                site.let_go()
                other.let_go()
                await until(lambda: _are_checked(5))
            assert site.most_held_count + other.most_held_count >= 2

    async def test_no_more_run_than_a_process_may_make_at_once_and_no_more_wait(
        self, site: WatchedSite, tmp_path: Path
    ) -> None:
        async with at_work(tmp_path, checks_at_once=4) as backends:
            await make(10, url=site.url("/hold"))
            async with run_checker(backends):
                await site.wait_until_held(4)
                await until(lambda: _are_given_back(2))
                assert await CheckState.filter(claim__isnull=False).count() == 8
                site.let_go()
                await CheckState.filter(claim=None, last_checked_at=None).update(due_at=LONG_AGO)
                await until(lambda: _are_checked(10))
            assert site.most_held_count == 4

    async def test_teams_whose_servers_hang_do_not_keep_another_from_its_turn(
        self, site: WatchedSite, tmp_path: Path
    ) -> None:
        async with (
            watched_site() as healthy,
            at_work(tmp_path, checks_at_once=40, checks_per_host=40, shutdown_timeout_seconds=0) as backends,
        ):
            for _ in range(2):
                await make(60, url=site.url("/hold"), timeout_seconds=60)
            async with run_checker(backends):
                await site.wait_until_held(36)
                await until(lambda: _are_given_back(120 - 40 - 60))
                monitors = await make(10, url=healthy.url("/status/200"))
                await wait_until_checked(*monitors)
                again = CheckState.filter(monitor_id__in=[each.id for each in monitors])
                await again.update(due_at=LONG_AGO, last_checked_at=None)
                await wait_until_checked(*monitors)
                assert healthy.asked["/status/200"] == 20
                assert await _are_checked(10)
                assert not await _are_checked(11)
                assert site.most_held_count <= 40

    async def test_what_is_refused_again_is_due_later(self, site: WatchedSite, tmp_path: Path) -> None:
        async with at_work(tmp_path, checks_per_host=1) as backends:
            await make(3, url=site.url("/hold"))
            async with run_checker(backends):
                await until(lambda: _are_given_back(1))
                for soonest_seconds in (10, 20, 40):
                    await CheckState.filter(claim=None).update(due_at=LONG_AGO)
                    await until(lambda: _are_given_back(1))
                    [check_state] = await CheckState.filter(claim=None)
                    assert check_state.due_at
                    assert check_state.due_at > datetime.now(UTC) + (soonest_seconds - 5) * SECOND
                site.let_go()

    async def test_a_monitor_whose_check_runs_is_not_checked_again_beside_it(
        self, site: WatchedSite, tmp_path: Path
    ) -> None:
        async with at_work(tmp_path) as backends:
            await make(url=site.url("/hold"))
            async with run_checker(backends):
                await site.wait_until_held(1)
                await CheckState.all().update(due_at=LONG_AGO, claim=None)  # as if its lease had ended
                await until(lambda: _are_given_back(1))
                assert site.asked["/hold"] == 1
                site.let_go()

    async def test_no_more_run_than_there_are_connections(
        self,
        site: WatchedSite,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        own_log: pytest.LogCaptureFixture,
    ) -> None:
        open_files = 2 * (KEPT_CONNECTIONS + 3)
        monkeypatch.setattr(resource, "getrlimit", lambda _: (open_files, resource.RLIM_INFINITY))
        async with at_work(tmp_path, checks_at_once=20) as backends:
            await make(10, url=site.url("/hold"))
            async with run_checker(backends):
                await site.wait_until_held(3)
                await until(lambda: _are_given_back(4))
                site.let_go()
                await until(lambda: _are_checked(6))
        assert site.most_held_count == 3
        assert own_log.messages == [
            "CHECKS_AT_ONCE is 20, but this process may not open that many files: it runs 3 checks at once"
        ]

    async def test_none_are_made_where_none_shall_be(self, site: WatchedSite, tmp_path: Path) -> None:
        async with at_work(tmp_path, checks_at_once=0) as backends:
            await make(url=site.url("/status/200"))
            async with run_checker(backends):
                pass
            assert await CheckState.filter(claim=None).count() == 1
            assert not site.asked


class TestDatabaseAway:
    async def test_nothing_that_was_found_is_lost_and_one_warning_is_given(
        self, site: WatchedSite, tmp_path: Path, own_log: pytest.LogCaptureFixture
    ) -> None:
        own_log.set_level(logging.INFO, "monitoring.backends.outage")
        with removable_database() as (settings, go_away, come_back):
            async with at_work(tmp_path, **settings) as backends:
                monitors = await make(20, url=site.url("/hold"))
                async with run_checker(backends):
                    await site.wait_until_held(20)
                    await asyncio.to_thread(go_away, backends)
                    site.let_go()
                    await until(lambda: _has_told(own_log, 1))
                    await asyncio.to_thread(come_back)
                    await wait_until_checked(*monitors)
                    await until(lambda: _ends(backends, own_log))
                assert [len(await results_of(monitor)) for monitor in monitors] == [1] * 20
        assert site.asked["/hold"] == 20
        began, ended = _told_of_outages(own_log)
        assert began.startswith("The database ")
        assert "Over" in ended

    async def test_checks_begin_again_by_themselves(self, site: WatchedSite, tmp_path: Path) -> None:
        with removable_database() as (settings, go_away, come_back):
            async with at_work(tmp_path, **settings) as backends:
                [monitor] = await make(url=site.url("/status/200"))
                async with run_checker(backends):
                    await wait_until_checked(monitor)
                    await asyncio.to_thread(go_away, backends)
                    await asyncio.to_thread(come_back)
                    [another] = await make(url=site.url("/status/204"))
                    await wait_until_checked(another)


class TestStopping:
    async def test_lets_running_checks_finish_and_stores_them(
        self, site: WatchedSite, tmp_path: Path
    ) -> None:
        async with at_work(tmp_path, shutdown_timeout_seconds=60) as backends:
            [monitor] = await make(url=site.url("/hold"))
            async with run_checker(backends):
                await site.wait_until_held(1)
                asyncio.get_running_loop().call_later(0.1, site.let_go)
            assert [each.outcome for each in await results_of(monitor)] == ["up"]
            assert (await CheckState.get(monitor_id=monitor.id)).claim is None

    async def test_gives_back_what_takes_too_long_and_what_waits_for_others_to_check_at_once(
        self, site: WatchedSite, tmp_path: Path
    ) -> None:
        settings = {"shutdown_timeout_seconds": 0, "checks_per_host": 2}
        async with at_work(tmp_path, **settings) as backends:
            await make(4, url=site.url("/hold"))
            async with run_checker(backends):
                await site.wait_until_held(2)
                await until(lambda: _are_claimed(4))
            assert await CheckState.filter(claim=None).count() == 4
            assert len(await claim_due(datetime.now(UTC), 10)) == 4

    async def test_gives_back_what_waits_before_it_lets_others_finish(
        self, site: WatchedSite, tmp_path: Path
    ) -> None:
        async with at_work(tmp_path, shutdown_timeout_seconds=60, checks_per_host=2) as backends:
            await make(4, url=site.url("/hold"))

            async def let_go_once_the_rest_is_free() -> None:
                try:
                    await until(lambda: CheckState.filter(claim=None, due_at__lte=datetime.now(UTC)).count())
                    assert await _are_claimed(2)
                finally:
                    site.let_go()

            async with run_checker(backends):
                await site.wait_until_held(2)
                await until(lambda: _are_claimed(4))
                freed = asyncio.create_task(let_go_once_the_rest_is_free())
            await freed
            assert await CheckState.filter(last_checked_at=None).count() == 2

    async def test_left_by_an_exception_waits_for_nobody(self, site: WatchedSite, tmp_path: Path) -> None:
        async with at_work(tmp_path, shutdown_timeout_seconds=600) as backends:
            await make(url=site.url("/hold"))
            with suppress(ZeroDivisionError):
                async with run_checker(backends):
                    await site.wait_until_held(1)
                    raise ZeroDivisionError
            assert len(await claim_due(datetime.now(UTC), 10)) == 1


class TestGathering:
    async def test_a_result_that_cannot_be_stored_takes_no_other_along(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_log: pytest.LogCaptureFixture
    ) -> None:
        monkeypatch.setattr(result_buffer_module, "MAX_STORED_AT_ONCE", 16)
        async with at_work(tmp_path):
            monitors = await make(40)
            strange = monitors[7]

            async def store(outcomes: Any, now: datetime) -> Any:
                if any(each.claimed.monitor_id == strange.id for each in outcomes):
                    raise ValueError("strange")
                return await storing.store(outcomes, now)

            monkeypatch.setattr(result_buffer_module, "store", store)
            buffer = ResultBuffer(lambda: datetime.now(UTC))
            for checked in found(await claim_due(LONG_AGO, 100), DOWN, LONG_AGO):
                buffer.add(checked)
            await buffer.store_all()
            assert await CheckState.filter(last_checked_at=LONG_AGO).count() == 39
            assert (await CheckState.get(monitor_id=strange.id)).claim is not None
        assert own_log.messages == [
            "The result of a check cannot be stored; the monitor will be checked again"
        ]

    async def test_storing_nothing_is_no_transaction(self, tmp_path: Path) -> None:
        async with at_work(tmp_path):
            assert await ResultBuffer(lambda: LONG_AGO).store_all() == []

    async def test_a_conflict_is_tried_again_at_once(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        attempts: list[int] = []
        really_store = storing.store

        async def store(outcomes: Any, now: datetime) -> Any:
            attempts.append(len(outcomes))
            if len(attempts) < 3:
                raise TransactionConflict("deadlock detected")
            return await really_store(outcomes, now)

        monkeypatch.setattr(result_buffer_module, "store", store)
        async with at_work(tmp_path):
            await make()
            buffer = ResultBuffer(lambda: datetime.now(UTC))
            buffer.add(*found([await claim_one(LONG_AGO)], DOWN, LONG_AGO))
            assert len(await buffer.store_all()) == 1
        assert attempts == [1, 1, 1]


class TestLoad:
    def test_a_loop_with_time_to_spare_begins_everything(self) -> None:
        load = Load()
        load.busy_ratio = MAX_BUSY_RATIO
        assert [load.admit(200) for _ in range(3)] == [200] * 3

    def test_a_busy_loop_begins_a_few_now_and_then_and_never_stops(self) -> None:
        load = Load()
        load.busy_ratio = MAX_BUSY_RATIO + 0.01
        assert [load.admit(200) for _ in range(6)] == [0, 0, TRICKLE] * 2

    async def test_measures_what_the_loop_does(self) -> None:
        load = Load()
        measuring = asyncio.create_task(load.measure())
        async with asyncio.timeout(30):
            while load.busy_ratio < 0.1:  # however little of the machine this process gets
                sum(range(100_000))
                await asyncio.sleep(0)
        measuring.cancel()


async def _are_given_back(count: int) -> bool:
    later = CheckState.filter(claim=None, last_checked_at=None, due_at__gt=datetime.now(UTC))
    return await later.count() >= count


async def _are_checked(count: int) -> bool:
    return await CheckState.filter(last_checked_at__isnull=False).count() >= count


def _told_of_outages(own_log: pytest.LogCaptureFixture) -> list[str]:
    return [each.message for each in own_log.records if each.name == "monitoring.backends.outage"]


async def _has_told(own_log: pytest.LogCaptureFixture, count: int) -> bool:
    return len(_told_of_outages(own_log)) >= count


async def _are_claimed(count: int) -> bool:
    return await CheckState.filter(claim__isnull=False).count() >= count


@contextmanager
def removable_database() -> Iterator[tuple[dict[str, str], Callable[[Backends], None], Callable[[], None]]]:
    """Have a database that goes away and comes back: a server, or a file that somebody else keeps locked."""
    if chosen_backends.is_production():
        with running_postgres() as server:
            yield {"database_url": server.create_database()}, lambda _: server.stop(), server.start
        return
    locks: list[sqlite3.Connection] = []

    def lock(backends: Backends) -> None:
        path = backends.settings.data_dir / "monitoring.db"
        locks.append(sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=60))
        locks[-1].execute("BEGIN IMMEDIATE")

    yield {}, lock, lambda: locks.pop().close()
