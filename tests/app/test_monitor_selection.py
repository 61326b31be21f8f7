"""Several monitors at once: paused, resumed, tagged, muted, deleted, and kept after all."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from app.visitor import Visitor, read_forms, read_text
from incidents.breakdowns import break_down, resolve
from monitoring.app.monitors import selection as monitor_selection
from monitoring.app.sentences import NOTICES, REFUSALS
from monitoring.monitors.deleting import UNDO_TIME, carry_out_deletions
from monitoring.monitors.models import Monitor
from monitoring.notifications.muting import find_muted, list_mutes
from monitors.conversations import create
from notifications.conversations import list_deliveries, register

if TYPE_CHECKING:
    import httpx

    from cast import Player
    from running_service import RunningService

SELECTED = "/monitors/selected"


def act(visitor: Visitor, act: str, *monitors: dict[str, Any], **fields: str) -> httpx.Response:
    """Tick monitors of the list, and press a button."""
    chosen = {"monitor": [each["id"] for each in monitors]} if monitors else {}
    return visitor.submit("/monitors", SELECTED, act=act, **chosen, **fields)


def read(player: Player, monitor: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = player.get(f"/api/monitors/{monitor['id']}").raise_for_status().json()
    return found


def delete(visitor: Visitor, *monitors: dict[str, Any], **fields: str) -> httpx.Response:
    """Tick monitors, press "Delete", and confirm it."""
    asked = act(visitor, "delete", *monitors, **fields)
    form = visitor_form(asked, "/app/monitors/selected/delete")
    return visitor.post(SELECTED + "/delete", data=form)


def visitor_form(page: httpx.Response, action: str) -> dict[str, Any]:
    """Return what the form of a page sends; of hidden fields with one name it sends all."""
    body = page.text.partition(f'action="{action}')[2].partition("</form>")[0]
    fields: dict[str, Any] = {}
    for part in body.split('<input type="hidden" name="')[1:]:
        name, value = part.split('"')[0], part.split('value="')[1].split('"')[0]
        fields.setdefault(name, []).append(value)
    return fields


def undo(visitor: Visitor) -> httpx.Response:
    page = visitor.open("/monitors")
    action = page.text.partition('action="/app/monitors/deletions/')[2].partition('"')[0]
    return visitor.submit("/monitors", f"/monitors/deletions/{action}")


def log_of(owner: Visitor) -> str:
    return read_text(owner.open("/settings/audit-log").text)


class TestRefused:
    def test_keeps_what_was_selected_and_typed_and_gives_the_reason(
        self, owner: Visitor, alice: Player
    ) -> None:
        chosen, other = (create(alice, name=name, tags=["shop"]) for name in ("Chosen", "Other"))
        create(alice, name="Elsewhere")
        opened = owner.open("/monitors?tag=shop").text
        action = next(each for each in read_forms(opened) if SELECTED in each)
        typed = read_forms(opened)[action] | {
            "act": "tag",
            "new_tag": "Not OK!",
            "monitor": [chosen["id"]],
        }
        answer = owner.post(action.removeprefix("/app"), data=typed)
        assert answer.status_code == 400
        assert f'role="alert" id="error-selected">{REFUSALS["tag_refused"]}' in answer.text
        assert f'value="{chosen["id"]}" checked' in answer.text
        assert f'value="{other["id"]}" checked' not in answer.text
        assert "Elsewhere" not in read_text(answer.text)
        again = read_forms(answer.text)[action] | {"act": "tag", "new_tag": "ok"}
        assert again["monitor"] == [chosen["id"]]
        assert (
            "The selected monitors have the tag." in owner.post(action.removeprefix("/app"), data=again).text
        )
        assert read(alice, chosen)["tags"] == ["shop", "ok"]

    def test_nothing_is_done_with_nothing(self, owner: Visitor, alice: Player) -> None:
        create(alice, name="Shop")
        answer = act(owner, "pause")
        assert answer.status_code == 400
        assert f'role="alert" id="error-selected">{REFUSALS["nothing_selected"]}' in answer.text


class TestPausing:
    def test_concerns_what_is_selected_and_is_in_the_audit_log_once_each(
        self, owner: Visitor, alice: Player
    ) -> None:
        first, second, third = (create(alice, name=name) for name in ("First", "Second", "Third"))
        page = act(owner, "pause", first, second)
        assert "The selected monitors are paused." in read_text(page.text)
        assert [read(alice, each)["paused"] for each in (first, second, third)] == [True, True, False]
        act(owner, "pause", first, second)
        assert log_of(owner).count("paused the monitor") == 2
        act(owner, "resume", first)
        assert [read(alice, each)["paused"] for each in (first, second)] == [False, True]
        assert log_of(owner).count("resumed the monitor") == 1

    def test_of_all_concerns_what_the_filter_finds_on_other_pages_too(
        self, owner: Visitor, alice: Player
    ) -> None:
        shops = [create(alice, name=f"Shop {number}", tags=["shop"]) for number in range(3)]
        blog = create(alice, name="Blog")
        owner.submit("/monitors?tag=shop", SELECTED + "?tag=shop", act="pause", all="on")
        assert [read(alice, each)["paused"] for each in shops] == [True] * 3
        assert not read(alice, blog)["paused"]

    def test_of_nothing_says_so(self, owner: Visitor, alice: Player) -> None:
        create(alice)
        assert "select at least one monitor first" in read_text(act(owner, "pause").text)

    def test_passes_over_monitors_of_others_and_those_that_are_gone(
        self, owner: Visitor, alice: Player, charlie: Player
    ) -> None:
        gone, mine, theirs = create(alice), create(alice), create(charlie)
        alice.delete(f"/api/monitors/{gone['id']}").raise_for_status()
        assert act(owner, "pause", gone, theirs, mine).status_code == 200
        assert read(alice, mine)["paused"]
        assert not read(charlie, theirs)["paused"]

    def test_that_takes_too_long_says_that_it_is_to_go_on(
        self, owner: Visitor, alice: Player, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(monitor_selection, "LONGEST_ACT_SECONDS", -1.0)
        assert NOTICES["monitors_unfinished"] in read_text(act(owner, "pause", create(alice)).text)

    @pytest.mark.parametrize("fields", [{"act": "explode"}, {"act": "pause", "monitor": "none"}])
    def test_by_a_form_that_is_not_ours_does_nothing(
        self, owner: Visitor, alice: Player, fields: dict[str, str]
    ) -> None:
        monitor = create(alice)
        sent = {"monitor": monitor["id"]} | fields
        assert owner.submit("/monitors", SELECTED, **sent).status_code == 404
        assert not read(alice, monitor)["paused"]

    def test_is_not_offered_to_a_viewer(self, service: RunningService, owner: Visitor, alice: Player) -> None:
        create(alice, name="Shop")
        with Visitor(service, owner.team, "viewer") as viewer:
            page = viewer.open("/monitors").text
            assert "Shop" in read_text(page)
            assert SELECTED not in page
            assert 'type="checkbox"' not in page


class TestTagging:
    def test_adds_a_tag_and_takes_it_away(self, owner: Visitor, alice: Player) -> None:
        first, second = create(alice, tags=["eu"]), create(alice)
        act(owner, "tag", first, second, new_tag="shop")
        assert [read(alice, each)["tags"] for each in (first, second)] == [["eu", "shop"], ["shop"]]
        act(owner, "untag", first, second, new_tag="eu")
        assert [read(alice, each)["tags"] for each in (first, second)] == [["shop"], ["shop"]]
        assert log_of(owner).count("changed the monitor") == 3

    @pytest.mark.parametrize("tag", ["", "Größe", "two words"])
    def test_refuses_what_is_no_tag(self, owner: Visitor, alice: Player, tag: str) -> None:
        monitor = create(alice, tags=["eu"])
        page = act(owner, "tag", monitor, new_tag=tag)
        assert "a tag has lower-case letters" in read_text(page.text)
        assert read(alice, monitor)["tags"] == ["eu"]

    def test_leaves_a_monitor_with_ten_tags_and_says_so(self, owner: Visitor, alice: Player) -> None:
        full, other = create(alice, tags=[f"t{number}" for number in range(10)]), create(alice)
        page = act(owner, "tag", full, other, new_tag="shop")
        assert NOTICES["monitors_tagged_in_part"] in read_text(page.text)
        assert len(read(alice, full)["tags"]) == 10
        assert read(alice, other)["tags"] == ["shop"]


class TestDeleting:
    def test_asks_first(self, owner: Visitor, alice: Player) -> None:
        monitor = create(alice, name="Shop")
        page = act(owner, "delete", monitor)
        asked = read_text(page.text)
        assert "Delete the monitor? Shop It leaves the list now" in asked
        assert "Keep it" in asked
        assert "Shop" in read_text(owner.open("/monitors").text)

    def test_takes_monitors_off_the_list_and_can_be_undone(
        self, owner: Visitor, member: Visitor, alice: Player, service: RunningService
    ) -> None:
        first, second, other = create(alice, name="First"), create(alice, name="Second"), create(alice)
        page = read_text(delete(owner, first, second).text)
        assert "2 monitors will be deleted at" in page
        assert "First" not in page
        assert "1 all" in page
        assert "First" in read_text(undo(member).text)
        assert "will be deleted" not in read_text(owner.open("/monitors").text)
        service.run(carry_out_deletions(datetime.now(UTC) + 2 * UNDO_TIME))
        assert [read(alice, each)["id"] for each in (first, second, other)]
        words = log_of(owner)
        assert words.count("deleted the monitor") == words.count("undid the deletion of the monitor") == 2

    def test_is_carried_out_when_the_time_is_over_and_not_before(
        self, owner: Visitor, alice: Player, service: RunningService
    ) -> None:
        monitor, now = create(alice), datetime.now(UTC)
        delete(owner, monitor)
        service.run(carry_out_deletions(now))
        assert read(alice, monitor)
        service.run(carry_out_deletions(now + UNDO_TIME + timedelta(minutes=1)))
        assert alice.get(f"/api/monitors/{monitor['id']}").status_code == 404
        assert "No monitors yet" in read_text(owner.open("/monitors").text)

    def test_of_all_concerns_what_the_filter_finds(self, owner: Visitor, alice: Player) -> None:
        create(alice, name="Shop", tags=["shop"])
        create(alice, name="Blog")
        asked = owner.submit("/monitors?tag=shop", SELECTED + "?tag=shop", act="delete", all="on")
        form = visitor_form(asked, "/app/monitors/selected/delete?tag=shop")
        owner.post(SELECTED + "/delete?tag=shop", data=form)
        page = read_text(owner.open("/monitors").text)
        assert "1 monitor will be deleted" in page
        assert "Blog" in page
        place = "/monitors?tag=shop&sort=name&group=tag"
        [action] = [each for each in read_forms(owner.open(place).text) if "/undo" in each]
        kept = owner.submit(place, action.removeprefix("/app"))
        assert kept.url.path + "?" + kept.url.query.decode() == f"/app{place}"
        assert "Shop" in read_text(kept.text)

    def test_twice_deletes_once(self, owner: Visitor, member: Visitor, alice: Player) -> None:
        monitor, other = create(alice, name="Shop"), create(alice)
        form = visitor_form(act(owner, "delete", monitor), "/app/monitors/selected/delete")
        for _ in range(2):
            page = owner.post(SELECTED + "/delete", data=form)
        assert page.text.count("will be deleted") == 1
        assert log_of(owner).count("deleted the monitor") == 1
        del other, member

    def test_of_another_team_is_nobodys_to_undo(
        self, owner: Visitor, outsider: Visitor, alice: Player, charlie: Player, service: RunningService
    ) -> None:
        monitor = create(alice)
        delete(owner, monitor)
        assert "will be deleted" not in read_text(outsider.open("/monitors").text)
        page = owner.open("/monitors").text.partition('action="/app/monitors/deletions/')[2].partition('"')[0]
        token = outsider.open("/settings/account").text.partition('name="csrf_token" value="')[2]
        sent = {"csrf_token": token.partition('"')[0]}
        late = outsider.post(f"/monitors/deletions/{page}", data=sent)
        assert "too late to undo" in read_text(late.text)
        assert "will be deleted" in read_text(owner.open("/monitors").text)
        del charlie, service


class TestMuting:
    def test_keeps_a_monitor_from_telling_anybody_until_it_is_unmuted(
        self, owner: Visitor, alice: Player, service: RunningService
    ) -> None:
        channel, monitor = register(alice), create(alice, name="Shop")
        row = service.run(_row_of(monitor))
        page = act(owner, "mute", monitor)
        assert "Shop muted" in read_text(page.text)
        service.run(break_down(row))
        service.run(resolve(row))
        assert list_deliveries(alice, channel) == []
        page = act(owner, "unmute", monitor)
        assert "Shop muted" not in read_text(page.text)
        service.run(break_down(row))
        assert [each["event"] for each in list_deliveries(alice, channel)] == ["incident.opened"]
        words = log_of(owner)
        assert "muted the monitor" in words
        assert "unmuted the monitor" in words

    def test_still_tells_the_end_of_what_was_told(
        self, owner: Visitor, alice: Player, service: RunningService
    ) -> None:
        channel, monitor = register(alice), create(alice)
        row = service.run(_row_of(monitor))
        service.run(break_down(row))
        act(owner, "mute", monitor)
        service.run(resolve(row))
        events = {each["event"] for each in list_deliveries(alice, channel)}
        assert events == {"incident.opened", "incident.resolved"}

    def test_for_a_time_ends_by_itself(self, owner: Visitor, alice: Player, service: RunningService) -> None:
        monitor = create(alice, name="Shop")
        page = act(owner, "mute", monitor, mute_hours="8")
        assert "Shop muted until" in read_text(page.text)
        muted = service.run(_muted_at(monitor, datetime.now(UTC) + timedelta(hours=9)))
        assert not muted
        assert act(owner, "mute", monitor, mute_hours="for ever").status_code == 404


async def _row_of(monitor: dict[str, Any]) -> Monitor:
    return await Monitor.get(id=monitor["id"]).select_related("check_state")


async def _muted_at(monitor: dict[str, Any], moment: datetime) -> bool:
    row = await _row_of(monitor)
    return row.id in find_muted(await list_mutes(row.team_id), moment)
