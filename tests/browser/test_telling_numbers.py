"""Numbers on pages say what is known, and nothing more."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import ViewportSize

from browser.acme.answers import Trouble
from browser.acme.history import write_history
from browser.acme.people import FIREFOX, join
from monitoring.auth.service import create_team
from monitoring.members.models import Role
from monitoring.members.sessions import begin_session
from monitoring.monitors.service import create_monitor
from monitoring.outbound.failures import Failure, FailureCode

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from browser.acme.people import Member
    from browser.acme.team import Acme
    from browser.chromium import Arrive, Person
    from monitoring.monitors.models import Monitor
    from running_service import RunningService

pytestmark = pytest.mark.embedded("a browser sees the same pages on every backend")

REFUSED = Failure(FailureCode.CONNECTION_REFUSED, "Connection refused")
# Labels that stick out of the card, or lie on one another.
LABELS_OUTSIDE = """
labels => {
  const chart = labels[0].closest('.card').getBoundingClientRect();
  const boxes = labels.map(label => label.getBoundingClientRect());
  const lie = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  return labels.filter((label, index) => {
    const box = boxes[index];
    const sticksOut = box.left < chart.left || box.right > chart.right || box.bottom > chart.bottom;
    return sticksOut || boxes.some((other, at) => at !== index && lie(box, other));
  }).map(label => label.textContent);
}
"""
MINUTE = timedelta(minutes=1)


@pytest.fixture(scope="session")  # as the service has it: a worker may come back to this module
def young(app_service: RunningService, acme: Acme) -> tuple[Member, Monitor]:
    """Make the owner of a team, and its monitor: five minutes old, and refused since the last one."""
    del acme  # must be made first

    async def form() -> tuple[Member, Monitor]:
        team = await create_team("Young", "free", 10)
        owner = await join(team, Role.OWNER)
        monitor = await create_monitor(team.id, {"url": "https://young.example/", "interval_seconds": 30})
        trouble = Trouble(MINUTE, 2 * MINUTE, failure=REFUSED)
        now = datetime.now(UTC)
        await write_history(monitor, now, typical_ms=90, troubles=[trouble], age=5 * MINUTE)
        return owner, monitor

    return app_service.run(form())


def read_fact(person: Person, title: str) -> str:
    """Return what a page tells under a title."""
    return (
        person.page.locator("dl.facts > div", has=person.page.get_by_text(title, exact=True))
        .locator("dd")
        .inner_text()
    )


class TestAYoungMonitor:
    def test_says_of_how_short_a_time_its_uptime_is(
        self, young: tuple[Member, Monitor], arrive: Arrive
    ) -> None:
        owner, monitor = young
        person = arrive(owner)
        person.open(f"/monitors/{monitor.id}")
        uptime = read_fact(person, "90 days")
        assert " %" in uptime
        assert "measured for" in uptime

    def test_that_is_refused_has_no_response_time(
        self, young: tuple[Member, Monitor], arrive: Arrive
    ) -> None:
        owner, monitor = young
        person = arrive(owner)
        for path in (f"/monitors/{monitor.id}", "/monitors"):
            person.open(path)
            assert person.page.get_by_text("no answer").first.is_visible()
            assert person.page.locator("td, dd").get_by_text("0 ms", exact=True).count() == 0

    def test_tells_when_it_is_checked_next(self, young: tuple[Member, Monitor], arrive: Arrive) -> None:
        owner, monitor = young
        person = arrive(owner)
        person.open(f"/monitors/{monitor.id}")
        told = read_fact(person, "Next check")
        assert told == "soon" or re.fullmatch(r"in \d+ s", told)


def test_an_older_monitor_tells_how_much_of_a_range_it_knows(acme: Acme, arrive: Arrive) -> None:
    owner = arrive(acme.owner)
    owner.open(f"/monitors/{acme.monitors['maintenance']}")
    assert re.search(r" %\s+measured for \d d ", read_fact(owner, "90 days"))
    assert "measured" not in read_fact(owner, "24 hours")


@pytest.mark.parametrize(
    ("width", "period"), [(360, "24h"), (360, "7d"), (360, "90d"), (390, "30d"), (1280, "24h")]
)
def test_a_chart_can_be_read_on_every_screen(width: int, period: str, acme: Acme, arrive: Arrive) -> None:
    owner = arrive(acme.owner, viewport=ViewportSize(width=width, height=800))
    owner.open(f"/monitors/{acme.monitors['up']}?range={period}")
    charts = owner.page.locator("svg.chart").all()
    assert len(charts) == 2
    for chart in charts:
        size = chart.bounding_box()
        assert size
        assert size["height"] > 150
        sizes = chart.locator("text").evaluate_all(
            "labels => labels.map(label => parseFloat(getComputedStyle(label).fontSize)"
            " * label.getScreenCTM().d)"
        )
        assert all(12 <= each <= 16 for each in sizes)
        assert chart.locator("text").evaluate_all(LABELS_OUTSIDE) == []
        assert chart.get_by_text("UTC").is_visible()


def find_windows(chart: Locator) -> tuple[Locator, Locator]:
    """Return what slides over a chart, and what tells of the window that was chosen."""
    picture = chart.locator("xpath=..")
    return picture.get_by_role("slider"), picture.locator("output")


class TestTheCharts:
    @pytest.mark.parametrize("chosen_by", ["finger", "pointer"])
    def test_tell_a_window_under_the_finger_and_the_pointer_and_mark_it(
        self, chosen_by: str, acme: Acme, arrive: Arrive
    ) -> None:
        has_touch = chosen_by == "finger"
        owner = arrive(acme.owner, has_touch=has_touch, viewport=ViewportSize(width=360, height=800))
        for path in (f"/monitors/{acme.monitors['up']}", f"/incidents/{acme.incidents['resolved']}"):
            owner.open(path)
            for chart in owner.page.locator("svg.chart").all():
                assert not chart.locator("line.chosen").evaluate("line => line.checkVisibility()")
                slider, said = find_windows(chart)
                box = slider.bounding_box()
                assert box
                x = box["width"] * 0.25
                choose = slider.tap if has_touch else slider.hover
                choose(position={"x": x, "y": box["height"] / 2})
                assert re.match(
                    r"\d\d:\d\d: (median \d+ ms, 95th percentile \d+ ms|DNS \d+, .+ transfer \d+ ms)",
                    said.inner_text(),
                )
                first = said.inner_text()
                line = chart.locator("line.chosen")
                assert line.evaluate("line => line.checkVisibility()")
                line_x = line.evaluate("line => line.getBoundingClientRect().x")
                assert line_x - box["x"] == pytest.approx(x, abs=box["width"] / 20)
                choose(position={"x": box["width"] * 0.75, "y": 5})
                assert said.inner_text() != first

    def test_tell_the_same_to_a_keyboard(self, acme: Acme, arrive: Arrive) -> None:
        owner = arrive(acme.owner)
        owner.open(f"/monitors/{acme.monitors['recovered']}")
        for name in ("Time of the response times", "Time of the phases"):
            slider = owner.page.get_by_role("slider", name=name)
            slider.focus()
            owner.page.keyboard.press("Home")
            told = []
            for _ in range(95):
                owner.page.keyboard.press("ArrowRight")
                told.append(slider.get_attribute("aria-valuetext") or "")
            assert owner.page.locator(f".picture:has([aria-label='{name}']) output").inner_text() == told[-1]
            quarters = {each[3:5] for each in told}
            assert quarters == {"00", "15", "30", "45"}
            if name == "Time of the response times":
                assert any("checks failed" in each for each in told)

    @pytest.mark.parametrize("zone", ["America/St_Johns", "Australia/Eucla"])
    def test_are_in_the_zone_of_the_reader(self, zone: str, acme: Acme, arrive: Arrive) -> None:
        owner = arrive(acme.owner, timezone_id=zone)
        for path in (f"/monitors/{acme.monitors['up']}", f"/incidents/{acme.incidents['resolved']}"):
            owner.open(path)
            chart = owner.page.locator("svg.chart").first
            # The browser had told no zone yet: the first page is written anew, in its own.
            chart.get_by_text(f"Times in {zone}", exact=True).wait_for()
            labels = chart.locator("text[text-anchor=middle]").all_text_contents()
            assert len(labels) >= 3
            assert all(re.fullmatch(r"\d\d:[0134][05]", label) for label in labels)
            slider, said = find_windows(chart)
            slider.focus()
            owner.page.keyboard.press("Home")
            owner.page.get_by_text(re.compile("as a table$")).click()
            oldest = owner.page.locator("table.numbers tbody time").last
            began = datetime.fromisoformat(oldest.get_attribute("datetime") or "").astimezone(ZoneInfo(zone))
            told = datetime.strptime(said.inner_text()[:5], "%H:%M").replace(tzinfo=UTC)
            apart = (told.hour * 60 + told.minute - began.hour * 60 - began.minute) % (24 * 60)
            assert apart < 60  # the table of a day begins with a whole hour of UTC

    def test_of_a_new_monitor_have_more_than_a_dot(
        self, young: tuple[Member, Monitor], arrive: Arrive
    ) -> None:
        owner, monitor = young
        person = arrive(owner)
        person.open(f"/monitors/{monitor.id}")
        assert (person.page.locator(".p50 path:not(.dot)").first.get_attribute("d") or "").count("L") >= 2
        assert "1-minute windows" in (
            person.page.locator("svg.chart").first.get_attribute("aria-label") or ""
        )

    def test_say_the_newest_window_and_the_table_of_all_without_a_script(
        self, acme: Acme, arrive: Arrive
    ) -> None:
        owner = arrive(acme.owner, java_script_enabled=False)
        owner.open(f"/incidents/{acme.incidents['resolved']}")
        slider, said = find_windows(owner.page.locator("svg.chart"))
        assert slider.is_hidden()
        assert re.match(r"\d\d:\d\d: median ", said.inner_text())
        owner.page.get_by_text("The same as a table").click()
        assert owner.page.get_by_role("table", name="Response times by 5-minute window").is_visible()


class TestTheDays:
    def test_tell_what_happened_under_the_pointer_and_the_finger(self, acme: Acme, arrive: Arrive) -> None:
        owner = arrive(acme.owner, has_touch=True, viewport=ViewportSize(width=360, height=800))
        owner.open(f"/monitors/{acme.monitors['down']}")
        said = owner.page.locator(".picture:has(.days) output")
        assert "down" in said.inner_text()
        bars = owner.page.locator(".days ~ .pick")
        box = bars.bounding_box()
        assert box
        bars.tap(position={"x": 5, "y": 10})
        assert said.inner_text().endswith("100 % up")
        bars.hover(position={"x": box["width"] - 2, "y": 10})
        assert "down" in said.inner_text()

    def test_tell_the_same_to_a_keyboard(self, acme: Acme, arrive: Arrive) -> None:
        owner = arrive(acme.owner)
        owner.open(f"/monitors/{acme.monitors['down']}")
        slider = owner.page.get_by_role("slider", name="Day")
        slider.focus()
        today = slider.get_attribute("aria-valuetext") or ""
        owner.page.keyboard.press("ArrowLeft")
        yesterday = slider.get_attribute("aria-valuetext") or ""
        assert today != yesterday
        assert owner.page.locator(".picture:has(.days) output").inner_text() == yesterday

    def test_with_time_down_are_listed_without_a_script(self, acme: Acme, arrive: Arrive) -> None:
        owner = arrive(acme.owner, java_script_enabled=False)
        owner.open(f"/monitors/{acme.monitors['down']}")
        assert all(pick.is_hidden() for pick in owner.page.locator(".pick").all())
        owner.page.get_by_text("Days with downtime").click()
        assert "down" in owner.page.locator("details li").first.inner_text()


def test_times_are_those_of_the_reader_s_clock(acme: Acme, arrive: Arrive) -> None:
    owner = arrive(acme.owner, timezone_id="Europe/Madrid")
    owner.open(f"/incidents/{acme.incidents['resolved']}")
    # The browser had told no zone yet: the page is written anew, in its own.
    owner.page.get_by_text("Times are in Europe/Madrid").wait_for()
    began = owner.page.locator("dl.facts time").first
    moment = datetime.fromisoformat(began.get_attribute("datetime") or "")
    local = moment.astimezone(ZoneInfo("Europe/Madrid"))
    assert began.inner_text() == f"{local.day} {local:%b %Y, %H:%M}"
    assert f"{moment:%H:%M:%S} UTC" in (began.get_attribute("title") or "")


def test_times_are_those_of_the_reader_s_clock_on_the_first_page_after_signing_in(
    acme: Acme, arrive: Arrive
) -> None:
    owner = arrive(timezone_id="Europe/Madrid")
    owner.sign_in(acme.owner.email, acme.owner.password)
    assert owner.page.get_by_text("Times are in Europe/Madrid").is_visible()


def test_without_a_script_times_are_in_utc_and_say_so(acme: Acme, arrive: Arrive) -> None:
    owner = arrive(acme.owner, timezone_id="Asia/Kolkata", java_script_enabled=False)
    for _ in range(2):
        owner.open(f"/incidents/{acme.incidents['resolved']}")
    assert owner.page.get_by_text("Times are in UTC, because JavaScript is off.").is_visible()
    assert owner.page.locator("dl.facts time").first.inner_text().endswith(" UTC")


def test_sessions_of_two_equal_browsers_are_told_apart(
    young: tuple[Member, Monitor], app_service: RunningService, arrive: Arrive
) -> None:
    owner, _ = young
    for address in ("198.51.100.7", "2001:db8::7"):
        app_service.run(begin_session(owner.user, FIREFOX, address=address))
    person = arrive(owner)
    person.open("/settings/account")
    rows = person.page.locator("tbody tr").all_inner_texts()
    assert any("198.51.100.7" in row for row in rows)
    assert any("2001:db8::7" in row for row in rows)
