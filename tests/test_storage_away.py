"""Tests that the service refuses submissions while its bucket is unavailable, and accepts them afterwards."""

from __future__ import annotations

import logging
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING

import httpx
import orjson
import pytest

import chosen_backends
from cast import Player, form_team
from frozen_servers import frozen
from monitoring.articles.models import Article, Translation
from running_service import WEBHOOK_SECRET, RunningService, running_service
from s3_server import SECRET_ACCESS_KEY
from service_process import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from monitoring.contract.catalogue import Catalogue

WEBHOOK = "/api/webhooks/publisher"
MOON = {"article": {"id": "moon", "title": "Moon", "slug": "moon", "content_markdown": "The moon rises."}}


@contextmanager
def storing_in_s3(folder: Path, location: str) -> Iterator[tuple[RunningService, httpx.Client]]:
    """Run a service without an engine, so that it stores only the submitted articles."""
    with (
        running_service(folder, blog_storage_url=location, translator=None) as service,
        httpx.Client(base_url=service.base_url, timeout=30) as publisher,
    ):
        publisher.headers["X-Webhook-Secret"] = WEBHOOK_SECRET
        yield service, publisher


def judge(publisher: httpx.Client) -> str:
    return str(publisher.get("/ready").raise_for_status().json()["blog_storage"])


async def count_rows() -> tuple[int, int]:
    return await Article.all().count(), await Translation.all().count()


def test_a_delivery_is_refused_whole_while_the_bucket_is_away_and_taken_when_it_is_back(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    s3 = chosen_backends.s3()
    location = s3.new_location()
    prefix = location.removeprefix(f"{s3.url}/")
    with storing_in_s3(tmp_path, location) as (service, publisher):
        assert judge(publisher) == "ok"
        s3.stop()
        try:
            refused = publisher.post(WEBHOOK, json=MOON)
            wait_until(lambda: judge(publisher) == "away")
            assert service.run(count_rows()) == (0, 0)
        finally:
            s3.start()
        assert list(s3.read_objects(prefix)) == [f"{prefix}/sign-of-life"]
        wait_until(lambda: judge(publisher) == "ok")
        accepted = publisher.post(WEBHOOK, json=MOON)
        assert service.run(count_rows()) == (1, 2)
    refusal = catalogue.respond("service_unavailable")
    assert (refused.status_code, refused.json()) == (refusal.status, refusal.body)
    assert int(refused.headers["Retry-After"]) > 0
    assert accepted.status_code == 202
    objects = s3.read_objects(prefix)
    assert list(objects) == [f"{prefix}/moon/en.json", f"{prefix}/sign-of-life"]
    assert orjson.loads(objects[f"{prefix}/moon/en.json"])["delivery"] == MOON


def test_wrong_credentials_are_an_outage_and_no_log_line_shows_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    s3 = chosen_backends.s3()
    wrong = f"{SECRET_ACCESS_KEY}-no-more"
    for name, value in (s3.environment | {"AWS_SECRET_ACCESS_KEY": wrong}).items():
        monkeypatch.setenv(name, value)
    caplog.set_level(logging.DEBUG)
    with storing_in_s3(tmp_path, s3.new_location()) as (service, publisher):
        assert publisher.post(WEBHOOK, json=MOON).status_code == 503
        assert judge(publisher) == "away"
        assert service.run(count_rows()) == (0, 0)
    assert "PermissionDeniedError (HTTP 403)" in caplog.text
    assert SECRET_ACCESS_KEY not in caplog.text
    assert os.environ["AWS_ACCESS_KEY_ID"] not in caplog.text


@pytest.mark.production("SQLite has one connection, which waits for the storage")
def test_a_bucket_that_hangs_holds_up_deliveries_and_nobody_else(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    s3 = chosen_backends.s3()
    deliveries = [{"article": MOON["article"] | {"id": number}} for number in range(30)]
    with (
        storing_in_s3(tmp_path, s3.new_location()) as (service, publisher),
        Player(service, form_team(service)) as alice,
        ThreadPoolExecutor(len(deliveries)) as threads,
    ):
        with frozen(s3):
            hanging = [threads.submit(publisher.post, WEBHOOK, json=delivery) for delivery in deliveries]
            others = []
            while not all(answer.done() for answer in hanging):
                others.append(alice.get("/api/monitors").status_code)
            assert judge(publisher) == "away"
        refused = [answer.result() for answer in hanging]
        accepted = [publisher.post(WEBHOOK, json=delivery) for delivery in deliveries]
    assert set(others) == {200}
    refusal = catalogue.respond("service_unavailable")
    assert all((answer.status_code, answer.json()) == (503, refusal.body) for answer in refused)
    assert {answer.status_code for answer in accepted} == {202}
