"""Pages make good use of small screens: names stay whole, and monitors come early."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import ViewportSize

from browser.acme.people import FIREFOX, join
from browser.chromium import PHONE, find_what_is_too_wide
from incidents.breakdowns import break_down
from monitoring.auth.service import create_team
from monitoring.backends.fields import uuid7
from monitoring.members.models import Role, User
from monitoring.members.sessions import begin_session
from monitoring.monitors.deleting import schedule_deletion
from monitoring.monitors.service import create_monitor

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from browser.acme.people import Member
    from browser.acme.team import Acme
    from browser.chromium import Arrive
    from running_service import RunningService

pytestmark = pytest.mark.embedded("a browser sees the same pages on every backend")

SMALL_PHONE = ViewportSize(width=360, height=740)
CHANNELS = "/settings/notifications"
TABLET = ViewportSize(width=768, height=1024)

LATE_YESTERDAY = "times => times.forEach(time => { time.textContent = '28 Nov, 23:58:48 UTC' })"
LONG_EMAIL = "grace.oyelaran-featherstonehaugh@engineering.acme.example"

# Ordinary words of the page, those of emails too, that go on in another line.
# Words of up to 60 letters: longer ones, which other tests leave in the team, have to break.
BROKEN_WORDS = """
() => {
  const [found, range] = [[], document.createRange()];
  const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { currentNode: text } = texts;
    const { parentElement: holder } = text;
    if (!holder.checkVisibility() || holder.closest(".unseen, select, code")) continue;
    for (const { 0: word, index } of text.data.matchAll(/\\b\\w{1,60}\\b/g)) {
      range.setStart(text, index);
      range.setEnd(text, index + word.length);
      if (new Set([...range.getClientRects()].map(part => Math.round(part.top))).size > 1) found.push(word);
    }
  }
  return found;
}
"""
TOP = "part => part.getBoundingClientRect().top"
EDGES = """
all => all.map(each => each.getBoundingClientRect()).map(box => [Math.round(box.left), Math.round(box.right)])
"""
BROKEN = """
names => names
  .filter(name => new Set([...name.getClientRects()].map(part => Math.round(part.top))).size > 1)
  .map(name => name.textContent)
