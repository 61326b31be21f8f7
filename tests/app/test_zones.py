"""Times are written in the zone that a browser tells, and in UTC for whoever tells none."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from app.visitor import Visitor, read_text
from monitoring.app.words import write_ago, write_clock, write_moment, write_to_the_second
from monitoring.app.zones import writing_in

MADRID = ZoneInfo("Europe/Madrid")
SUMMER = datetime(2026, 7, 1, 22, 30, 5, tzinfo=UTC)


class TestAMoment:
    def test_is_written_in_the_reader_s_zone_with_utc_under_the_pointer(self) -> None:
        with writing_in(MADRID):
            assert ' title="1 Jul 2026, 22:30:05 UTC">2 Jul 2026, 00:30<' in write_moment(SUMMER)
            assert ">2 Jul, 00:30:05<" in write_to_the_second(SUMMER)

    def test_says_that_it_is_in_utc_where_no_zone_is_known(self) -> None:
        assert ">1 Jul 2026, 22:30 UTC<" in write_moment(SUMMER)

    def test_long_ago_tells_both_under_the_pointer(self) -> None:
        with writing_in(MADRID):
            assert ' title="2 Jul 2026, 00:30 (1 Jul 2026, 22:30:05 UTC)"' in write_ago(SUMMER)

    @pytest.mark.parametrize(("days", "commas"), [(0, 0), (1, 1)])
    def test_of_today_needs_no_day(self, days: int, commas: int) -> None:
        moment = datetime.now(UTC) - timedelta(days=days)
        assert write_clock(moment).partition(">")[2].count(",") == commas


class TestAPage:
    @pytest.mark.parametrize("told", ["Europe/Nowhere", "../../etc/passwd", "Europe", "x" * 5000, ""])
    def test_is_in_utc_whatever_nonsense_a_browser_tells(self, owner: Visitor, told: str) -> None:
        page = owner.get("/settings/account", headers={"Cookie": _with_zone(owner, told)})
        assert page.status_code == 200
        assert "Times are in UTC" in read_text(page.text)

    def test_names_the_zone_of_its_times(self, owner: Visitor) -> None:
        page = owner.get("/settings/members", headers={"Cookie": _with_zone(owner, "Asia/Kolkata")})
        text = read_text(page.text)
        assert "Times are in Asia/Kolkata." in text
        local = datetime.now(ZoneInfo("Asia/Kolkata"))
        assert f"{local.day} {local:%b %Y}, " in text


def _with_zone(visitor: Visitor, zone: str) -> str:
    kept = [f"{cookie.name}={cookie.value}" for cookie in visitor.cookies.jar]
    return "; ".join([*kept, f"zone={zone}"])
