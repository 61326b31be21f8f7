from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from monitoring.contract.timestamps import read_timestamp, write_timestamp
from monitoring.monitors.maintenance.service import MAX_WINDOWS_A_TEAM
from monitors.conversations import create, is_problem, path_of, read

if TYPE_CHECKING:
    import httpx

    from cast import Player
    from monitoring.contract.catalogue import Catalogue

WINDOWS = "/api/maintenance-windows"
KEY = {"Idempotency-Key": "0b6f1f0c-6a53-4f0e-9c59-3d2d9a1f7b22"}


def start(player: httpx.Client, **fields: Any) -> dict[str, Any]:
    answer = player.post(WINDOWS, json={"duration_seconds": 600, **fields})
    assert answer.status_code == 201, answer.text
    window: dict[str, Any] = answer.json()
    assert player.get(answer.headers["Location"]).json() == window
    return window


def in_seconds(seconds: float) -> str:
    return write_timestamp(datetime.now(UTC) + timedelta(seconds=seconds))


class TestDeployment:
    def test_needs_a_duration_alone_and_covers_every_monitor_at_once(self, alice: Player) -> None:
        monitor = create(alice)
        window = start(alice)
        assert (window["name"], window["state"], window["time_zone"]) == ("Maintenance", "active", "UTC")
        starts_at, ends_at = (read_timestamp(window[name]) for name in ("starts_at", "active_until"))
        assert ends_at - starts_at == timedelta(minutes=10)
        assert (window["next_starts_at"], window["recurrence"]) == (None, None)
        assert read(alice, monitor)["status"] == "maintenance"
        assert create(alice)["status"] == "maintenance"

    def test_repeated_with_its_key_makes_one_window(self, alice: Player) -> None:
        first, second = (alice.post(WINDOWS, json={"duration_seconds": 600}, headers=KEY) for _ in range(2))
        assert first.json() == second.json()
        assert len(alice.get(WINDOWS).json()["maintenance_windows"]) == 1

    @pytest.mark.parametrize("how", ["end", "delete"])
    def test_is_over_when_somebody_says_so(self, alice: Player, how: str) -> None:
        monitor = create(alice)
        window = start(alice)
        path = f"{WINDOWS}/{window['id']}"
        if how == "end":
            ended = alice.post(f"{path}/end").raise_for_status().json()
            assert (ended["state"], ended["active_until"]) == ("ended", None)
            assert alice.post(f"{path}/end").json() == ended
        else:
            assert alice.delete(path).status_code == 204
        assert read(alice, monitor)["status"] == "pending"

    def test_counts_neither_as_up_nor_as_anything_else(self, alice: Player) -> None:
        monitor = create(alice)
        window = start(alice)
        alice.post(f"{WINDOWS}/{window['id']}/end").raise_for_status()
        uptime = alice.get(f"{path_of(monitor)}/uptime").json()
        assert uptime["maintenance_seconds"] > 0
        assert uptime["up_seconds"] == uptime["down_seconds"] == 0


class TestReadAndWritten:
    def test_is_what_it_was(self, alice: Player) -> None:
        window = start(alice)
        for patch in ({}, window):
            assert alice.patch(f"{WINDOWS}/{window['id']}", json=patch).json() == window

    def test_begins_at_a_time_in_small_letters(self, alice: Player) -> None:
        assert start(alice, starts_at="2096-11-20t09:30:00z")["starts_at"] == "2096-11-20T09:30:00.000000Z"


class TestIfMatch:
    @pytest.mark.parametrize("how", ["patch", "delete"])
    def test_stops_who_has_not_seen_the_last_change(
        self, alice: Player, catalogue: Catalogue, how: str
    ) -> None:
        path = f"{WINDOWS}/{start(alice)['id']}"
        seen = {"If-Match": alice.get(path).headers["ETag"]}
        changed = alice.patch(path, json={"name": "Database"}, headers=seen)
        body = {"name": "Network"} if how == "patch" else None
        refused = alice.request(how.upper(), path, headers=seen, json=body)
        assert is_problem(refused, catalogue, "maintenance_window_changed")
        assert alice.get(path).json() == changed.json()
        now = {"If-Match": changed.headers["ETag"]}
        assert alice.request(how.upper(), path, headers=now, json=body).is_success

    def test_stops_who_would_end_another_window_than_the_one_seen(
        self, alice: Player, catalogue: Catalogue
    ) -> None:
        path = f"{WINDOWS}/{start(alice)['id']}"
        seen = {"If-Match": alice.get(path).headers["ETag"]}
        changed = alice.patch(path, json={"name": "Database"})
        assert is_problem(alice.post(f"{path}/end", headers=seen), catalogue, "maintenance_window_changed")
        assert alice.post(f"{path}/end", headers={"If-Match": changed.headers["ETag"]}).is_success


