from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from history.diary import make_result, write_down
from monitoring.contract.cursors import PagedList, encode_cursor
from monitoring.contract.timestamps import write_timestamp
from monitors.conversations import create, path_of

if TYPE_CHECKING:
    import httpx

    from cast import Player
    from running_service import RunningService

MINUTE = timedelta(minutes=1)


def _get(player: httpx.Client, monitor: dict[str, Any], **query: Any) -> httpx.Response:
    return player.get(f"{path_of(monitor)}/checks", params=query)


def _moments(player: httpx.Client, monitor: dict[str, Any], **query: Any) -> list[str]:
    page = _get(player, monitor, **query).raise_for_status().json()
    return [check["checked_at"] for check in page["checks"]]


def _checked(
    service: RunningService, monitor: dict[str, Any], outcomes: tuple[str, ...] = ("up",) * 5
) -> list[str]:
    """Let a monitor have been checked each minute until now; return the moments, newest first."""
    now = datetime.now(UTC)
    moments = [now - n * MINUTE for n in range(len(outcomes))]
    results = [
        make_result(UUID(monitor["id"]), moment, outcome)
        for moment, outcome in zip(moments, outcomes, strict=True)
    ]
    service.run(write_down(results))
    return [write_timestamp(moment) for moment in moments]


class TestChecks:
    def test_are_shown_as_they_were_found(self, service: RunningService, alice: Player) -> None:
        monitor = create(alice)
        now = datetime.now(UTC)
        found: dict[str, Any] = {
            "outcome": "down",
            "status_code": 503,
            "response_time_ms": 96,
            "dns_ms": 9,
            "connect_ms": 16,
            "tls_ms": 37,
            "first_byte_ms": 31,
            "error": "unexpected_status",
            "error_message": "Answered 503 instead of 2xx",
        }
        blind: dict[str, Any] = dict.fromkeys(found) | {"outcome": "unknown"}
        results = [
            make_result(UUID(monitor["id"]), now, **found),
            make_result(UUID(monitor["id"]), now - MINUTE, **blind),
        ]
        service.run(write_down(results))
        assert _get(alice, monitor).json() == {
            "checks": [
                {"checked_at": write_timestamp(now), **found},
                {"checked_at": write_timestamp(now - MINUTE), **blind},
            ],
            "next_cursor": None,
        }

    def test_are_for_readers_too(self, service: RunningService, alice: Player, bob: Player) -> None:
        monitor = create(alice)
        moments = _checked(service, monitor)
        assert _moments(bob, monitor) == moments

    @pytest.mark.parametrize(("limit", "sizes"), [(1, [1] * 5), (2, [2, 2, 1]), (5, [5]), (100, [5])])
    def test_come_page_by_page_each_once_newest_first(
        self, service: RunningService, alice: Player, limit: int, sizes: list[int]
    ) -> None:
        monitor = create(alice)
        moments = _checked(service, monitor)
        pages: list[list[str]] = []
        cursor: dict[str, str] = {}
        while True:
            page = _get(alice, monitor, limit=limit, **cursor).json()
            pages.append([check["checked_at"] for check in page["checks"]])
            if page["next_cursor"] is None:
                break
            cursor = {"cursor": page["next_cursor"]}
        assert [len(page) for page in pages] == sizes
        assert [moment for page in pages for moment in page] == moments

    def test_of_a_page_are_not_shifted_by_newer_ones(self, service: RunningService, alice: Player) -> None:
        monitor = create(alice)
        moments = _checked(service, monitor)
        cursor = _get(alice, monitor, limit=2).json()["next_cursor"]
        _checked(service, monitor, ("down",))
        assert _moments(alice, monitor, cursor=cursor) == moments[2:]

    def test_are_filtered_by_time_and_outcome(self, service: RunningService, alice: Player) -> None:
        monitor = create(alice)
        moments = _checked(service, monitor, ("up", "down", "degraded", "down", "unknown"))
        assert _moments(alice, monitor, outcome="down") == [moments[1], moments[3]]
        assert _moments(alice, monitor, **{"from": moments[2]}) == moments[:3]
        assert _moments(alice, monitor, to=moments[2]) == moments[3:]
        assert _moments(alice, monitor, **{"from": moments[3], "to": moments[1]}) == moments[2:4]

    def test_are_told_in_any_time_zone(self, service: RunningService, alice: Player) -> None:
        monitor = create(alice)
        moments = _checked(service, monitor)
        there = datetime.fromisoformat(moments[2]).astimezone().isoformat()
        assert _moments(alice, monitor, **{"from": there}) == moments[:3]

    @pytest.mark.parametrize("number", [2**64, 2**128 - 1, 0x019A9C3E5B7A7C1E9D423F8B6A1E2C70])
    def test_are_all_after_a_cursor_that_lies_ahead(
        self, service: RunningService, alice: Player, number: int
    ) -> None:
        monitor = create(alice)
        moments = _checked(service, monitor)
        assert _moments(alice, monitor, cursor=encode_cursor(PagedList.CHECKS, UUID(int=number))) == moments
