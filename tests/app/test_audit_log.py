"""Settings, audit log: what people did, in plain words, for owners of the team."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from app.visitor import Visitor, read_text
from monitoring.app.audit_words import describe_action
from monitoring.app.pages.audit_log import ENTRIES_A_PAGE
from monitoring.app.sentences import DECLINED
from monitoring.audit.actions import Action
from monitoring.audit.actors import COMMAND_LINE, Actor
from monitoring.audit.models import AuditEntry
from monitoring.audit.service import record

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
        assert read_text(anew.text).startswith(read_text(owner.open(LOG).text))

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


class TestDeeds:
    @pytest.mark.parametrize("action", Action)
    def test_have_words_for_every_action(self, action: Action) -> None:
        assert describe_action(action.value) != action.value


def entries(visitor: Visitor) -> list[str]:
    """Return the text of each entry, newest first."""
    body = visitor.open(LOG).text.partition("<tbody>")[2]
    return [read_text(row) for row in re.findall(r"<tr>.*?</tr>", body, re.DOTALL)]


async def _fill(team: Team, count: int) -> None:
    for number in range(count):
        await record(team.id, COMMAND_LINE, Action.MONITOR_CREATED, f"Monitor number {number}")


async def _rename_actions(team: Team, name: str) -> None:
    await AuditEntry.filter(team_id=team.id, action=Action.MONITOR_CREATED.value).update(action=name)
