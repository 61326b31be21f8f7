from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import pytest

from cast import Player, form_team
from monitoring.monitors.models import CheckState
from monitors.conversations import create, is_problem, path_of, read
from running_service import running_service

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx

    from monitoring.contract.catalogue import Catalogue
    from running_service import RunningService

LATER = timedelta(minutes=5)


def _check_now(player: httpx.Client, monitor: dict[str, Any], **headers: str) -> httpx.Response:
    return player.post(f"{path_of(monitor)}/check", headers=headers)


def _watch(service: RunningService, monitor: dict[str, Any], **changes: Any) -> CheckState:
    """Let the checker have changed a check state, and return what it is."""

    async def change() -> CheckState:
        check_state = await CheckState.get(monitor_id=UUID(monitor["id"]))
        await check_state.update_from_dict(changes).save()
        return check_state

    return service.run(change())


def _as_of(monitor: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(monitor["next_check_at"])


@pytest.fixture(scope="module")
def tight_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    folder = tmp_path_factory.mktemp("tight")
    with running_service(folder, rate_limit_check_now="3/3600") as running:
        yield running


class TestCheckMonitorNow:
    def test_makes_the_next_check_due_and_says_where_it_will_be_found(
        self, service: RunningService, alice: Player
    ) -> None:
        monitor = create(alice)
        _watch(service, monitor, due_at=datetime.now(UTC) + LATER, next_check_at=datetime.now(UTC) + LATER)
        answer = _check_now(alice, monitor)
        assert answer.status_code == 202
        assert answer.json().keys() == {"monitor_id", "requested_at"}
        assert answer.json()["monitor_id"] == monitor["id"]
        assert answer.json()["requested_at"] == read(alice, monitor)["next_check_at"]
        assert answer.headers["Location"] == f"{path_of(monitor)}/checks"
        assert alice.get(answer.headers["Location"]).json() == {"checks": [], "next_cursor": None}
        check_state = _watch(service, monitor)
        assert check_state.due_at == check_state.next_check_at == _as_of(read(alice, monitor))

    def test_leaves_a_check_that_is_being_made_to_its_checker(
        self, service: RunningService, alice: Player
    ) -> None:
        monitor, claim = create(alice), uuid4()
        lease = datetime.now(UTC) + LATER
        _watch(service, monitor, due_at=lease, claim=claim)
        assert _check_now(alice, monitor).status_code == 202
        check_state = _watch(service, monitor)
        assert (check_state.due_at, check_state.claim) == (lease, claim)

    def test_puts_nothing_off_that_is_due(self, service: RunningService, alice: Player) -> None:
        monitor = create(alice)
        overdue = datetime.now(UTC) - LATER
        _watch(service, monitor, due_at=overdue, next_check_at=overdue)
        assert _check_now(alice, monitor).status_code == 202
        assert _watch(service, monitor).due_at == overdue

    def test_is_refused_while_the_monitor_is_paused(
        self, service: RunningService, alice: Player, catalogue: Catalogue
    ) -> None:
        monitor = create(alice, paused=True)
        assert is_problem(_check_now(alice, monitor), catalogue, "monitor_paused")
        assert _watch(service, monitor).due_at is None

    def test_knows_no_monitor_of_another_team(
        self, service: RunningService, alice: Player, charlie: Player, catalogue: Catalogue
    ) -> None:
        monitor = create(alice)
        due_at = datetime.now(UTC) + LATER
        _watch(service, monitor, due_at=due_at)
        assert is_problem(_check_now(charlie, monitor), catalogue, "monitor_not_found")
        assert is_problem(_check_now(alice, {"id": str(uuid4())}), catalogue, "monitor_not_found")
        assert _watch(service, monitor).due_at == due_at

    def test_is_not_for_readers(self, alice: Player, bob: Player, catalogue: Catalogue) -> None:
        answer = _check_now(bob, create(alice))
        assert is_problem(answer, catalogue, "insufficient_permissions", scope="monitors:write")

    def test_repeated_under_its_key_acts_once(self, service: RunningService, alice: Player) -> None:
        monitor = create(alice)
        first = _check_now(alice, monitor, **{"Idempotency-Key": "check-it"})
        later = datetime.now(UTC) + LATER
        _watch(service, monitor, due_at=later)
        again = _check_now(alice, monitor, **{"Idempotency-Key": "check-it"})
        assert (again.status_code, again.json()) == (202, first.json())
        assert again.headers["Location"] == first.headers["Location"]
        assert _watch(service, monitor).due_at == later

    def test_for_another_monitor_needs_another_key(self, alice: Player, catalogue: Catalogue) -> None:
        key = {"Idempotency-Key": "one-check"}
        assert _check_now(alice, create(alice), **key).status_code == 202
        assert is_problem(_check_now(alice, create(alice), **key), catalogue, "idempotency_key_reused")


class TestLimit:
    def test_is_the_teams_and_tells_its_own_name(
        self, tight_service: RunningService, catalogue: Catalogue
    ) -> None:
        team = form_team(tight_service)
        with (
            Player(tight_service, team) as alice,
            Player(tight_service, team) as colleague,
            Player(tight_service, form_team(tight_service)) as charlie,
        ):
            monitor, other = create(alice), create(alice)
            for player, each in ((alice, monitor), (colleague, monitor), (alice, other)):
                answer = _check_now(player, each)
                assert answer.status_code == 202
                assert answer.headers["RateLimit-Policy"] == '"check_now";q=3;w=3600'
            before = _watch(tight_service, other, due_at=datetime.now(UTC) + LATER)
            refused = _check_now(colleague, other)
            wait_seconds = int(refused.headers["Retry-After"])
            assert is_problem(refused, catalogue, "rate_limited", retry_after_seconds=wait_seconds)
            assert refused.headers["RateLimit"] == f'"check_now";r=0;t={wait_seconds}'
            assert _watch(tight_service, other).due_at == before.due_at
            assert alice.get(path_of(monitor)).headers["RateLimit-Policy"].startswith('"api"')
            assert _check_now(charlie, create(charlie)).status_code == 202

    def test_is_not_used_up_by_monitors_that_do_not_exist(self, tight_service: RunningService) -> None:
        with Player(tight_service, form_team(tight_service)) as alice:
            statuses = [_check_now(alice, {"id": str(uuid4())}).status_code for _ in range(5)]
            assert statuses == [404] * 5
            assert _check_now(alice, create(alice)).status_code == 202

    def test_holds_when_all_ask_at_once(self, tight_service: RunningService) -> None:
        with Player(tight_service, form_team(tight_service)) as alice:
            monitor = create(alice)
            with ThreadPoolExecutor(8) as pool:
                answers = list(pool.map(lambda _: _check_now(alice, monitor).status_code, range(8)))
            assert sorted(answers) == [202] * 3 + [429] * 5
