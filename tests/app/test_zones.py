"""Times are written in the zone that a browser tells, and in UTC for whoever tells none."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from app.visitor import Visitor, read_text
from history.diary import make_result, write_down
from monitoring.app.formatting import write_ago, write_clock, write_moment, write_to_the_second
from monitoring.app.zones import writing_in
from monitoring.history.models import Rollup
from monitoring.history.rollups import roll_up
from monitors.conversations import create

if TYPE_CHECKING:
    from collections.abc import Callable

    from markupsafe import Markup

    from cast import Player
    from running_service import RunningService

DAY = timedelta(days=1)
MADRID = ZoneInfo("Europe/Madrid")
SUMMER = datetime(2026, 7, 1, 22, 30, 5, tzinfo=UTC)


class TestAMoment:
    def test_is_written_in_the_reader_s_zone_with_utc_under_the_pointer(self) -> None:
        with writing_in(MADRID):
            assert ' title="1 Jul 2026, 22:30:05 UTC">2 Jul 2026, 00:30<' in write_moment(SUMMER)
            assert ">2 Jul, 00:30:05<" in write_to_the_second(SUMMER)

    @pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "America/Adak"])
    @pytest.mark.parametrize("write", [write_moment, write_to_the_second, write_clock, write_ago])
    @pytest.mark.parametrize("year", [1, 9999])
    def test_is_written_at_the_ends_of_time_too(
        self, zone: str, write: Callable[[datetime], Markup | str], year: int
    ) -> None:
        last = datetime.max.replace(tzinfo=UTC) if year > 1 else datetime.min.replace(tzinfo=UTC)
        with writing_in(ZoneInfo(zone)):
            assert f"{last.day} {last:%b}" in write(last)

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

    def test_tells_days_in_utc_to_everybody_and_none_before_the_first_check(
        self, owner: Visitor, alice: Player, service: RunningService
    ) -> None:
        monitor, now = create(alice), datetime.now(UTC)
        days = [now.replace(hour=0, minute=0, second=0, microsecond=0) - n * DAY for n in range(1, 4)]
        counts = {"monitor_id": monitor["id"], "check_count": 1, "failed_check_count": 0}

        async def live() -> None:
            await write_down([make_result(UUID(monitor["id"]), day) for day in days[::2]])
            await roll_up(now)
            rollups = [  # in case that what is older than the results was rolled up before
                Rollup(window=window, starts_at=day, latencies={"100": 1}, **counts)
                for day in days[::2]
                for window in ("hour", "day")
            ]
            await Rollup.bulk_create(rollups, ignore_conflicts=True)

        service.run(live())
        for zone in ("America/New_York", "Asia/Kolkata"):
            page = owner.get(
                f"/monitors/{monitor['id']}?range=90d", headers={"Cookie": _with_zone(owner, zone)}
            ).text
            table = page.partition("Response times by day")[2].partition("</table>")[0]
            assert '<th scope="col">Day (UTC)</th>' in table
            told = [f"{day:%-d %b %Y}" for day in (now, *days)]
            assert re.findall(r'<th scope="row">(.*?)</th>', table) == told


def _with_zone(visitor: Visitor, zone: str) -> str:
    kept = [f"{cookie.name}={cookie.value}" for cookie in visitor.cookies.jar]
    return "; ".join([*kept, f"zone={zone}"])
