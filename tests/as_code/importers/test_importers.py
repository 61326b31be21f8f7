"""Samples in the shapes that the other programs document, written for these tests."""

from __future__ import annotations

import json
import sqlite3
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
import yaml

from monitoring.as_code.files import read_file
from monitoring.as_code.importers import IMPORTERS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from as_code.commands import Ended, Pipeline

KUMA_HTTP = {
    "id": 1,
    "name": "Shop",
    "type": "keyword",
    "url": "https://shop.example.com/",
    "method": "GET",
    "interval": 60,
    "timeout": 48,
    "maxretries": 3,
    "retryInterval": 20,
    "keyword": "Welcome",
    "ignoreTls": True,
    "maxredirects": 10,
    "accepted_statuscodes": ["200-299", "404"],
    "headers": '{"Accept": "text/html", "Authorization": "Bearer a-secret-of-this-test"}',
    "active": 0,
    "tags": [{"name": "The Shop!"}],
    "proxyId": 1,
}
KUMA = {
    "version": "1.23.0",
    "notificationList": [],
    "monitorList": [
        KUMA_HTTP,
        {
            "id": 2,
            "name": "Cache",
            "type": "port",
            "hostname": "cache.example.com",
            "port": 6379,
            "interval": 20,
        },
        {"id": 3, "name": "Backup", "type": "push", "interval": 86400, "pushToken": "a-secret-of-this-test"},
        {"id": 4, "name": "Container", "type": "docker", "interval": 60},
    ],
}
SHOP = {
    "name": "Shop",
    "url": "https://shop.example.com/",
    "required_keyword": "Welcome",
    "verify_tls": False,
    "expected_status_codes": ["2xx", "404"],
    "request_headers": {"Accept": "text/html", "Authorization": "${MONITOR_SHOP_AUTHORIZATION}"},
    "interval_seconds": 60,
    "timeout_seconds": 48,
    "failure_threshold": 4,
    "retry_interval_seconds": 20,
    "paused": True,
    "tags": ["the-shop"],
    "note": "Not carried over: the proxy",
}
GATUS = """
endpoints:
  - name: front-end
    group: Core
    url: https://shop.example.com/health
    interval: 1m30s
    client: {timeout: 5s, insecure: true}
    headers: {Authorization: Bearer a-secret-of-this-test}
    conditions:
      - "[STATUS] == 200"
      - "[BODY].status == UP"
      - "[RESPONSE_TIME] < 300"
      - "[CERTIFICATE_EXPIRATION] > 48h"
      - "len([BODY].items) > 2"
    alerts: [{type: slack}]
  - {name: cache, url: tcp://cache.example.com:6379, conditions: ["[CONNECTED] == true"]}
  - name: names
    url: 8.8.8.8
    dns: {query-name: example.com, query-type: MX}
    conditions: ["[DNS_RCODE] == NOERROR"]
  - {name: shell, url: ssh://example.com:22}
external-endpoints:
  - {name: job, token: a-secret-of-this-test, heartbeat: {interval: 30m}}
"""
PROMETHEUS = """
global: {scrape_interval: 15s}
scrape_configs:
  - job_name: prometheus
    static_configs: [{targets: ['localhost:9090']}]
  - job_name: blackbox
    metrics_path: /probe
    params: {module: [http_post]}
    static_configs: [{targets: [https://shop.example.com/, shop.example.org], labels: {env: Production}}]
  - job_name: ports
    metrics_path: /probe
    params: {module: [ssh]}
    static_configs: [{targets: ['example.com:22']}]
    kubernetes_sd_configs: [{role: service}]
"""
BLACKBOX = """
modules:
  http_post:
    prober: http
    timeout: 5s
    http:
      method: POST
      valid_status_codes: [201]
      body: '{}'
      fail_if_body_matches_regexp: [oops]
      compression: gzip
  ssh:
    prober: tcp
    tcp: {query_response: [{expect: '^SSH-2.0-'}]}
"""
HEALTHCHECKS = {
    "checks": [
        {
            "name": "Backup",
            "tags": "prod db",
            "grace": 900,
            "schedule": "15 5 * * *",
            "tz": "Europe/Berlin",
            "status": "up",
        },
        {
            "name": "Sync",
            "tags": "",
            "grace": 60,
            "timeout": 3600,
            "status": "paused",
            "channels": "1fd8e1a3",
        },
        {"name": "Timer", "tags": "", "grace": 60, "schedule": "Mon..Fri 10:00", "status": "up"},
    ]
}
ROBOT = {
    "stat": "ok",
    "monitors": [
        {
            "friendly_name": "Shop",
            "url": "https://shop.example.com/",
            "type": 1,
            "interval": 300,
            "timeout": 30,
            "status": 2,
            "http_method": 1,
            "http_username": "a",
            "http_password": "a-secret-of-this-test",
        },
        {
            "friendly_name": "Words",
            "url": "https://shop.example.com/",
            "type": 2,
            "keyword_type": 1,
            "keyword_value": "Sold out",
            "interval": 300,
            "status": 0,
        },
        {
            "friendly_name": "Mail",
            "url": "mail.example.com",
            "type": 4,
            "sub_type": 4,
            "interval": 300,
            "status": 2,
        },
        {"friendly_name": "Router", "url": "router.example.com", "type": 3, "interval": 20, "status": 2},
    ],
}
STACK = {
    "data": [
        {
            "type": "monitor",
            "attributes": {
                "url": "https://shop.example.com/",
                "pronounceable_name": "Shop",
                "monitor_type": "expected_status_code",
                "expected_status_codes": [204],
                "check_frequency": 180,
                "request_timeout": 30,
                "http_method": "post",
                "request_body": "{}",
                "request_headers": [{"name": "Authorization", "value": "a-secret-of-this-test"}],
                "verify_ssl": True,
                "paused": False,
                "regions": ["eu"],
            },
        },
        {
            "type": "monitor",
            "attributes": {
                "url": "cache.example.com",
                "pronounceable_name": "Cache",
                "monitor_type": "tcp",
                "port": "6379",
                "check_frequency": 60,
                "request_timeout": 5000,
            },
        },
        {
            "type": "monitor",
            "attributes": {
                "url": "a.example",
                "pronounceable_name": "Voice",
                "monitor_type": "udp",
                "port": "5060",
                "check_frequency": 60,
            },
        },
        {
            "type": "heartbeat",
            "attributes": {
                "name": "Backup",
                "period": 10800,
                "grace": 300,
                "paused_at": "2026-09-01T14:17:46Z",
            },
        },
        {
            "type": "monitor",
            "attributes": {
                "url": "https://a.example/",
                "pronounceable_name": "No warning",
                "monitor_type": "status",
                "ssl_expiration": -1,
            },
        },
    ]
}
# One header for each way in which a header is a credential, and one that is none.
SECRET_HEADERS = {
    "Authorization": "a-secret-of-this-test",
    "Cookie": "a-secret-of-this-test",
    "X-Api-Key": "a-secret-of-this-test",
    "X-Auth-Token": "a-secret-of-this-test",
    "X-Session": "a-secret-of-this-test",
    "X-Hub-Signature": "a-secret-of-this-test",
    "X-First": "Bearer a-secret-of-this-test",
    "X-Second": "https://bob:a-secret-of-this-test@example.com/",
    "X-Third": "eyJhbGciOi.a-secret-of-this-test.e30",
}
PLAIN_HEADERS = {"Accept": "text/html", "X-Text": "costs ${AMOUNT}"}
HEADERS = SECRET_HEADERS | PLAIN_HEADERS
WITH_LOGIN = "https://bob:a-secret-of-this-test@shop.example.com/"
FILES_WITH_SECRETS: dict[str, list[Any]] = {
    "uptime-kuma": [
        {
            "monitorList": [
                {
                    "name": "Shop",
                    "type": "http",
                    "url": WITH_LOGIN,
                    "interval": 60,
                    "headers": json.dumps(HEADERS),
                },
            ]
        }
    ],
    "gatus": [{"endpoints": [{"name": "Shop", "url": WITH_LOGIN, "headers": HEADERS}]}],
    "blackbox": [
        {
            "scrape_configs": [
                {"job_name": "Shop", "metrics_path": "/probe", "static_configs": [{"targets": [WITH_LOGIN]}]}
            ]
        },
        {"modules": {"http_2xx": {"prober": "http", "http": {"headers": HEADERS}}}},
    ],
    "uptime-robot": [{"monitors": [{"url": WITH_LOGIN, "type": 1, "custom_http_headers": HEADERS}]}],
    "better-stack": [
        {
            "data": [
                {
                    "type": "monitor",
                    "attributes": {
                        "url": WITH_LOGIN,
                        "monitor_type": "status",
                        "request_headers": [
                            {"name": name, "value": value} for name, value in HEADERS.items()
                        ],
                    },
                }
            ]
        }
    ],
}
OPENAPI = {
    "openapi": "3.1.0",
    "servers": [{"url": "/v1"}],
    "paths": {
        "/health": {"get": {"operationId": "get_health", "responses": {}}},
        "/orders": {
            "get": {
                "operationId": "list_orders",
                "parameters": [{"name": "limit", "in": "query"}],
                "responses": {},
            },
            "post": {"operationId": "create_order", "responses": {}},
        },
        "/orders/{id}": {
            "parameters": [{"$ref": "#/components/parameters/Id"}],
            "get": {"operationId": "get_order", "responses": {}},
        },
        "/me": {"get": {"operationId": "get_me", "security": [{"bearerAuth": []}], "responses": {}}},
    },
    "components": {"parameters": {"Id": {"name": "id", "in": "path", "required": True}}},
}


