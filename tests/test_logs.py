"""Tests what the service writes to its log, in JSON and as text."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import httpx
import pytest

from articles.desk import ObedientEngine, deliver
from monitoring.articles.engine_runner import open_engine
from monitoring.articles.tasks import translate_article
from monitoring.logs import ArticleIdFilter, JsonLineFormatter, TextFormatter
from running_service import SIGNING_KEY, WEBHOOK_SECRET
from service_process import Installation, wait_until
from temporary_backends import temporary_backends

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
SECRET = {"X-Webhook-Secret": WEBHOOK_SECRET}


class LoggingService:
    """A service that logs everything, as JSON."""

    def __init__(self, base_url: str, log: Path) -> None:
        self.client = httpx.Client(base_url=base_url, timeout=30)
        self._log = log

    def text(self) -> str:
        return self._log.read_text()

    def records(self, **fields: Any) -> list[dict[str, Any]]:
        """Return the log records with these values."""
        records = map(json.loads, self.text().splitlines())
        return [record for record in records if record | fields == record]

    def access(self, answer: httpx.Response) -> dict[str, Any]:
        """Return the access log record of a response. It is written after the response was sent."""
        about = {"logger": "monitoring.access", "request_id": answer.headers["X-Request-Id"]}
        wait_until(lambda: self.records(**about))
        (record,) = self.records(**about)
        return record


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoggingService]:
    installation = Installation(tmp_path_factory.mktemp("logging"))
    installation.environment |= {
        "LOG_FORMAT": "json",
        "LOG_LEVEL": "debug",
        "ACCESS_LOG": "true",
        "LOCALES": "es",
    }
    installation.make_tables()
    with installation.serve() as process:
        running = LoggingService(process.base_url, installation.log)
        with running.client:
            yield running


class TestJsonLines:
    def test_all_say_when_where_and_what(self, service: LoggingService) -> None:
        service.access(service.client.get("/health"))
        for record in service.records():
            assert TIME.fullmatch(record["timestamp"])
            assert record["level"] in {"DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"}
            assert record["logger"].startswith("monitoring.")
            assert record["message"]
            assert isinstance(record["process_id"], int)

    def test_of_requests_carry_the_id_of_the_answer(self, service: LoggingService) -> None:
        answer = service.client.get("/health", headers={"X-Request-Id": "order-66"})
        assert answer.headers["X-Request-Id"] == "order-66"
        assert service.access(answer)["request_id"] == "order-66"

    def test_of_a_delivery_carry_its_article(self, service: LoggingService) -> None:
        delivery = {"article": {"id": "art_1", "title": "Shoes"}, "timestamp": "2026-11-20T09:00:00Z"}
        answer = service.client.post("/api/webhooks/publisher", headers=SECRET, json=delivery)
        article_id = answer.json()["article_id"]
        assert service.access(answer)["article_id"] == article_id
        delivery |= {"article": {"id": "art_1", "title": "Old shoes"}, "timestamp": "2026-11-19T09:00:00Z"}
        request_id = service.client.post("/api/webhooks/publisher", headers=SECRET, json=delivery).headers[
            "X-Request-Id"
        ]
        (stale,) = service.records(logger="monitoring.articles.service", request_id=request_id)
        assert stale["article_id"] == article_id

    def test_of_other_requests_carry_none(self, service: LoggingService) -> None:
        assert "article_id" not in service.access(service.client.get("/health"))


class TestTheWorkersLog:
    @pytest.mark.anyio
    async def test_names_the_article_of_a_task(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        def break_down(_: str) -> None:
            raise ZeroDivisionError

        def records() -> list[logging.LogRecord]:
            return [each for each in caplog.records if each.name == "monitoring.articles.translation_attempt"]

        caplog.handler.addFilter(article_ids := ArticleIdFilter())
        async with (
            temporary_backends(tmp_path, locales="es", translator="pseudo") as backends,
            open_engine(backends.settings, ObedientEngine(break_down)),
        ):
            backends.start_worker()
            article_id = str((await deliver()).id)
            await translate_article.send(article_id)
            async with asyncio.timeout(30):
                while not records():  # noqa: ASYNC110 - logging sets no event
                    await asyncio.sleep(0.01)
        caplog.handler.removeFilter(article_ids)
        assert {vars(record)["article_id"] for record in records()} == {article_id}


class TestTheAccessLog:
    def test_tells_a_request_without_its_query(self, service: LoggingService) -> None:
        answer = service.client.get("/api/monitors?cursor=a-secret-of-the-query")
        record = service.access(answer)
        assert {
            name: record[name] for name in ("method", "path", "operation", "status", "client_address")
        } == {
            "method": "GET",
            "path": "/api/monitors",
            "operation": "list_monitors",
            "status": 401,
            "client_address": "127.0.0.1",
        }
        assert record["duration_ms"] > 0
        assert "a-secret-of-the-query" not in service.text()

    @pytest.mark.parametrize(
        "path", ["/ping/{}", "/ping/{}/start", "/PING/{}", "/ping/{}/x/y", "/ping/{}?rid=1"]
    )
    def test_shows_no_token_of_a_ping_url(self, service: LoggingService, path: str) -> None:
        token = uuid4()
        record = service.access(service.client.get(path.format(token)))
        assert record["path"] == path.format("********").partition("?")[0]
        assert str(token) not in service.text()

    def test_shortens_endless_paths(self, service: LoggingService) -> None:
        record = service.access(service.client.get("/" + "x" * 5000))
        assert (record["operation"], len(record["path"])) == ("none", 200)

    def test_is_silent_unless_it_is_wanted(self, tmp_path: Path) -> None:
        installation = Installation(tmp_path)
        installation.environment["LOG_LEVEL"] = "debug"
        installation.make_tables()
        with installation.serve() as process:
            for _ in range(2):
                httpx.get(f"{process.base_url}/health", timeout=30)
        assert "health" not in installation.log.read_text()


class TestSecrets:
    def test_are_never_logged(self, service: LoggingService) -> None:
        basic = base64.b64encode(b"mon_live_somebody:mon_secret_of_somebody").decode()
        secrets = ["a-wrong-webhook-secret", "a.bearer.token", basic, "mon_secret_of_somebody", "in-the-form"]
        client = service.client
        client.post("/api/webhooks/publisher", headers={"X-Webhook-Secret": secrets[0]}, json={})
        client.get("/api/monitors", headers={"Authorization": f"Bearer {secrets[1]}"})
        client.post("/api/oauth/token", headers={"Authorization": f"Basic {basic}"})
        client.post("/api/oauth/token", data={"client_id": "mon_live_x", "client_secret": "in-the-form"})
        client.post(
            "/api/webhooks/publisher",
            headers={**SECRET, "Authorization": f"Bearer {secrets[1]}"},
            json={"article": {"title": "Shoes"}},
        )
        service.access(client.get("/health"))
        log = service.text()
        assert not [secret for secret in (*secrets, WEBHOOK_SECRET, SIGNING_KEY) if secret in log]


def _record(message: str, **fields: Any) -> logging.LogRecord:
    record = logging.makeLogRecord({"name": "monitoring.x", "levelname": "INFO", "msg": message})
    vars(record).update({"request_id": None, "article_id": None} | fields)
    return record


def _caught(sentence: str) -> Any:
    return ValueError, ValueError(sentence), None


class TestTextLines:
    def test_say_when_where_and_about_what(self) -> None:
        line = TextFormatter().format(_record("Hello", request_id="order-66", article_id="019a"))
        assert TIME.match(line)
        assert line.endswith(" INFO monitoring.x [order-66 article 019a] Hello")

    def test_say_that_they_are_about_nothing_in_particular(self) -> None:
        assert TextFormatter().format(_record("Hello")).endswith(" [-] Hello")

    @pytest.mark.parametrize(
        "letter", ["\n", "\r", "\x0b", "\x1b", "\x85", "\u2028", "\u202e", "\x00", "\ud800"]
    )
    def test_stay_one_line_whatever_a_stranger_sends(self, letter: str) -> None:
        line = TextFormatter().format(_record(f"path /x{letter}2026-11-20 INFO forged"))
        assert len(line.splitlines()) == 1
        assert letter not in line

    def test_indent_tracebacks_so_that_these_forge_no_line(self) -> None:
        record = _record("It broke", exc_info=_caught("one\n2026-11-20T00:00:00.000Z INFO forged\r\x1b[2K"))
        first, *following = TextFormatter().format(record).splitlines()
        assert first.endswith("It broke")
        assert following
        assert all(line.startswith("    ") for line in following)
        assert "\x1b" not in "".join(following)


class TestJsonRecords:
    def test_hold_a_traceback_in_one_line(self) -> None:
        line = JsonLineFormatter().format(_record("It broke", exc_info=_caught("one\ntwo")))
        assert len(line.splitlines()) == 1
        assert json.loads(line)["exc_info"].endswith("ValueError: one\ntwo")

    def test_hold_nothing_that_a_library_adds(self) -> None:
        line = JsonLineFormatter().format(_record("Hello", color_message="\x1b[1mHello", password="x"))
        assert json.loads(line).keys() == {"timestamp", "level", "logger", "message", "process_id"}

    def test_hold_what_is_no_unicode(self) -> None:
        assert json.loads(JsonLineFormatter().format(_record("\ud800")))["message"] == "\ud800"


class TestEverythingElseThatIsSaid:
    @pytest.mark.parametrize(
        ("code", "logger"),
        [
            ("raise RuntimeError('the end')", "monitoring.logs"),
            ("import warnings; warnings.warn('old')", "py.warnings"),
            ("import logging; logging.getLogger('uvicorn.error').warning('busy')", "uvicorn.error"),
            ("import logging; logging.getLogger('dramatiq.worker').warning('busy')", "dramatiq.worker"),
            (
                "import threading as t; x = t.Thread(target=lambda: 1 / 0); x.start(); x.join()",
                "monitoring.logs",
            ),
        ],
    )
    def test_is_json_too(self, tmp_path: Path, code: str, logger: str) -> None:
        configure = (
            "from monitoring.logs import configure_logging\n"
            "from monitoring.settings import read_settings\n"
            "configure_logging(read_settings())\n"
        )
        environment = Installation(tmp_path).environment | {"LOG_FORMAT": "json"}
        done = subprocess.run(
            [sys.executable, "-c", configure + code],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert [json.loads(line)["logger"] for line in done.stderr.splitlines()] == [logger]
