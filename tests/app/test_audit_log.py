"""Settings, audit log: what people did, in plain words, for owners of the team."""

from __future__ import annotations

import csv
import io
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

import pytest

from app.visitor import Visitor, read_text
from incidents.breakdowns import break_down
from monitoring.app import zones
from monitoring.app.audit import pages as audit_log
from monitoring.app.audit.labels import describe_action, name_field
from monitoring.app.audit.pages import ENTRIES_A_PAGE
from monitoring.app.sentences import DECLINED, REFUSALS
from monitoring.audit.actions import Action
from monitoring.audit.actors import COMMAND_LINE, Actor, key_holder
from monitoring.audit.changes import Change
from monitoring.audit.models import AuditEntry
from monitoring.audit.service import record
from monitoring.backends.fields import first_uuid7_at
from monitoring.incidents.models import Incident
from monitoring.monitors.service import create_monitor

if TYPE_CHECKING:
    from cast import Player
    from monitoring.auth.models import Team
    from running_service import RunningService

LOG = "/settings/audit-log"
PAYLOAD = "<img src=x onerror=alert(1)>"


class TestTheAuditLog:
    def test_tells_who_did_what_and_from_where(self, owner: Visitor, alice: Player) -> None:
        owner.submit("/settings/api-keys/new", name="Deploy")
        owner.submit("/settings/members/invite", email="dora@example.com", role="owner")
        owner.submit(f"/settings/api-keys/{alice.client_id}/revoke", understood="on")
        what = entries(owner)
        assert what[0].endswith(f"UTC {owner.email} revoked the API key A key of the tests 127.0.0.1")
        assert what[1].endswith(f"UTC {owner.email} invited dora@example.com (owner) 127.0.0.1")
        assert what[2].endswith(f"UTC {owner.email} created the API key Deploy 127.0.0.1")
        # No address: the command line runs on the machine itself.
        assert any(line.endswith("command line created the API key A key of the tests") for line in what)
        assert what[-1].endswith("command line created the team " + owner.team.name)

    def test_tells_what_a_program_did_by_the_name_of_its_key(self, owner: Visitor, alice: Player) -> None:
        monitor = alice.post("/api/monitors", json={"url": "https://shop.example.com/"}).json()
        path = f"/api/monitors/{monitor['id']}"
        alice.patch(path, json={"paused": True})
        alice.patch(path, json={"paused": True})
        alice.delete(path)
        what = entries(owner)
        for line, act in zip(what, ("deleted", "paused", "created"), strict=False):
            assert line.endswith(f"API key A key of the tests {act} the monitor shop.example.com 127.0.0.1")

    def test_names_the_monitor_of_an_incident_that_somebody_wrote_about(
        self, owner: Visitor, alice: Player, service: RunningService
    ) -> None:
        async def break_shop() -> str:
            monitor = await create_monitor(
                alice.team_id, {"name": "Shop", "url": "https://shop.example.com/"}
            )
            await break_down(monitor)
            return f"/incidents/{(await Incident.get(monitor_id=monitor.id)).id}"

        path = service.run(break_shop())
        owner.submit(path, action=f"{path}/notes", text="It was the release")
        owner.submit(path, action=f"{path}/acknowledge")
        acts = ("acknowledged an incident of", "wrote a note about an incident of")
        for line, act in zip(entries(owner, f"{LOG}?about=shop"), acts, strict=True):
            assert line.endswith(f"{owner.email} {act} Shop 127.0.0.1")

    def test_tells_of_a_note_of_an_earlier_release_without_its_monitor(
        self, owner: Visitor, service: RunningService, team: Team
    ) -> None:
        service.run(record(team.id, COMMAND_LINE, Action.INCIDENT_NOTED, subject_id=uuid4()))
        assert entries(owner)[0].endswith("command line wrote a note about an incident")

    def test_tells_a_repeated_request_once(self, owner: Visitor, alice: Player) -> None:
        once = {"Idempotency-Key": "deployment-7"}
        for _ in range(2):
            alice.post("/api/maintenance-windows", json={"duration_seconds": 600}, headers=once)
        assert sum("started or planned the maintenance" in line for line in entries(owner)) == 1

    def test_tells_the_old_and_the_new_value_of_each_field(self, owner: Visitor, alice: Player) -> None:
        made = {"url": "https://shop.example.com/", "name": "Shop", "interval_seconds": 300}
        monitor = alice.post("/api/monitors", json=made).json()
        alice.patch(f"/api/monitors/{monitor['id']}", json={"interval_seconds": 60, "tags": ["web"]})
        changed = "changed the monitor Shop Interval in seconds: 300 → became 60 Tags: (empty) → became web"
        assert changed in entries(owner)[0]

    def test_shows_no_secret_old_or_new(self, owner: Visitor, alice: Player) -> None:
        made = {"url": "https://shop.example.com/", "method": "POST", "request_body": "pin=first-pin"}
        old = {"request_headers": {"Authorization": "Bearer the-old-one"}}
        monitor = alice.post("/api/monitors", json=made | old).json()
        new = {"request_body": "pin=second-pin", "request_headers": {"Authorization": "Bearer the-new-one"}}
        alice.patch(f"/api/monitors/{monitor['id']}", json=new)
        chat = {"type": "slack", "url": "https://hooks.slack.com/services/T0/B0/the-old-one"}
        channel = alice.post("/api/notification-channels", json=chat).json()
        renewed = chat | {"url": "https://hooks.slack.com/services/T0/B0/the-new-one"}
        alice.patch(f"/api/notification-channels/{channel['id']}", json=renewed)
        page, table = owner.open(LOG).text, owner.open(f"{LOG}.csv").text
        for shown in (page, table):
            assert not re.search("the-old-one|the-new-one|first-pin|second-pin", shown)
        assert read_text(page).count("a new secret value") == 3

    def test_tells_a_role_before_and_after(self, owner: Visitor, member: Visitor) -> None:
        owner.submit(f"/settings/members/{member.user.id}", role="viewer")
        assert "Role: member → became viewer" in entries(owner)[0]

    def test_names_nobody_twice(self, owner: Visitor) -> None:
        owner.submit(
            "/settings/account/password",
            current_password=owner.password,
            new_password="tractor umbrella limestone",
        )
        assert entries(owner)[0].endswith(f"UTC {owner.email} changed their password 127.0.0.1")

    def test_is_read_a_page_at_a_time_and_ends(
        self, owner: Visitor, service: RunningService, team: Team
    ) -> None:
        service.run(_fill(team, ENTRIES_A_PAGE * 2))
        seen: list[str] = []
        path: str | None = LOG
        pages = 0
        while path:
            page = owner.open(path).text
            pages += 1
            seen += re.findall(r"Monitor number \d+", page)
            older = re.search(r'rel="next" href="/app([^"]*)"', page)
            path = older[1].replace("&amp;", "&") if older else None
        assert pages == 3
        assert seen == [f"Monitor number {number}" for number in reversed(range(ENTRIES_A_PAGE * 2))]

    def test_begins_anew_with_a_cursor_it_did_not_write(self, owner: Visitor) -> None:
        anew = owner.open(f"{LOG}?cursor=nonsense")
        assert anew.status_code == 200
        entries, first = (read_text(page.text.partition("</main>")[0]) for page in (anew, owner.open(LOG)))
        assert entries.startswith(first)

    def test_is_the_teams_own(self, owner: Visitor, outsider: Visitor, alice: Player) -> None:
        owner.submit(f"/settings/api-keys/{alice.client_id}/revoke", understood="on")
        assert owner.email not in outsider.open(LOG).text
        assert "revoked" not in outsider.open(LOG).text

    def test_is_for_owners(self, member: Visitor) -> None:
        answer = member.open(LOG)
        assert answer.status_code == 403
        assert DECLINED["owners_only"].text in read_text(answer.text)
        assert LOG not in member.open("/settings/plan").text

    def test_runs_nothing_that_stands_in_it(
        self, owner: Visitor, service: RunningService, team: Team
    ) -> None:
        actor = Actor(PAYLOAD, address=PAYLOAD)
        service.run(record(team.id, actor, Action.MONITOR_CREATED, f"{PAYLOAD}!"))
        page = owner.open(LOG).text
        assert page.count("&lt;img src=x onerror=alert(1)&gt;") == 3
        assert "<img src=x" not in page

    def test_shows_an_action_it_has_no_words_for(
        self, owner: Visitor, service: RunningService, team: Team
    ) -> None:
        service.run(record(team.id, COMMAND_LINE, Action.MONITOR_CREATED, "Shop"))
        service.run(_rename_actions(team, "monitor.adopted"))
        assert entries(owner)[0].endswith("command line monitor.adopted Shop")


