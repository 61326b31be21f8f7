from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from cast import Player, form_team
from monitoring.idempotency.models import IdempotencyKey
from monitoring.idempotency.service import LIFETIME, delete_expired_keys
from monitors.conversations import MONITORS, URL, create, is_problem, list_ids, path_of, read

if TYPE_CHECKING:
    import httpx

    from monitoring.auth.models import Team
    from monitoring.contract.catalogue import Catalogue
    from running_service import RunningService

KEY = {"Idempotency-Key": "4c1f0f1e-8a0b-4f0e-9c59-3d2d9a1f7b11"}


def _create(player: Player, **fields: Any) -> httpx.Response:
    return player.post(MONITORS, json={"url": URL, **fields}, headers=KEY)


def _essence(answer: httpx.Response) -> tuple[Any, ...]:
    return answer.status_code, answer.content, answer.headers.get("ETag"), answer.headers.get("Location")


def _grow_older(service: RunningService, team_id: object, age: timedelta) -> None:
    async def move_back() -> None:
        for stored in await IdempotencyKey.filter(team_id=team_id):
            stored.created_at -= age
            await stored.save()

    service.run(move_back())


class TestRepetition:
    def test_of_a_create_is_answered_alike_and_creates_nothing(self, alice: Player) -> None:
        first, second = _create(alice), _create(alice)
        assert first.status_code == 201
        assert _essence(second) == _essence(first)
        assert list_ids(alice) == [first.json()["id"]]

    def test_of_an_update_is_answered_alike_whatever_happened_since(self, alice: Player) -> None:
        monitor = create(alice)
        first = alice.patch(path_of(monitor), json={"name": "a"}, headers=KEY)
        alice.patch(path_of(monitor), json={"name": "b"})
        second = alice.patch(path_of(monitor), json={"name": "a"}, headers=KEY)
        assert _essence(second) == _essence(first)
        assert read(alice, monitor)["name"] == "b"

    @pytest.mark.parametrize("keys", [("k", '"k"'), ('"k"', "k"), ("k" * 255, "k" * 255)])
    def test_with_or_without_quotes_acts_once(self, alice: Player, keys: tuple[str, str]) -> None:
        first, again = (
            alice.post(MONITORS, json={"url": URL}, headers={"Idempotency-Key": key}) for key in keys
        )
        assert _essence(first) == _essence(again)
        assert len(list_ids(alice)) == 1

    def test_of_a_guarded_update_is_no_conflict_with_itself(self, alice: Player) -> None:
        monitor = create(alice)
        headers = {**KEY, "If-Match": '"1"'}
        answers = [alice.patch(path_of(monitor), json={"name": "a"}, headers=headers) for _ in range(2)]
        assert _essence(answers[0]) == _essence(answers[1])
        assert answers[1].headers["ETag"].startswith('"2.')

    def test_of_a_delete_is_no_404(self, alice: Player) -> None:
        monitor = create(alice)
        answers = [alice.delete(path_of(monitor), headers=KEY) for _ in range(2)]
        assert [_essence(answer) for answer in answers] == [(204, b"", None, None)] * 2
        assert "Content-Type" not in answers[1].headers

    def test_may_write_its_json_in_another_order(self, alice: Player) -> None:
        bodies = (
            b'{"url":"https://a.example","paused":true}',
            b'{ "paused": true, "url": "https://a.example" }',
        )
        headers = {**KEY, "Content-Type": "application/json"}
        first, second = (alice.post(MONITORS, content=body, headers=headers) for body in bodies)
        assert _essence(first) == _essence(second)

    def test_at_the_same_time_acts_once(self, alice: Player) -> None:
        with ThreadPoolExecutor(10) as pool:
            answers = list(pool.map(lambda _: _create(alice), range(10)))
        assert len({_essence(answer) for answer in answers}) == 1
        assert answers[0].status_code == 201
        assert len(list_ids(alice)) == 1

    def test_with_another_key_of_the_team_is_still_a_repetition(
        self, service: RunningService, team: Team, alice: Player
    ) -> None:
        with Player(service, team) as second_key:
            assert _essence(_create(second_key)) == _essence(_create(alice))

    def test_by_another_team_is_none(self, alice: Player, charlie: Player) -> None:
        assert _create(alice).json()["id"] != _create(charlie).json()["id"]
        assert len(list_ids(charlie)) == 1

    def test_of_a_refusal_is_a_new_try(self, service: RunningService, catalogue: Catalogue) -> None:
        with Player(service, form_team(service, max_monitors=1)) as player:
            in_the_way = create(player)
            assert is_problem(_create(player), catalogue, "monitor_limit_reached", max_monitors=1)
            player.delete(path_of(in_the_way))
            assert _create(player).status_code == 201


class TestReuse:
    def test_with_another_body_is_refused(self, alice: Player, catalogue: Catalogue) -> None:
        _create(alice)
        assert is_problem(_create(alice, name="Other"), catalogue, "idempotency_key_reused")
        assert len(list_ids(alice)) == 1

    def test_for_another_monitor_operation_or_precondition_is_refused(
        self, alice: Player, catalogue: Catalogue
    ) -> None:
        monitor, other = create(alice), create(alice)
        assert alice.patch(path_of(monitor), json={"url": URL}, headers=KEY).status_code == 200
        answers = [
            alice.patch(path_of(other), json={"url": URL}, headers=KEY),
            alice.patch(path_of(monitor), json={"url": URL}, headers={**KEY, "If-Match": "*"}),
            alice.delete(path_of(monitor), headers=KEY),
            _create(alice),
        ]
        assert all(is_problem(answer, catalogue, "idempotency_key_reused") for answer in answers)

    @pytest.mark.parametrize("key", ["", "a b", "x" * 256])
    def test_of_a_key_that_is_none_names_the_header(self, alice: Player, key: str) -> None:
        answer = alice.post(MONITORS, json={"url": URL}, headers={"Idempotency-Key": key})
        assert answer.status_code == 400
        assert answer.json()["error"].startswith("Idempotency-Key: ")


class TestLifetime:
    def test_of_a_key_is_a_day(self, service: RunningService, alice: Player) -> None:
        first = _create(alice)
        _grow_older(service, alice.team_id, LIFETIME - timedelta(minutes=5))
        assert _essence(_create(alice)) == _essence(first)
        _grow_older(service, alice.team_id, timedelta(minutes=5))
        assert _create(alice, name="Other").status_code == 201

    def test_ends_in_deletion(self, service: RunningService, alice: Player, charlie: Player) -> None:
        async def count(team_id: object) -> int:
            return await IdempotencyKey.filter(team_id=team_id).count()

        _create(alice)
        _create(charlie)
        _grow_older(service, alice.team_id, LIFETIME)
        service.run(delete_expired_keys(datetime.now(UTC)))
        assert service.run(count(alice.team_id)) == 0
        assert service.run(count(charlie.team_id)) == 1
