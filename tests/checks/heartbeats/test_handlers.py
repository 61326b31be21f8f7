from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import httpx
import pytest

from cast import Player, form_team
from monitoring.audit.models import AuditEntry
from monitoring.monitors.heartbeats.models import Heartbeat
from monitors.conversations import MONITORS, is_problem, path_of, read
from running_service import running_service

if TYPE_CHECKING:
    from pathlib import Path

    from cast import Player
    from monitoring.contract.catalogue import Catalogue
    from running_service import RunningService

HOURLY = {"period_seconds": 3600, "grace_seconds": 300}
WHOLE_SETTINGS = {"period_seconds": 3600, "cron": None, "time_zone": "UTC", "grace_seconds": 300}


def make_heartbeat(player: httpx.Client, **settings: Any) -> dict[str, Any]:
    given = {"type": "heartbeat", "name": "Backup", "heartbeat": settings or HOURLY}
    answer = player.post(MONITORS, json=given)
    assert answer.status_code == 201, answer.text
    monitor: dict[str, Any] = answer.json()
    return monitor


def address(service: RunningService, monitor: dict[str, Any]) -> str:
    """Return the ping URL at the port that the test's service got."""
    return f"{service.base_url}{urlsplit(monitor['ping_url']).path}"


def pings(player: httpx.Client, monitor: dict[str, Any], **query: Any) -> list[dict[str, Any]]:
    answer = player.get(f"{path_of(monitor)}/pings", params=query).raise_for_status()
    found: list[dict[str, Any]] = answer.json()["pings"]
    return found


class TestCreating:
    def test_a_heartbeat_has_an_address_of_its_own(self, alice: Player) -> None:
        monitor, other = make_heartbeat(alice), make_heartbeat(alice)
        assert (monitor["type"], monitor["heartbeat"]) == ("heartbeat", WHOLE_SETTINGS)
        assert (monitor["status"], monitor["next_check_at"]) == ("pending", None)
        assert (
            monitor["ping_url"]
            == f"{monitor['ping_url'].rpartition('/')[0]}/{UUID(monitor['ping_url'][-36:])}"
        )
        assert monitor["ping_url"] != other["ping_url"]
        assert read(alice, monitor) == monitor
        listed = alice.get(MONITORS, params={"type": "heartbeat"}).json()["monitors"]
        assert [each["ping_url"] for each in listed] == [other["ping_url"], monitor["ping_url"]]

    def test_an_answer_that_shows_the_address_is_not_cached(self, alice: Player) -> None:
        monitor = make_heartbeat(alice)
        assert alice.get(path_of(monitor)).headers["Cache-Control"] == "no-store"

    def test_the_database_does_not_show_the_address(self, service: RunningService, alice: Player) -> None:
        monitor = make_heartbeat(alice)
        stored = service.run(_read_heartbeat(monitor))
        assert monitor["ping_url"][-36:] not in f"{stored.token_sha256} {stored.encrypted_token}"

    @pytest.mark.parametrize(
        ("settings", "name", "values"),
        [
            ({"cron": "60 * * * *"}, "cron_unreadable", {"part": "Bad minute"}),
            ({"cron": "0 0 */8 2 MON#5"}, "cron_never_comes", {}),
            ({"cron": "0 3 * * *", "time_zone": "Mars/Phobos"}, "heartbeat_time_zone_unknown", {}),
        ],
    )
    def test_a_schedule_that_cannot_be_stores_nothing(
        self, alice: Player, catalogue: Catalogue, settings: Any, name: str, values: dict[str, str]
    ) -> None:
        answer = alice.post(MONITORS, json={"type": "heartbeat", "heartbeat": settings})
        assert is_problem(answer, catalogue, name, **values)
        assert alice.get(MONITORS).json()["monitors"] == []
        monitor = make_heartbeat(alice)
        assert is_problem(
            alice.patch(path_of(monitor), json={"heartbeat": settings}), catalogue, name, **values
        )
        assert read(alice, monitor) == monitor

    @pytest.mark.parametrize(
        ("given", "field"),
        [
            ({}, "heartbeat"),
            ({"heartbeat": {}}, "heartbeat.period_seconds"),
            ({"heartbeat": {"period_seconds": 60, "cron": "* * * * *"}}, "heartbeat.period_seconds"),
            ({"heartbeat": HOURLY, "url": "https://shop.example.com/"}, "url"),
            ({"heartbeat": HOURLY, "method": "POST"}, "method"),
        ],
    )
    def test_fields_that_do_not_go_together_are_refused_by_name(
        self, alice: Player, given: dict[str, Any], field: str
    ) -> None:
        answer = alice.post(MONITORS, json={"type": "heartbeat", **given})
        assert answer.status_code == 400
        assert answer.json()["error"].startswith(f"{field}: ")

    def test_a_cron_expression_takes_the_place_of_a_period_and_back(self, alice: Player) -> None:
        monitor = make_heartbeat(alice)
        nightly = {"cron": "0 3 * * *", "time_zone": "Europe/Berlin"}
        changed = alice.patch(path_of(monitor), json={"heartbeat": nightly}).raise_for_status().json()
        assert changed["heartbeat"] == WHOLE_SETTINGS | nightly | {"period_seconds": None}
        again = alice.patch(path_of(monitor), json={"heartbeat": {"period_seconds": 60}}).json()
        assert (again["heartbeat"]["period_seconds"], again["heartbeat"]["cron"]) == (60, None)
        assert again["ping_url"] == monitor["ping_url"]

    def test_what_was_read_can_be_sent_back(self, alice: Player) -> None:
        monitor = make_heartbeat(alice)
        given = {name: monitor[name] for name in ("url", "heartbeat", "name", "tags", "interval_seconds")}
        assert alice.patch(path_of(monitor), json=given).raise_for_status().json() == monitor