class TestChoice:
    def test_is_of_monitors_and_of_tags(self, alice: Player) -> None:
        named, tagged, other = create(alice), create(alice, tags=["shop"]), create(alice, tags=["blog"])
        start(alice, monitor_ids=[named["id"]], tags=["shop"])
        statuses = [read(alice, each)["status"] for each in (named, tagged, other)]
        assert statuses == ["maintenance", "maintenance", "pending"]

    def test_follows_changed_tags_at_once(self, alice: Player) -> None:
        monitor = create(alice)
        start(alice, tags=["shop"])
        changed = alice.patch(path_of(monitor), json={"tags": ["shop"]}).json()
        assert changed["status"] == read(alice, monitor)["status"] == "maintenance"
        alice.patch(path_of(monitor), json={"tags": []}).raise_for_status()
        assert read(alice, monitor)["status"] == "pending"

    def test_leaves_a_paused_monitor_paused_until_it_is_resumed(self, alice: Player) -> None:
        monitor = create(alice, paused=True)
        start(alice)
        assert read(alice, monitor)["status"] == "paused"
        assert alice.patch(path_of(monitor), json={"paused": False}).json()["status"] == "maintenance"

    def test_ends_with_the_last_of_two_windows(self, alice: Player) -> None:
        monitor = create(alice)
        first, second = start(alice), start(alice, duration_seconds=1200)
        alice.delete(f"{WINDOWS}/{first['id']}").raise_for_status()
        assert read(alice, monitor)["status"] == "maintenance"
        alice.delete(f"{WINDOWS}/{second['id']}").raise_for_status()
        assert read(alice, monitor)["status"] == "pending"


class TestPlanning:
    def test_says_when_it_starts(self, alice: Player) -> None:
        monitor = create(alice)
        starts_at = in_seconds(3600)
        window = start(alice, starts_at=starts_at, name="Move")
        assert (window["name"], window["state"], window["active_until"]) == ("Move", "scheduled", None)
        assert window["next_starts_at"] == window["starts_at"] == starts_at
        assert read(alice, monitor)["status"] == "pending"

    def test_ends_one_occurrence_and_not_the_others(self, alice: Player) -> None:
        window = start(alice, starts_at=in_seconds(-60), recurrence="FREQ=DAILY")
        assert window["state"] == "active"
        ended = alice.post(f"{WINDOWS}/{window['id']}/end").json()
        assert (ended["state"], ended["next_starts_at"]) == ("scheduled", window["next_starts_at"])
        first, following = read_timestamp(window["starts_at"]), read_timestamp(ended["next_starts_at"])
        assert following - first == timedelta(days=1)


def change(player: httpx.Client, window: dict[str, Any], **patch: Any) -> dict[str, Any]:
    answer = player.patch(f"{WINDOWS}/{window['id']}", json=patch)
    assert answer.status_code == 200, answer.text
    changed: dict[str, Any] = answer.json()
    return changed


class TestChange:
    def test_leaves_what_it_does_not_name(self, alice: Player) -> None:
        window = start(alice, starts_at=in_seconds(3600), tags=["shop"], name="Move")
        changed = change(alice, window, duration_seconds=1200, name=None)
        assert changed == window | {
            "duration_seconds": 1200,
            "name": "Maintenance",
            "updated_at": changed["updated_at"],
        }
        assert change(alice, window, duration_seconds=1200) == changed

    def test_begins_and_ends_maintenance_at_once(self, alice: Player) -> None:
        shop, blog = create(alice, tags=["shop"]), create(alice, tags=["blog"])
        window = start(alice, tags=["shop"])
        change(alice, window, tags=["blog"])
        assert [read(alice, each)["status"] for each in (shop, blog)] == ["pending", "maintenance"]
        later = change(alice, window, starts_at=in_seconds(3600))
        assert later["state"] == "scheduled"
        assert read(alice, blog)["status"] == "pending"
        assert change(alice, window, starts_at=None)["state"] == "active"
        assert read(alice, blog)["status"] == "maintenance"

    def test_makes_no_time_before_it_maintenance(self, alice: Player) -> None:
        monitor = create(alice)
        window = start(alice, starts_at=in_seconds(3600))
        existed_for = datetime.now(UTC) - read_timestamp(read(alice, monitor)["created_at"])
        change(alice, window, starts_at=in_seconds(-1800), duration_seconds=3600)
        assert read(alice, monitor)["status"] == "maintenance"
        uptime = alice.get(f"{path_of(monitor)}/uptime").json()
        assert uptime["unknown_seconds"] >= existed_for.total_seconds()

    def test_does_not_begin_again_what_somebody_ended(self, alice: Player) -> None:
        window = start(alice, starts_at=in_seconds(-60), recurrence="FREQ=DAILY")
        alice.post(f"{WINDOWS}/{window['id']}/end").raise_for_status()
        assert change(alice, window, duration_seconds=3600)["state"] == "scheduled"

    def test_of_a_window_that_is_over_is_refused(self, alice: Player, catalogue: Catalogue) -> None:
        window = start(alice)
        alice.post(f"{WINDOWS}/{window['id']}/end").raise_for_status()
        answer = alice.patch(f"{WINDOWS}/{window['id']}", json={"name": "Again"})
        assert is_problem(answer, catalogue, "maintenance_window_ended")

    def test_keeps_monitors_that_were_deleted_and_takes_no_others(
        self, alice: Player, catalogue: Catalogue
    ) -> None:
        gone, other = create(alice), create(alice)
        window = start(alice, monitor_ids=[gone["id"]])
        for each in (gone, other):
            alice.delete(path_of(each)).raise_for_status()
        assert change(alice, window, name="Still")["monitor_ids"] == [gone["id"]]
        answer = alice.patch(f"{WINDOWS}/{window['id']}", json={"monitor_ids": [other["id"]]})
        assert is_problem(answer, catalogue, "maintenance_monitor_unknown", monitor_id=other["id"])


