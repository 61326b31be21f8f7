"""Tests the metrics of services as in production, parsed as Prometheus parses them."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

import httpx
import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.metrics import MetricWrapperBase
from prometheus_client.parser import text_string_to_metric_families

import chosen_backends
from clean_logs import demand_no_traceback
from monitoring import metrics
from monitoring.cli.metrics_port import serve_metrics, share_metrics
from monitoring.settings import SettingsError
from monitoring.settings.value_types import RateLimitPolicy
from raw_http import exchange
from real_servers import running_postgres
from running_service import WEBHOOK_SECRET, make_settings, running_service
from service_process import LISTENING, MONITORING, Installation, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


REQUESTS = "monitoring_http_requests_total"
PYTHON = sys.version.split()[0]
VERSION = version("monitoring-service")
SECRET = {"X-Webhook-Secret": WEBHOOK_SECRET}


class Exposition:
    """The metrics of all of a service's processes, read at the same time."""

    def __init__(self, *urls: str) -> None:
        families = [text_string_to_metric_families(httpx.get(url).text) for url in urls]
        self.samples = [sample for each in families for family in each for sample in family.samples]

    def value(self, name: str, **labels: str) -> float | None:
        """Return the sum of the processes' values, or None if no process has a value."""
        found = [each.value for each in self.samples if each.name == name and each.labels == labels]
        return sum(found) if found else None

    def series(self) -> set[tuple[str, tuple[tuple[str, str], ...]]]:
        return {(each.name, tuple(sorted(each.labels.items()))) for each in self.samples}


class Measured:
    """A service and its metrics."""

    def __init__(self, base_url: str, metrics_urls: Sequence[str]) -> None:
        self.client = httpx.Client(base_url=base_url, timeout=30)
        self.address = ("127.0.0.1", self.client.base_url.port or 0)
        self._metrics_urls = metrics_urls

    def read(self) -> Exposition:
        return Exposition(*self._metrics_urls)

    def count(self, operation: str, status: int) -> float:
        return self.read().value(REQUESTS, operation=operation, status=str(status)) or 0.0


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measured]:
    installation = Installation(tmp_path_factory.mktemp("measured"))
    installation.environment |= {
        "METRICS_PORT": "0",
        "RATE_LIMIT_WEBHOOK_FAILURES": "3/3600",
        "LOCALES": "es",
    }
    installation.make_tables()
    with installation.serve() as process:
        process_count = 2 if chosen_backends.is_production() else 1

        def announced() -> list[str]:
            return re.findall(r"Metrics on (http\S+)\n", installation.log.read_text())

        wait_until(lambda: len(announced()) == process_count)
        service = Measured(process.base_url, announced())
        with service.client:
            yield service


class TestRequests:
    def test_are_counted_by_operation_and_status(self, measured: Measured) -> None:
        before = measured.count("list_monitors", 401)
        for _ in range(3):
            measured.client.get("/api/monitors")
        assert measured.count("list_monitors", 401) == before + 3

    def test_are_timed_by_operation(self, measured: Measured) -> None:
        measured.client.get("/health")
        name = "monitoring_http_request_duration_seconds"
        seen = measured.read()
        assert seen.value(f"{name}_count", operation="get_health") == seen.value(
            REQUESTS, operation="get_health", status="200"
        )
        assert (seen.value(f"{name}_sum", operation="get_health") or 0) > 0

    @pytest.mark.parametrize(
        ("method", "path", "status"), [("GET", "/nowhere", 404), ("DELETE", "/health", 405)]
    )
    def test_that_reach_no_operation_count_as_none(
        self, measured: Measured, method: str, path: str, status: int
    ) -> None:
        before = measured.count("none", status)
        assert measured.client.request(method, path).status_code == status
        assert measured.count("none", status) == before + 1

    def test_that_are_no_http_count_too(self, measured: Measured) -> None:
        before = measured.count("none", 400)
        assert exchange(measured.address, b"HELO mail.example.com\r\n\r\n").status == 400
        assert measured.count("none", 400) == before + 1

    def test_that_are_too_large_count_for_their_operation(self, measured: Measured) -> None:
        answer = measured.client.post("/api/oauth/token", data={"client_id": "x" * 2_000_000})
        assert answer.status_code == 413
        assert measured.count("issue_token", 413) == 1

    def test_add_no_series_for_paths_ids_and_queries(self, measured: Measured) -> None:
        def visit(number: int) -> None:
            measured.client.get(f"/nowhere/{number}?secret={number}")
            measured.client.get(f"/api/articles/019a9c41-0c2e-7f55-8a3b-{number:012}", headers=SECRET)

        visit(0)
        before = measured.read().series()
        for number in range(1, 51):
            visit(number)
        assert measured.read().series() == before