class TestTheFilter:
    @pytest.mark.parametrize(
        ("query", "found"),
        [
            ("who=ALICE", {"Shop", "Deploy"}),
            ("by=programs", {"Blog"}),
            ("by=people", {"Shop", "Deploy", "Old"}),
            ("kind=monitor", {"Shop", "Blog", "Old"}),
            ("kind=monitor&who=api+key", {"Blog"}),
            ("about=shOP", {"Shop"}),
            ("about=%25", set()),
            ("to=2020-01-01", {"Old"}),
            ("from=2020-01-01&to=2020-01-01&kind=monitor", {"Old"}),
            ("from=2020-01-02", {"Shop", "Blog", "Deploy"}),
            ("kind=nonsense", {"Shop", "Blog", "Deploy", "Old"}),
            ("who=%00", set()),
            ("about=Sh%00op", set()),
            ("from=1970-01-01&to=9999-12-29", {"Shop", "Blog", "Deploy", "Old"}),
        ],
    )
    def test_finds_what_fits(self, told: Visitor, query: str, found: set[str]) -> None:
        lines = entries(told, f"{LOG}?{query}")
        assert {
            name for name in ("Shop", "Blog", "Deploy", "Old") if any(name in line for line in lines)
        } == found

    def test_says_that_nothing_fits(self, told: Visitor) -> None:
        assert entries(told, f"{LOG}?who=nobody") == ["No entries match."]

    @pytest.mark.parametrize("day", ["yesterday", "2026-02-30", "9999-12-31", "0001-01-01"])
    def test_says_what_no_day_is(self, told: Visitor, day: str) -> None:
        for path in (LOG, f"{LOG}.csv"):
            answer = told.open(f"{path}?from={day}&who=alice")
            assert answer.status_code == 400
            assert REFUSALS["day_unreadable"] in read_text(answer.text)
            assert 'value="alice"' in answer.text

    def test_stays_on_the_next_page(self, owner: Visitor, service: RunningService, team: Team) -> None:
        service.run(_fill(team, ENTRIES_A_PAGE + 1))
        page = owner.open(f"{LOG}?kind=monitor").text
        assert re.search(r'rel="next" href="[^"]*kind=monitor', page)

    @pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/Adak"])
    def test_takes_the_first_and_the_last_day_in_every_zone(self, told: Visitor, zone: str) -> None:
        told.cookies.set(zones.COOKIE, zone)
        assert any("Shop" in line for line in entries(told, f"{LOG}?from=1970-01-01&to=9999-12-29"))


