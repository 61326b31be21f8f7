"""A monitor's page, and what its buttons do."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import pytest

from app.visitor import Visitor, read_forms, read_text
from cast import Player, form_team
from history.diary import make_result, write_down
from incidents.breakdowns import CONFIRMED_AT, SENTENCE, STARTED_AT, break_down, resolve
from monitoring.app.sentences import NOTICES
from monitoring.audit.service import list_entries
from monitoring.contract.timestamps import write_timestamp
from monitoring.monitors.deleting import UNDO_TIME, carry_out_deletions
from monitoring.monitors.models import CheckState, Monitor
from monitors.conversations import create, path_of, read
from notifications.conversations import register
from running_service import running_service

if TYPE_CHECKING:
    from pathlib import Path

    from monitoring.contract.catalogue import Catalogue
    from running_service import RunningService

MINUTE = timedelta(minutes=1)
ACTS = ("pause", "resume", "check", "delete")


def _page_of(monitor: dict[str, Any]) -> str:
    return f"/monitors/{monitor['id']}"


def _press(visitor: Visitor, monitor: dict[str, Any], act: str) -> Any:
    page = _page_of(monitor)
    return visitor.submit(f"{page}/delete" if act == "delete" else page, action=f"{page}/{act}")


def _acts_of(service: RunningService, visitor: Visitor) -> list[tuple[str, str, str | None]]:
    """Return what a person did with monitors according to the audit log, oldest first."""
    entries = service.run(list_entries(visitor.team.id, 100, None)).rows[::-1]
    return [
        (entry.action, entry.subject, entry.subject_id)
        for entry in entries
        if entry.actor == visitor.email and entry.action.startswith("monitor.")
    ]


class TestThePage:
    def test_says_who_is_told_when_it_is_down(self, owner: Visitor, alice: Player) -> None:
        monitor = create(alice, tags=["shop"])
        assert "Nobody is notified when this monitor goes down." in read_text(
            owner.open(_page_of(monitor)).text
        )
        channel = {"type": "webhook", "name": "Pager", "url": "https://pager.example.com/"}
        alice.post("/api/notification-channels", json=channel | {"routing": {"tags": ["shop"]}})
        text = read_text(owner.open(_page_of(monitor)).text)
        assert "Alerts: Pager" in text
        assert "Nobody is notified" not in text

    def test_of_a_new_monitor_says_that_nothing_is_known(self, owner: Visitor, alice: Player) -> None:
        monitor = create(alice, name="Shop", tags=["eu"], request_headers={"Authorization": "a secret"})
        page = owner.open(_page_of(monitor))
        text = read_text(page.text)
        assert page.status_code == 200
        for said in (
            "No checks yet.",
            "No incidents so far.",
            "24 hours not enough data",
            "pending",
            "Authorization",
        ):
            assert said in text
        assert "a secret" not in page.text

    def test_says_that_a_paused_monitor_is_in_maintenance(self, owner: Visitor, alice: Player) -> None:
        monitor = create(alice, name="Shop", paused=True)
        assert "Start maintenance" in read_text(owner.open(_page_of(monitor)).text)
        alice.post("/api/maintenance-windows", json={"duration_seconds": 600}).raise_for_status()
        text = read_text(owner.open(_page_of(monitor)).text)
        assert "paused It is not checked. It is in maintenance until" in text
        assert "Start maintenance" not in text

    def test_draws_90_days_the_last_of_which_is_today(self, owner: Visitor, alice: Player) -> None:
        page = owner.open(_page_of(create(alice))).text
        days = page.partition('<svg class="bars days"')[2].partition("</svg>")[0]
        assert 'aria-label="90 days: ' in days
        assert days.count("<title>") == 90
        assert f"<title>{datetime.now(UTC):%-d %b %Y}: " in days.rpartition("<rect")[2]

    def test_says_how_many_checks_failed_if_none_was_good(
        self, service: RunningService, owner: Visitor, alice: Player
    ) -> None:
        monitor, now = create(alice), datetime.now(UTC)
        assert "No checks in the last 24 hours." in read_text(owner.open(_page_of(monitor)).text)
        failures = [
            make_result(UUID(monitor["id"]), now - n * MINUTE, "down", 5, status_code=404) for n in range(2)
        ]
        service.run(write_down(failures))
        text = read_text(owner.open(_page_of(monitor)).text)
        assert "No good answers in the last 24 hours: all 2 checks failed." in text

    def test_says_that_it_is_down_since_the_first_failure_as_its_incident_does(
        self, service: RunningService, owner: Visitor, alice: Player
    ) -> None:
        monitor = create(alice)

        async def go_down() -> None:
            await break_down(await Monitor.get(id=monitor["id"]))
            await Monitor.filter(id=monitor["id"]).update(status="down", status_changed_at=CONFIRMED_AT)

        service.run(go_down())
        page = owner.open(_page_of(monitor)).text
        assert "since 20 Nov 2026, 09:39 UTC." in read_text(page)
        assert set(re.findall(r'data-since="(.*?)"', page)) == {write_timestamp(STARTED_AT)}

    def test_shows_uptime_checks_errors_and_incidents(
        self, service: RunningService, owner: Visitor, alice: Player
    ) -> None:
        monitor, now = create(alice), datetime.now(UTC)
        results = [
            make_result(UUID(monitor["id"]), now - n * MINUTE, response_time_ms=70 + n) for n in range(30)
        ]
        failure = make_result(
            UUID(monitor["id"]),
            now,
            "down",
            96,
            status_code=503,
            error="unexpected_status",
            error_message=SENTENCE,
        )

        async def live() -> None:
            row = await Monitor.get(id=monitor["id"])
            await Monitor.filter(id=row.id).update(created_at=now - timedelta(hours=1))
            await write_down([failure, *results[1:]])
            await break_down(row)
            await resolve(row)
            await break_down(row)
            await CheckState.filter(monitor_id=row.id).update(
                last_error="unexpected_status", last_checked_at=now
            )

        service.run(live())
        page = owner.open(_page_of(monitor))
        text = read_text(page.text)
        assert text.count(SENTENCE) == 4  # the last error, its check and two incidents
        assert '<svg class="chart"' in page.text
        assert "Response times by hour" in text
        for asked, said in {"7d": "by hour", "90d": "by day", "nonsense": "by hour"}.items():
            assert f"Response times {said}" in read_text(
                owner.open(f"{_page_of(monitor)}?range={asked}").text
            )
        assert "5 min 10 s" in text  # how long the first incident lasted
        assert "ongoing" in text
        checks = page.text.partition("Checks, newest first")[2].partition("</table>")[0]
        assert checks.count('<th scope="row">') == 20

    @pytest.mark.parametrize(
        ("age", "count", "window"),
        [
            (timedelta(days=3), 97, "15-minute window"),
            (timedelta(hours=3), 37, "5-minute window"),
            (timedelta(minutes=40), 9, "5-minute window"),
        ],
    )
    def test_draws_the_last_day_or_the_life_of_a_younger_monitor_by_minutes_and_tells_hours_in_the_table(  # noqa: PLR0913, PLR0917
        self,
        service: RunningService,
        owner: Visitor,
        alice: Player,
        age: timedelta,
        count: int,
        window: str,
    ) -> None:
        monitor, now = create(alice), datetime.now(UTC)
        results = [make_result(UUID(monitor["id"]), now - n * MINUTE) for n in range(age // MINUTE)]

        async def live() -> None:
            await Monitor.filter(id=monitor["id"]).update(created_at=now - age)
            await write_down(results)

        service.run(live())
        page = owner.open(_page_of(monitor)).text
        [points] = re.findall(r'aria-label="Time of the response times" data-points="(.*?)"', page, re.DOTALL)
        told = points.split("\n")
        assert len(told) in (count - 1, count, count + 1)  # the clock may stand at the edge of a window
        assert [each.partition(": ")[2] for each in told[1:-1]] == [
            "median 128 ms, 95th percentile 128 ms"
        ] * (len(told) - 2)
        assert re.search(rf"Response times of \d+ {window}s: ", page)
        assert "Response times by hour" in page
        for days in ("7d", "90d"):
            assert "minute window" not in owner.open(f"{_page_of(monitor)}?range={days}").text

    def test_is_not_there_for_another_team_whatever_is_sent(
        self, owner: Visitor, outsider: Visitor, alice: Player, service: RunningService
    ) -> None:
        monitor = create(alice)
        token = next(iter(read_forms(outsider.open("/monitors/new").text).values()))["csrf_token"]
        for page in (_page_of(monitor), f"/monitors/{uuid4()}", "/monitors/nonsense"):
            for suffix in ("", "/edit", "/delete"):
                assert outsider.open(page + suffix).status_code == 404
            for act in ("edit", *ACTS):
                sent = outsider.post(
                    f"{page}/{act}", data={"csrf_token": token, "url": "https://evil.example/"}
                )
                assert sent.status_code == 404
        assert read(alice, monitor) == monitor
        assert _acts_of(service, outsider) == []
        assert owner.open(_page_of(monitor)).status_code == 200

    def test_asks_a_stranger_to_sign_in(self, stranger: Visitor, alice: Player) -> None:
        assert stranger.open(_page_of(create(alice))).url.path == "/app/sign-in"

    @pytest.mark.parametrize("act", ["edit", *ACTS])
    def test_takes_no_form_without_its_token(self, owner: Visitor, alice: Player, act: str) -> None:
        monitor = create(alice)
        assert owner.post(f"{_page_of(monitor)}/{act}", data={"csrf_token": "guessed"}).status_code == 403
        assert read(alice, monitor) == monitor


class TestTheButtons:
    def test_pause_and_resume_once_however_often_they_are_pressed(
        self, service: RunningService, member: Visitor, alice: Player
    ) -> None:
        monitor = create(alice, name="Shop")
        page = member.open(_page_of(monitor))
        forms = read_forms(page.text)
        for act, is_paused in (("pause", True), ("resume", False)):
            for _ in range(2):
                sent = member.post(f"{_page_of(monitor)}/{act}", data=forms[f"/app{_page_of(monitor)}/pause"])
                assert NOTICES[f"monitor_{act}d"] in read_text(sent.text)
                assert read(alice, monitor)["paused"] is is_paused
        about = ("Shop", monitor["id"])
        assert _acts_of(service, member) == [("monitor.paused", *about), ("monitor.resumed", *about)]

    def test_check_now_makes_the_next_check_due(
        self, service: RunningService, member: Visitor, alice: Player
    ) -> None:
        monitor = create(alice)

        async def put_off() -> None:
            later = datetime.now(UTC) + 5 * MINUTE
            await CheckState.filter(monitor_id=monitor["id"]).update(due_at=later, next_check_at=later)

        service.run(put_off())
        sent = _press(member, monitor, "check")
        assert NOTICES["check_requested"] in read_text(sent.text)
        assert datetime.fromisoformat(read(alice, monitor)["next_check_at"]) <= datetime.now(UTC)
        assert [action for action, *_ in _acts_of(service, member)] == ["monitor.check_requested"]

    def test_check_now_is_refused_while_paused(
        self, service: RunningService, owner: Visitor, alice: Player, catalogue: Catalogue
    ) -> None:
        monitor = create(alice)
        forms = read_forms(owner.open(_page_of(monitor)).text)
        alice.patch(path_of(monitor), json={"paused": True})
        sent = owner.post(f"{_page_of(monitor)}/check", data=forms[f"/app{_page_of(monitor)}/check"])
        assert sent.status_code == 409
        assert catalogue.respond("monitor_paused").body["error"] in read_text(sent.text)
        assert f"/app{_page_of(monitor)}/check" not in read_forms(owner.open(_page_of(monitor)).text)
        assert _acts_of(service, owner) == []

    def test_check_now_and_the_api_share_one_limit(self, tmp_path: Path) -> None:
        with running_service(tmp_path, rate_limit_check_now="2/3600") as service:
            team = form_team(service)
            with Player(service, team) as alice, Visitor(service, team) as owner:
                monitor = create(alice)
                assert alice.post(f"{path_of(monitor)}/check").status_code == 202
                assert _press(owner, monitor, "check").status_code == 200
                refused = _press(owner, monitor, "check")
                assert refused.status_code == 429
                assert int(refused.headers["retry-after"]) <= 3600
                assert alice.post(f"{path_of(monitor)}/check").status_code == 429

    def test_delete_asks_first_and_can_be_undone(
        self, service: RunningService, member: Visitor, alice: Player
    ) -> None:
        monitor, other = create(alice, name="Shop <1>"), create(alice)
        asked = member.open(f"{_page_of(monitor)}/delete")
        assert "Delete Shop <1>?" in read_text(asked.text)
        assert "will be deleted" not in read_text(member.open(_page_of(monitor)).text)
        sent = _press(member, monitor, "delete")
        assert sent.url.path == "/app/monitors"
        assert "1 monitor will be deleted at" in read_text(sent.text)
        page = member.open(_page_of(monitor)).text
        assert "This monitor will be deleted at" in read_text(page)
        kept = _press(member, monitor, "keep")
        assert kept.url.path == f"/app{_page_of(monitor)}"
        assert "The deletion is undone." in read_text(kept.text)
        service.run(carry_out_deletions(datetime.now(UTC) + 2 * UNDO_TIME))
        assert read(alice, monitor) == monitor
        _press(member, monitor, "delete")
        service.run(carry_out_deletions(datetime.now(UTC) + 2 * UNDO_TIME))
        assert alice.get(path_of(monitor)).status_code == 404
        assert read(alice, other) == other
        assert [action for action, *_ in _acts_of(service, member)] == [
            "monitor.deleted",
            "monitor.kept",
            "monitor.deleted",
        ]

    def test_mute_says_until_when_and_by_whom(self, member: Visitor, alice: Player) -> None:
        register(alice)
        monitor = create(alice)
        page = member.submit(_page_of(monitor), f"{_page_of(monitor)}/mute", mute_hours="8")
        assert re.search(rf"Muted by {member.user.name} until .+: nobody is notified", read_text(page.text))
        assert "Muted. Alerts would go to:" in page.text
        assert "Alerts:" not in page.text
        mute = read(alice, monitor)["mute"]
        assert mute["muted_by"] == member.email
        member.submit(_page_of(monitor), f"{_page_of(monitor)}/mute", mute_hours="24")
        assert read(alice, monitor)["mute"]["muted_until"] > mute["muted_until"]
        page = _press(member, monitor, "unmute")
        assert "Muted" not in read_text(page.text)
        assert read(alice, monitor)["mute"] is None
