"""Settings, maintenance: starting, planning, ending, changing and deleting windows without a script."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from app.visitor import Visitor, read_forms, read_text
from history.diary import make_result, write_down
from monitoring.app import zones
from monitoring.app.maintenance.form import list_time_zones
from monitoring.app.sentences import NOTICES, REFUSALS
from monitoring.audit.service import list_entries
from monitoring.contract.timestamps import read_timestamp
from monitors.conversations import create, read

if TYPE_CHECKING:
    from cast import Player
    from running_service import RunningService

PAGE = "/settings/maintenance"
API = "/api/maintenance-windows"
BERLIN = ZoneInfo("Europe/Berlin")


def list_windows(player: Player) -> list[dict[str, Any]]:
    windows: list[dict[str, Any]] = player.get(API).raise_for_status().json()["maintenance_windows"]
    return windows


def plan(visitor: Visitor, **texts: Any) -> Any:
    return visitor.submit(f"{PAGE}/new", **texts)


def local(moment: datetime, zone: ZoneInfo = BERLIN) -> str:
    return f"{moment.astimezone(zone):%Y-%m-%dT%H:%M}"


class TestNew:
    def test_begins_now_for_half_an_hour_and_all_monitors(self, member: Visitor, alice: Player) -> None:
        monitor = create(alice)
        page = plan(member)
        assert NOTICES["maintenance_created"] in page.text
        (window,) = list_windows(alice)
        assert (window["state"], window["duration_seconds"]) == ("active", 1800)
        assert (window["monitor_ids"], window["tags"]) == ([], [])
        assert read(alice, monitor)["status"] == "maintenance"
        assert "Active" in read_text(page.text)

    def test_is_planned_in_its_time_zone(self, member: Visitor, alice: Player) -> None:
        begin = (datetime.now(UTC) + timedelta(days=2)).replace(second=0, microsecond=0)
        plan(
            member,
            name="Move",
            time_zone="Europe/Berlin",
            starts_at=local(begin),
            ends_at=local(begin + timedelta(minutes=95)),
            tags="Shop, EU",
        )
        (window,) = list_windows(alice)
        assert read_timestamp(window["starts_at"]) == begin
        assert window["duration_seconds"] == 95 * 60
        assert (window["name"], window["state"], window["tags"]) == ("Move", "scheduled", ["shop", "eu"])

    @pytest.mark.parametrize(
        ("rule", "words"),
        [
            ("FREQ=DAILY", "every day at %H:%M, Europe/Berlin"),
            ("FREQ=WEEKLY", "every %A at %H:%M, Europe/Berlin"),
            ("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", "from Monday to Friday at %H:%M, Europe/Berlin"),
            ("FREQ=MONTHLY", "every month on day %-d at %H:%M, Europe/Berlin"),
        ],
    )
    def test_recurs_as_chosen(self, member: Visitor, alice: Player, rule: str, words: str) -> None:
        begin = datetime.now(BERLIN) + timedelta(days=40)
        texts = {"time_zone": "Europe/Berlin", "starts_at": local(begin), "recurrence": rule}
        assert begin.strftime(words) in read_text(plan(member, **texts).text)
        assert list_windows(alice)[0]["recurrence"] == rule

    def test_is_for_the_monitor_whose_page_led_here_and_leads_back_there(
        self, member: Visitor, alice: Player
    ) -> None:
        wanted, other = create(alice, name="Shop"), create(alice)
        assert f"{PAGE}/new?monitor={wanted['id']}" in member.open(f"/monitors/{wanted['id']}").text
        form = f"{PAGE}/new?monitor={wanted['id']}"
        answer = member.submit(form, action=form)
        assert answer.url.path == f"/app/monitors/{wanted['id']}"
        assert NOTICES["maintenance_created"] in answer.text
        assert list_windows(alice)[0]["monitor_ids"] == [wanted["id"]]
        assert [read(alice, each)["status"] for each in (wanted, other)] == ["maintenance", "pending"]
        page = read_text(member.open(f"/monitors/{wanted['id']}").text)
        assert "maintenance It is in maintenance" in page
        assert " until " in page
        assert "in maintenance 0 s" in page or "in maintenance 1 s" in page

    def test_tells_everything_that_is_wrong_at_once_and_keeps_what_was_typed(
        self, member: Visitor, alice: Player
    ) -> None:
        wrong = {"time_zone": "Mars/Olympus", "starts_at": "soon", "tags": "eu, Größe", "ends_at": "later"}
        answer = plan(member, name="Move", **wrong)
        assert answer.status_code == 422  # no schema knows time zones
        assert all(f'id="error-{name}"' in answer.text for name in wrong)
        assert 'value="Move"' in answer.text
        assert "Größe: " in read_text(answer.text)
        assert list_windows(alice) == []

    @pytest.mark.parametrize(
        ("texts", "field", "sentence"),
        [
            ({"ends_at": "2020-01-01T00:00"}, "ends_at", REFUSALS["maintenance_length"]),
            ({"starts_at": "2020-01-01T00:00"}, "starts_at", "Must not be more than a year ago"),
            ({"recurrence": "FREQ=DAILY", "duration_seconds": "172800"}, "recurrence", "“Lasts”"),
            ({"monitor_ids": ["019a9c3e-5b7a-7c1e-9d42-3f8b6a1e2c70"]}, "monitor_ids", "no such monitor"),
        ],
    )
    def test_names_the_field_that_no_schema_can_judge(
        self, member: Visitor, alice: Player, texts: dict[str, Any], field: str, sentence: str
    ) -> None:
        answer = plan(member, **texts)
        assert answer.status_code in (400, 422)
        assert f'id="error-{field}"' in answer.text
        assert sentence in read_text(answer.text)
        assert list_windows(alice) == []

    def test_sent_twice_is_one_window_even_until_a_moment(self, member: Visitor, alice: Player) -> None:
        opened = member.open(f"{PAGE}/new")
        texts = {
            "time_zone": "UTC",
            "ends_at": local(datetime.now(UTC) + timedelta(hours=3), ZoneInfo("UTC")),
        }
        form = read_forms(opened.text)[f"/app{PAGE}/new"] | texts
        for notice in ("maintenance_created", "maintenance_created_before"):
            assert NOTICES[notice] in member.post(f"{PAGE}/new", data=form).text
        assert len(list_windows(alice)) == 1
        spent = member.post(f"{PAGE}/new", data=form | {"name": "Another"})
        assert REFUSALS["maintenance_form_spent"] in spent.text
        assert len(list_windows(alice)) == 1

    def test_begins_with_the_reader_s_time_zone_or_else_that_of_the_last_one(self, member: Visitor) -> None:
        plan(member, time_zone="America/Sao_Paulo")
        assert 'value="America/Sao_Paulo"' in member.open(f"{PAGE}/new").text
        member.cookies.set(zones.COOKIE, "Europe/Madrid")
        assert 'name="time_zone" type="text" value="Europe/Madrid"' in member.open(f"{PAGE}/new").text


class TestChange:
    def test_keeps_what_was_not_touched_to_the_microsecond(self, member: Visitor, alice: Player) -> None:
        given = {
            "starts_at": "2099-11-22T03:30:12.345678Z",
            "duration_seconds": 77,
            "tags": ["shop"],
            "monitor_ids": [create(alice)["id"]],
            "time_zone": "Europe/Berlin",
        }
        window = alice.post(API, json=given).raise_for_status().json()
        assert NOTICES["maintenance_updated"] in member.submit(f"{PAGE}/{window['id']}").text
        assert list_windows(alice) == [window]
        member.submit(f"{PAGE}/{window['id']}", name="Move")
        (changed,) = list_windows(alice)
        assert changed == window | {"name": "Move", "updated_at": changed["updated_at"]}

    def test_keeps_a_rule_that_a_client_gave(self, member: Visitor, alice: Player) -> None:
        rule = "FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24"
        window = alice.post(API, json={"duration_seconds": 600, "recurrence": rule}).raise_for_status().json()
        assert f"by the rule {rule}, UTC" in read_text(member.open(PAGE).text)
        member.submit(f"{PAGE}/{window['id']}", name="Eve")
        assert list_windows(alice)[0]["recurrence"] == rule

    def test_of_what_is_over_says_so(self, member: Visitor, alice: Player) -> None:
        window = alice.post(API, json={"duration_seconds": 600}).json()
        form = read_forms(member.open(f"{PAGE}/{window['id']}").text)[f"/app{PAGE}/{window['id']}"]
        alice.post(f"{API}/{window['id']}/end").raise_for_status()
        answer = member.post(f"{PAGE}/{window['id']}", data=form | {"name": "Too late"})
        assert (answer.status_code, "Maintenance window is over" in answer.text) == (409, True)


class TestEnd:
    def test_and_deletion_are_noted_with_everything_else(
        self, owner: Visitor, alice: Player, service: RunningService
    ) -> None:
        monitor = create(alice)
        plan(owner, name="Move")
        (window,) = list_windows(alice)
        owner.submit(f"{PAGE}/{window['id']}", duration_seconds="3600")
        ended = owner.submit(PAGE, action=f"{PAGE}/{window['id']}/end")
        assert NOTICES["maintenance_ended"] in ended.text
        assert read(alice, monitor)["status"] == "pending"
        assert "Past" in read_text(ended.text)
        assert NOTICES["maintenance_deleted"] in owner.submit(f"{PAGE}/{window['id']}/delete").text
        assert list_windows(alice) == []
        entries = service.run(list_entries(owner.team.id, 4, None)).rows[::-1]
        assert [(entry.action, entry.subject) for entry in entries] == [
            (f"maintenance.{act}", "Move") for act in ("created", "updated", "ended", "deleted")
        ]


def test_checks_in_maintenance_are_shown_as_that(
    member: Visitor, alice: Player, service: RunningService
) -> None:
    monitor = create(alice)
    monitor_id, before = UUID(monitor["id"]), datetime.now(UTC) - timedelta(minutes=1)
    plan(member)
    checks = [make_result(monitor_id, moment, "down", None) for moment in (before, datetime.now(UTC))]
    service.run(write_down(checks))
    assert "Last 2 checks: 1 failed, 1 in maintenance" in member.open("/monitors").text
    page = member.open(f"/monitors/{monitor['id']}").text
    assert page.count('<span class="badge maintenance">') == 1 + 1  # the monitor's own, and the check's


def test_windows_of_other_teams_are_not_there(outsider: Visitor, alice: Player) -> None:
    window = alice.post(API, json={"duration_seconds": 600}).json()
    for path in (f"{PAGE}/{window['id']}", f"{PAGE}/{window['id']}/delete"):
        assert outsider.open(path).status_code == 404
    assert window["id"] not in outsider.open(PAGE).text
    assert list_windows(alice) == [window]


def test_time_zones_to_choose_from_are_some_that_there_are() -> None:
    zones = list_time_zones()
    assert {"UTC", "Europe/Berlin", "Asia/Kolkata"} <= set(zones)
    assert all(ZoneInfo(each) for each in zones)
