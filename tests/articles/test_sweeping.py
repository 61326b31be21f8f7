from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from articles.desk import LOCALES, deliver, make_due, states, translate, translation_of
from intercepted_messages import intercept_messages
from monitoring.articles import sweeping
from monitoring.articles.claims import claim_translation
from monitoring.articles.models import Article, TranslationStatus
from monitoring.articles.queueing import NEVER, retry_failed
from monitoring.articles.sweeping import (
    complete_older_articles,
    queue_missing_locales,
    release_abandoned_claims,
    sweep,
)
from monitoring.backends.current import current_backends
from temporary_backends import temporary_backends

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collect messages instead of sending them."""
    article_ids: list[str] = []
    intercept_messages(monkeypatch, lambda article_id, _: article_ids.append(article_id))
    return article_ids


async def forget_messages() -> None:
    """Let the time pass after which a message counts as lost."""
    await Article.all().update(nudged_at=NEVER)


@pytest.mark.usefixtures("backends")
class TestSweep:
    async def test_sends_one_message_for_an_article_whose_message_was_lost(self, sent: list[str]) -> None:
        article = await deliver()
        await forget_messages()
        assert await sweep() == 1
        assert sent == [str(article.id)]

    async def test_sends_nothing_for_an_article_that_was_just_delivered(self, sent: list[str]) -> None:
        await deliver()
        assert await sweep() == 0
        assert sent == []

    async def test_does_not_repeat_itself_at_once(self, sent: list[str]) -> None:
        await deliver()
        await forget_messages()
        assert [await sweep(), await sweep()] == [1, 0]
        assert len(sent) == 1

    async def test_waits_while_workers_have_enough_to_do(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sweeping, "MAX_ARTICLES_A_SWEEP", 2)
        for number in range(4):
            await deliver(id=number)
        await forget_messages()
        assert [await sweep(), await sweep()] == [2, 0]
        assert (await current_backends().queue.depths())["articles"] == 2

    async def test_leaves_what_is_done_or_being_done(self, sent: list[str]) -> None:
        await translate(await deliver(id=1))
        busy = await deliver(id=2)
        while await claim_translation(busy.id):
            pass
        await forget_messages()
        assert await sweep() == 0
        assert sent == []

    async def test_finds_the_work_of_a_worker_that_died(self, sent: list[str]) -> None:
        article = await deliver()
        while await claim_translation(article.id):
            pass
        await make_due(article)
        await forget_messages()
        await sweep()
        assert sent == [str(article.id)]

    async def test_finds_what_an_operator_retries(self, sent: list[str]) -> None:
        article = await deliver()
        await article.translations.all().update(status=TranslationStatus.FAILED)
        await retry_failed()
        await sweep()
        assert sent == [str(article.id)]


@pytest.mark.usefixtures("backends")
class TestReleaseAfterAKill:
    async def test_frees_claims_and_forgotten_messages_at_once(self, sent: list[str]) -> None:
        article = await deliver()
        assert await claim_translation(article.id)
        await release_abandoned_claims()
        assert await states(article) == dict.fromkeys(LOCALES, "queued")
        await sweep()
        assert sent == [str(article.id)]

    async def test_counts_the_attempt_so_that_a_deadly_article_ends_as_failed(self) -> None:
        article = await deliver()
        for _ in range(3):
            assert await claim_translation(article.id)
            await release_abandoned_claims()
        assert await claim_translation(article.id) is None
        assert (await translation_of(article)).reason == (
            "A worker stopped while translating this (given up after 3 attempts)"
        )


class TestNewLocale:
    async def test_is_queued_for_articles_that_lack_it_or_are_behind_in_it(
        self, tmp_path: Path, sent: list[str]
    ) -> None:
        async with temporary_backends(tmp_path, locales="es,fr", translator="pseudo"):
            article = await deliver("First")
            await translate(article)
        async with temporary_backends(tmp_path, locales="es", translator="pseudo"):
            await deliver("Second")
            await translate(article)
            assert await queue_missing_locales() == 0
            assert (await translation_of(article, "fr")).revision == 1
        async with temporary_backends(tmp_path, locales="es,fr,it", translator="pseudo"):
            assert await queue_missing_locales() == 1
            assert await states(article) == {"es": "translated", "fr": "queued", "it": "queued"}
            assert (await translation_of(article, "fr")).revision == 2
            await sweep()
            assert sent == [str(article.id)]
            assert await queue_missing_locales() == 0


class TestWithoutAnEngine:
    async def test_nothing_is_sent(self, tmp_path: Path, sent: list[str]) -> None:
        async with temporary_backends(tmp_path):
            await deliver()
            await forget_messages()
            assert await sweep() == 0
            assert sent == []


@pytest.mark.usefixtures("backends")
class TestCompleteOlderArticles:
    async def test_reads_the_tags_of_what_0_1_0_took_in(self) -> None:
        old, new = await deliver(id=1, tags=["shoes", 7]), await deliver(id=2, tags=["fit"])
        await Article.filter(id=old.id).update(tags=None)
        await complete_older_articles()
        noted = await Article.all().order_by("id").values_list("id", "tags")
        assert noted == [(old.id, ["shoes"]), (new.id, ["fit"])]
