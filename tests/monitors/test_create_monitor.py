from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from cast import Player, form_team
from monitoring.auth.service import change_plan
from monitoring.backends.encryption import MASK
from monitoring.monitors.configuration import monitor_types
from monitors.conversations import MONITORS, URL, count_twice, create, is_problem, path_of

if TYPE_CHECKING:
    import httpx

    from monitoring.contract.catalogue import Catalogue
    from running_service import RunningService


class TestCreateMonitor:
    def test_needs_only_a_url_and_fills_in_the_documents_defaults(self, alice: Player) -> None:
        monitor = create(alice)
        assert (
            monitor.items()
            >= {
                "name": "shop.example.com",
                "type": "http",
                "url": URL,
                "method": "GET",
                "request_headers": {},
                "request_body": None,
                "expected_status_codes": ["2xx"],
                "required_keyword": None,
                "forbidden_keyword": None,
                "assertions": [],
                "interval_seconds": 300,
                "timeout_seconds": 15,
                "follow_redirects": True,
                "verify_tls": True,
                "certificate_authority": None,
                "client_certificate": None,
                "tls_expiry_warning_days": 14,
                "slow_threshold_ms": None,
                "failure_threshold": 2,
                "recovery_threshold": 2,
                "retry_interval_seconds": 10,
                "paused": False,
                "tags": [],
                "status": "pending",
                "last_checked_at": None,
                "last_response_time_ms": None,
                "last_error": None,
            }.items()
        )

    def test_answers_where_the_monitor_is_and_its_entity_tag(self, alice: Player) -> None:
        answer = alice.post(MONITORS, json={"url": URL})
        assert answer.headers["Location"] == path_of(answer.json())
        assert answer.headers["ETag"].startswith('"1.')
        assert alice.get(answer.headers["Location"]).json() == answer.json()

    def test_gives_an_id_that_tells_its_time_of_creation(self, alice: Player) -> None:
        monitor = create(alice)
        assert UUID(monitor["id"]).version == 7
        milliseconds = UUID(monitor["id"]).int >> 80
        created_at = datetime.fromisoformat(monitor["created_at"])
        assert abs(created_at.timestamp() * 1000 - milliseconds) < 1000

    def test_tells_its_times_in_utc_to_the_microsecond(self, alice: Player) -> None:
        before, monitor, after = datetime.now(UTC), create(alice), datetime.now(UTC)
        assert monitor["created_at"] == monitor["updated_at"] == monitor["status_changed_at"]
        assert len(monitor["created_at"]) == len("2026-11-20T09:30:00.000000Z")
        assert before <= datetime.fromisoformat(monitor["created_at"]) <= after

    def test_writes_the_fields_in_the_order_of_the_document(
        self, alice: Player, service: RunningService
    ) -> None:
        schema = service.app.contract.document.root["components"]["schemas"]["Monitor"]
        fields = [name for name in schema["properties"] if name not in monitor_types()]
        assert list(create(alice)) == fields

    def test_can_create_a_paused_one(self, alice: Player) -> None:
        assert create(alice, paused=True)["status"] == "paused"

    def test_is_not_for_keys_that_may_only_read(self, bob: Player, catalogue: Catalogue) -> None:
        answer = bob.post(MONITORS, json={"url": URL})
        assert is_problem(answer, catalogue, "insufficient_permissions", scope="monitors:write")

    def test_is_not_for_strangers(self, mallory: httpx.Client, catalogue: Catalogue) -> None:
        answer = mallory.post(MONITORS, json={"url": URL})
        assert is_problem(answer, catalogue, "authorization_missing")

    @pytest.mark.parametrize(
        ("field", "fields"),
        [
            ("url", {"url": None}),
            ("url", {"url": "ftp://shop.example.com"}),
            ("url", {"url": "//shop.example.com"}),
            ("url", {"url": "https://alice:secret@shop.example.com"}),
            ("url", {"url": f"{URL}#top"}),
            ("url", {"url": "https://shop.example.com/a b"}),
            ("url", {"url": "https://bücher.example"}),
            ("url", {"url": "https://shop.example.com:65536"}),
            ("url", {"url": f"https://shop.example.com/{'x' * 2048}"}),
            ("name", {"name": ""}),
            ("name", {"name": "x" * 101}),
            ("name", {"name": "   "}),
            ("name", {"name": "\t\n\u00a0\u3000"}),
            ("name", {"name": "\x01\x1f\x7f\x85"}),
            ("name", {"name": "\u202e\u2066\u200f"}),
            ("name", {"name": "\u200b \u200d\ufeff\u2060"}),
            ("method", {"method": "get"}),
            ("request_headers.X-Trace", {"request_headers": {"X-Trace": "a\r\nb"}}),
            ("request_headers.X-Trace", {"request_headers": {"X-Trace": "a\n"}}),
            ("request_headers.X-Trace", {"request_headers": {"X-Trace": "\x1b[2J"}}),
            ("request_headers.X-Trace", {"request_headers": {"X-Trace": "\x7f"}}),
            ("request_headers.X-Trace", {"request_headers": {"X-Trace": "\u0100"}}),
            ("request_headers.X-Trace", {"request_headers": {"X-Trace": "日本"}}),
            ("request_headers.X-Trace", {"request_headers": {"X-Trace": None}}),
            ("request_headers.X-Trace", {"request_headers": {"X-Trace": MASK}}),
            ("request_headers.Authorization", {"request_headers": {"Authorization": MASK}}),
            ("request_body", {"method": "POST", "request_body": "x" * 8193}),
            ("expected_status_codes", {"expected_status_codes": []}),
            ("expected_status_codes.0", {"expected_status_codes": ["2XX"]}),
            ("interval_seconds", {"interval_seconds": 29}),
            ("interval_seconds", {"interval_seconds": 60.5}),
            ("interval_seconds", {"interval_seconds": "60"}),
            ("interval_seconds", {"interval_seconds": None}),
            ("timeout_seconds", {"timeout_seconds": 61}),
            ("paused", {"paused": 1}),
            ("tags", {"tags": ["shop", "shop"]}),
            ("tags.1", {"tags": ["shop", "Shop"]}),
            ("id", {"id": "019a9c3e-5b7a-7c1e-9d42-3f8b6a1e2c70"}),
            ("status", {"status": "up"}),
            ("url", {"url": "http://0x7f.1/"}),
            ("request_body", {"request_body": "{}"}),
            ("request_body", {"request_body": "", "method": "HEAD"}),
            ("required_keyword", {"method": "HEAD", "required_keyword": "ok"}),
            ("forbidden_keyword", {"method": "HEAD", "forbidden_keyword": "error"}),
            ("request_headers", {"request_headers": {"X Trace": ""}}),
            ("request_headers", {"request_headers": {"": "x"}}),
            ("request_headers", {"request_headers": {"X-Trace\n": "x"}}),
            ("request_headers", {"request_headers": {"X-Tracé": "x"}}),
            ("request_headers", {"request_headers": {"X" * 65: "x"}}),
            ("request_headers", {"request_headers": {"Content-Length": "0"}}),
            ("request_headers", {"request_headers": {"TRANSFER-ENCODING": "chunked"}}),
            ("request_headers", {"request_headers": {"hOST": "other.example"}}),
            ("request_headers", {"request_headers": {"Accept-Encoding": "br"}}),
        ],
    )
    def test_names_the_field_that_is_wrong(self, alice: Player, field: str, fields: dict[str, Any]) -> None:
        answer = alice.post(MONITORS, json={"url": URL, **fields})
        assert answer.status_code == 400
        assert answer.json()["error"].startswith(f"{field}: ")

    @pytest.mark.parametrize(
        ("url", "host"),
        [
            ("https://bücher.example/health", "xn--bcher-kva.example"),
            ("http://straße.example:8080", "xn--strae-oqa.example"),
            ("https://例え.テスト", "xn--r8jz45g.xn--zckzah"),
        ],
    )
    def test_tells_the_ascii_form_of_an_international_host(self, alice: Player, url: str, host: str) -> None:
        assert alice.post(MONITORS, json={"url": url}).json()["error"].endswith(host)

    def test_tells_that_a_status_is_text(self, alice: Player) -> None:
        told = alice.post(MONITORS, json={"url": URL, "expected_status_codes": [200]}).json()["error"]
        assert told.startswith("expected_status_codes.0: must be text")

    @pytest.mark.parametrize(
        ("given", "kept"),
        [
            ({"Accept": "a", "accept": "b"}, {"accept": "b"}),
            ({"X-A": "a", "X-B": "b", "x-a": "c"}, {"x-a": "c", "X-B": "b"}),
        ],
    )
    def test_keeps_the_last_of_two_request_headers_that_differ_in_case(
        self, alice: Player, given: dict[str, str], kept: dict[str, str]
    ) -> None:
        assert create(alice, request_headers=given)["request_headers"] == kept

    @pytest.mark.parametrize(
        "fields",
        [
            {"interval_seconds": 30, "timeout_seconds": 60},
            {"expected_status_codes": ["299-200", "200-200"]},
            {"request_headers": {f"X-{number}": "" for number in range(20)}},
            {"request_headers": {"User-Agent": "ours", "Accept-Language": "de"}},
        ],
    )
    def test_takes_fields_as_far_as_they_go(self, alice: Player, fields: dict[str, Any]) -> None:
        assert create(alice, **fields).items() >= fields.items()

    @pytest.mark.parametrize("value", ["", "\t", " ~", "é\x80\xff", "x" * 2048])
    def test_takes_request_header_values_http_can_send(self, alice: Player, value: str) -> None:
        assert create(alice, request_headers={"X-Trace": value})["request_headers"] == {"X-Trace": value}

    @pytest.mark.parametrize("name", ["x" * 100, " a ", "日本", "क्\u200dष", "👩\u200d👧", "\u202eb"])
    def test_takes_a_name_as_it_is_written(self, alice: Player, name: str) -> None:
        assert create(alice, name=name)["name"] == name

    def test_names_a_monitor_after_the_first_100_characters_of_a_long_host(self, alice: Player) -> None:
        host = ".".join("a" * 60 for _ in range(4))
        assert create(alice, url=f"https://{host}/")["name"] == host[:100]

    def test_takes_a_whole_number_however_it_is_written(self, alice: Player) -> None:
        body = '{"url": "https://shop.example.com", "interval_seconds": 6.0e1}'
        answer = alice.post(MONITORS, content=body, headers={"Content-Type": "application/json"})
        assert '"interval_seconds":60,' in answer.text