class TestTheFile:
    def test_is_written_piece_by_piece_with_every_entry_once_up_to_its_limit(
        self, owner: Visitor, service: RunningService, team: Team, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(audit_log, "ENTRIES_AT_ONCE", 3)
        monkeypatch.setattr(audit_log, "ENTRIES_A_FILE", 9)
        service.run(_fill(team, 10))
        rows = list(csv.DictReader(io.StringIO(owner.open(f"{LOG}.csv").content.decode("utf-8-sig"))))
        assert [row["subject"] for row in rows] == [
            f"Monitor number {number}" for number in reversed(range(1, 10))
        ]

    def test_has_what_the_filter_finds(self, told: Visitor) -> None:
        answer = told.open(f"{LOG}.csv?kind=monitor&by=people")
        assert answer.headers["content-type"] == "text/csv; charset=utf-8"
        assert re.fullmatch(
            r'attachment; filename="audit-log-[\d-]+\.csv"', answer.headers["content-disposition"]
        )
        rows = list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"))))
        assert [(row["actor"], row["action"], row["subject"]) for row in rows] == [
            ("alice@example.com", "monitor.updated", "Shop"),
            ("command line", "monitor.deleted", "Old"),
        ]
        assert rows[0]["changes"] == "interval_seconds: 300 → 60; tags: (empty) → =1+1"

    @pytest.mark.parametrize("begins", ["=", "+", "-", "@", "\t", "\r"])
    def test_has_no_formulas(self, owner: Visitor, service: RunningService, team: Team, begins: str) -> None:
        evil = f"{begins}HYPERLINK(1)"
        service.run(record(team.id, Actor(evil, address=evil), Action.MONITOR_CREATED, evil, evil))
        table = owner.open(f"{LOG}.csv").content.decode("utf-8-sig")
        (_, row, *_) = csv.reader(io.StringIO(table, newline=""))
        assert [cell for cell in row if "HYPERLINK" in cell] == [f"'{evil}"] * 4

    def test_is_for_owners(self, member: Visitor) -> None:
        assert member.open(f"{LOG}.csv").status_code == 403


class TestDeeds:
    @pytest.mark.parametrize(
        ("field", "words"),
        [
            ("interval_seconds", "Interval in seconds"),
            ("request_headers.X_Api-Key", "Request headers: X_Api-Key"),
            ("routing.quiet_hours.time_zone", "Routing: quiet hours: time zone"),
            ("events", "Events"),
        ],
    )
    def test_name_every_field_in_one_case(self, field: str, words: str) -> None:
        assert name_field(field) == words

    @pytest.mark.parametrize("action", Action)
    def test_have_words_for_every_action(self, action: Action) -> None:
        assert describe_action(action.value) != action.value


def test_the_days_that_are_looked_for_are_the_reader_s(told: Visitor) -> None:
    # What was done is at 23:59 UTC on 1 January 2020.
    assert len(entries(told, f"{LOG}?from=2020-01-01&to=2020-01-01")) == 1
    told.cookies.set(zones.COOKIE, "Europe/Madrid")
    assert entries(told, f"{LOG}?from=2020-01-01&to=2020-01-01") == ["No entries match."]
    assert len(entries(told, f"{LOG}?from=2020-01-02&to=2020-01-02")) == 1
    assert "From (Europe/Madrid)" in read_text(told.open(LOG).text)
    assert told.open(f"{LOG}.csv?to=2020-01-01").text.count("\r\n") == 1
    for day in ("1970-01-01", "9999-12-29"):
        told.cookies.set(zones.COOKIE, "Pacific/Kiritimati" if day < "2" else "America/Los_Angeles")
        assert told.open(f"{LOG}?from={day}&to={day}").status_code == 200


@pytest.fixture
def told(owner: Visitor, service: RunningService, team: Team) -> Visitor:
    """Write four entries of three actors, one of them years ago, and open the log of their owner."""
    alice = Actor("alice@example.com", address="192.0.2.7")
    changes = [Change("interval_seconds", "300", "60"), Change("tags", "", "=1+1")]

    async def tell() -> None:
        await AuditEntry.filter(team_id=team.id).delete()
        then = datetime(2020, 1, 1, 23, 59, tzinfo=UTC)
        await AuditEntry.create(
            id=UUID(int=first_uuid7_at(then).int + uuid4().int % 2**62),
            team_id=team.id,
            happened_at=then,
            actor=COMMAND_LINE.name,
            action=Action.MONITOR_DELETED.value,
            subject="Old",
        )
        await record(team.id, alice, Action.KEY_CREATED, "Deploy")
        await record(team.id, key_holder("CI", "mon_live_ci"), Action.MONITOR_CREATED, "Blog")
        await record(team.id, alice, Action.MONITOR_UPDATED, "Shop", changes=changes)

    service.run(tell())
    return owner


def entries(visitor: Visitor, path: str = LOG) -> list[str]:
    """Return the text of each entry, newest first."""
    body = visitor.open(path).text.partition("<tbody>")[2]
    return [read_text(row) for row in re.findall(r"<tr>.*?</tr>", body, re.DOTALL)]


async def _fill(team: Team, count: int) -> None:
    for number in range(count):
        await record(team.id, COMMAND_LINE, Action.MONITOR_CREATED, f"Monitor number {number}")


async def _rename_actions(team: Team, name: str) -> None:
    await AuditEntry.filter(team_id=team.id, action=Action.MONITOR_CREATED.value).update(action=name)
