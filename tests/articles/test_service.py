from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

import pytest

import chosen_backends
from articles.desk import LOCALES, deliver, make_submission, read_page, states, translate, translation_of
from monitoring.articles.models import Article, Translation, TranslationStatus
from monitoring.articles.queueing import retry_failed
from monitoring.articles.service import find_article, list_articles, receive_submission
from monitoring.backends.current import current_backends
from monitoring.backends.errors import StorageUnavailable

if TYPE_CHECKING:
    from pathlib import Path
    from uuid import UUID

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("backends")]


class TestFirstSubmission:
    async def test_stores_the_original_and_queues_every_locale(self) -> None:
        article = await deliver("Running shoes", slug="running-shoes")
        assert await states(article) == dict.fromkeys(LOCALES, "queued")
        page = await read_page("running-shoes/en.json")
        assert (page["revision"], page["locale"]) == (1, "en")
        assert page["delivery"] == make_submission("Running shoes", slug="running-shoes")

    async def test_keeps_the_order_of_the_publishers_keys(self) -> None:
        article = await deliver(zebra=1, apple=2)
        kept = await Article.get(id=article.id)
        page = await read_page("running-shoes/en.json")
        assert list(kept.payload["article"]) == ["id", "title", "zebra", "apple"]
        assert list(page["delivery"]["article"]) == ["id", "title", "zebra", "apple"]

    async def test_made_twenty_times_at_once_is_one_article_with_one_revision(self) -> None:
        receipts = await asyncio.gather(*(receive_submission(make_submission()) for _ in range(20)))
        assert sum(receipt.is_new_revision for receipt in receipts) == 1
        assert len({receipt.article.id for receipt in receipts}) == 1
        assert (await Article.get()).revision == 1
        assert await Translation.all().count() == len(LOCALES)

    async def test_of_another_article_with_the_same_slug_gets_a_folder_of_its_own(self) -> None:
        articles = await asyncio.gather(*(deliver(id=number, slug="shoes") for number in range(4)))
        folders = {article.slug for article in articles}
        assert "shoes" in folders
        assert len(folders) == 4

    async def test_changes_nothing_when_the_storage_fails(self, tmp_path: Path) -> None:
        with chosen_backends.blog_storage_away(tmp_path), pytest.raises(StorageUnavailable):
            await deliver()
        assert await Article.all().count() == await Translation.all().count() == 0
        assert (await deliver()).revision == 1


class TestUpdate:
    async def test_is_a_new_revision_in_the_same_folder_with_all_locales_queued_again(self) -> None:
        article = await deliver("Running shoes", slug="running-shoes")
        await translate(article)
        updated = await deliver("Walking shoes", slug="walking-shoes")
        assert (updated.id, updated.revision, updated.slug) == (article.id, 2, "running-shoes")
        assert await states(article) == dict.fromkeys(LOCALES, "queued")
        assert (await translation_of(article)).attempts == 0
        assert (await read_page("running-shoes/en.json"))["delivery"]["article"]["title"] == "Walking shoes"
        assert (await read_page("running-shoes/es.json"))["revision"] == 1

    async def test_that_is_older_never_replaces_a_newer_one(self) -> None:
        await deliver("Newer", timestamp="2026-11-20T10:00:00Z")
        receipt = await receive_submission(make_submission("Older", timestamp="2026-11-20T11:00:00+02:00"))
        assert (receipt.article.revision, receipt.is_new_revision) == (1, False)
        assert (await Article.get()).title == "Newer"

    async def test_that_is_older_is_logged_with_both_times(self, own_log: pytest.LogCaptureFixture) -> None:
        with own_log.at_level(logging.INFO, logger="monitoring.articles.service"):
            await deliver("Newer", timestamp="2026-11-20T10:00:00Z")
            assert not own_log.records
            await deliver("Older", timestamp="2026-11-20T09:00:00Z")
        [record] = own_log.records
        assert record.levelname == "INFO"
        for part in ("2026-11-20 09:00:00", "2026-11-20 10:00:00"):
            assert part in record.getMessage()

    async def test_that_tells_only_its_publication_is_not_older_than_one_that_tells_when_it_was_sent(
        self,
    ) -> None:
        published_at = "2026-11-20T09:00:00Z"
        await deliver("First", published_at=published_at, timestamp="2026-11-20T10:00:00Z")
        updated = await deliver("Second", published_at=published_at)
        assert (updated.title, updated.revision) == ("Second", 2)

    async def test_sent_before_what_arrived_earlier_is_older_whatever_came_between(self) -> None:
        await deliver("First", timestamp="2026-11-20T10:00:00Z")
        await deliver("Second", published_at="2026-11-20T09:00:00Z")
        assert (await deliver("Zeroth", timestamp="2026-11-20T09:30:00Z")).title == "Second"
        assert (await deliver("Third", timestamp="2026-11-20T10:30:00Z")).title == "Third"

    async def test_that_is_older_than_a_repetition_is_stale_too(self) -> None:
        await deliver("Final", timestamp="2026-11-20T10:00:00Z")
        await deliver("Final", timestamp="2026-11-20T12:00:00Z")
        assert not (
            await receive_submission(make_submission("Draft", timestamp="2026-11-20T11:00:00Z"))
        ).is_new_revision

    async def test_without_an_intelligible_time_counts_by_arrival(self) -> None:
        await deliver("First", timestamp="2026-11-20T10:00:00Z")
        assert (await deliver("Second", timestamp="just now")).title == "Second"
        assert (await deliver("Third")).title == "Third"

    async def test_of_many_at_once_leaves_the_newest_in_rows_and_storage(self) -> None:
        submissions = [
            make_submission(f"Title {n}", timestamp=f"2026-11-20T10:00:{n:02}Z") for n in range(20)
        ]
        await deliver("Title first", timestamp="2026-11-20T09:00:00Z", slug="shoes")
        await asyncio.gather(*map(receive_submission, submissions))
        article, page = await Article.get(), await read_page("shoes/en.json")
        assert article.title == page["delivery"]["article"]["title"] == "Title 19"
        assert article.revision == page["revision"]
        assert {row.revision for row in await Translation.all()} == {article.revision}