class TestRateLimits:
    def test_count_what_they_refuse(self, measured: Measured) -> None:
        wrong = {"X-Webhook-Secret": "wrong"}
        statuses = [
            measured.client.post("/api/webhooks/publisher", headers=wrong, json={}).status_code
            for _ in range(5)
        ]
        assert statuses == [401, 401, 401, 429, 429]
        assert measured.read().value("monitoring_rate_limit_hits_total", policy="webhook_failures") == 2
        assert measured.count("deliver_article", 429) == 2

    def test_on_guessing_count_from_zero_as_alerts_need_it(self, measured: Measured, tmp_path: Path) -> None:
        settings = vars(make_settings(tmp_path)).values()
        policies = [setting.name for setting in settings if isinstance(setting, RateLimitPolicy)]
        guessing = [name for name in policies if re.fullmatch("token|sign_in.*|webhook_failures", name)]
        counted = [
            measured.read().value("monitoring_rate_limit_hits_total", policy=name) for name in guessing
        ]
        assert len(counted) == 5
        assert None not in counted


class TestNotifications:
    def test_are_counted_from_zero_as_alerts_need_it(self, measured: Measured) -> None:
        for outcome in ("delivered", "retried", "failed"):
            assert measured.read().value("monitoring_notification_attempts_total", outcome=outcome) == 0


class TestDeliveries:
    def test_are_counted_by_verdict_and_translated(self, measured: Measured) -> None:
        def deliver(title: str, timestamp: str, **more: str) -> None:
            delivery = {"article": {"id": "art_1", "title": title}, "timestamp": timestamp, **more}
            assert (
                measured.client.post("/api/webhooks/publisher", headers=SECRET, json=delivery).status_code
                == 202
            )

        deliver("Shoes", "2026-11-20T09:00:00Z")
        deliver("Shoes", "2026-11-20T09:00:00Z")
        deliver("Boots", "2026-11-20T10:00:00Z")
        deliver("Socks", "2026-11-20T08:00:00Z")
        deliver("Test", "2026-11-20T11:00:00Z", event="test")
        verdicts = {"new_revision": 2, "duplicate": 1, "stale": 1, "test": 1}
        seen = measured.read()
        assert verdicts == {
            verdict: seen.value("monitoring_webhook_deliveries_total", verdict=verdict)
            for verdict in verdicts
        }
        finished = "monitoring_translations_finished_total"
        wait_until(lambda: measured.read().value(finished, locale="es", outcome="translated"))

    def test_leave_gauges_of_what_waits(self, measured: Measured) -> None:
        wait_until(lambda: measured.read().value("monitoring_backlog_measurements_total"))
        seen = measured.read()
        assert seen.value("monitoring_oldest_untranslated_age_seconds", locale="es") is not None
        assert seen.value("monitoring_queue_messages", queue="articles") is not None
        assert seen.value("monitoring_monitors", status="up") == 0
        assert seen.value("monitoring_pending_notifications") == 0


class TestBackends:
    def test_are_up_as_each_process_finds_them(self, measured: Measured) -> None:
        up = dict.fromkeys(("database", "queue", "blog_storage"), 2 if chosen_backends.is_production() else 1)

        def seen() -> dict[str, float | None]:
            exposition = measured.read()
            return {name: exposition.value("monitoring_backend_up", backend=name) for name in up}

        wait_until(lambda: seen() == up)

    @pytest.mark.production("a file does not go away")
    def test_that_are_away_leave_no_old_numbers_behind(self, tmp_path: Path) -> None:
        with (
            running_postgres() as postgres,
            running_service(tmp_path, database_url=postgres.create_database(), metrics_port=0) as service,
            serve_metrics(service.settings) as url,
        ):
            assert url
            ready = f"{service.base_url}/ready"

            def read(name: str, **labels: str) -> float | None:
                return Exposition(url).value(f"monitoring_{name}", **labels)

            wait_until(lambda: read("open_incidents") == read("monitors", status="up") == 0)
            postgres.stop()
            wait_until(lambda: httpx.get(ready, timeout=30).status_code == 503)
            assert read("backend_up", backend="database") == 0
            assert read("backend_up", backend="queue") == 1
            assert read("open_incidents") is None
            assert read("monitors", status="up") is None
            postgres.start()
            wait_until(lambda: httpx.get(ready, timeout=30).status_code == 200)
            assert read("backend_up", backend="database") == 1


class TestThePort:
    def test_says_which_version_runs(self, measured: Measured) -> None:
        builds = [each for each in measured.read().samples if each.name == "monitoring_build_info"]
        assert {(each.value, each.labels["version"]) for each in builds} == {(1, VERSION)}

    def test_is_not_the_public_one(self, measured: Measured) -> None:
        assert measured.client.get("/metrics").status_code == 404

    def test_is_closed_unless_it_is_set(self, tmp_path: Path) -> None:
        with serve_metrics(make_settings(tmp_path)) as url:
            assert url is None

    def test_is_closed_again_at_the_end(self, tmp_path: Path) -> None:
        with serve_metrics(make_settings(tmp_path, metrics_port=0), CollectorRegistry()) as url:
            assert url
            assert httpx.get(url).status_code == 200
        with pytest.raises(httpx.ConnectError):
            httpx.get(url)

    def test_that_is_taken_stops_the_start_with_a_sentence(self, tmp_path: Path) -> None:
        with serve_metrics(make_settings(tmp_path, metrics_port=0)) as url:
            assert url
            taken = httpx.URL(url).port
            with (
                pytest.raises(SettingsError, match=r"^METRICS_PORT: cannot listen"),
                serve_metrics(make_settings(tmp_path, metrics_port=taken)),
            ):
                pass


