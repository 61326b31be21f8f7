"""The list of monitors: all of the team's, none of another's, with their last checks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from app.visitor import read_text
from checks.diary import make_result, write_down
from incidents.breakdowns import SENTENCE, break_down, resolve
from monitoring.app.pages import monitors
from monitoring.monitors.models import Monitor
from monitors.conversations import create

if TYPE_CHECKING:
    from app.visitor import Visitor
    from cast import Player
    from running_service import RunningService

MINUTE = timedelta(minutes=1)


def _row_of(service: RunningService, monitor: dict[str, Any]) -> Monitor:
    async def get() -> Monitor:
        return await Monitor.get(id=monitor["id"]).select_related("watch")

    return service.run(get())


def _listed(visitor: Visitor, **query: str) -> list[str]:
    """Return the names on the list, in order."""
    page = visitor.get("/monitors", params=query)
    assert page.status_code == 200
    rows = page.text.partition("<tbody>")[2].partition("</tbody>")[0].split('<th scope="row">')[1:]
    return [read_text(row.partition("</a>")[0]) for row in rows]


class TestTheList:
    def test_of_a_new_team_offers_to_create_the_first(self, owner: Visitor) -> None:
        page = owner.open("/monitors")
        assert "No monitors yet" in read_text(page.text)
        assert page.text.count('href="/app/monitors/new"') == 2

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
        monkeypatch.setattr(monitors, "MONITORS_A_PAGE", 2)
        for number in range(5):
            create(alice, name=f"Shop {number}", tags=["shop"])
        create(alice, name="Blog")
        page, seen = owner.open("/monitors?tag=shop"), []
        while True:
            seen.append(page.text.count('<th scope="row">'))
            _, found, rest = page.text.partition('rel="next" href="')
            if not found:
                break
            page = owner.get(rest.partition('"')[0].replace("&amp;", "&").removeprefix("/app"))
        assert seen == [2, 2, 1]

    @pytest.mark.parametrize(
        ("query", "names"),
        [
            ({"status": "paused"}, ["Blog"]),
            ({"tag": "eu"}, ["Shop"]),
            ({"search": " SHOP "}, ["Shop"]),
            ({"search": "example.org"}, ["Blog"]),
            ({"status": "paused", "tag": "eu"}, []),
            ({"status": "", "tag": "", "search": ""}, ["Blog", "Shop"]),
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

    @pytest.mark.parametrize("cursor", ["x", "A" * 23, "%00"])
    def test_begins_anew_with_a_cursor_that_it_did_not_give(
        self, owner: Visitor, alice: Player, cursor: str
    ) -> None:
        create(alice, name="Shop")
        assert _listed(owner, cursor=cursor) == ["Shop"]

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
        assert page.count("<rect ") == 4
        assert [part.partition('"')[0] for part in page.split('<rect class="')[1:]] == outcomes[::-1]
        assert 'aria-label="Last 4 checks: typical 42 ms, slowest 43 ms, 1 failed"' in page


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

    def test_are_counted_where_not_all_are_named(
        self, service: RunningService, owner: Visitor, alice: Player
    ) -> None:
        for number in range(monitors.OPEN_INCIDENTS_NAMED + 1):
            service.run(break_down(_row_of(service, create(alice, name=f"Shop {number}"))))
        page = owner.open("/monitors")
        assert f"{monitors.OPEN_INCIDENTS_NAMED + 1} open incidents" in read_text(page.text)
        assert 'href="/app/incidents?state=open"' in page.text


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