class TestPinging:
    @pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
    @pytest.mark.parametrize(
        ("report", "kind", "exit_code", "status"),
        [
            ("", "success", None, "up"),
            ("/start", "start", None, "pending"),
            ("/fail", "fail", None, "down"),
            ("/log", "log", None, "pending"),
            ("/0", "success", 0, "up"),
            ("/255", "fail", 255, "down"),
        ],
    )
    def test_is_stored_when_it_is_answered(  # noqa: PLR0913, PLR0917 - one case a row
        self,
        service: RunningService,
        alice: Player,
        method: str,
        report: str,
        kind: str,
        exit_code: int | None,
        status: str,
    ) -> None:
        monitor = make_heartbeat(alice)
        answer = httpx.request(method, address(service, monitor) + report)
        assert (answer.status_code, answer.text) == (200, "" if method == "HEAD" else "OK")
        assert answer.headers["Content-Type"] == "text/plain"
        assert answer.headers["Ping-Body-Limit"] == "10000"
        assert read(alice, monitor)["status"] == status
        [ping] = pings(alice, monitor)
        assert (ping["kind"], ping["exit_code"], ping["method"]) == (kind, exit_code, method)

    def test_keeps_the_beginning_of_a_body_of_any_type_and_length(
        self, service: RunningService, alice: Player
    ) -> None:
        monitor = make_heartbeat(alice)
        bodies = {
            "text/plain": b"saved",
            "application/x-www-form-urlencoded": b"a=%zz",
            "application/json": b'{"broken": ',
            "image/png": b"\x89PNG",
            "application/octet-stream": b"x" * 3_000_000,
        }
        for media_type, body in bodies.items():
            headers = {"Content-Type": media_type, "Content-Encoding": "gzip"}
            httpx.post(address(service, monitor), content=body, headers=headers).raise_for_status()
        kept = [(ping["body"], ping["is_body_cut"]) for ping in reversed(pings(alice, monitor))]
        assert kept == [
            ("saved", False),
            ("a=%zz", False),
            ('{"broken": ', False),
            ("\N{REPLACEMENT CHARACTER}PNG", False),
            ("x" * 10_000, True),
        ]

    def test_with_an_unknown_token_is_no_success(self, service: RunningService, catalogue: Catalogue) -> None:
        for token in (uuid4(), "no-uuid", "null"):
            for report in ("", "/start", "/0", "/256", "/anything"):
                answer = httpx.get(f"{service.base_url}/ping/{token}{report}")
                assert is_problem(answer, catalogue, "heartbeat_not_found"), (token, report)

    def test_with_a_rid_that_is_no_uuid_is_refused(self, service: RunningService, alice: Player) -> None:
        monitor = make_heartbeat(alice)
        answer = httpx.get(address(service, monitor), params={"rid": "7"})
        assert answer.status_code == 400
        assert answer.json()["error"].startswith("rid: ")
        assert pings(alice, monitor) == []

    def test_ignores_parameters_that_it_does_not_know(self, service: RunningService, alice: Player) -> None:
        monitor, rid = make_heartbeat(alice), uuid4()
        httpx.get(address(service, monitor), params={"rid": str(rid), "t": 1, "create": 1}).raise_for_status()
        assert pings(alice, monitor)[0]["rid"] == str(rid)

    @pytest.mark.programs("curl")
    def test_by_the_lines_that_stand_in_crontabs(self, service: RunningService, alice: Player) -> None:
        monitor = make_heartbeat(alice)
        curl = f"{shutil.which('curl')} -fsS -m 10 --retry 5"
        url = address(service, monitor)
        for line in (
            f"{curl} {url}",
            f"{curl} -o /dev/null {url}/start",
            f"{curl} -I {url}",
            f'out=$(echo saved); {curl} --data-raw "$out" {url}/$?',
            f"echo log | {curl} --data-binary @- {url}/log",
            f"false || {curl} {url}/fail",
        ):
            subprocess.run(["sh", "-c", line], check=True, capture_output=True, timeout=30)
        kinds = [(ping["kind"], ping["body"]) for ping in reversed(pings(alice, monitor))]
        assert kinds == [
            ("success", None),
            ("start", None),
            ("success", None),
            ("success", "saved"),
            ("log", "log\n"),
            ("fail", None),
        ]