class TestWebsites:
    async def test_do_not_overwrite_each_others_articles(self) -> None:
        one, other, neither = [
            await deliver(title, id=7, slug="shoes", website=website)
            for title, website in (("One", {"id": 1}), ("Other", {"id": 2}), ("Neither", None))
        ]
        assert len({one.id, other.id, neither.id}) == len({one.slug, other.slug, neither.slug}) == 3
        for article, title in ((one, "One"), (other, "Other"), (neither, "Neither")):
            page = await read_page(f"{article.slug}/en.json")
            assert (page["revision"], page["delivery"]["article"]["title"]) == (1, title)

    async def test_are_told_by_their_ids_however_these_are_written(self) -> None:
        one, again, and_again = [
            await deliver(f"Title {number}", id=7, website={"id": website_id})
            for number, website_id in enumerate((1, "1", 1.0))
        ]
        assert one.id == again.id == and_again.id
        assert and_again.revision == 3

    async def test_and_slugs_of_the_greatest_length_fit_the_index(self) -> None:
        letters = "".join(map(chr, range(0x1F300, 0x1F300 + 512)))
        submission = {"article": {"slug": letters, "title": "Shoes"}, "website": {"id": letters[:255]}}
        assert (await receive_submission(submission)).article.revision == 1


class TestRepetition:
    async def test_makes_no_work(self) -> None:
        article = await deliver(timestamp="2026-11-20T10:00:00Z")
        await translate(article)
        receipt = await receive_submission(make_submission(timestamp="2026-11-20T10:05:00Z"))
        assert (receipt.article.revision, receipt.is_new_revision) == (1, False)
        assert await states(article) == dict.fromkeys(LOCALES, "translated")

    async def test_brings_back_an_original_that_was_deleted(self) -> None:
        await deliver()
        storage = current_backends().blog_storage
        assert storage
        await storage.delete("running-shoes/en.json")
        await deliver()
        assert (await read_page("running-shoes/en.json"))["revision"] == 1


class TestRetry:
    @pytest.fixture
    async def failed(self) -> Article:
        article = await deliver()
        await Translation.filter(article_id=article.id).update(
            status=TranslationStatus.FAILED, attempts=3, reason="Too hard"
        )
        return article

    async def test_gives_failed_translations_all_their_attempts_again(self, failed: Article) -> None:
        assert await retry_failed() == 2
        row = await translation_of(failed)
        assert (row.status, row.attempts, row.reason) == ("queued", 0, None)

    async def test_can_be_for_one_article_and_one_locale(self, failed: Article) -> None:
        other = await deliver(id="art_2")
        assert await retry_failed(other.id) == 0
        assert await retry_failed(failed.id, "es") == 1
        assert await states(failed) == {"es": "queued", "pt-BR": "failed"}

    async def test_leaves_what_has_not_failed(self) -> None:
        await translate(await deliver())
        assert await retry_failed() == 0


class TestLookup:
    async def test_finds_an_article_with_its_translations(self) -> None:
        article = await deliver()
        found = await find_article(article.id)
        assert found
        assert {translation.locale for translation in found.translations} == set(LOCALES)

    async def test_lists_the_newest_first_or_those_with_a_translation_in_a_state(self) -> None:
        old, new = await deliver(id=1), await deliver(id=2)
        await translate(old)
        assert await listed(limit=5) == [new.id, old.id]
        assert await listed(limit=1) == [new.id]
        assert await listed(5, "translated") == [old.id]

    async def test_lists_a_page_after_the_other(self) -> None:
        articles = [await deliver(id=number) for number in range(3)]
        first = await list_articles(limit=2)
        assert [article.id for article in first.rows] == [articles[2].id, articles[1].id]
        assert first.continues_after == articles[1].id
        last = await list_articles(2, "queued", first.continues_after)
        assert [article.id for article in last.rows] == [articles[0].id]
        assert last.continues_after is None

    async def test_lists_without_reading_what_was_delivered(self) -> None:
        await deliver(content="word " * 1000)
        [article] = (await list_articles(limit=1)).rows
        assert {translation.locale for translation in article.translations} == set(LOCALES)
        with pytest.raises(AttributeError):
            _ = article.payload


async def listed(limit: int, status: str | None = None) -> list[UUID]:
    return [article.id for article in (await list_articles(limit, status)).rows]