def _import(pipeline: Pipeline, folder: Path, source: str, *contents: Any) -> tuple[dict[str, Any], Ended]:
    """Import files, and return the monitors and how the command ended."""
    paths = []
    for number, content in enumerate(contents):
        path = folder / f"import-{number}"
        path.write_bytes(content if isinstance(content, bytes) else _write(content).encode())
        paths.append(str(path))
    ended = pipeline.run("import", source, *paths)
    assert ended.status == 0, ended.err
    read_file(ended.out, "monitors.yaml", needs_variables=False)  # it can be applied
    assert "a-secret-of-this-test" not in ended.out
    return yaml.safe_load(ended.out)["monitors"], ended


def _write(content: Any) -> str:
    return content if isinstance(content, str) else json.dumps(content)


def _make_kuma_database(path: Path) -> bytes:
    with sqlite3.connect(path) as connection:
        connection.executescript("""
            CREATE TABLE monitor (id INTEGER PRIMARY KEY, name, type, url, method, "interval", timeout,
                maxretries, retry_interval, keyword, ignore_tls, maxredirects, accepted_statuscodes_json,
                headers, active, proxy_id, upside_down, hostname, port);
            CREATE TABLE tag (id INTEGER PRIMARY KEY, name);
            CREATE TABLE monitor_tag (id INTEGER PRIMARY KEY, monitor_id, tag_id, value);
            INSERT INTO tag VALUES (7, 'The Shop!');
            INSERT INTO monitor_tag VALUES (1, 1, 7, NULL);
        """)
        row = {**KUMA_HTTP, "accepted_statuscodes_json": json.dumps(KUMA_HTTP["accepted_statuscodes"])}
        renamed = {"retryInterval": "retry_interval", "ignoreTls": "ignore_tls", "proxyId": "proxy_id"}
        kept = {
            renamed.get(name, name): value
            for name, value in row.items()
            if name not in {"tags", "accepted_statuscodes"}
        }
        names = ", ".join(f'"{name}"' for name in kept)
        places = ", ".join("?" for _ in kept)
        connection.execute(f"INSERT INTO monitor ({names}) VALUES ({places})", list(kept.values()))  # noqa: S608 - ours
    connection.close()
    return path.read_bytes()


