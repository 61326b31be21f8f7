from __future__ import annotations

import asyncio
import logging
from contextvars import copy_context
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

import chosen_backends
from articles.desk import (
    LOCALES,
    Gate,
    ObedientEngine,
    deliver,
    make_submission,
    read_page,
    states,
    translate,
)
from moments import a_second_ago
from monitoring.articles import service
from monitoring.articles.claims import claim_translation
from monitoring.articles.models import Article, MemoryUse, PublicationStatus, Translation, TranslationMemory
from monitoring.articles.service import find_article, list_articles, receive_submission
from monitoring.articles.submissions import read_submission
from monitoring.articles.sweeping import queue_missing_locales
from monitoring.articles.translation_memory import forget_segments
from monitoring.articles.withdrawal import (
    LATE_FILES,
    PUBLISHER,
    sweep_removals,
    withdraw_again,
    withdraw_article,
)
from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("backends")]

UNPUBLISHED, DELETED = PublicationStatus.UNPUBLISHED, PublicationStatus.DELETED
WITHDRAWING = {"article.unpublished": UNPUBLISHED, "article.deleted": DELETED}

SOMEBODY_WAITS = """
    SELECT 1 FROM pg_locks JOIN pg_database ON pg_database.oid = database
    WHERE datname = current_database() AND NOT granted
"""


async def tell(event: str, **details: Any) -> Article:
    """Tell what happened to the article `art_1`, as publishers do: by its id alone."""
    submission = {"event": event, "article": {"id": "art_1"}, **details}
    return (await receive_submission(submission)).article


async def publish(**details: Any) -> Article:
    """Deliver a translated article."""
    article = await deliver(slug="shoes", content="Fit first.", **details)
    await translate(article)
    return article


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def put(path: str) -> None:
    storage = current_backends().blog_storage
    assert storage
    await storage.put(path, b"{}")


async def stored() -> list[str]:
    storage = current_backends().blog_storage
    assert storage
    return await storage.list("shoes")


class TestPublishingByIdAlone:
    async def test_brings_back_what_was_unpublished(self) -> None:
        article = await publish()
        await tell("article.unpublished")
        assert (await tell("article.published")).id == article.id
        assert (await read_page("shoes/en.json"))["delivery"]["article"]["content"] == "Fit first."

    @pytest.mark.parametrize("event", ["article.deleted", "draft"])
    async def test_publishes_nothing_of_which_no_words_are_kept(self, event: str) -> None:
        status = (await tell(event)).status
        with pytest.raises(service.NothingToPublish):
            await tell("article.published")
        [article] = await Article.all()
        assert (article.status, await states(article), await stored()) == (status, {}, [])

    async def test_changes_nothing_of_what_0_1_0_published_without_words(self) -> None:
        article = await publish()
        empty = read_submission({"article": {"id": "art_1"}}, datetime.now(UTC))
        await Article.filter(id=article.id).update(payload=empty.payload, content_hash=empty.content_hash)
        assert (await tell("article.published")).revision == 1