CHILD = """
import sys
from monitoring.metrics import OPEN_INCIDENTS, TRANSLATIONS, forget, record_reply
for _ in range(int(sys.argv[1])):
    record_reply("get_monitor", 200, 0.003)
TRANSLATIONS.labels("es", "queued").set(int(sys.argv[2]))
OPEN_INCIDENTS.set(int(sys.argv[2]))
if sys.argv[3] == "forgetful":
    forget(OPEN_INCIDENTS)
print("measured", flush=True)
sys.stdin.read()
"""


class TestSeveralProcesses:
    def test_add_up_and_keep_what_the_dead_have_counted(self, tmp_path: Path) -> None:
        def start(*arguments: str) -> subprocess.Popen[bytes]:
            child = subprocess.Popen(
                [sys.executable, "-c", CHILD, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            assert child.stdout
            assert child.stdout.readline() == b"measured\n"
            return child

        with share_metrics(make_settings(tmp_path, metrics_port=0)) as shared:
            assert shared.url
            first, second = start("2", "7", "mindful"), start("3", "5", "forgetful")
            try:
                seen = Exposition(shared.url)
                assert seen.value(REQUESTS, operation="get_monitor", status="200") == 5
                name = "monitoring_http_request_duration_seconds_count"
                assert seen.value(name, operation="get_monitor") == 5
                # The newest value is used, not the sum, because both processes read the same database.
                assert seen.value("monitoring_translations", locale="es", status="queued") == 5
                # A value that the newest process does not know is missing, even if another process knew it
                # before.
                assert seen.value("monitoring_open_incidents") is None
                second.kill()
                second.wait()
                shared.forget_process(second.pid)
                seen = Exposition(shared.url)
                assert seen.value(REQUESTS, operation="get_monitor", status="200") == 5
                assert seen.value("monitoring_translations", locale="es", status="queued") == 7
                assert seen.value("monitoring_open_incidents") == 7
                assert seen.value("monitoring_build_info", version=VERSION, python=PYTHON) == 1
                assert seen.value("process_start_time_seconds")
            finally:
                for child in (first, second):
                    child.kill()
                    child.communicate()

    def test_of_one_command_answer_together(self, tmp_path: Path) -> None:
        installation = Installation(tmp_path)
        installation.environment |= {"METRICS_PORT": "0", "REDIS_URL": chosen_backends.redis().new_database()}
        folder = Path(mkdtemp())  # a path that is short enough for a socket
        installation.environment["TMPDIR"] = str(folder)
        installation.make_tables()
        with installation.log.open("w") as log:
            command = [*MONITORING, "serve", "--workers", "2"]
            parent = subprocess.Popen(command, env=installation.environment, stderr=log)
        try:
            wait_until(lambda: LISTENING.search(installation.log.read_text()))
            (base_url,) = LISTENING.findall(installation.log.read_text())
            (metrics_url,) = re.findall(r"Metrics on (http\S+)\n", installation.log.read_text())
            for _ in range(20):
                httpx.get(f"{base_url}/api/monitors", timeout=30)
            seen = Exposition(metrics_url)
            assert seen.value(REQUESTS, operation="list_monitors", status="401") == 20
            for child in ("api-0", "api-1"):
                assert seen.value("process_resident_memory_bytes", process=child)
                assert seen.value("process_cpu_seconds_total", process=child)
                assert seen.value("process_open_fds", process=child)
                assert seen.value("process_start_time_seconds", process=child)
            assert len(list(folder.glob("monitoring-metrics-*"))) == 1
        finally:
            parent.terminate()
            parent.wait(60)
        demand_no_traceback(installation.log)
        folder.rmdir()  # the folder must be empty

    def test_share_nothing_without_a_port(self, tmp_path: Path) -> None:
        with share_metrics(make_settings(tmp_path)) as shared:
            assert shared.url is None
            shared.forget_process(1)


class TestTheirPage:
    def test_names_every_metric_and_its_labels_and_no_other(self) -> None:
        page = (Path(__file__).parent.parent / "docs" / "metrics.md").read_text()
        rows = re.findall(r"^\| `(monitoring_\w+)` \| (\w+) \|([^|]*)\|", page, re.MULTILINE)
        described = {name: (kind, tuple(re.findall(r"`(\w+)`", labels))) for name, kind, labels in rows}
        measured = [metric for metric in vars(metrics).values() if isinstance(metric, MetricWrapperBase)]
        assert described == {
            metric._name + "_total" * (metric._type == "counter"): (metric._type, metric._labelnames)  # noqa: SLF001
            for metric in measured
        }
