"""The list of monitors: all of the team's, none of another's, with their last checks."""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from app.visitor import Visitor, read_text
from history.diary import make_result, write_down
from incidents.breakdowns import SENTENCE, break_down, resolve
from monitoring.app.monitors import list_page, list_view
from monitoring.app.monitors.status_summary import NAMED
from monitoring.audit.actors import COMMAND_LINE, Actor, key_holder
from monitoring.incidents.models import Incident
from monitoring.incidents.responding import acknowledge
from monitoring.members.models import Role, User
from monitoring.monitors.maintenance.models import MaintenanceSpan
from monitoring.monitors.models import CheckState, Monitor, StateChange
from monitoring.monitors.queries import MonitorOrder
from monitoring.monitors.service import create_monitor
from monitoring.notifications.muting import store_mutes
from monitors.conversations import create
from notifications.conversations import register

if TYPE_CHECKING:
    from httpx import Response

    from cast import Player
    from monitoring.history.models import CheckResult
    from running_service import RunningService

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)


def _row_of(service: RunningService, monitor: dict[str, Any]) -> Monitor:
    async def get() -> Monitor:
        return await Monitor.get(id=monitor["id"]).select_related("check_state")

    return service.run(get())


def _listed(visitor: Visitor, **query: str | list[str]) -> list[str]:
    """Return the names on the list, in order."""
    page = visitor.get("/monitors", params=query)
    assert page.status_code == 200
    rows = page.text.partition("<tbody>")[2].partition("</tbody>")[0].split('<th scope="row">')[1:]
    return [read_text(row.partition("</a>")[0]) for row in rows]


def _rows_of(text: str) -> str:
    return text.partition("<tbody>")[2].partition("</tbody>")[0]


def _rows(page: Response) -> str:
    return _rows_of(page.text)


async def _settle(monitor: dict[str, Any], status: str, response_time_ms: int | None = None) -> None:
    await Monitor.filter(id=monitor["id"]).update(status=status)
    await CheckState.filter(monitor_id=monitor["id"]).update(last_response_time_ms=response_time_ms)


async def _check(monitor: dict[str, Any], checked_at: datetime) -> None:
    await CheckState.filter(monitor_id=monitor["id"]).update(last_checked_at=checked_at)


async def _live(monitor: dict[str, Any], hours_down: int | None) -> None:
    """Give a monitor two days of history, whose end it was down for; None means no history."""
    if hours_down is None:
        return
    now = datetime.now(UTC)
    await StateChange.create(monitor_id=monitor["id"], changed_at=now - 48 * HOUR, state="up")
    down_at = now - hours_down * HOUR + MINUTE
    await StateChange.create(monitor_id=monitor["id"], changed_at=down_at, state="down")
    await StateChange.filter(monitor_id=monitor["id"], state="pending").delete()
    await CheckState.filter(monitor_id=monitor["id"]).update(seen_until=now + HOUR)
    await Monitor.filter(id=monitor["id"]).update(created_at=now - 48 * HOUR)


def _diary_of(monitor_id: UUID) -> list[CheckResult]:
    """Make as many checks as a picture shows, of each outcome."""
    now, outcomes = datetime.now(UTC), [*["up"] * 36, "degraded", "degraded", "down", "unknown"]
    return [
        make_result(monitor_id, now - n * MINUTE, outcome, 20 + 137 * n % 900)
        for n, outcome in enumerate(outcomes)
    ]


async def _rejuvenate(monitor: dict[str, Any]) -> None:
    await Monitor.filter(id=monitor["id"]).update(created_at=datetime.now(UTC) - 59 * MINUTE)


def test_the_box_names_first_what_nobody_has_acknowledged(
    service: RunningService, owner: Visitor, alice: Player
) -> None:
    async def begin() -> None:
        for number in range(NAMED + 3):
            monitor = await create_monitor(
                alice.team_id, {"name": f"Shop {number}", "url": "https://a.example"}
            )
            await break_down(monitor)
            if number >= 3:
                incident = await Incident.get(monitor_id=monitor.id)
                await acknowledge(alice.team_id, incident.id, COMMAND_LINE)

    service.run(begin())
    for path in ("/monitors", "/monitors?search=Shop"):
        _, _, box = owner.open(path).text.partition('id="open-incidents"')
        named = re.findall(r"Shop \d", box.partition("</summary>")[0])
        assert named == ["Shop 2", "Shop 1", "Shop 0", "Shop 7", "Shop 6"]


