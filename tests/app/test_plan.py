"""Settings, plan: how much of it is used, and what to do when it is full."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from app.visitor import Visitor, read_text
from cast import Player, form_team
from running_service import running_service

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from running_service import RunningService

PLAN = "/settings/plan"


class TestThePlan:
    def test_tells_how_much_of_it_is_used(self, member: Visitor, alice: Player, charlie: Player) -> None:
        assert "Plan: free Monitors 0 of 1,000 monitors used" in read_text(member.open(PLAN).text)
        monitor = alice.post(
            "/api/monitors", json={"url": "https://shop.example.com/", "paused": True}
        ).json()
        charlie.post("/api/monitors", json={"url": "https://shop.example.com/"})
        page = member.open(PLAN).text
        assert "1 of 1,000 monitors used, 999 free" in read_text(page)
        assert '<meter min="0" max="1000" value="1"' in page
        alice.delete(f"/api/monitors/{monitor['id']}")
        assert "0 of 1,000 monitors used" in read_text(member.open(PLAN).text)

    @pytest.mark.parametrize("max_monitors", [0, 1])
    def test_says_when_it_is_full(self, service: RunningService, max_monitors: int) -> None:
        team = form_team(service, max_monitors)
        with Visitor(service, team) as owner, Player(service, team) as player:
            player.post("/api/monitors", json={"url": "https://shop.example.com/"})
            text = read_text(owner.open(PLAN).text)
            assert f"{max_monitors} of {max_monitors}" in text
            assert "The plan is full." in text

    def test_does_not_say_so_while_there_is_room(self, owner: Visitor) -> None:
        assert "The plan is full." not in read_text(owner.open(PLAN).text)

    def test_tells_what_the_service_allows_and_keeps(self, busy: Visitor) -> None:
        text = read_text(busy.open(PLAN).text)
        assert "Requests of one API key, and page views of one person 77 within 1 min 30 s" in text
        assert "Each check 33 days" in text
        assert "Response times by hour 44 days" in text
        assert "Response times by day 55 days" in text

    def test_names_the_larger_plans_only(self, busy: Visitor) -> None:
        text = read_text(busy.open(PLAN).text)
        assert "a larger plan: big has 12, huge has 5,000." in text
        assert "tiny" not in text


@pytest.fixture
def busy(tmp_path: Path) -> Iterator[Visitor]:
    """Owns a team with eleven monitors, at a service whose limits differ from the defaults."""
    figures = {
        "plans": "tiny=3,free=11,big=12,huge=5000",
        "rate_limit_api": "77/90",
        "check_retention_days": 33,
        "hourly_retention_days": 44,
        "daily_retention_days": 55,
    }
    with running_service(tmp_path, **figures) as service, Visitor(service, form_team(service, 11)) as owner:
        yield owner