def test_uptime_kuma_is_read_from_its_backup(pipeline: Pipeline, tmp_path: Path) -> None:
    monitors, ended = _import(pipeline, tmp_path, "uptime-kuma", KUMA)
    assert monitors["shop"] == SHOP
    assert monitors["cache"]["url"] == "tcp://cache.example.com:6379"
    assert monitors["cache"]["interval_seconds"] == 30
    assert monitors["backup"]["heartbeat"] == {"period_seconds": 86400}
    assert "Container: left out: monitors of type docker are not supported" in ended.err.splitlines()


def test_uptime_kuma_is_read_from_its_database(pipeline: Pipeline, tmp_path: Path) -> None:
    monitors, _ = _import(pipeline, tmp_path, "uptime-kuma", _make_kuma_database(tmp_path / "kuma.db"))
    assert monitors == {"shop": SHOP}


def test_gatus_is_read_with_its_conditions(pipeline: Pipeline, tmp_path: Path) -> None:
    monitors, ended = _import(pipeline, tmp_path, "gatus", GATUS)
    assert monitors["front-end"] == {
        "url": "https://shop.example.com/health",
        "request_headers": {"Authorization": "${MONITOR_FRONT_END_AUTHORIZATION}"},
        "verify_tls": False,
        "interval_seconds": 90,
        "timeout_seconds": 5,
        "expected_status_codes": ["200"],
        "assertions": [{"source": "json", "path": "$.status", "comparison": "equals", "value": "UP"}],
        "slow_threshold_ms": 300,
        "tls_expiry_warning_days": 2,
        "tags": ["core"],
        "note": "Not carried over: the condition len([BODY].items) > 2; its alerts",
    }
    assert monitors["names"]["dns"] == {"record_type": "MX"}
    assert monitors["job"]["heartbeat"] == {"period_seconds": 1800}
    assert "shell: left out: URLs with the scheme ssh are not supported" in ended.err.splitlines()


