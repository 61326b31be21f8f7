"""Traces of the service's own processes, as a collector receives them."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from contextlib import ExitStack
from signal import SIGTERM
from typing import TYPE_CHECKING, Any

import httpx
import pytest

import chosen_backends
from collector import Collector, SeenSpan, running_collector
from monitoring.auth.scopes import SCOPES
from monitoring.auth.service import create_key, create_team
from monitoring.backends.assembly import open_backends
from monitoring.tracing import sending_traces, span
from running_command import running_command
from running_service import WEBHOOK_SECRET
from service_process import Installation, wait_until
from temporary_backends import make_settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TRACE_ID, PARENT_ID = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
TRACEPARENT = {"traceparent": f"00-{TRACE_ID}-{PARENT_ID}-01"}
SECRET = {"X-Webhook-Secret": WEBHOOK_SECRET}
SECRETS = ("a-secret-query", "a-secret-header", "a-secret-of-the-monitor", "a-secret-title", WEBHOOK_SECRET)


class TracedService:
    """A service whose processes send traces, and what it says."""

    def __init__(self, base_url: str, installation: Installation, collector: Collector) -> None:
        self.client = httpx.Client(base_url=base_url, timeout=30)
        self.installation = installation
        self.collector = collector

    def answered(self, name: str, answer: httpx.Response) -> SeenSpan:
        """Wait for the span of this name of a request that was answered so."""
        return self.arrives(name, {"monitoring.request_id": answer.headers["X-Request-Id"]})

    def arrives(self, name: str, attributes: dict[str, Any]) -> SeenSpan:
        """Wait for the one span of this name with these attributes."""
        wait_until(lambda: self.collector.named(name, attributes))
        (span,) = self.collector.named(name, attributes)
        return span

    def log(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.installation.log.read_text().splitlines()]


def trace_to(collector: Collector) -> dict[str, str]:
    return {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_BSP_SCHEDULE_DELAY": "50"}


async def make_token_of_a_team(folder: Path) -> tuple[str, str]:
    async with open_backends(make_settings(folder)) as backends:
        with backends.activate():
            created = await create_key(await create_team("Acme", "free", 10), "A key", SCOPES)
            return created.key.client_id, created.client_secret


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TracedService]:
    installation = Installation(tmp_path_factory.mktemp("traces"))
    installation.make_tables()
    with ExitStack() as stack:
        collector = stack.enter_context(running_collector())
        installation.environment |= trace_to(collector) | {
            "CHECKS_AT_ONCE": "10",
            "ALLOWED_NETWORKS": "127.0.0.0/8",
            "LOCALES": "es",
            "LOG_FORMAT": "json",
            "ACCESS_LOG": "true",
        }
        if chosen_backends.is_production():
            stack.enter_context(running_command(installation, "checker"))
        process = stack.enter_context(installation.serve())
        running = TracedService(process.base_url, installation, collector)
        stack.enter_context(running.client)
        client_id, client_secret = asyncio.run(make_token_of_a_team(installation.folder))
        form = {"client_id": client_id, "client_secret": client_secret}
        token = running.client.post("/api/oauth/token", data=form).raise_for_status().json()["access_token"]
        running.client.headers["Authorization"] = f"Bearer {token}"
        yield running


class TestARequest:
    def test_continues_the_trace_that_it_names(self, service: TracedService) -> None:
        answer = service.client.get("/api/monitors", headers=TRACEPARENT)
        request = service.answered("GET /api/monitors", answer)
        assert (request.trace_id, request.parent_id, request.kind) == (TRACE_ID, PARENT_ID, "server")
        assert request.service == "monitoring"
        assert request.attributes == {
            "http.request.method": "GET",
            "http.route": "/api/monitors",
            "http.response.status_code": 200,
            "url.scheme": "http",
            "url.path": "/api/monitors",
            "network.protocol.version": "1.1",
            "monitoring.request_id": answer.headers["X-Request-Id"],
        }

    @pytest.mark.parametrize("traceparent", ["", "00-nonsense-01", f"00-{'0' * 32}-{PARENT_ID}-01"])
    def test_begins_a_trace_when_it_names_none(self, service: TracedService, traceparent: str) -> None:
        answer = service.client.get("/health", headers={"traceparent": traceparent})
        request = service.answered("GET /health", answer)
        assert request.trace_id != "0" * 32
        assert request.parent_id == ""

    def test_has_the_statements_that_it_takes(self, service: TracedService) -> None:
        trace_id = "1" * 32
        service.client.get("/api/monitors", headers={"traceparent": f"00-{trace_id}-{PARENT_ID}-01"})
        wait_until(
            lambda: (
                {"GET /api/monitors", "SELECT monitors"}
                <= {each.name for each in service.collector.trace(trace_id)}
            )
        )
        (statement,) = [each for each in service.collector.trace(trace_id) if each.name == "SELECT monitors"]
        (request,) = [each for each in service.collector.trace(trace_id) if each.kind == "server"]
        assert (statement.parent_id, statement.kind) == (request.span_id, "client")
        system = "postgresql" if chosen_backends.is_production() else "sqlite"
        assert statement.attributes["db.system.name"] == system
        assert statement.attributes["db.operation.name"] == "SELECT"
        assert "FROM" in statement.attributes["db.query.text"]

    def test_to_a_page_is_named_by_its_route(self, service: TracedService) -> None:
        answer = service.client.get("/app/articles/0198c000-0000-7000-8000-000000000000")
        name = "GET /app/articles/{article_id}"
        service.answered(name, answer)

    def test_that_reaches_nothing_is_named_by_its_method_alone(self, service: TracedService) -> None:
        answer = service.client.get("/no/such/place?q=a-secret-query")
        request = service.answered("GET", answer)
        assert request.attributes["url.path"] == "/no/such/place"
        assert request.attributes["http.response.status_code"] == 404
        assert not request.is_error

    def test_lends_its_trace_to_the_lines_of_the_log(self, service: TracedService) -> None:
        trace_id = "2" * 32
        service.client.get("/health", headers={"traceparent": f"00-{trace_id}-{PARENT_ID}-01"})
        wait_until(lambda: [each for each in service.log() if each.get("trace_id") == trace_id])
        (line,) = [each for each in service.log() if each.get("trace_id") == trace_id]
        assert (line["logger"], line["path"]) == ("monitoring.access", "/health")


class TestADelivery:
    def test_is_in_one_trace_with_its_rows_its_task_and_the_engine(self, service: TracedService) -> None:
        trace_id = "3" * 32
        service.client.post(
            "/api/webhooks/publisher",
            headers={**SECRET, "traceparent": f"00-{trace_id}-{PARENT_ID}-01"},
            json={"article": {"id": "art_1", "title": "a-secret-title", "content": "They are fit."}},
        ).raise_for_status()
        wait_until(
            lambda: {"server", "consumer"} <= {each.kind for each in service.collector.trace(trace_id)}
        )
        seen = service.collector.trace(trace_id)
        by_name = {each.name: each for each in seen}
        request = by_name["POST /api/webhooks/publisher"]
        stored = "WITH articles" if chosen_backends.is_production() else "INSERT articles"
        assert by_name[stored].parent_id == request.span_id
        send, process = by_name["send articles"], by_name["process articles"]
        assert (send.parent_id, send.kind) == (request.span_id, "producer")
        assert (process.parent_id, process.kind) == (send.span_id, "consumer")
        assert process.attributes == {
            "messaging.system": "dramatiq",
            "messaging.destination.name": "articles",
            "messaging.operation.type": "process",
            "messaging.operation.name": "translate_article",
        }
        engine = by_name["translate"]
        assert engine.parent_id == process.span_id
        assert engine.attributes == {"monitoring.engine": "pseudo", "monitoring.locale": "es"}
        assert [
            each for each in seen if each.parent_id == process.span_id and "db.query.text" in each.attributes
        ]


def create_monitor(service: TracedService) -> str:
    monitor = {
        "name": "Shop",
        "url": f"{service.collector.url}/?token=a-secret-of-the-monitor",
        "request_headers": {"Authorization": "Bearer a-secret-header"},
        "interval_seconds": 60,
    }
    monitor_id: str = service.client.post("/api/monitors", json=monitor).raise_for_status().json()["id"]
    return monitor_id


class TestACheck:
    def test_is_a_trace_that_names_the_monitor_and_not_its_address(self, service: TracedService) -> None:
        monitor_id = create_monitor(service)
        check = service.arrives("check", {"monitoring.monitor_id": monitor_id})
        assert check.parent_id == ""
        assert check.attributes == {"monitoring.monitor_id": monitor_id, "monitoring.check.outcome": "up"}
        wait_until(lambda: service.collector.named("store checks"))
        wait_until(lambda: service.collector.named("UPDATE watches"))

    def test_that_nobody_asked_for_makes_no_spans_of_statements(self, service: TracedService) -> None:
        create_monitor(service)
        wait_until(lambda: service.collector.named("store checks"))
        orphans = [
            each
            for each in service.collector.spans
            if not each.parent_id and "db.query.text" in each.attributes
        ]
        assert orphans == []


class TestSecrets:
    def test_are_in_no_span(self, service: TracedService) -> None:
        client = service.client
        client.get("/api/monitors?cursor=a-secret-query", headers={"X-Other": "a-secret-header"})
        client.get("/api/monitors", headers={"Authorization": "Bearer a-secret-header"})
        client.post(
            "/api/monitors", json={"name": "a-secret-title", "url": "https://a-secret-of-the-monitor/"}
        )
        client.post("/api/webhooks/publisher", headers=SECRET, json={"article": {"title": "a-secret-title"}})
        answer = client.get("/health")
        service.answered("GET /health", answer)
        sent = b"".join(service.collector.bodies)
        assert [secret for secret in SECRETS if secret.encode() in sent] == []


class TestAnException:
    def test_makes_an_error_of_its_span_without_its_words(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail() -> None:
            with span("work"):
                raise LookupError("a-secret-query")

        with running_collector() as collector:
            for name, value in trace_to(collector).items():
                monkeypatch.setenv(name, value)
            settings = make_settings(tmp_path, otel_exporter_otlp_endpoint=collector.url)
            with sending_traces(settings), pytest.raises(LookupError):
                fail()
            (seen,) = collector.named("work")
            assert seen.is_error
            assert seen.attributes == {"error.type": "LookupError"}
            assert b"a-secret-query" not in b"".join(collector.bodies)


class TestACollectorThatIsAway:
    def test_costs_no_request_and_one_line_each_time(self, tmp_path: Path) -> None:
        installation = Installation(tmp_path)
        installation.make_tables()
        with running_collector() as collector:
            collector.is_refusing = True
            installation.environment |= trace_to(collector) | {"OTEL_EXPORTER_OTLP_TIMEOUT": "1"}
            with running_command(installation, "serve", REDIS_URL="") as command:
                with httpx.Client(base_url=command.base_url, timeout=30) as client:
                    while collector.refused_count < 3:
                        assert client.get("/health").status_code == 200
                    wait_until(lambda: [line for line in command.lines if "accepts no spans" in line])
                    collector.is_refusing = False
                    answer = client.get("/health")
                    wait_until(lambda: collector.named("GET /health"))
                    assert answer.status_code == 200
                    wait_until(lambda: [line for line in command.lines if "accepts spans again" in line])
                command.signal(SIGTERM)
                assert command.wait() == -SIGTERM
                about_traces = [line for line in command.lines if "spans" in line or "opentelemetry" in line]
                assert len(about_traces) == 2, about_traces

    def test_does_not_keep_a_process_from_ending(self, tmp_path: Path) -> None:
        installation = Installation(tmp_path)
        installation.make_tables()
        with running_collector() as collector:
            gone = trace_to(collector)
        with running_command(installation, "serve", **gone, REDIS_URL="") as command:
            assert httpx.get(f"{command.base_url}/health", timeout=30).status_code == 200
            command.signal(SIGTERM)
            assert command.wait() in {-SIGTERM, 0}  # 0 if it took a second longer


class TestWithoutTheSetting:
    def test_nothing_that_sends_traces_is_imported(self) -> None:
        # redis imports the SDK itself wherever it is installed.
        code = (
            "import sys, monitoring.cli, monitoring.asgi, monitoring.web.traced_requests\n"
            "sys.exit('opentelemetry.exporter' in sys.modules or 'opentelemetry.propagate' in sys.modules)"
        )
        assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


class TestWithoutThePackages:
    @pytest.mark.parametrize("arguments", [["serve"], ["serve", "--workers", "2"]])
    def test_the_start_ends_with_one_sentence(self, tmp_path: Path, arguments: list[str]) -> None:
        installation = Installation(tmp_path)
        installation.make_tables()
        hide = "import sys; sys.modules['opentelemetry'] = None; from monitoring.cli import main; main()"
        environment = installation.environment | {
            "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318",
            "REDIS_URL": "redis://127.0.0.1:1/0",
        }
        done = subprocess.run(
            [sys.executable, "-c", hide, *arguments],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 2
        install = "pip install 'monitoring-service[otel]'"
        assert done.stderr.splitlines() == [
            "The service cannot start:",
            f"OTEL_EXPORTER_OTLP_ENDPOINT: needs packages that are not installed: {install}",
        ]