class TestRefusal:
    @pytest.mark.parametrize(
        ("fields", "name", "values"),
        [
            ({"recurrence": "FREQ=SECONDLY"}, "recurrence_unreadable", {"part": "FREQ=SECONDLY"}),
            ({"recurrence": "FREQ=DAILY;UNTIL=20200101"}, "recurrence_over", {}),
            ({"recurrence": "FREQ=DAILY", "duration_seconds": 86_401}, "recurrence_too_often", {}),
            ({"time_zone": "Mars/Olympus"}, "time_zone_unknown", {}),
            ({"starts_at": "2026-01-01T00:00:00Z"}, "maintenance_over", {}),
            (
                {"starts_at": "2020-01-01T00:00:00Z", "recurrence": "FREQ=DAILY"},
                "maintenance_starts_too_early",
                {},
            ),
        ],
    )
    def test_names_the_field(
        self, alice: Player, catalogue: Catalogue, fields: dict[str, Any], name: str, values: dict[str, Any]
    ) -> None:
        answer = alice.post(WINDOWS, json={"duration_seconds": 600, **fields})
        assert is_problem(answer, catalogue, name, **values)

    @pytest.mark.parametrize(
        "fields",
        [
            {"duration_seconds": 59},
            {"duration_seconds": 2_592_001},
            {"recurrence": "freq=daily"},
            {"recurrence": "FREQ=DAILY;BYHOUR=" + ",".join(["1"] * 200)},
            {"recurrence": "FREQ=DAILY\nRRULE:FREQ=SECONDLY"},
            {"monitor_ids": ["nonsense"]},
        ],
    )
    def test_of_what_the_document_forbids(self, alice: Player, fields: dict[str, Any]) -> None:
        answer = alice.post(WINDOWS, json={"duration_seconds": 600, **fields})
        assert answer.status_code == 400
        assert answer.json()["error"].startswith(next(iter(fields)))

    def test_of_monitors_of_others(self, alice: Player, charlie: Player, catalogue: Catalogue) -> None:
        for unknown in (create(charlie)["id"], str(uuid4())):
            answer = alice.post(WINDOWS, json={"duration_seconds": 600, "monitor_ids": [unknown]})
            assert is_problem(answer, catalogue, "maintenance_monitor_unknown", monitor_id=unknown)

    def test_of_more_windows_than_a_team_can_have(self, alice: Player, catalogue: Catalogue) -> None:
        windows = [start(alice) for _ in range(MAX_WINDOWS_A_TEAM)]
        answer = alice.post(WINDOWS, json={"duration_seconds": 600})
        assert is_problem(answer, catalogue, "maintenance_window_limit_reached")
        alice.post(f"{WINDOWS}/{windows[0]['id']}/end").raise_for_status()
        start(alice)

    @pytest.mark.parametrize(
        ("method", "path"), [("GET", ""), ("PATCH", ""), ("DELETE", ""), ("POST", "/end")]
    )
    def test_of_windows_of_others(
        self, alice: Player, charlie: Player, catalogue: Catalogue, method: str, path: str
    ) -> None:
        window = start(charlie)
        body = {"name": "Mine"} if method == "PATCH" else None
        answer = alice.request(method, f"{WINDOWS}/{window['id']}{path}", json=body)
        assert is_problem(answer, catalogue, "maintenance_window_not_found")
        assert charlie.get(f"{WINDOWS}/{window['id']}").json() == window


class TestPut:
    def test_keeps_a_start_that_is_left_out(self, alice: Player) -> None:
        path = f"{WINDOWS}/by-key/deployment"
        window = alice.put(path, json={"duration_seconds": 600}).json()["maintenance_window"]
        again = alice.put(path, json={"duration_seconds": 600}).json()
        assert again == {"changed_fields": [], "maintenance_window": window}

    def test_changes_none_that_is_over(self, alice: Player, catalogue: Catalogue) -> None:
        path = f"{WINDOWS}/by-key/deployment"
        window = alice.put(path, json={"duration_seconds": 600}).json()["maintenance_window"]
        alice.post(f"{WINDOWS}/{window['id']}/end").raise_for_status()
        assert alice.put(path, json={"duration_seconds": 600}).json()["changed_fields"] == []
        answer = alice.put(path, json={"duration_seconds": 900})
        assert is_problem(answer, catalogue, "maintenance_window_ended")