def test_gatus_keeps_its_variables_and_names_settings_that_are_not_known(
    pipeline: Pipeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLACE", "shop")
    query = {
        "name": "query",
        "url": "https://example.com/$PLACE/$$5",
        "graphql": True,
        "body": "{ shop { name } }",
        "client": {"tls": {"certificate-file": "client.pem"}, "proxy-url": "", "timeout": "5s"},
        "maintenance-windows": [{"start": "23:00"}],
        "conditions": ["[STATUS] == any(200, 429)", "[BODY].rate == 1.5", "[BODY].name == null"],
    }
    monitors, _ = _import(pipeline, tmp_path, "gatus", {"endpoints": [query]})
    monitor = monitors["query"]
    assert monitor["url"] == "https://example.com/${PLACE}/$5"
    assert (monitor["method"], json.loads(monitor["request_body"])) == ("POST", {"query": query["body"]})
    assert monitor["request_headers"] == {"Content-Type": "application/json"}
    assert monitor["expected_status_codes"] == ["200", "429"]
    assert [each["value"] for each in monitor["assertions"]] == [1.5, "null"]
    assert monitor["note"] == "Not carried over: the setting maintenance-windows; the setting tls"


def test_blackbox_exporter_is_read_with_the_targets_of_prometheus(pipeline: Pipeline, tmp_path: Path) -> None:
    monitors, ended = _import(pipeline, tmp_path, "blackbox", PROMETHEUS, BLACKBOX)
    assert set(monitors) == {"https-shop-example-com", "shop-example-org", "example-com-22"}
    shop = monitors["shop-example-org"]
    assert (shop["url"], shop["method"], shop["interval_seconds"]) == ("http://shop.example.org", "POST", 30)
    assert shop["assertions"] == [{"source": "body", "comparison": "not_matches", "value": "oops"}]
    assert "the setting compression" in shop["note"]
    assert shop["tags"] == ["blackbox", "production"]
    assert "ports: left out: the targets that kubernetes_sd_configs discovers" in ended.err.splitlines()


def test_healthchecks_is_read_as_heartbeats(pipeline: Pipeline, tmp_path: Path) -> None:
    monitors, ended = _import(pipeline, tmp_path, "healthchecks", HEALTHCHECKS)
    backup = {"cron": "15 5 * * *", "time_zone": "Europe/Berlin", "grace_seconds": 900}
    assert (monitors["backup"]["heartbeat"], monitors["backup"]["tags"]) == (backup, ["prod", "db"])
    assert monitors["sync"]["paused"]
    assert (
        "Timer: left out: the schedule Mon..Fri 10:00, which is not a cron expression with five fields"
        in ended.err
    )


def test_uptime_robot_is_read_from_its_answers(pipeline: Pipeline, tmp_path: Path) -> None:
    monitors, _ = _import(pipeline, tmp_path, "uptime-robot", ROBOT)
    assert monitors["shop"]["method"] == "HEAD"
    assert monitors["shop"]["request_headers"] == {"Authorization": "${MONITOR_SHOP_AUTHORIZATION}"}
    assert (monitors["words"]["forbidden_keyword"], monitors["words"]["paused"]) == ("Sold out", True)
    assert monitors["mail"]["url"] == "tcp://mail.example.com:25"
    assert monitors["router"]["interval_seconds"] == 30


def test_better_stack_is_read_from_its_answers(pipeline: Pipeline, tmp_path: Path) -> None:
    monitors, ended = _import(pipeline, tmp_path, "better-stack", STACK)
    shop = monitors["shop"]
    assert (shop["method"], shop["expected_status_codes"]) == ("POST", ["204"])
    assert (monitors["cache"]["url"], monitors["cache"]["timeout_seconds"]) == (
        "tcp://cache.example.com:6379",
        5,
    )
    assert monitors["backup"]["heartbeat"] == {"period_seconds": 10800, "grace_seconds": 300}
    assert monitors["backup"]["paused"]
    assert monitors["no-warning"]["tls_expiry_warning_days"] == 0
    assert "Voice: left out: monitors of type udp are not supported" in ended.err.splitlines()


@pytest.mark.parametrize(
    ("source", "content", "first"),
    [
        ("healthchecks", HEALTHCHECKS, HEALTHCHECKS["checks"][0]),
        ("uptime-robot", ROBOT, ROBOT["monitors"][0]),
        ("better-stack", STACK, STACK["data"][0]["attributes"]),
    ],
)
def test_a_setting_that_is_not_known_is_named(
    pipeline: Pipeline, tmp_path: Path, source: str, content: Any, first: Any
) -> None:
    new = {"a_new_one": True, "one_that_is_off": False}
    with patch.dict(first, new):
        monitors, ended = _import(pipeline, tmp_path, source, content)
    said = f"{ended.err}{monitors}"
    assert "the setting a_new_one" in said
    assert said.count("the setting ") == said.count("the setting a_new_one")


@pytest.mark.parametrize(
    ("source", "page", "loss"),
    [
        (
            "uptime-robot",
            {**ROBOT, "pagination": {"offset": 0, "limit": 50, "total": 500}},
            f"UptimeRobot: left out: {500 - len(ROBOT['monitors'])} monitors on other pages of the response",
        ),
        (
            "better-stack",
            {**STACK, "pagination": {"prev": None, "next": "https://uptime.example/api/v2/monitors?page=2"}},
            "Better Stack: left out: the entries on the next page of a response",
        ),
    ],
)
def test_pages_that_were_not_saved_are_named(
    pipeline: Pipeline, tmp_path: Path, source: str, page: dict[str, Any], loss: str
) -> None:
    assert loss in _import(pipeline, tmp_path, source, page)[1].err.splitlines()


@pytest.mark.parametrize("source", sorted(IMPORTERS.keys() - {"healthchecks"}))
def test_no_credential_is_ever_printed(pipeline: Pipeline, tmp_path: Path, source: str) -> None:
    monitors, ended = _import(pipeline, tmp_path, source, *FILES_WITH_SECRETS[source])
    [(key, monitor)] = monitors.items()
    assert monitor["url"] == "https://shop.example.com/"
    stem = f"MONITOR_{key}".upper().replace("-", "_")
    variables = {name: f"${{{stem}_{name.upper().replace('-', '_')}}}" for name in SECRET_HEADERS}
    is_expanded = source == "gatus"  # Gatus has variables of the environment as well
    text = "costs ${AMOUNT}" if is_expanded else "costs $${AMOUNT}"
    assert monitor["request_headers"] == variables | {"Accept": "text/html", "X-Text": text}
    assert "a-secret-of-this-test" not in ended.err
    assert "the login: its variable must contain the value of the header Authorization" in ended.err


def test_of_two_monitors_of_one_name_each_has_variables_of_its_own(
    pipeline: Pipeline, tmp_path: Path
) -> None:
    [endpoint] = FILES_WITH_SECRETS["gatus"][0]["endpoints"]
    monitors, _ = _import(pipeline, tmp_path, "gatus", {"endpoints": [endpoint, endpoint]})
    first, second = (monitor["request_headers"]["Cookie"] for monitor in monitors.values())
    assert (first, second) == ("${MONITOR_SHOP_COOKIE}", "${MONITOR_SHOP_2_COOKIE}")


@pytest.mark.parametrize("source", list(IMPORTERS))
@pytest.mark.parametrize("content", ["", "{", "a", "{}", '{"version": 3}', "\x00", "- 1"])
def test_a_file_of_something_else_is_refused_in_words(
    pipeline: Pipeline, tmp_path: Path, source: str, content: str
) -> None:
    file = tmp_path / "file"
    file.write_text(content)
    ended = pipeline.run("import", source, *[str(file)] * (2 if source == "blackbox" else 1))
    assert (ended.status, ended.out) == (1, "")
    assert ended.err.startswith("The file ")


def test_a_backup_of_another_version_is_named(pipeline: Pipeline, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text(json.dumps({**KUMA, "version": "9.0.0"}))
    ended = pipeline.run("import", "uptime-kuma", str(file))
    assert (ended.status, ended.err) == (1, "Backups of version 9.0.0 are not supported, only those of 1.x\n")


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def folder_url(tmp_path: Path) -> Iterator[str]:
    handler = partial(_Quiet, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class TestOpenApi:
    def test_what_can_safely_be_called_becomes_contract_monitors(
        self, pipeline: Pipeline, tmp_path: Path, folder_url: str
    ) -> None:
        (tmp_path / "openapi.json").write_text(json.dumps(OPENAPI))
        url = f"{folder_url}/openapi.json"
        ended = pipeline.run("import", "openapi", url)
        monitors = yaml.safe_load(ended.out)["monitors"]
        assert monitors == {
            "get-health": {
                "name": "get_health",
                "url": f"{folder_url}/v1/health",
                "contract": {"document_url": url, "operation_id": "get_health"},
            },
            "list-orders": {
                "name": "list_orders",
                "url": f"{folder_url}/v1/orders",
                "contract": {"document_url": url, "operation_id": "list_orders"},
            },
        }
        assert ended.err.splitlines() == [
            "create_order: left out: POST /orders is not a GET and may change data",
            "get_order: left out: GET /orders/{id} requires the parameters id",
            "get_me: left out: GET /me requires credentials",
        ]

    def test_a_document_of_another_version_is_named(
        self, pipeline: Pipeline, tmp_path: Path, folder_url: str
    ) -> None:
        (tmp_path / "openapi.json").write_text(json.dumps({**OPENAPI, "openapi": "4.0.0"}))
        ended = pipeline.run("import", "openapi", f"{folder_url}/openapi.json")
        assert (ended.status, ended.err) == (1, "OpenAPI 4.0.0 is not supported, only 3.0 and 3.1\n")

    def test_a_document_that_cannot_be_fetched_is_named(self, pipeline: Pipeline, folder_url: str) -> None:
        ended = pipeline.run("import", "openapi", f"{folder_url}/nothing.json")
        assert ended.status == 1
        assert "404" in ended.err