class TestLimits:
    def test_pings_count_against_a_limit_of_their_own(self, tmp_path: Path, catalogue: Catalogue) -> None:
        with (
            running_service(tmp_path, rate_limit_pings="3/60") as tight,
            Player(tight, form_team(tight)) as player,
        ):
            monitor, other = make_heartbeat(player), make_heartbeat(player)
            answers = [httpx.get(address(tight, monitor)) for _ in range(4)]
            assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
            assert "pings" in answers[0].headers["RateLimit-Policy"]
            seconds = answers[3].json()["retry_after_seconds"]
            assert is_problem(answers[3], catalogue, "rate_limited", retry_after_seconds=seconds)
            assert answers[3].headers["Retry-After"] == str(seconds)
            assert httpx.get(address(tight, other)).status_code == 200
            assert len(pings(player, monitor, limit=100)) == 3

    def test_who_tries_tokens_is_limited_and_locks_nobody_out(self, tmp_path: Path) -> None:
        with running_service(tmp_path, rate_limit_pings="3/3600") as tight:
            found = [httpx.get(f"{tight.base_url}/ping/{uuid4()}").status_code for _ in range(5)]
            assert found == [404, 404, 404, 429, 429]


class TestRenewing:
    def test_ends_the_old_address_at_once(
        self, service: RunningService, alice: Player, catalogue: Catalogue
    ) -> None:
        monitor = make_heartbeat(alice)
        answer = alice.post(f"{path_of(monitor)}/renew-ping-url")
        assert answer.headers["Cache-Control"] == "no-store"
        renewed = read(alice, monitor)
        assert answer.json() == {"ping_url": renewed["ping_url"]}
        assert is_problem(httpx.get(address(service, monitor)), catalogue, "heartbeat_not_found")
        assert httpx.get(address(service, renewed)).status_code == 200
        entries = service.run(_read_audit(alice.team_id))
        assert [entry.action for entry in entries][-2:] == ["monitor.created", "monitor.ping_url_renewed"]
        assert renewed["ping_url"] not in json.dumps([entry.changes for entry in entries])

    def test_is_nothing_for_others(
        self, alice: Player, bob: Player, charlie: Player, catalogue: Catalogue
    ) -> None:
        path = f"{path_of(make_heartbeat(alice))}/renew-ping-url"
        assert bob.post(path).status_code == 403
        assert is_problem(charlie.post(path), catalogue, "monitor_not_found")
        assert is_problem(
            charlie.get(path.replace("renew-ping-url", "pings")), catalogue, "monitor_not_found"
        )

    def test_is_nothing_for_a_monitor_that_takes_no_pings(self, alice: Player, catalogue: Catalogue) -> None:
        monitor = alice.post(MONITORS, json={"url": "https://shop.example.com/"}).json()
        assert "ping_url" not in monitor
        assert is_problem(
            alice.post(f"{path_of(monitor)}/renew-ping-url"), catalogue, "monitor_takes_no_pings"
        )
        assert pings(alice, monitor) == []


class TestPages:
    def test_of_pings_show_each_once(self, service: RunningService, alice: Player) -> None:
        monitor = make_heartbeat(alice)
        for number in range(5):
            httpx.post(address(service, monitor) + "/log", content=str(number))
        seen: list[str] = []
        cursor: dict[str, str] = {}
        while True:
            page = alice.get(f"{path_of(monitor)}/pings", params={"limit": 2, **cursor}).json()
            seen += [ping["body"] for ping in page["pings"]]
            if page["next_cursor"] is None:
                break
            cursor = {"cursor": page["next_cursor"]}
        assert seen == ["4", "3", "2", "1", "0"]


class TestChecking:
    def test_a_heartbeat_is_not_asked(self, alice: Player, catalogue: Catalogue) -> None:
        answer = alice.post(f"{path_of(make_heartbeat(alice))}/check")
        assert is_problem(answer, catalogue, "heartbeat_not_asked")


async def _read_heartbeat(monitor: dict[str, Any]) -> Heartbeat:
    return await Heartbeat.get(monitor_id=UUID(monitor["id"]))


async def _read_audit(team_id: UUID) -> list[AuditEntry]:
    return await AuditEntry.filter(team_id=team_id).order_by("id")