"""


def test_a_tablet_breaks_no_email_of_a_member(acme: Acme, come_back: Arrive) -> None:
    owner = come_back(acme.owner, viewport=TABLET)
    owner.open("/settings/members")
    emails = owner.page.locator("table bdi").filter(has_text="@")
    assert emails.count() > 2
    assert emails.evaluate_all(BROKEN) == []


@pytest.fixture
def troubled(app_service: RunningService, acme: Acme) -> Member:
    """Make the owner of a team that has to be told all that a list can tell above its monitors."""
    del acme  # must be made first

    async def form() -> Member:
        team = await create_team(f"Troubled {uuid7()}", "team", 100)
        owner = await join(team, Role.OWNER)
        tags = ["shop", "public", "internal", "marketing", "payments", "legacy"]
        given = [
            {"name": f"Shop {number}", "url": "https://shop.invalid/", "tags": [*tags, f"region-{number}"]}
            for number in range(24)
        ]
        monitors = [await create_monitor(team.id, each) for each in given]
        for monitor in monitors[:6]:
            await break_down(monitor)
        for monitor in monitors[-2:]:
            await schedule_deletion(team.id, [monitor.id], datetime.now(UTC), by=owner.actor)
        return owner

    return app_service.run(form())


@pytest.mark.parametrize("options", [{}, {"java_script_enabled": False}], ids=["script", "no script"])
@pytest.mark.parametrize("query", ["", "?group=tag", "?search=shop&tag=shop,public&status=pending&sort=name"])
def test_a_phone_shows_the_first_monitor_early_whatever_else_must_be_told(
    query: str, options: dict[str, Any], troubled: Member, arrive: Arrive
) -> None:
    owner = arrive(troubled, viewport=SMALL_PHONE, **options)
    owner.open(f"/monitors{query}")
    for told in ("6 open incidents", "1 monitor will be deleted at", "Nobody is notified", "1 more deletion"):
        assert owner.page.get_by_text(told).first.is_visible(), told
    first = owner.page.locator("tbody tr").first.bounding_box()
    assert first
    assert first["y"] < 640
    undo = owner.page.get_by_role("button", name="Undo").first.bounding_box()
    assert undo
    assert undo["height"] < 40  # one line
    assert find_what_is_too_wide(owner.page) == []


def test_the_list_begins_with_the_numbers_by_state_and_warnings_stand_beside_what_is_down(
    troubled: Member, arrive: Arrive
) -> None:
    owner = arrive(troubled)
    owner.open("/monitors")
    for width in (360, 1440):
        owner.page.set_viewport_size(ViewportSize(width=width, height=900))
        parts = ("#states", "#open .alert", "#open .warning", ".filter")
        states, down, warning, search = (owner.page.locator(part).first.evaluate(TOP) for part in parts)
        assert states < down <= warning < search
        assert (down == warning) == (width == 1440)


def test_a_phone_shows_the_tabs_of_the_settings_in_one_row_and_the_chosen_one_within_it(
    acme: Acme, come_back: Arrive
) -> None:
    owner = come_back(acme.owner, viewport=SMALL_PHONE)
    for path in ("api-keys", "maintenance", "account"):
        owner.open(f"/settings/{path}")
        tabs = owner.page.get_by_role("navigation", name="Settings")
        tops = tabs.get_by_role("link").evaluate_all("links => links.map(link => link.offsetTop)")
        assert len(tops) == 7
        assert len(set(tops)) == 1
        chosen = tabs.locator("[aria-current]").bounding_box()
        assert chosen
        assert chosen["x"] >= 0
        assert chosen["x"] + chosen["width"] <= SMALL_PHONE["width"]


@pytest.mark.parametrize(
    "path", ["/articles", "/settings/account", "/settings/api-keys", "/settings/members", CHANNELS]
)
def test_tables_break_no_word_in_windows_of_a_tablet_or_wider(
    path: str, acme: Acme, come_back: Arrive
) -> None:
    owner = come_back(acme.owner)
    owner.open(path)
    for width in (768, 1024, 1440):
        owner.page.set_viewport_size(ViewportSize(width=width, height=900))
        assert owner.page.evaluate(BROKEN_WORDS) == [], width


def test_a_desktop_shows_all_acts_of_a_channel_in_one_line(acme: Acme, come_back: Arrive) -> None:
    owner = come_back(acme.owner, viewport=ViewportSize(width=1440, height=900))
    owner.open(CHANNELS)
    for acts in owner.page.locator(".acts").all():
        tops = acts.locator("a, button").evaluate_all("all => all.map(each => each.offsetTop)")
        assert max(tops) - min(tops) < 12


def test_a_tablet_shows_tags_in_the_compact_list_and_each_monitor_in_one_line(
    acme: Acme, come_back: Arrive
) -> None:
    owner = come_back(acme.owner, viewport=TABLET)
    owner.open("/monitors?density=compact")
    shop = owner.page.locator("tr").filter(has_text="Web shop")
    tags = shop.get_by_role("link", name=re.compile("shop|public"))
    rows = owner.page.locator(".monitors tbody tr")
    assert [tag.is_visible() for tag in tags.all()] == [True] * 3
    assert max(rows.evaluate_all("rows => rows.map(row => row.offsetHeight)")) < 36


def test_a_small_phone_shows_at_once_all_that_can_be_done_with_the_selected(
    acme: Acme, come_back: Arrive
) -> None:
    owner = come_back(acme.owner, viewport=SMALL_PHONE)
    owner.open("/monitors")
    owner.page.get_by_label("Select Web shop").check()
    acts = owner.page.get_by_role("group", name="With the selected monitors").locator("button, select, input")
    for act in acts.all():
        box = act.bounding_box()
        assert box
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= SMALL_PHONE["width"]


@pytest.mark.parametrize("size", [SMALL_PHONE, TABLET], ids=["phone", "tablet"])
def test_a_translation_tells_its_language_and_state_in_one_line_and_what_can_be_done_below(
    size: ViewportSize, acme: Acme, come_back: Arrive
) -> None:
    owner = come_back(acme.owner, viewport=size)
    owner.open(f"/articles/{acme.articles['failed']}")
    for row in owner.page.locator(".translations tbody tr").all():
        name, state = row.locator("th"), row.locator(".badge")
        assert find_top(name) == pytest.approx(find_top(state), abs=8)
        assert find_top(row.get_by_role("link", name="Read")) > find_top(state)
    names = owner.page.locator(".translations th[scope=row]").all_inner_texts()
    assert names == ["Spanish es", "French fr", "Portuguese pt"]


@pytest.mark.parametrize(
    "path", ["/settings/members", "/settings/audit-log?who={email}", "/settings/members/{user_id}"]
)
def test_a_phone_breaks_a_long_email_only_between_its_words(
    path: str, acme: Acme, come_back: Arrive, app_service: RunningService
) -> None:
    owner = come_back(acme.owner, viewport=SMALL_PHONE)
    user = app_service.run(find_user(LONG_EMAIL))
    owner.open(path.format(user_id=user.id, email=LONG_EMAIL))
    assert LONG_EMAIL in owner.page.locator("main").inner_text()
    assert find_what_is_too_wide(owner.page) == []
    assert owner.page.evaluate(BROKEN_WORDS) == []


@pytest.mark.parametrize("path", ["/settings/audit-log", "/settings/account"])
def test_a_phone_breaks_a_long_address_only_between_its_groups(
    path: str, acme: Acme, come_back: Arrive, app_service: RunningService
) -> None:
    address = "2001:db8:85a3:8d3:1319:8a2e:370:7348"
    app_service.run(begin_session(acme.owner.user, FIREFOX, address=address))
    owner = come_back(acme.owner, viewport=SMALL_PHONE)
    owner.open(path)
    told = owner.page.get_by_text(address).first.bounding_box()
    assert told
    assert told["height"] < 55  # two lines
    assert owner.page.evaluate(BROKEN_WORDS) == []
    assert find_what_is_too_wide(owner.page) == []


async def find_user(email: str) -> User:
    return await User.get(email=email)


def find_top(element: Locator) -> float:
    box = element.bounding_box()
    assert box
    return box["y"]


def test_a_phone_shows_the_first_monitor_on_its_first_screen_and_each_in_few_lines(
    acme: Acme, come_back: Arrive
) -> None:
    owner = come_back(acme.owner, viewport=PHONE)
    owner.open("/monitors")
    tops = owner.page.locator("tbody tr").evaluate_all(
        "rows => rows.map(row => row.getBoundingClientRect().top)"
    )
    assert tops[0] < 0.65 * PHONE["height"]
    assert (tops[-1] - tops[0]) / (len(tops) - 1) < 125


def test_a_small_phone_shows_the_pictures_and_numbers_of_all_monitors_below_one_another(
    acme: Acme, come_back: Arrive
) -> None:
    owner = come_back(acme.owner, viewport=SMALL_PHONE)
    owner.open("/monitors?density=roomy")
    pictures, uptimes, states = (
        owner.page.locator(f"tbody {part}:visible").evaluate_all(EDGES)
        for part in (".bars", ".uptime", ".badge")
    )
    assert len(pictures) > 5
    assert len({tuple(edges) for edges in pictures}) == 1
    assert len({right for _, right in uptimes}) == 1
    assert len({right for _, right in states}) == 1


@pytest.mark.parametrize("width", [768, 1440])
def test_the_groups_of_monitors_have_the_same_columns(width: int, acme: Acme, come_back: Arrive) -> None:
    owner = come_back(acme.owner, viewport=ViewportSize(width=width, height=900))
    owner.open("/monitors?group=tag&density=roomy")
    for column in ("State", "Monitor", "Last checks"):
        heads = owner.page.get_by_role("columnheader", name=column, exact=True)
        assert heads.count() > 4
        assert len({left for left, _ in heads.evaluate_all(EDGES)}) == 1, column


def test_a_phone_shows_a_check_in_one_line_or_two(acme: Acme, come_back: Arrive) -> None:
    owner = come_back(acme.owner, viewport=ViewportSize(width=360, height=640))
    for shows, height in (("up", 45), ("down", 70)):
        owner.open(f"/monitors/{acme.monitors[shows]}")
        owner.page.locator(".checks time").evaluate_all(LATE_YESTERDAY)
        heights = owner.page.locator(".checks tbody tr").evaluate_all(
            "rows => rows.map(row => row.offsetHeight)"
        )
        assert max(heights) < height, shows


def test_a_phone_breaks_the_address_of_a_channel_only_between_its_words(
    acme: Acme, come_back: Arrive
) -> None:
    owner = come_back(acme.owner, viewport=SMALL_PHONE)
    owner.open(f"{CHANNELS}/{acme.channels['mailbox']}/deliveries")
    assert owner.page.evaluate(BROKEN_WORDS) == []


def test_a_small_phone_shows_the_uptimes_in_two_columns(acme: Acme, come_back: Arrive) -> None:
    owner = come_back(acme.owner, viewport=SMALL_PHONE)
    owner.open(f"/monitors/{acme.monitors['down']}")
    uptimes = owner.page.locator("#uptime ~ .facts > div")
    lefts = uptimes.evaluate_all("all => all.map(each => Math.round(each.getBoundingClientRect().left))")
    assert len(lefts) == 4
    assert len(set(lefts)) == 2


def test_a_small_phone_breaks_no_duration_before_its_unit(acme: Acme, come_back: Arrive) -> None:
    owner = come_back(acme.owner, viewport=SMALL_PHONE)
    owner.open(f"/monitors/{acme.monitors['down']}")
    durations = owner.page.locator("#uptime ~ .facts .below span")
    assert durations.count() > 1
    durations.evaluate_all("all => all.forEach(each => { each.textContent = '36 min 39 s' })")
    owner.page.locator("#uptime ~ .facts > div").evaluate_all(
        "all => all.forEach(each => { each.style.width = '5.5rem' })"
    )
    assert durations.evaluate_all(BROKEN) == []


def test_a_tablet_breaks_no_ipv4_address_in_the_audit_log(acme: Acme, come_back: Arrive) -> None:
    owner = come_back(acme.owner, viewport=TABLET)
    owner.open("/settings/audit-log")
    addresses = owner.page.locator("td[data-label=From] .number").filter(has_text="203.0.113.24")
    assert addresses.count() > 2
    assert addresses.evaluate_all(BROKEN) == []