@pytest.mark.parametrize("event", WITHDRAWING)
class TestWithdrawal:
    async def test_leaves_a_tombstone_instead_of_the_files(self, event: str) -> None:
        article = await publish()
        assert (await tell(event)).id == article.id
        assert await stored() == ["shoes/gone.json"]
        tombstone = await read_page("shoes/gone.json")
        assert (tombstone["article_id"], tombstone["status"]) == (str(article.id), WITHDRAWING[event])
        assert tombstone.keys() == {"article_id", "slug", "status", "gone_at"}
        assert await states(article) == {}

    async def test_takes_from_a_worker_the_right_to_store_its_translation(self, event: str) -> None:
        article = await deliver(slug="shoes")
        claim = await claim_translation(article.id)
        assert claim
        await tell(event)
        assert not await claim.end(status="translated")
        assert await queue_missing_locales() == 0
        assert await states(article) == {}

    async def test_removes_what_a_stalled_worker_stores_late(self, event: str) -> None:
        article = await publish()
        await tell(event)
        await put("shoes/es.json")
        await sweep_removals()
        assert await stored() == ["shoes/es.json", "shoes/gone.json"]
        past = datetime.now(UTC) - LATE_FILES - timedelta(seconds=1)
        await Article.filter(id=article.id).update(withdrawn_at=past, remove_at=past + LATE_FILES)
        await sweep_removals()
        assert await stored() == ["shoes/gone.json"]
        assert (await Article.get(id=article.id)).remove_at is None

    async def test_leaves_files_of_others_in_the_folder(self, event: str) -> None:
        await publish()
        await put("shoes/photos/meta.json")
        await put("shoes/picture.jpg")
        await tell(event)
        assert await stored() == ["shoes/gone.json", "shoes/photos/meta.json", "shoes/picture.jpg"]

    @pytest.mark.embedded("only a folder has drafts")
    async def test_removes_what_a_killed_process_left_half_written(self, event: str, tmp_path: Path) -> None:
        await publish()
        folder = tmp_path / "blog" / "shoes"
        (folder / ".draft-fr.json").write_text("Fit fir")
        await tell(event)
        assert names_in(folder) == ["gone.json"]

    async def test_is_kept_while_the_storage_is_away_and_done_when_it_is_back(
        self, event: str, tmp_path: Path
    ) -> None:
        article = await publish()
        with chosen_backends.blog_storage_away(tmp_path):
            await withdraw_article(article.id, WITHDRAWING[event], PUBLISHER)
        assert "shoes/en.json" in await stored()
        await sweep_removals()
        assert await stored() == ["shoes/gone.json"]

    async def test_of_an_article_that_comes_later_counts(self, event: str) -> None:
        await tell(event, timestamp="2026-11-20T11:00:00Z")
        article = await deliver(timestamp="2026-11-20T10:00:00Z")
        assert article.status == WITHDRAWING[event]
        assert await states(article) == {}
        assert (await deliver(timestamp="2026-11-20T12:00:00Z")).status == PublicationStatus.PUBLISHED

    async def test_is_undone_by_no_submission_from_before(self, event: str) -> None:
        article = await publish(timestamp="2026-11-20T10:00:00Z")
        before = datetime.now(UTC).isoformat()
        await withdraw_article(article.id, WITHDRAWING[event], PUBLISHER)
        await publish(timestamp=before)
        assert await stored() == ["shoes/gone.json"]

    async def test_twice_is_once(self, event: str) -> None:
        article = await publish()
        for _ in range(2):
            await tell(event)
        assert await stored() == ["shoes/gone.json"]
        assert (await Article.get(id=article.id)).status == WITHDRAWING[event]

    async def test_repeated_removes_what_a_failed_publication_left(self, event: str) -> None:
        await publish()
        await tell(event)
        await put("shoes/en.json")
        await tell(event)
        assert await stored() == ["shoes/gone.json"]

    async def test_removes_the_page_of_a_publication_that_failed_halfway(self, event: str) -> None:
        await deliver(slug="shoes", content="Fit first.")
        await deliver("Other", id="art_2", slug="art-1", content="Not mine.")
        await Article.filter(identity="id:art_1").delete()
        submission = {"event": event, "article": {"id": "art_1", "slug": "shoes"}}
        article = (await receive_submission(submission)).article
        assert (article.status, await stored()) == (WITHDRAWING[event], ["shoes/gone.json"])

    async def test_removes_no_page_of_others(self, event: str) -> None:
        await deliver("Other", id="art_2", slug="shoes", content="Not mine.")
        await Article.all().delete()
        await receive_submission({"event": event, "article": {"id": "art_1", "slug": "shoes"}})
        assert await stored() == ["shoes/en.json"]

    async def test_takes_away_what_an_older_release_has_queued_again(self, event: str) -> None:
        article = await publish()
        await tell(event)
        await Translation.create(article_id=article.id, locale="es", revision=1, due_at=a_second_ago())
        await put("shoes/es.json")
        await withdraw_again()
        await sweep_removals()
        assert await states(article) == {}
        assert await stored() == ["shoes/gone.json"]

    async def test_that_was_not_carried_out_leaves_no_old_file_when_it_is_over(
        self, event: str, tmp_path: Path
    ) -> None:
        article = await publish()
        await put("shoes/fr.json")  # a locale that is no longer wanted
        with chosen_backends.blog_storage_away(tmp_path):
            await withdraw_article(article.id, WITHDRAWING[event], PUBLISHER)
        again = await deliver(slug="shoes", content="Other")
        assert (again.id, await stored()) == (article.id, ["shoes/en.json"])

    async def test_of_an_unknown_article_makes_no_file(self, event: str) -> None:
        article = await tell(event)
        storage = current_backends().blog_storage
        assert storage
        assert await storage.list(article.slug) == []
        assert article.remove_at is None

    async def test_is_logged(self, event: str, own_log: pytest.LogCaptureFixture) -> None:
        await publish()
        with own_log.at_level(logging.INFO, logger="monitoring.articles.withdrawal"):
            await tell(event)
        [record] = own_log.records
        assert record.getMessage() == f"The article was {WITHDRAWING[event]} by publisher"

    async def test_is_over_when_the_article_is_published_again(self, event: str) -> None:
        article = await publish()
        await tell(event)
        engine = ObedientEngine()
        again = await deliver(slug="shoes", content="Fit first.")
        await translate(again, engine)
        assert again.id == article.id
        assert await stored() == ["shoes/en.json", "shoes/es.json", "shoes/pt-BR.json"]
        assert await states(again) == dict.fromkeys(LOCALES, "translated")
        assert bool(engine.asked) is (event == "article.deleted")  # the memory of an unpublished one is kept