class TestPlan:
    def test_fifty_creates_at_once_at_a_cap_of_ten_make_exactly_ten(
        self, service: RunningService, catalogue: Catalogue
    ) -> None:
        with Player(service, form_team(service, max_monitors=10)) as player, ThreadPoolExecutor(50) as pool:
            answers = list(pool.map(lambda _: player.post(MONITORS, json={"url": URL}), range(50)))
            refusals = [answer for answer in answers if answer.status_code != 201]
            assert len(refusals) == 40
            for answer in refusals:
                assert is_problem(answer, catalogue, "monitor_limit_reached", max_monitors=10)
            assert service.run(count_twice(player.team_id)) == (10, 10)

    def test_twenty_creates_at_once_for_the_last_three_places_make_three(
        self, service: RunningService
    ) -> None:
        with Player(service, form_team(service, max_monitors=5)) as player, ThreadPoolExecutor(20) as pool:
            create(player)
            create(player)
            answers = list(pool.map(lambda _: player.post(MONITORS, json={"url": URL}), range(20)))
            assert sorted(answer.status_code for answer in answers) == [201] * 3 + [403] * 17
            assert service.run(count_twice(player.team_id)) == (5, 5)

    def test_keeps_count_of_whatever_is_done_at_once(self, service: RunningService) -> None:
        def act(number: int) -> httpx.Response:
            path = paths[number % len(paths)]
            once = {"Idempotency-Key": f"{number % 5}-{number % len(paths)}"}
            return (
                lambda: player.post(MONITORS, json={"url": URL}),
                lambda: player.delete(path),
                lambda: player.post(MONITORS, json={"url": URL}, headers=once),
                lambda: player.delete(path, headers=once),
                lambda: player.patch(path, json={"paused": True}, headers=once),
            )[number % 5]()

        with Player(service, form_team(service, max_monitors=8)) as player, ThreadPoolExecutor(16) as pool:
            paths = [path_of(create(player)) for _ in range(6)]
            statuses = {answer.status_code for answer in pool.map(act, range(90))}
            assert statuses <= {200, 201, 204, 403, 404}
            kept, counted = service.run(count_twice(player.team_id))
            assert kept == counted <= 8

    def test_may_shrink_below_what_there_is(self, service: RunningService, catalogue: Catalogue) -> None:
        team = form_team(service, max_monitors=3)
        with Player(service, team) as player:
            monitors = [create(player) for _ in range(3)]
            service.run(change_plan(team.name, "smaller", 2))
            for monitor in monitors[:2]:
                answer = player.post(MONITORS, json={"url": URL})
                assert is_problem(answer, catalogue, "monitor_limit_reached", max_monitors=2)
                player.delete(path_of(monitor))
            create(player)
            assert service.run(count_twice(team.id)) == (2, 2)

    def test_counts_paused_monitors_too(self, service: RunningService, catalogue: Catalogue) -> None:
        with Player(service, form_team(service, max_monitors=1)) as player:
            create(player, paused=True)
            answer = player.post(MONITORS, json={"url": URL})
            assert is_problem(answer, catalogue, "monitor_limit_reached", max_monitors=1)

    def test_gives_a_deleted_monitors_place_to_another(self, service: RunningService) -> None:
        with Player(service, form_team(service, max_monitors=1)) as player:
            player.delete(path_of(create(player)))
            create(player)

    def test_is_each_teams_own(self, service: RunningService, alice: Player) -> None:
        with Player(service, form_team(service, max_monitors=1)) as player:
            create(player)
            create(alice)
            create(alice)
