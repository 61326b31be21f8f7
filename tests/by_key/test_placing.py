"""What is common to monitors, notification channels and maintenance windows that are put under a key."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from monitors.conversations import is_problem

if TYPE_CHECKING:
    import httpx

    from cast import Player
    from monitoring.contract.catalogue import Catalogue


@dataclass(frozen=True)
class Kind:
    """One kind of thing that has keys."""

    path: str
    name: str
    given: dict[str, Any]
    change: dict[str, Any]
    changed_fields: list[str]
    patch: dict[str, Any]

    def put(
        self, player: Player, key: str, *, headers: dict[str, str] | None = None, **fields: Any
    ) -> httpx.Response:
        return player.put(f"{self.path}/by-key/{key}", json={**self.given, **fields}, headers=headers)

    def row(self, answer: httpx.Response) -> dict[str, Any]:
        row: dict[str, Any] = answer.raise_for_status().json()[self.name]
        return row

    def create(self, player: Player) -> dict[str, Any]:
        row: dict[str, Any] = player.post(self.path, json=self.given).raise_for_status().json()
        return row


KINDS = [
    Kind(
        "/api/monitors",
        "monitor",
        {"url": "https://shop.example.com/health"},
        {"interval_seconds": 60, "tags": ["shop"]},
        ["interval_seconds", "tags"],
        {},
    ),
    Kind(
        "/api/notification-channels",
        "notification_channel",
        {"type": "webhook", "url": "https://pager.example.com/hooks"},
        {"events": ["incident.opened"], "routing": {"delay_seconds": 300}},
        ["events", "routing.delay_seconds"],
        {"type": "webhook"},
    ),
    Kind(
        "/api/maintenance-windows",
        "maintenance_window",
        {"duration_seconds": 3600, "starts_at": "2036-11-01T01:30:00Z"},
        {"duration_seconds": 5400, "name": "Backup"},
        ["duration_seconds", "name"],
        {},
    ),
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
class TestPut:
    def test_creates_what_is_then_read_under_its_id(self, alice: Player, kind: Kind) -> None:
        answer = kind.put(alice, "shop")
        row = kind.row(answer)
        assert (answer.status_code, answer.json()["changed_fields"]) == (201, [])
        assert row["key"] == "shop"
        read = alice.get(answer.headers["Location"])
        assert read.json() == {name: value for name, value in row.items() if name != "secret"}
        assert read.headers["ETag"] == answer.headers["ETag"]

    def test_replaces_and_names_what_changed(self, alice: Player, kind: Kind) -> None:
        first = kind.row(kind.put(alice, "shop"))
        answer = kind.put(alice, "shop", **kind.change)
        assert (answer.status_code, answer.json()["changed_fields"]) == (200, kind.changed_fields)
        assert kind.row(answer)["id"] == first["id"]
        assert alice.get(f"{kind.path}/{first['id']}").json() == kind.row(answer)

    def test_of_what_is_so_already_changes_nothing(self, alice: Player, kind: Kind) -> None:
        first = kind.put(alice, "shop", **kind.change)
        again = kind.put(alice, "shop", **kind.change)
        assert (again.status_code, again.json()["changed_fields"]) == (200, [])
        assert again.headers["ETag"] == first.headers["ETag"]

    def test_gives_what_is_left_out_its_default_again(self, alice: Player, kind: Kind) -> None:
        plain = kind.row(kind.put(alice, "plain"))
        kind.put(alice, "shop", **kind.change)
        answer = kind.put(alice, "shop")
        assert answer.json()["changed_fields"] == kind.changed_fields
        assert {name: kind.row(answer)[name] for name in kind.change} == {
            name: plain[name] for name in kind.change
        }

    def test_keeps_teams_apart(self, alice: Player, charlie: Player, kind: Kind) -> None:
        own = kind.row(kind.put(alice, "shop"))
        others = kind.put(charlie, "shop")
        assert others.status_code == 201
        assert kind.row(others)["id"] != own["id"]

    def test_refuses_who_may_only_read(self, bob: Player, catalogue: Catalogue, kind: Kind) -> None:
        assert is_problem(
            kind.put(bob, "shop"), catalogue, "insufficient_permissions", scope="monitors:write"
        )

    @pytest.mark.parametrize("key", [".hidden", "a b", "ä", "k" * 101])
    def test_refuses_what_is_no_key(self, alice: Player, kind: Kind, key: str) -> None:
        answer = kind.put(alice, key)
        assert (answer.status_code, answer.json()["error"].partition(":")[0]) == (400, "key")

    @pytest.mark.parametrize("key", ["by-key", "check", "deliveries", "end", "mute", "pings", "test"])
    def test_takes_keys_that_are_named_like_what_follows_an_id(
        self, alice: Player, kind: Kind, key: str
    ) -> None:
        assert kind.row(kind.put(alice, key))["key"] == key

    def test_acts_once_for_an_idempotency_key(self, alice: Player, kind: Kind) -> None:
        headers = {"Idempotency-Key": "d4b7a1f8"}
        first, again = (kind.put(alice, "shop", headers=headers) for _ in range(2))
        assert (again.status_code, again.content) == (201, first.content)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
class TestConditions:
    def test_creates_only_what_is_not_there(self, alice: Player, catalogue: Catalogue, kind: Kind) -> None:
        headers = {"If-None-Match": "*"}
        assert kind.put(alice, "shop", headers=headers).status_code == 201
        answer = kind.put(alice, "shop", headers=headers, **kind.change)
        assert is_problem(answer, catalogue, f"{kind.name}_exists")

    def test_replaces_only_the_version_that_was_read(
        self, alice: Player, catalogue: Catalogue, kind: Kind
    ) -> None:
        tag = kind.put(alice, "shop").headers["ETag"]
        assert kind.put(alice, "shop", headers={"If-Match": tag}, **kind.change).status_code == 200
        answer = kind.put(alice, "shop", headers={"If-Match": tag})
        assert is_problem(answer, catalogue, f"{kind.name}_changed")

    def test_replaces_nothing_that_is_gone(self, alice: Player, catalogue: Catalogue, kind: Kind) -> None:
        answer = kind.put(alice, "shop", headers={"If-Match": "*"})
        assert is_problem(answer, catalogue, f"{kind.name}_changed")
        assert kind.put(alice, "shop").status_code == 201

    def test_take_no_tag_in_if_none_match(self, alice: Player, kind: Kind) -> None:
        assert kind.put(alice, "shop", headers={"If-None-Match": '"1"'}).status_code == 400

    def test_let_one_of_many_at_once_create(self, alice: Player, kind: Kind) -> None:
        with ThreadPoolExecutor(4) as pool:
            answers = pool.map(
                lambda _: kind.put(alice, "shop", headers={"If-None-Match": "*"}).status_code, range(4)
            )
            assert Counter(answers) == {201: 1, 412: 3}

    def test_let_one_of_many_at_once_replace(self, alice: Player, kind: Kind) -> None:
        headers = {"If-Match": kind.put(alice, "shop").headers["ETag"]}
        names = ["a", "b", "c", "d"]
        with ThreadPoolExecutor(4) as pool:
            answers = pool.map(lambda name: kind.put(alice, "shop", headers=headers, name=name), names)
            assert Counter(answer.status_code for answer in answers) == {200: 1, 412: 3}

    def test_none_lets_many_at_once_make_one(self, alice: Player, kind: Kind) -> None:
        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda _: kind.put(alice, "shop"), range(4)))
        assert Counter(answer.status_code for answer in answers) == {201: 1, 200: 3}
        assert len({kind.row(answer)["id"] for answer in answers}) == 1


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
class TestKeysInChanges:
    def test_a_patch_gives_a_key_to_what_has_none(self, alice: Player, kind: Kind) -> None:
        row = kind.create(alice)
        assert row["key"] is None
        path = f"{kind.path}/{row['id']}"
        assert alice.patch(path, json={**kind.patch, "key": "shop"}).json()["key"] == "shop"
        answer = kind.put(alice, "shop", **kind.change)
        assert (answer.status_code, kind.row(answer)["id"]) == (200, row["id"])

    def test_a_patch_takes_no_key_of_another(self, alice: Player, catalogue: Catalogue, kind: Kind) -> None:
        kind.put(alice, "shop")
        path = f"{kind.path}/{kind.create(alice)['id']}"
        answer = alice.patch(path, json={**kind.patch, "key": "shop"})
        assert is_problem(answer, catalogue, "key_taken")
        assert alice.get(path).json()["key"] is None

    def test_a_key_that_is_given_back_is_free(self, alice: Player, kind: Kind) -> None:
        row = kind.row(kind.put(alice, "shop"))
        answer = alice.patch(f"{kind.path}/{row['id']}", json={**kind.patch, "key": None})
        assert answer.json()["key"] is None
        assert kind.put(alice, "shop").status_code == 201

    def test_a_patch_with_everything_that_was_read_changes_nothing(self, alice: Player, kind: Kind) -> None:
        row = kind.row(kind.put(alice, "shop"))
        shown = {name: value for name, value in row.items() if name != "secret"}
        answer = alice.patch(f"{kind.path}/{row['id']}", json=shown)
        assert answer.json() == shown

    def test_a_new_thing_is_given_no_key(self, alice: Player, kind: Kind) -> None:
        assert alice.post(kind.path, json={**kind.given, "key": "shop"}).status_code == 400
