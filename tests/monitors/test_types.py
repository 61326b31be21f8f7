"""What differs between types of monitors, to clients of the API."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import pytest

from monitoring.contract.document import published_document
from monitoring.contract.problems import Problem
from monitoring.monitors import settings_rules
from monitoring.monitors.configuration import default_configuration, monitor_types
from monitoring.monitors.rules import complete
from monitoring.monitors.settings_rules import demand_offered
from monitoring.settings import Settings
from monitors.contracts.promises import DOCUMENT
from monitors.conversations import MONITORS, create, is_problem, list_ids, path_of, read

if TYPE_CHECKING:
    from cast import Player
    from monitoring.contract.catalogue import Catalogue

SCHEMAS = published_document().root["components"]["schemas"]

# The least that creates a monitor of each type but http, and its settings then. A new type is a line here.
LEAST: dict[str, dict[str, Any]] = {
    "tcp": {"url": "tcp://db.example.com:5432"},
    "dns": {"url": "dns://example.com"},
    "certificate": {"url": "tls://mail.example.com:587"},
    "ping": {"url": "ping://router.example.com"},
    "heartbeat": {"url": "heartbeat://job", "heartbeat": {"period_seconds": 60}},
}
SETTINGS: dict[str, dict[str, Any]] = {
    "tcp": {"tls": False, "send": None, "expect": None},
    "dns": {"record_type": "A", "expected": [], "match": "any", "resolver": None},
    "certificate": {"starttls": None, "names": []},
    "ping": {"ip_version": None},
    "heartbeat": {"period_seconds": 60, "cron": None, "time_zone": "UTC", "grace_seconds": 300},
}

# What only answers have, by type.
ANSWERED = {"heartbeat": {"ping_url"}}

# What a monitor of another type cannot have.
ONLY_FOR_HTTP: dict[str, Any] = {
    "method": "HEAD",
    "request_headers": {"Accept": "text/html"},
    "request_body": "a",
    "expected_status_codes": ["200"],
    "required_keyword": "a",
    "forbidden_keyword": "a",
    "follow_redirects": False,
    "contract": {"document": DOCUMENT, "operation_id": "get_order"},
}

others = pytest.mark.parametrize("monitor_type", LEAST)


def only_for(monitor_type: str) -> str:
    return f"is only for monitors of type {monitor_type}"


def test_every_type_is_tried() -> None:
    assert {"http", *LEAST} == {"http", *SETTINGS} == set(monitor_types())


class TestCreateMonitor:
    @others
    def test_of_another_type_fills_in_its_settings(self, alice: Player, monitor_type: str) -> None:
        monitor = create(alice, type=monitor_type, **LEAST[monitor_type])
        assert (monitor["type"], monitor[monitor_type]) == (monitor_type, SETTINGS[monitor_type])
        assert read(alice, monitor) == monitor
        assert alice.get(MONITORS).json()["monitors"] == [monitor]

    @others
    def test_of_another_type_answers_the_defaults_of_http(self, alice: Player, monitor_type: str) -> None:
        """A client of 0.1.0 can read it."""
        monitor, of_http = create(alice, type=monitor_type, **LEAST[monitor_type]), create(alice)
        assert of_http.keys() == monitor.keys() - {monitor_type} - ANSWERED.get(monitor_type, set())
        assert {name: monitor[name] for name in ONLY_FOR_HTTP} == {
            name: of_http[name] for name in ONLY_FOR_HTTP
        }

    @others
    def test_writes_the_fields_in_the_order_of_the_document(self, alice: Player, monitor_type: str) -> None:
        of_others = {*monitor_types(), *chain(*ANSWERED.values())} - {monitor_type}
        of_others -= ANSWERED.get(monitor_type, set())
        fields = [name for name in SCHEMAS["Monitor"]["properties"] if name not in of_others]
        assert list(create(alice, type=monitor_type, **LEAST[monitor_type])) == fields

    @others
    def test_takes_the_defaults_of_http_from_clients_that_send_every_field(
        self, alice: Player, monitor_type: str
    ) -> None:
        of_http = create(alice)
        defaults = {name: of_http[name] for name in ONLY_FOR_HTTP}
        assert create(alice, type=monitor_type, **defaults, **LEAST[monitor_type])["type"] == monitor_type

    @others
    @pytest.mark.parametrize("field", ONLY_FOR_HTTP)
    def test_of_another_type_refuses_what_only_http_has(
        self, alice: Player, catalogue: Catalogue, monitor_type: str, field: str
    ) -> None:
        given = {"type": monitor_type, **LEAST[monitor_type], field: ONLY_FOR_HTTP[field]}
        answer = alice.post(MONITORS, json=given)
        assert is_problem(answer, catalogue, "invalid_field", field=field, problem=only_for("http"))
        assert list_ids(alice) == []

    @others
    def test_refuses_the_settings_of_another_type(
        self, alice: Player, catalogue: Catalogue, monitor_type: str
    ) -> None:
        for given in (
            {"url": "https://shop.example.com"},
            {"type": "http", "url": "https://shop.example.com"},
        ):
            answer = alice.post(MONITORS, json={**given, monitor_type: {}})
            assert is_problem(
                answer, catalogue, "invalid_field", field=monitor_type, problem=only_for(monitor_type)
            )
        assert list_ids(alice) == []

    @pytest.mark.parametrize(
        ("field", "given"),
        [
            ("type", {"type": "ftp", "url": "ftp://db.example.com"}),
            ("type", {"type": None, "url": "https://shop.example.com"}),
            ("url", {"type": "tcp"}),
            ("url", {"type": "http"}),
            ("url", {"type": "tcp", "url": "https://shop.example.com"}),
            ("url", {"type": "http", "url": "tcp://db.example.com:5432"}),
            ("url", {"url": "tcp://db.example.com:5432"}),
            ("url", {"type": "tcp", "url": "tcp://db.example.com"}),
            ("url", {"type": "tcp", "url": "tcp://db.example.com:0"}),
            ("url", {"type": "tcp", "url": "tcp://db.example.com:5432/"}),
            ("url", {"type": "tcp", "url": "tcp://a:b@db.example.com:5432"}),
            ("url", {"type": "tcp", "url": "tcp://2130706433:5432"}),
            ("tcp", {"type": "tcp", "url": "tcp://db.example.com:5432", "tcp": None}),
            ("tcp.expect", {"type": "tcp", "url": "tcp://db.example.com:5432", "tcp": {"expect": ""}}),
            ("tcp.port", {"type": "tcp", "url": "tcp://db.example.com:5432", "tcp": {"port": 1}}),
            ("url", {"type": "dns", "url": "dns://example.com:53"}),
            ("url", {"type": "dns", "url": "dns://example..com"}),
            ("url", {"type": "dns", "url": "tcp://example.com:53"}),
            ("url", {"type": "certificate", "url": "tls://mail.example.com"}),
            ("url", {"type": "certificate", "url": "https://mail.example.com"}),
            ("url", {"type": "ping", "url": "ping://router.example.com:7"}),
            ("url", {"type": "ping", "url": "ping://0x7f.1"}),
            ("ping.ip_version", {"type": "ping", "url": "ping://192.0.2.1", "ping": {"ip_version": 5}}),
            ("dns.record_type", {"type": "dns", "url": "dns://a.example", "dns": {"record_type": "ANY"}}),
            ("dns.record_type", {"type": "dns", "url": "dns://a.example", "dns": {"record_type": "mx"}}),
            ("dns.expected", {"type": "dns", "url": "dns://a.example", "dns": {"expected": "192.0.2.1"}}),
            ("dns.match", {"type": "dns", "url": "dns://a.example", "dns": {"match": "none"}}),
            ("dns.resolver", {"type": "dns", "url": "dns://a.example", "dns": {"resolver": "ns.example"}}),
            ("dns.resolver", {"type": "dns", "url": "dns://a.example", "dns": {"resolver": "9.9.9.9:5353"}}),
            (
                "certificate.starttls",
                {"type": "certificate", "url": "tls://a.example:21", "certificate": {"starttls": "ftp"}},
            ),
            (
                "certificate.names.0",
                {"type": "certificate", "url": "tls://a.example:443", "certificate": {"names": ["*.a"]}},
            ),
        ],
    )
    def test_names_what_is_wrong(self, alice: Player, field: str, given: dict[str, Any]) -> None:
        answer = alice.post(MONITORS, json=given)
        assert answer.status_code == 400
        assert answer.json()["error"].startswith(f"{field}: ")
        assert list_ids(alice) == []

    @pytest.mark.parametrize("resolver", ["127.0.0.1", "10.0.0.53", "::1", "169.254.169.253", "0.0.0.0"])  # noqa: S104
    def test_refuses_a_name_server_in_a_private_network(
        self, alice: Player, catalogue: Catalogue, resolver: str
    ) -> None:
        dns = {"resolver": resolver}
        answer = alice.post(MONITORS, json={"type": "dns", **LEAST["dns"], "dns": dns})
        assert is_problem(answer, catalogue, "dns_resolver_refused")
        monitor = create(alice, type="dns", **LEAST["dns"])
        assert is_problem(alice.patch(path_of(monitor), json={"dns": dns}), catalogue, "dns_resolver_refused")
        assert alice.get(MONITORS).json()["monitors"] == [monitor]

    def test_refuses_an_expected_record_that_is_none(self, alice: Player, catalogue: Catalogue) -> None:
        given = {"record_type": "MX", "expected": ["10 mail.example.com", "mail.example.com"]}
        answer = alice.post(MONITORS, json={"type": "dns", **LEAST["dns"], "dns": given})
        assert is_problem(answer, catalogue, "dns_record_unreadable", number=1, record_type="MX")
        monitor = create(alice, type="dns", **LEAST["dns"], dns={"expected": ["192.0.2.1"]})
        answer = alice.patch(path_of(monitor), json={"dns": {"record_type": "MX"}})
        assert is_problem(answer, catalogue, "dns_record_unreadable", number=0, record_type="MX")
        assert alice.get(MONITORS).json()["monitors"] == [monitor]

    @pytest.mark.parametrize(("is_offered", "kernel_allows"), [(True, False), (False, True)])
    def test_refuses_pings_that_may_not_be_sent(
        self, monkeypatch: pytest.MonkeyPatch, *, is_offered: bool, kernel_allows: bool
    ) -> None:
        monkeypatch.setattr(settings_rules, "may_ping", lambda: kernel_allows)
        configuration = complete({"type": "ping", **LEAST["ping"]}, default_configuration())
        with pytest.raises(Problem) as refused:
            demand_offered(configuration, Settings.model_construct(ping_monitors=is_offered))
        assert refused.value.name == "ping_not_offered"


class TestUpdateMonitor:
    @others
    def test_that_names_no_type_changes_a_monitor_of_any(self, alice: Player, monitor_type: str) -> None:
        monitor = create(alice, type=monitor_type, **LEAST[monitor_type])
        changed = alice.patch(path_of(monitor), json={"name": "Other", "interval_seconds": 60}).json()
        assert changed == {
            **monitor,
            "name": "Other",
            "interval_seconds": 60,
            "updated_at": changed["updated_at"],
        }

    @others
    def test_takes_back_what_it_has_answered(self, alice: Player, monitor_type: str) -> None:
        monitor = create(alice, type=monitor_type, **LEAST[monitor_type])
        written = {name: monitor[name] for name in SCHEMAS["MonitorUpdate"]["properties"] if name in monitor}
        assert alice.patch(path_of(monitor), json=written).json() == monitor

    def test_merges_settings_and_null_restores_their_defaults(self, alice: Player) -> None:
        monitor = create(alice, type="tcp", **LEAST["tcp"], tcp={"send": "a", "expect": "b"})

        def change(**settings: Any) -> Any:
            changed: dict[str, Any] = alice.patch(path_of(monitor), json={"tcp": settings or None}).json()
            return changed["tcp"]

        assert change(tls=True, send=None) == {"tls": True, "send": None, "expect": "b"}
        assert change() == SETTINGS["tcp"]

    @others
    def test_cannot_change_the_type(self, alice: Player, catalogue: Catalogue, monitor_type: str) -> None:
        monitor = create(alice, type=monitor_type, **LEAST[monitor_type])
        answer = alice.patch(path_of(monitor), json={"type": "http", "url": "https://shop.example.com"})
        assert is_problem(answer, catalogue, "monitor_type_kept", type=monitor_type)
        assert read(alice, monitor) == monitor

    @others
    @pytest.mark.parametrize("field", ONLY_FOR_HTTP)
    def test_of_another_type_refuses_what_only_http_has(
        self, alice: Player, catalogue: Catalogue, monitor_type: str, field: str
    ) -> None:
        monitor = create(alice, type=monitor_type, **LEAST[monitor_type])
        answer = alice.patch(path_of(monitor), json={field: ONLY_FOR_HTTP[field]})
        assert is_problem(answer, catalogue, "monitor_contradicted", field=field, problem=only_for("http"))
        assert read(alice, monitor) == monitor

    @others
    def test_refuses_the_settings_of_another_type(
        self, alice: Player, catalogue: Catalogue, monitor_type: str
    ) -> None:
        monitor = create(alice)
        answer = alice.patch(path_of(monitor), json={monitor_type: {}})
        problem = only_for(monitor_type)
        assert is_problem(answer, catalogue, "monitor_contradicted", field=monitor_type, problem=problem)
        assert read(alice, monitor) == monitor

    def test_refuses_the_address_of_another_type(self, alice: Player, catalogue: Catalogue) -> None:
        monitor = create(alice, type="tcp", **LEAST["tcp"])
        answer = alice.patch(path_of(monitor), json={"url": "https://shop.example.com"})
        problem = SCHEMAS["TcpUrl"]["x-problem"]
        assert is_problem(answer, catalogue, "monitor_contradicted", field="url", problem=problem)
        assert read(alice, monitor) == monitor


class TestListMonitors:
    def test_filters_by_type(self, alice: Player) -> None:
        ids = {"http": create(alice)["id"]}
        for monitor_type, least in LEAST.items():
            ids[monitor_type] = create(alice, type=monitor_type, **least)["id"]
        assert {monitor_type: list_ids(alice, type=monitor_type) for monitor_type in ids} == {
            monitor_type: [monitor_id] for monitor_type, monitor_id in ids.items()
        }

    def test_finds_an_address_of_any_type(self, alice: Player) -> None:
        monitor = create(alice, type="tcp", name="Database", **LEAST["tcp"])
        assert list_ids(alice, search="tcp://db.EXAMPLE") == [monitor["id"]]