class TestUnpublished:
    async def test_keeps_its_text_for_a_publication_that_names_it_alone(self) -> None:
        await publish()
        before = await read_page("shoes/es.json")
        article = await tell("post.unpublished", status="draft")
        assert article.payload["article"]["content"] == "Fit first."
        assert (await tell("post.published", status="published")).revision == 1
        await translate(article)
        after = await read_page("shoes/es.json")
        assert after["delivery"]["article"] == before["delivery"]["article"]

    async def test_draft_is_stored_nowhere_and_takes_changes(self) -> None:
        article = await deliver("Untitled", slug="untitled", content="First", status="draft")
        await deliver(slug="shoes", content="Second", status="draft")
        storage = current_backends().blog_storage
        assert storage
        assert await storage.list("untitled") == await storage.list(article.slug) == await stored() == []
        await deliver(slug="shoes", content="Second", status="published")
        assert await stored() == ["shoes/en.json"]
        page = await read_page("shoes/en.json")
        told = page["delivery"]["article"]
        assert (page["article_id"], told["content"], told["status"]) == (
            str(article.id),
            "Second",
            "published",
        )

    async def test_draft_is_published_by_a_submission_that_names_it_alone(self) -> None:
        await deliver(slug="shoes", content="First", status="draft")
        await tell("post.published")
        told = (await read_page("shoes/en.json"))["delivery"]
        assert (told["event"], told["article"]["content"], "status" in told["article"]) == (
            "post.published",
            "First",
            False,
        )


class TestDeleted:
    async def test_article_has_no_content_anywhere_and_is_not_found(self) -> None:
        article = await publish()
        other = await deliver("Other", id="art_2", content="Fit first.", slug="boots")
        await translate(other)
        await tell("article.deleted")
        erased = await Article.get(id=article.id)
        assert not any((erased.payload, erased.title, erased.content_hash))
        assert await find_article(article.id) is None
        assert [row.id for row in (await list_articles(10)).rows] == [other.id]
        assert await Translation.filter(article_id=article.id).count() == 0
        assert {row.text for row in await TranslationMemory.all()} == {
            f"{locale}: {text}" for locale in LOCALES for text in ("Other", "Fit first.")
        }

    async def test_article_is_forgotten_though_0_1_0_has_not_noted_its_segments(self) -> None:
        await publish()
        await MemoryUse.all().delete()
        await tell("article.deleted")
        assert await TranslationMemory.all().count() == 0

    async def test_article_is_not_remembered_again_by_a_worker_that_was_translating_it(self) -> None:
        article, gate = await deliver(slug="shoes", content="Fit first."), Gate()
        translating = asyncio.create_task(translate(article, ObedientEngine(gate)))
        await asyncio.to_thread(gate.reached.wait)
        await tell("article.deleted")
        gate.opened.set()
        await translating
        assert await TranslationMemory.all().count() == await MemoryUse.all().count() == 0

    async def test_article_stays_deleted_when_it_is_unpublished_too(self) -> None:
        article = await publish()
        await tell("article.deleted")
        await tell("article.unpublished")
        assert (await Article.get(id=article.id)).status == DELETED
        assert await withdraw_article(article.id, UNPUBLISHED, PUBLISHER) is None


@pytest.mark.production("SQLite lets nobody else write meanwhile")
class TestDeletionsAtOnce:
    async def test_forget_what_only_they_have(self) -> None:
        article = await publish()
        other = await deliver("Other", id="art_2", content="Fit first.", slug="boots")
        await translate(other)
        elsewhere = copy_context()
        async with transaction() as connection:
            await forget_segments(article)
            deletion = withdraw_article(other.id, DELETED, PUBLISHER)
            deleting = asyncio.create_task(deletion, context=elsewhere)
            async with asyncio.timeout(30):
                while not await connection.execute_query_dict(SOMEBODY_WAITS):  # noqa: ASYNC110 - no event
                    await asyncio.sleep(0.02)
        await deleting
        assert await TranslationMemory.all().count() == await MemoryUse.all().count() == 0


class TestPartialSubmission:
    async def test_with_a_title_alone_keeps_the_text(self) -> None:
        await publish()
        receipt = await service.receive_submission({"article": {"id": "art_1", "title": "Boots"}})
        assert receipt.article.revision == 2
        kept = (await read_page("shoes/en.json"))["delivery"]["article"]
        assert (kept["title"], kept["content"]) == ("Boots", "Fit first.")
        assert make_submission("Boots", slug="shoes", content="Fit first.")["article"] == kept
