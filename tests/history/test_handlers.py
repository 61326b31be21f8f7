"""What all operations that read checks refuse, and the two that answer with sums."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import pytest

from history.diary import make_result, write_down
from monitoring.contract.document import published_document
from monitors.conversations import create, is_problem, path_of

if TYPE_CHECKING:
    import httpx

    from cast import Player
    from monitoring.contract.catalogue import Catalogue
    from running_service import RunningService

MINUTE = timedelta(minutes=1)
LIST = "checks"
RANGES = ["uptime", "response-times"]


def _get(player: httpx.Client, monitor: dict[str, Any], what: str, **query: Any) -> httpx.Response:
    return player.get(f"{path_of(monitor)}/{what}", params=query)


class TestWhoeverReads:
    @pytest.mark.parametrize("what", [LIST, *RANGES])
    def test_knows_no_monitor_of_another_team(
        self, alice: Player, charlie: Player, catalogue: Catalogue, what: str
    ) -> None:
        monitor = create(alice)
        assert _get(alice, monitor, what).status_code == 200
        assert is_problem(_get(charlie, monitor, what), catalogue, "monitor_not_found")
        assert is_problem(_get(alice, {"id": str(uuid4())}, what), catalogue, "monitor_not_found")

    @pytest.mark.parametrize("what", [LIST, *RANGES])
    @pytest.mark.parametrize("name", ["from", "to"])
    @pytest.mark.parametrize(
        "text",
        [
            "yesterday",
            "2026-11-20",
            "2026-11-20T09:30:00",
            "2026-02-30T00:00:00Z",
            "2026-11-20T24:00:00Z",
            "2026-11-20T09:60:00Z",
            "2026-11-20T09:30:60Z",
            "2026-13-20T09:30:00Z",
            "9999-12-31T23:59:59Z",
            "",
        ],
    )
    def test_is_told_which_moment_is_none(self, alice: Player, what: str, name: str, text: str) -> None:
        answer = _get(alice, create(alice), what, **{name: text})
        assert answer.status_code == 400
        assert answer.json()["error"].startswith(f"{name}: ")

    def test_is_told_how_to_write_a_plus_in_a_query(self, alice: Player) -> None:
        moment = published_document().root["components"]["schemas"]["Moment"]
        path = f"/api/monitors/{create(alice)['id']}/{LIST}?from=2026-11-20T09:30:00"
        told = alice.get(f"{path}+02:00")
        assert (told.status_code, told.json()["error"]) == (400, f"from: {moment['x-problem-lost-plus']}")
        assert alice.get(f"{path}%2B02:00").status_code == 200

    @pytest.mark.parametrize("what", [LIST, *RANGES])
    def test_may_ask_for_a_range_in_either_order(self, alice: Player, what: str) -> None:
        monitor, earlier, later = create(alice), "2026-11-20T00:00:00Z", "2026-11-20T09:00:00Z"
        reversed_ = _get(alice, monitor, what, **{"from": later, "to": earlier})
        assert reversed_.status_code == 200
        assert reversed_.json() == _get(alice, monitor, what, **{"from": earlier, "to": later}).json()

    @pytest.mark.parametrize("what", RANGES)
    def test_is_told_the_end_of_a_range_that_is_too_long(self, alice: Player, what: str) -> None:
        monitor = create(alice)
        for window, max_days in (({"window": "hour"}, 31), ({"window": "day"}, 400), ({}, 400)):
            answer = _get(
                alice,
                monitor,
                what,
                **{"from": "2024-01-01T00:00:00Z", "to": "2026-01-01T00:00:00Z"},
                **window,
            )
            assert answer.status_code == 200
            starts_at, ends_at = (
                datetime.fromisoformat(answer.json()[name]) for name in ("starts_at", "ends_at")
            )
            assert ends_at - starts_at <= timedelta(days=max_days)

    @pytest.mark.parametrize(
        ("what", "field", "query"),
        [
            (LIST, "outcome", {"outcome": "fine"}),
            (LIST, "limit", {"limit": 101}),
            (LIST, "window", {"window": "day"}),
            ("uptime", "window", {"window": "week"}),
            ("response-times", "window", {"window": "week"}),
        ],
    )
    def test_is_told_which_parameter_is_wrong(
        self, alice: Player, what: str, field: str, query: dict[str, Any]
    ) -> None:
        answer = _get(alice, create(alice), what, **query)
        assert answer.status_code == 400
        assert answer.json()["error"].startswith(f"{field}: ")


class TestGetUptime:
    def test_of_a_new_monitor_is_unknown_since_it_was_made(self, alice: Player) -> None:
        monitor = create(alice)
        told = _get(alice, monitor, "uptime", window="day").json()
        age = datetime.fromisoformat(told["ends_at"]) - datetime.fromisoformat(monitor["created_at"])
        assert told["monitor_id"] == monitor["id"]
        assert told["uptime_ratio"] is None
        assert told["unknown_seconds"] == age.total_seconds()
        assert [told[f"{state}_seconds"] for state in ("up", "down", "paused")] == [0.0] * 3
        length = datetime.fromisoformat(told["ends_at"]) - datetime.fromisoformat(told["starts_at"])
        assert length == timedelta(days=30)
        assert len(told["windows"]) in {30, 31}
        assert told["windows"][-1]["ends_at"] == told["ends_at"]

    def test_of_a_paused_monitor_is_paused(self, alice: Player) -> None:
        told = _get(alice, create(alice, paused=True), "uptime").json()
        assert told["paused_seconds"] > 0
        assert told["windows"] == []

    def test_of_the_future_is_told_until_now(self, alice: Player) -> None:
        monitor = create(alice)
        told = _get(alice, monitor, "uptime", **{"from": monitor["created_at"], "to": "2099-12-31T00:00:00Z"})
        assert told.json()["starts_at"] == monitor["created_at"]
        assert told.json()["ends_at"] < "2099"


class TestGetResponseTimes:
    def test_are_those_of_the_last_day_unless_asked_otherwise(
        self, service: RunningService, alice: Player
    ) -> None:
        monitor = create(alice)
        now = datetime.now(UTC)
        results = [
            make_result(UUID(monitor["id"]), now - n * MINUTE, outcome)
            for n, outcome in enumerate(("up", "down", "degraded", "unknown"))
        ]
        service.run(write_down(results))
        told = _get(alice, monitor, "response-times").json()
        windows = told.pop("windows")
        length = datetime.fromisoformat(told.pop("ends_at")) - datetime.fromisoformat(told.pop("starts_at"))
        assert timedelta(hours=24) <= length <= timedelta(hours=25)
        middle = told["p50_ms"]
        assert abs(middle - 128) <= 128 * 0.02
        assert told == {
            "monitor_id": monitor["id"],
            "check_count": 3,
            "failed_check_count": 1,
            **dict.fromkeys(("p50_ms", "p90_ms", "p95_ms", "p99_ms"), middle),
        }
        assert windows == []

    def test_of_nothing_are_null_hour_by_hour(self, alice: Player) -> None:
        told = _get(alice, create(alice), "response-times", window="hour").json()
        assert len(told["windows"]) in {24, 25}
        assert {window["p99_ms"] for window in told["windows"]} == {None}
        assert {window["check_count"] for window in told["windows"]} == {0}
