"""Several processes work on one database, and none repeats the work of another."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import pytest

from articles.desk import deliver, make_submission, read_page
from intercepted_messages import intercept_messages
from monitoring.articles.models import Article, Translation
from monitoring.articles.queueing import NEVER
from monitoring.articles.service import receive_submission
from monitoring.articles.sweeping import queue_missing_locales, sweep
from monitoring.auth.service import create_team
from monitoring.backends.assembly import Backends, open_backends
from monitoring.idempotency.models import IdempotencyKey
from monitoring.idempotency.service import LIFETIME, delete_expired_keys
from temporary_backends import make_settings, temporary_backends

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

pytestmark = pytest.mark.anyio


@pytest.fixture
async def replicas(tmp_path: Path) -> AsyncIterator[list[Backends]]:
    """Open four processes' backends on one database, with connections of their own."""
    settings: dict[str, Any] = {"locales": "es,pt-BR", "translator": "pseudo"}
    async with temporary_backends(tmp_path, **settings) as first, AsyncExitStack() as stack:
        others = [
            await stack.enter_async_context(open_backends(make_settings(tmp_path, **settings)))
            for _ in range(3)
        ]
        yield [first, *others]


async def at_once(replicas: list[Backends], work: Callable[[], Awaitable[int]]) -> list[int]:
    """Do the same in every replica at the same moment."""

    async def work_in(replica: Backends) -> int:
        with replica.activate():
            await replica.database.try_to_write()  # connected, so that all begin together
            await everybody_is_ready.wait()
            return await work()

    everybody_is_ready = asyncio.Barrier(len(replicas))
    return await asyncio.gather(*map(work_in, replicas))


class TestSweep:
    async def test_every_articles_message_is_sent_once_however_many_sweep(
        self, replicas: list[Backends], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        sent: list[str] = []
        intercept_messages(monkeypatch, lambda article_id, _: sent.append(article_id))
        article_ids = {str((await deliver(id=number)).id) for number in range(20)}
        for _ in range(5):
            sent.clear()
            await Article.all().update(nudged_at=NEVER)
            assert sum(await at_once(replicas, sweep)) == 20
            assert sorted(sent) == sorted(article_ids)


class TestSubmission:
    async def test_of_the_same_articles_to_all_at_once_is_each_article_once(
        self, replicas: list[Backends]
    ) -> None:
        async def deliver_all() -> int:
            submissions = (make_submission(id=number, slug="shoes") for number in range(5))
            receipts = await asyncio.gather(*map(receive_submission, submissions))
            return sum(receipt.is_new_revision for receipt in receipts)

        assert sum(await at_once(replicas, deliver_all)) == 5
        articles = await Article.all()
        assert {article.revision for article in articles} == {1}
        assert len({article.slug for article in articles}) == 5
        for article in articles:
            page = await read_page(f"{article.slug}/en.json")
            assert page["delivery"]["article"] == article.payload["article"]


class TestNewLocale:
    async def test_is_queued_once_for_every_article_however_many_processes_start(
        self, replicas: list[Backends]
    ) -> None:
        for number in range(10):
            await deliver(id=number)
        await Translation.filter(locale="es").delete()
        assert sum(await at_once(replicas, queue_missing_locales)) == 10
        assert await Translation.filter(locale="es", status="queued", attempts=0).count() == 10


class TestExpiredAnswers:
    async def test_are_deleted_once_however_many_delete(self, replicas: list[Backends]) -> None:
        team = await create_team("Alice's team", "free", 10)
        await IdempotencyKey.bulk_create(_answer(team.id) for _ in range(200))
        assert sum(await at_once(replicas, lambda: delete_expired_keys(datetime.now(UTC)))) == 200


def _answer(team_id: UUID) -> IdempotencyKey:
    return IdempotencyKey(
        team_id=team_id,
        key=str(uuid4()),
        request_sha256="",
        reply_status=201,
        reply_headers={},
        reply_body="",
        created_at=datetime.now(UTC) - LIFETIME,
    )