class TestTheList:
    def test_of_a_new_team_offers_to_create_the_first(self, owner: Visitor) -> None:
        page = owner.open("/monitors")
        assert "No monitors yet" in read_text(page.text)
        assert page.text.count('href="/app/monitors/new"') == 1

    def test_shows_the_teams_monitors_newest_first(
        self, owner: Visitor, member: Visitor, alice: Player, outsider: Visitor
    ) -> None:
        for name in ("First", "Second", "Third"):
            create(alice, name=name)
        assert _listed(owner) == _listed(member) == ["Third", "Second", "First"]
        assert _listed(outsider) == []

    def test_goes_on_where_a_page_ended_with_the_same_filter(
        self, owner: Visitor, alice: Player, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(list_view.DENSITIES, "roomy", list_view.ROOMY._replace(monitors_a_page=2))
        for number in range(5):
            create(alice, name=f"Shop {number}", tags=["shop"])
        create(alice, name="Blog")
        page, seen = owner.open("/monitors?tag=shop"), []
        while True:
            seen.append(page.text.count('<th scope="row">'))
            _, found, rest = page.text.partition('rel="next" href="')
            if not found:
                break
            page = owner.get("/monitors" + rest.partition('"')[0].replace("&amp;", "&"))
        assert seen == [2, 2, 1]

    @pytest.mark.parametrize(
        ("query", "names"),
        [
            ({"status": "paused"}, ["Blog"]),
            ({"tag": "eu"}, ["Shop"]),
            ({"search": " SHOP "}, ["Shop"]),
            ({"search": "example.org"}, ["Blog"]),
            ({"status": "paused", "tag": "eu"}, []),
            ({"status": "", "tag": "", "search": ""}, ["Shop", "Blog"]),
            ({"search": "sh\0op"}, []),
        ],
    )
    def test_is_filtered_as_the_api_is(
        self, owner: Visitor, alice: Player, query: dict[str, str], names: list[str]
    ) -> None:
        create(alice, name="Shop", tags=["eu"])
        create(alice, name="Blog", url="https://blog.example.org/", paused=True)
        assert _listed(owner, **query) == names

    @pytest.mark.parametrize(
        ("name", "text"),
        [("status", "broken"), ("tag", "Größe"), ("search", "x" * 101), ("tag", "\0")],
    )
    def test_says_what_a_filter_must_be(self, owner: Visitor, alice: Player, name: str, text: str) -> None:
        create(alice, name="Shop")
        page = owner.get("/monitors", params={name: text})
        assert page.status_code == 400
        assert f'id="error-{name}"' in page.text
        assert "<tbody>" not in page.text
        assert 'href="/app/monitors">Show all monitors</a>' in page.text
        assert "0 monitors" not in page.text

    @pytest.mark.parametrize("page", ["x", "0", "-1", "²", "9" * 5, "9" * 400, "%00"])
    def test_shows_a_page_that_there_is_whatever_is_asked_for(
        self, owner: Visitor, alice: Player, page: str
    ) -> None:
        create(alice, name="Shop")
        assert _listed(owner, page=page) == ["Shop"]

    def test_says_which_part_of_how_many_a_page_shows(
        self, owner: Visitor, alice: Player, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(list_view.DENSITIES, "roomy", list_view.ROOMY._replace(monitors_a_page=2))
        for number in range(3):
            create(alice, name=f"Shop {number}")
        assert "1 to 2 of 3 Next" in read_text(owner.open("/monitors").text)
        assert "Previous 3 to 3 of 3" in read_text(owner.open("/monitors?page=2").text)

    @pytest.mark.parametrize(
        ("sort", "names"),
        [
            ("worst", ["Broken", "Slow", "Zoo", "apple", "Resting"]),
            ("", ["Broken", "Slow", "Zoo", "apple", "Resting"]),
            ("best", ["Resting", "Zoo", "apple", "Slow", "Broken"]),
            ("name", ["apple", "Broken", "Resting", "Slow", "Zoo"]),
            ("reversed_name", ["Zoo", "Slow", "Resting", "Broken", "apple"]),
            ("slowest", ["Slow", "apple", "Broken", "Zoo", "Resting"]),
            ("quickest", ["Zoo", "Broken", "apple", "Slow", "Resting"]),
            ("newest", ["Zoo", "Slow", "Resting", "Broken", "apple"]),
        ],
    )
    def test_is_ordered_as_its_reader_wants(
        self, service: RunningService, owner: Visitor, alice: Player, sort: str, names: list[str]
    ) -> None:
        states = {"apple": ("up", 90), "Broken": ("down", 80), "Resting": ("paused", None)}
        for name, (status, ms) in {**states, "Slow": ("degraded", 900), "Zoo": ("up", 70)}.items():
            service.run(_settle(create(alice, name=name), status, ms))
        assert _listed(owner, sort=sort) == names

    @pytest.mark.parametrize("sort", list_view.ORDERS)
    def test_shows_each_monitor_on_one_page_whatever_its_order(
        self, owner: Visitor, alice: Player, monkeypatch: pytest.MonkeyPatch, sort: str
    ) -> None:
        monkeypatch.setitem(list_view.DENSITIES, "roomy", list_view.ROOMY._replace(monitors_a_page=2))
        for _ in range(2):
            for name in ("Blog", "Shop"):
                create(alice, name=name)
        pages = [_listed(owner, sort=sort, page=page) for page in ("1", "2", "3")]
        assert sorted(pages[0] + pages[1]) == ["Blog", "Blog", "Shop", "Shop"]
        assert pages[2] == pages[1]  # the last one there is

    @pytest.mark.parametrize(
        ("column", "orders"),
        [
            ("State", [("worst", "ascending"), ("best", "descending")]),
            ("Monitor", [("name", "ascending"), ("reversed_name", "descending")]),
            ("Uptime, 24 h", [("uptime", "ascending"), ("highest_uptime", "descending")]),
            ("Response time", [("slowest", "descending"), ("quickest", "ascending")]),
        ],
    )
    def test_is_turned_round_by_the_head_of_the_column_that_orders_it(
        self, owner: Visitor, alice: Player, column: str, orders: list[tuple[str, str]]
    ) -> None:
        create(alice, tags=["shop"])
        (first, _), (second, _) = orders
        for (sort, direction), leads_to in zip(orders, (second, first), strict=True):
            page = owner.open(f"/monitors?tag=shop&sort={sort}").text
            words = list_view.ORDERS[MonitorOrder(leads_to)]
            link = f'<a href="?tag=shop&amp;sort={leads_to}" title="{words}">{column}</a>'
            assert f'<th scope="col" aria-sort="{direction}">{link}</th>' in page
            assert page.count("aria-sort") == 1


class TestTiles:
    def test_count_the_monitors_in_each_state_and_filter(
        self, service: RunningService, owner: Visitor, alice: Player, outsider: Visitor
    ) -> None:
        for name, status in {"A": "down", "B": "up", "C": "up", "D": "unknown"}.items():
            service.run(_settle(create(alice, name=name, tags=["shop"]), status))
        create(alice, name="Blog")
        text = read_text(owner.open("/monitors").text)
        assert "5 all 1 down 0 degraded 2 up 0 maintenance 0 paused 1 pending 1 unknown" in text
        within = owner.open("/monitors?tag=shop&status=up&sort=name")
        assert "4 all 1 down 0 degraded 2 up 0 maintenance 0 paused 1 unknown" in read_text(within.text)
        assert 'href="?status=down&amp;tag=shop&amp;sort=name"' in within.text
        tiles = within.text.partition('aria-label="States"')[2].partition("</nav>")[0]
        assert tiles.count('aria-current="true"') == 1
        assert "No monitors yet" in read_text(outsider.open("/monitors").text)

    def test_pictures_the_last_checks_and_says_the_same_in_words(
        self, service: RunningService, owner: Visitor, alice: Player
    ) -> None:
        monitor, now = create(alice), datetime.now(UTC)
        outcomes = ["down", "up", "up", "degraded"]
        service.run(
            write_down(
                [
                    make_result(UUID(monitor["id"]), now - n * MINUTE, outcome, 40 + n)
                    for n, outcome in enumerate(outcomes)
                ]
            )
        )
        page = owner.open("/monitors").text
        drawn = dict(part.split('"')[0::2][:2] for part in page.split('<path class="')[1:])
        assert {look: path.count("M") for look, path in drawn.items()} == Counter(outcomes)
        assert "<title>Last 4 checks: typical 42 ms, slowest 43 ms, 1 failed</title>" in page


class TestRows:
    def test_are_written_for_each_reader_and_each_view(
        self, service: RunningService, owner: Visitor, alice: Player
    ) -> None:
        monitor = create(alice, tags=["eu", "shop"])
        until = datetime.now(UTC) + HOUR
        service.run(store_mutes(owner.team.id, [UUID(monitor["id"])], until, "Alice"))
        usual = _rows(owner.open("/monitors"))
        with Visitor(service, owner.team, Role.VIEWER) as viewer:
            others = [viewer.open("/monitors"), owner.open("/monitors?tag=eu")]
        owner.cookies.set("zone", "Asia/Kolkata")
        others.append(owner.open("/monitors"))
        owner.cookies.delete("zone")
        others.append(owner.open("/monitors?density=compact"))
        assert len({usual, *map(_rows, others)}) == 5
        assert _rows(owner.open("/monitors?density=roomy")) == usual

    def test_say_what_changed_about_a_monitor_and_around_it(
        self, service: RunningService, owner: Visitor, alice: Player
    ) -> None:
        monitor, now = create(alice), datetime.now(UTC)
        monitor_id = UUID(monitor["id"])
        seen = {_rows(owner.open("/monitors"))}
        changes = (
            _settle(monitor, "up", 87),
            _check(monitor, now),
            _check(monitor, now + timedelta(microseconds=1)),
            _live(monitor, 3),
            write_down([make_result(monitor_id, now, "up", 87)]),
            store_mutes(owner.team.id, [monitor_id], None, "Alice"),
        )
        for count, change in enumerate(changes, start=2):
            service.run(change)
            seen.add(_rows(owner.open("/monitors")))
            assert len(seen) == count


class TestSize:
    def test_of_a_full_page_with_tags_and_pictures_is_far_below_100_kb(
        self, service: RunningService, owner: Visitor, alice: Player
    ) -> None:
        tags = ["payments", "marketing", "internal", "eu-west-1", "critical"]
        for number in range(list_view.ROOMY.monitors_a_page):
            host = f"region-{number}.shop.acme.example"
            monitor = create(
                alice, name=f"Checkout of {host}", url=f"https://{host}/checkout/health", tags=tags
            )
            service.run(write_down(_diary_of(UUID(monitor["id"]))))
        page = owner.open("/monitors")
        assert page.text.count("<title>Last 40 checks") == list_view.ROOMY.monitors_a_page
        assert len(page.content) < 90_000


class TestUptime:
    def test_of_the_last_24_hours_stands_in_each_row_and_orders_the_list(
        self, service: RunningService, owner: Visitor, alice: Player
    ) -> None:
        for name, hours_down in {"Good": -1, "Bad": 12, "Worse": 18, "New": None}.items():
            service.run(_live(create(alice, name=name), hours_down))
        page = owner.open("/monitors?sort=uptime")
        assert _listed(owner, sort="uptime") == ["Worse", "Bad", "Good", "New"]
        assert _listed(owner, sort="highest_uptime") == ["Good", "Bad", "Worse", "New"]
        uptimes = page.text.split('class="number uptime">')[1:]
        assert [read_text(each.partition("</td>")[0]) for each in uptimes] == [
            "25.06 %",
            "50.06 %",
            "100 %",
            "not enough data",
        ]

    def test_of_a_monitor_that_is_younger_than_an_hour_says_of_how_long(
        self, service: RunningService, owner: Visitor, alice: Player
    ) -> None:
        monitor = create(alice)
        service.run(_live(monitor, 12))
        service.run(_rejuvenate(monitor))
        _, uptime = owner.open("/monitors").text.split('class="number uptime">')
        assert read_text(uptime).startswith("50.06 % of 59 min")

    def test_leaves_time_in_maintenance_out(
        self, service: RunningService, owner: Visitor, alice: Player
    ) -> None:
        monitor, now = create(alice), datetime.now(UTC)
        service.run(_live(monitor, 12))
        span = MaintenanceSpan(monitor_id=monitor["id"], starts_at=now - 48 * HOUR, ends_at=now + HOUR)
        service.run(span.save())
        assert "not enough data" in read_text(owner.open("/monitors").text)


class TestTags:
    def test_are_listed_with_their_numbers_and_filter(self, owner: Visitor, alice: Player) -> None:
        create(alice, name="Shop", tags=["eu", "shop"])
        create(alice, name="Blog", tags=["eu"])
        create(alice, name="Plain")
        page = owner.open("/monitors?sort=name").text
        tags = read_text(page.partition('aria-label="Tags">')[2].partition("</nav>")[0])
        assert tags == "eu 2 shop 1"
        assert 'href="?tag=shop&amp;sort=name"' in page
        assert _listed(owner, tag="shop", status="up") == []

    def test_filter_together_with_each_other_and_with_a_search_and_a_state(
        self, service: RunningService, owner: Visitor, alice: Player
    ) -> None:
        both = {name: create(alice, name=name, tags=["eu", "shop", name.lower()]) for name in ("One", "Two")}
        create(alice, name="Eu", tags=["eu"])
        create(alice, name="Shop", tags=["shop", "us"])
        service.run(_settle(both["Two"], "down"))
        assert _listed(owner, tag="shop,eu", sort="name") == ["One", "Two"]
        assert _listed(owner, tag=["shop", "eu"], sort="name") == ["One", "Two"]
        assert _listed(owner, tag="shop,eu", search="two") == ["Two"]
        assert _listed(owner, tag="shop,eu", status="down") == ["Two"]
        assert _listed(owner, tag="shop,eu,us") == []
        page = owner.open("/monitors?tag=shop,eu&sort=name").text
        assert "2 monitors with the tags shop and eu" in read_text(page)
        tags = page.partition('aria-label="Tags">')[2].partition("</nav>")[0]
        assert read_text(tags) == "shop 2 eu 2 one 1 two 1"
        assert 'href="?tag=eu&amp;sort=name" aria-current="true">shop' in tags
        assert 'href="?tag=shop%2Ceu%2Cone&amp;sort=name">one' in tags
        assert owner.open("/monitors?group=tag&tag=shop,eu").text.count('<h2 id="group-') == 1
        assert owner.open("/monitors?tag=shop,No").status_code == 400

    def test_make_groups_worst_first_in_which_a_monitor_stands_once_a_tag(
        self, service: RunningService, owner: Visitor, alice: Player
    ) -> None:
        create(alice, name="Plain")
        create(alice, name="Shop", tags=["eu", "shop"])
        service.run(_settle(create(alice, name="Blog", tags=["web"]), "down"))
        page = owner.open("/monitors?group=tag").text
        titles = [read_text(part.partition("</h2>")[0]) for part in page.split('<h2 id="group-')[1:]]
        assert [title.partition(">")[2] for title in titles] == ["web", "eu", "shop", "Without a tag"]
        assert page.count(">Shop</bdi>") == 2
        within = owner.open("/monitors?group=tag&tag=eu").text
        assert within.count('<h2 id="group-') == 1

    def test_show_all_that_is_down_in_a_group(
        self, service: RunningService, owner: Visitor, alice: Player, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(list_view.DENSITIES, "roomy", list_view.ROOMY._replace(monitors_a_page=2))
        for name, status in {"Fine": "up", "A": "down", "B": "down", "C": "down", "Also fine": "up"}.items():
            service.run(_settle(create(alice, name=name, tags=["prod"]), status))
        for order in ("", "&sort=reversed_name"):
            page = owner.open(f"/monitors?group=tag{order}").text
            assert {name for name in "ABC" if f"<bdi>{name}</bdi>" in _rows_of(page)} == set("ABC")
            assert "<bdi>Also fine</bdi>" not in _rows_of(page)
        assert "3 of 5. Show all with the tag prod" in read_text(owner.open("/monitors?group=tag").text)

    def test_show_what_is_down_up_to_a_bound(
        self, service: RunningService, owner: Visitor, alice: Player, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(list_page, "MAX_DOWN", 2)
        monkeypatch.setitem(list_view.DENSITIES, "roomy", list_view.ROOMY._replace(monitors_a_page=2))
        for number in range(5):
            service.run(_settle(create(alice, name=f"Shop {number}", tags=["prod"]), "down"))
        assert "3 of 5." in read_text(owner.open("/monitors?group=tag").text)


class TestDensity:
    def test_is_remembered_by_the_browser(self, owner: Visitor, alice: Player) -> None:
        create(alice, name="Shop", url="https://shop.example/")
        assert 'class="address"' in owner.open("/monitors").text
        assert 'class="address"' not in owner.open("/monitors?density=compact").text
        assert 'class="address"' not in owner.open("/monitors").text
        assert 'class="address"' in owner.open("/monitors?density=roomy").text

    def test_that_nobody_knows_is_the_usual_one(self, owner: Visitor, alice: Player) -> None:
        create(alice)
        assert 'class="address"' in owner.open("/monitors?density=gaseous").text
        assert "density" not in owner.cookies


class TestWhoIsTold:
    def test_is_asked_of_a_team_without_channels(self, owner: Visitor, alice: Player) -> None:
        assert "Nobody is notified" not in read_text(owner.open("/monitors").text)
        create(alice)
        page = read_text(owner.open("/monitors").text)
        assert "Nobody is notified when a monitor goes down. Choose whom to alert." in page
        assert "no alerts" not in page

    def test_leads_a_viewer_nowhere_but_to_members(
        self, service: RunningService, owner: Visitor, alice: Player
    ) -> None:
        monitor = create(alice)
        service.run(break_down(_row_of(service, monitor)))
        (incident,) = alice.get("/api/incidents").json()["incidents"]
        with Visitor(service, owner.team, Role.VIEWER) as viewer:
            for path in ("/monitors", f"/monitors/{monitor['id']}", f"/incidents/{incident['id']}"):
                page = viewer.open(path).text
                (warning,) = re.findall(r'<p class="warning">(Nobody is notified .*)</p>', page)
                assert warning.endswith(" Ask a member of your team to choose whom to alert.")
                assert "Choose whom to alert" in read_text(owner.open(path).text)

    def test_stands_beside_monitors_that_tell_nobody(self, owner: Visitor, alice: Player) -> None:
        create(alice, name="Shop", tags=["shop"])
        create(alice, name="Blog")
        routing = {"tags": ["shop"]}
        register(alice, routing=routing)
        page = read_text(owner.open("/monitors?sort=name").text)
        assert "Blog no alerts" in page
        assert page.count("no alerts") == 1
        assert "Nobody is notified" not in page


class TestReasons:
    @pytest.mark.parametrize(
        ("error", "words"), [("slow", "Slow"), ("tls_expiring", "Certificate expires soon")]
    )
    def test_of_a_degraded_monitor_stand_below_its_state(
        self, service: RunningService, owner: Visitor, alice: Player, error: str, words: str
    ) -> None:
        monitor = create(alice, name="Shop")

        async def degrade() -> None:
            await Monitor.filter(id=monitor["id"]).update(status="degraded")
            await CheckState.filter(monitor_id=monitor["id"]).update(last_error=error)

        service.run(degrade())
        assert f"degraded {words}" in read_text(owner.open("/monitors").text)


class TestOpenIncidents:
    def test_stand_above_the_list_until_they_end(
        self, service: RunningService, owner: Visitor, alice: Player, outsider: Visitor
    ) -> None:
        monitor = _row_of(service, create(alice, name="Broken shop"))
        service.run(break_down(monitor))
        text = read_text(owner.open("/monitors").text)
        assert "1 open incident Broken shop" in text
        assert SENTENCE in text
        assert "open incident" not in read_text(outsider.open("/monitors").text)
        service.run(resolve(monitor))
        assert "open incident" not in read_text(owner.open("/monitors").text)

    def test_say_who_takes_care_of_them_by_name_here_and_in_the_lists_of_incidents(
        self, service: RunningService, owner: Visitor, alice: Player
    ) -> None:
        monitors = [_row_of(service, create(alice, name=name)) for name in ("Shop", "Blog", "Wiki")]
        actors = (Actor(owner.email), key_holder("Deploy", alice.client_id), None)

        async def answer(monitor: Monitor, actor: Actor | None) -> None:
            await break_down(monitor)
            incident = await Incident.get(monitor_id=monitor.id)
            if actor:
                await acknowledge(alice.team_id, incident.id, actor)

        for monitor, actor in zip(monitors, actors, strict=True):
            service.run(answer(monitor, actor))
        for path in ("/monitors", "/incidents"):
            text = read_text(owner.open(path).text)
            assert text.count("acknowledged by Alice") == 1
            assert text.count("acknowledged by API key Deploy") == 1
            assert text.count("acknowledged by") == 2
        assert "3 open incidents, 2 acknowledged" in read_text(owner.open("/monitors").text)
        assert "acknowledged by Alice" in read_text(owner.open(f"/monitors/{monitors[0].id}").text)

        async def lose_the_name() -> None:
            await User.filter(id=owner.user.id).update(name="")

        service.run(lose_the_name())
        assert f"acknowledged by {owner.email}" in read_text(owner.open("/monitors").text)
        service.run(resolve(monitors[0]))
        assert "acknowledged by API key Deploy" in read_text(owner.open("/incidents").text)
        assert owner.email not in read_text(owner.open("/incidents").text.partition("</main>")[0])

    def test_are_counted_where_not_all_are_named(
        self, service: RunningService, owner: Visitor, alice: Player
    ) -> None:
        for number in range(NAMED + 1):
            service.run(break_down(_row_of(service, create(alice, name=f"Shop {number}"))))
        page = owner.open("/monitors")
        assert f"{NAMED + 1} open incidents" in read_text(page.text)
        assert 'href="/app/incidents?state=open"' in page.text

    def test_are_those_of_the_monitors_that_the_filter_finds(
        self, service: RunningService, owner: Visitor, alice: Player
    ) -> None:
        for name, tags in {"Shop": ["eu"], "Blog": ["us"], "Wiki": ["us"]}.items():
            service.run(break_down(_row_of(service, create(alice, name=name, tags=tags))))
        create(alice, name="Fine")
        boxes = {
            "": "3 open incidents Wiki, Blog, Shop",
            "?tag=eu": "1 open incident, 2 more outside this filter Shop:",
            "?tag=us": "2 open incidents, 1 more outside this filter Wiki, Blog",
            "?search=fine": "3 open incidents outside this filter",
        }
        for query, told in boxes.items():
            page = owner.open(f"/monitors{query}").text
            assert told in read_text(page.partition('id="open"')[2].partition("<form class=")[0])
            assert "<title>(3 down) Monitors" in page

    def test_stand_in_a_list_that_tells_what_is_wrong_with_each_monitor(
        self, service: RunningService, owner: Visitor, alice: Player
    ) -> None:
        async def settle(monitor: dict[str, Any], status: str, error: str) -> None:
            await _settle(monitor, status)
            await CheckState.filter(monitor_id=monitor["id"]).update(last_error=error)

        wrong = {"down": "timeout", "degraded": "slow", "validating": "dns_failure", "up": "slow"}
        for status, error in wrong.items():
            service.run(settle(create(alice, name=status), status, error))
        for density in ("roomy", "compact"):
            rows = read_text(_rows(owner.open(f"/monitors?density={density}")))
            for told in ("down Timeout", "validating Name not found", "degraded Slow"):
                assert told in rows
            assert rows.count("Slow") == 1


class TestTheListOfIncidents:
    def test_names_monitors_even_those_that_are_deleted(
        self, service: RunningService, owner: Visitor, alice: Player, outsider: Visitor
    ) -> None:
        for name in ("Broken", "Healed", "Gone"):
            monitor = create(alice, name=name)
            service.run(break_down(_row_of(service, monitor)))
            if name == "Healed":
                service.run(resolve(_row_of(service, monitor)))
            if name == "Gone":
                assert alice.delete(f"/api/monitors/{monitor['id']}").status_code == 204
        every, opened = owner.open("/incidents"), owner.open("/incidents?state=open")
        assert every.text.count(SENTENCE) == 3
        assert "a deleted monitor" in every.text
        assert opened.text.count(SENTENCE) == 1
        assert "Broken" in opened.text
        assert "Healed" in owner.open("/incidents?state=resolved").text
        assert SENTENCE not in outsider.open("/incidents").text

    def test_takes_an_unknown_state_for_all(self, owner: Visitor) -> None:
        assert owner.open("/incidents?state=nonsense").status_code == 200
