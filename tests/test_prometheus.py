"""Tests the dashboard and the alert rules with a running service and a running Prometheus."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

import chosen_backends
from debian_programs import find_program
from monitoring.auth.scopes import SCOPES
from monitoring.auth.service import create_key, create_team
from monitoring.backends.assembly import open_backends
from notifications.addressee import Addressee
from prometheus_server import Prometheus, running_prometheus
from running_service import WEBHOOK_SECRET
from service_process import Installation, wait_until
from temporary_backends import make_settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).parent.parent
RULES = ROOT / "deploy" / "prometheus" / "alerts.yml"
TESTS_OF_RULES = ROOT / "deploy" / "prometheus" / "alerts.test.yml"
DASHBOARD = ROOT / "deploy" / "grafana" / "monitoring.json"

SELECTOR = re.compile(r"\b((?:monitoring|process)_\w+)(?:\{([^}]*)\})?")
MATCHED_LABEL = re.compile(r"(\w+)\s*[=!]~?")
GROUPED_LABELS = re.compile(r"\b(?:by|on)\s*\(([^)]*)\)")
LEGEND_LABEL = re.compile(r"\{\{(\w+)\}\}")
ANNOTATION_LABEL = re.compile(r"\$labels\.(\w+)")

# Labels that Prometheus adds to every series, and labels of histograms.
LABELS_OF_ALL = {"job", "instance", "le"}

# Metrics that a healthy service does not have, and metrics of the pool, which SQLite lacks.
SELDOM = re.compile(r'monitoring_engine_errors|monitoring_connections_closed|status=~"5')
ONLY_POSTGRESQL = "monitoring_database_pool_connections"


@dataclass(frozen=True, slots=True)
class Query:
    """A query of a dashboard panel, with the legend for its results."""

    panel: str
    expression: str
    legend: str

    @property
    def may_find_nothing(self) -> bool:
        is_missing = ONLY_POSTGRESQL in self.expression and not chosen_backends.is_production()
        return is_missing or bool(SELDOM.search(self.expression))


@dataclass(frozen=True, slots=True)
class Watched:
    """The metrics of a service in which every event has happened once, and a Prometheus that monitors it."""

    expositions: Sequence[str]
    prometheus: Prometheus

    def labels_by_metric(self) -> dict[str, set[str]]:
        """Return each metric of the service that has values, with its labels."""
        found: dict[str, set[str]] = {}
        for exposition in self.expositions:
            for family in text_string_to_metric_families(exposition):
                for sample in family.samples:
                    found.setdefault(sample.name, set()).update(sample.labels)
        return found

    def declared_metrics(self) -> set[str]:
        """Return the metrics that have values or may have some later."""
        return set(re.findall(r"^# TYPE (\S+)", "\n".join(self.expositions), re.MULTILINE))


@cache
def read_alerts() -> list[dict[str, Any]]:
    groups = yaml.safe_load(RULES.read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


@cache
def read_queries() -> list[Query]:
    return [
        Query(panel["title"], target["expr"].replace("$__rate_interval", "1m"), target["legendFormat"])
        for panel in json.loads(DASHBOARD.read_text())["panels"]
        for target in panel.get("targets", ())
    ]


ALERTS = [pytest.param(alert, id=alert["alert"]) for alert in read_alerts()]
EXPRESSIONS = sorted(
    {*(query.expression for query in read_queries()), *(alert["expr"] for alert in read_alerts())}
)
QUERIES = [pytest.param(query, id=f"{query.panel}: {query.legend}") for query in read_queries()]


def run_promtool(*arguments: str | Path, stdin: str = "") -> str:
    """Run promtool, and return its output. Fails if promtool finds an error."""
    checked = subprocess.run(
        [find_program("promtool"), *arguments], input=stdin, capture_output=True, text=True, check=False
    )
    said = checked.stdout + checked.stderr
    assert checked.returncode == 0, said
    return said


async def create_credentials(folder: Path) -> dict[str, str]:
    async with open_backends(make_settings(folder)) as backends:
        with backends.activate():
            created = await create_key(await create_team("Acme", "free", 10), "A key", SCOPES)
            return {"client_id": created.key.client_id, "client_secret": created.client_secret}


def use(base_url: str, credentials: dict[str, str], addressee: Addressee) -> None:
    """Cause every event that the metrics count."""
    with httpx.Client(base_url=base_url, timeout=30) as client:
        token = client.post("/api/oauth/token", data=credentials).raise_for_status().json()["access_token"]
        client.headers["Authorization"] = f"Bearer {token}"
        monitor = {"name": "This service", "url": f"{base_url}/health", "interval_seconds": 30}
        client.post("/api/monitors", json=monitor).raise_for_status()
        webhook = {"type": "webhook", "name": "Pager", "url": addressee.url}
        registered = client.post("/api/notification-channels", json=webhook).raise_for_status()
        client.post(f"{registered.headers['Location']}/test").raise_for_status()
        article = {"article": {"id": "art_1", "title": "Shoes", "content": "They are fit."}}
        for secret, status in ((WEBHOOK_SECRET, 202), ("wrong", 401), ("wrong", 429)):
            headers = {"X-Webhook-Secret": secret}
            answer = client.post("/api/webhooks/publisher", json=article, headers=headers)
            assert answer.status_code == status


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    folder = tmp_path_factory.mktemp("watched")
    installation = Installation(folder)
    installation.environment |= {
        "METRICS_PORT": "0",
        "CHECKS_AT_ONCE": "10",
        "ALLOWED_NETWORKS": "127.0.0.0/8",
        "RATE_LIMIT_WEBHOOK_FAILURES": "1/3600",
        "LOCALES": "es",
    }
    installation.make_tables()
    credentials = asyncio.run(create_credentials(folder))

    def announced() -> list[str]:
        return re.findall(r"Metrics on (http\S+)\n", installation.log.read_text())

    with Addressee() as addressee, installation.serve() as process:
        wait_until(lambda: len(announced()) == len(installation.commands))
        with running_prometheus(folder, RULES, announced()) as prometheus:
            wait_until(lambda: len(prometheus.ask("up == 1")) == len(installation.commands))
            use(process.base_url, credentials, addressee)
            for counted in (
                "monitoring_translations_finished_total",
                "monitoring_notification_attempts_total > 0",
                "monitoring_checks_total",
            ):
                wait_until(partial(prometheus.ask, counted))
            yield Watched([httpx.get(url).text for url in announced()], prometheus)


class TestDashboard:
    @pytest.mark.parametrize("query", QUERIES)
    def test_a_panel_shows_what_a_running_service_does(self, watched: Watched, query: Query) -> None:
        wait_until(lambda: watched.prometheus.ask(query.expression) or query.may_find_nothing)
        found = watched.prometheus.ask(query.expression)
        named = set(LEGEND_LABEL.findall(query.legend)) - {"process"}  # only child processes have it
        assert [series for series in found if not named <= set(series["metric"])] == []


class TestAlerts:
    def test_are_evaluated_by_prometheus(self, watched: Watched) -> None:
        def healths() -> list[str]:
            return [f"{rule['name']} {rule['health']}" for rule in watched.prometheus.read_rules()]

        wait_until(lambda: not any(health.endswith("unknown") for health in healths()))
        assert sorted(healths()) == sorted(f"{alert['alert']} ok" for alert in read_alerts())

    @pytest.mark.parametrize("alert", ALERTS)
    def test_say_what_is_wrong_what_to_do_first_and_how_urgent_it_is(self, alert: dict[str, Any]) -> None:
        assert alert["labels"]["severity"] in {"page", "ticket"}
        annotations = alert["annotations"]
        assert annotations.keys() == {"summary", "description"}
        named = set(ANNOTATION_LABEL.findall(str(annotations)))
        assert named <= {"instance", *re.findall(r"\w+", alert["expr"])}

    def test_each_has_a_case_in_which_it_fires(self) -> None:
        cases = yaml.safe_load(TESTS_OF_RULES.read_text())["tests"]
        firing = {
            re.search(r'alertname="(\w+)"', sample["labels"])[1]  # type: ignore[index]
            for case in cases
            for asked in case["promql_expr_test"]
            for sample in asked["exp_samples"]
        }
        assert firing == {alert["alert"] for alert in read_alerts()}

    @pytest.mark.parametrize("arguments", [("check", "rules", RULES), ("test", "rules", TESTS_OF_RULES)])
    def test_satisfy_promtool(self, arguments: tuple[str, ...]) -> None:
        run_promtool(*arguments)

    def test_are_loaded_by_the_documented_configuration(self, tmp_path: Path) -> None:
        section = (ROOT / "docs" / "running.md").read_text().partition("\n### Prometheus and Grafana\n")[2]
        configuration = section.partition("```yaml\n")[2].partition("```")[0]
        (tmp_path / "prometheus.yml").write_text(configuration)
        (tmp_path / RULES.name).write_text(RULES.read_text())
        found = run_promtool("check", "config", tmp_path / "prometheus.yml")
        assert f"{len(read_alerts())} rules found" in found


class TestMetrics:
    def test_satisfy_promtool(self, watched: Watched) -> None:
        for exposition in watched.expositions:
            assert run_promtool("check", "metrics", stdin=exposition) == ""

    @pytest.mark.parametrize("expression", EXPRESSIONS)
    def test_in_an_expression_are_scraped_under_its_labels(self, watched: Watched, expression: str) -> None:
        scraped = watched.labels_by_metric()
        selectors = [
            (name, set(MATCHED_LABEL.findall(matchers))) for name, matchers in SELECTOR.findall(expression)
        ]
        assert {name for name, _ in selectors} <= scraped.keys() | watched.declared_metrics()
        known = [(name, labels) for name, labels in selectors if name in scraped]
        assert [name for name, labels in known if not labels <= scraped[name]] == []
        if len(known) == len(selectors):
            labels_of_all = LABELS_OF_ALL.union(*(scraped[name] for name, _ in known))
            grouped = re.findall(r"\w+", ",".join(GROUPED_LABELS.findall(expression)))
            assert set(grouped) <= labels_of_all
