"""Test articles, which publishers send. They are validated like live articles, but never published.

They have their own table, so that no list, export or feed includes them and their ids cannot clash with those
of live articles. They are kept for a day. Only the state of their translations is stored, not the text.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from monitoring.articles.models import PublicationStatus, TestArticle, Translation, TranslationStatus
from monitoring.articles.own_translations import (
    PUBLISHER,
    find_own_translation,
    leave_for_engine,
    without_own_translations,
)
from monitoring.articles.representations import represent_state
from monitoring.articles.rules import (
    WORKER_STOPPED,
    SubmissionKind,
    compare_with_kept,
    give_up,
    latest_source_time,
    shorten_reason,
)
from monitoring.articles.service import demand_text, demand_words, insist
from monitoring.articles.submissions import Submission, read_submission, read_tags, read_title
from monitoring.articles.translation.article import read_article
from monitoring.articles.translation.engines.protocol import PermanentEngineError
from monitoring.articles.translation.engines.pseudo import Pseudo
from monitoring.articles.withdrawal import erase_content
from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.backends.leases import NUDGE_INTERVAL
from monitoring.contract.entity_tags import is_current, version_of
from monitoring.contract.problems import Problem

KEPT = timedelta(days=1)
MAX_ATTEMPTS = 3
MOST_SENT = 100

_UNCHANGED = (SubmissionKind.DUPLICATE, SubmissionKind.STALE)

# There is only one thread, because live articles have priority and need the memory.
_threads = ThreadPoolExecutor(1, thread_name_prefix="test-articles")


async def receive_test_submission(payload: dict[str, Any]) -> TestArticle:
    """Receive a test article. Raises `NothingToPublish`, `UnreadText` or `DatabaseUnavailable`."""
    return await insist(partial(_receive, read_submission(payload, datetime.now(UTC))))


async def find_test_article(article_id: UUID) -> TestArticle | None:
    """Return a test article, or None if it does not exist or was deleted."""
    return await TestArticle.exclude(status=PublicationStatus.DELETED).get_or_none(id=article_id)


async def delete_test_article(article_id: UUID, if_match: str | None = None) -> bool:
    """Delete a test article. Returns whether there was one.

    Raises Problem if `if_match` names another version (RFC 9110 §13.1.1).
    """
    async with transaction():
        known = TestArticle.exclude(status=PublicationStatus.DELETED).select_for_update()
        article = await known.get_or_none(id=article_id)
        if article is None:
            return False
        if not is_current(if_match, version_of(article.updated_at)):
            raise Problem("article_changed")
        _withdraw(article, PublicationStatus.DELETED, current_backends().clock.now())
        await article.save()
        return True


async def rehearse_translation(article_id: UUID) -> None:
    """Translate a test article with the demonstration engine. Idempotent.

    Stores only the resulting state of each translation, not its text.
    """
    article = await TestArticle.get_or_none(id=article_id, is_due=True)
    if article is None:
        return
    article.attempts += 1
    await article.save(update_fields=["attempts"])
    if article.attempts > MAX_ATTEMPTS:
        failure = {"status": TranslationStatus.FAILED, "reason": give_up(WORKER_STOPPED, MAX_ATTEMPTS)}
        states = [{**state, **failure} for state in article.translations]
    else:
        loop, backends = asyncio.get_running_loop(), current_backends()
        work = partial(_translate, article, backends.settings.brand_names, backends.clock.now())
        states = await loop.run_in_executor(_threads, work)
    due = TestArticle.filter(id=article_id, revision=article.revision, is_due=True)
    await due.update(translations=states, is_due=False)


async def drop_old_test_articles(now: datetime) -> None:
    """Delete the test articles that have not changed for a day."""
    await TestArticle.filter(updated_at__lt=now - KEPT).delete()


async def find_forgotten_test_articles(now: datetime) -> list[UUID]:
    """Return the ids of up to `MOST_SENT` test articles whose message is probably lost."""
    forgotten = TestArticle.filter(is_due=True, updated_at__lt=now - NUDGE_INTERVAL).order_by("updated_at")
    return [article.id for article in await forgotten.limit(MOST_SENT).only("id")]


async def _receive(submission: Submission) -> TestArticle:
    now = current_backends().clock.now()
    async with transaction():
        kept = await TestArticle.select_for_update().get_or_none(identity=submission.identity)
        submission = submission.completed_by(kept.payload if kept else {})
        kind = compare_with_kept(submission, kept)
        if kind is SubmissionKind.NEW_REVISION:
            (demand_words if kept else demand_text)(submission)
        article = kept or TestArticle(
            identity=submission.identity,
            slug=next(submission.folders()),
            payload={},
            received_at=now,
            updated_at=now,
        )
        if kind not in _UNCHANGED:
            _revise(article, submission, now)
        article.source_time, article.source_time_field = latest_source_time(submission, article)
        await article.save()
    return article


def _revise(article: TestArticle, submission: Submission, now: datetime) -> None:
    article.title = read_title(submission.payload)  # type: ignore[assignment]  # the column is nullable
    article.payload, article.tags = submission.payload, read_tags(submission.payload)
    if submission.content_hash != article.content_hash:
        article.revision += 1
        article.content_hash = submission.content_hash
    if submission.status is not PublicationStatus.PUBLISHED:
        _withdraw(article, submission.status, now)
        return
    article.status, article.updated_at = submission.status.value, now
    article.withdrawn_at, article.attempts, article.is_due = None, 0, True
    article.translations = [
        represent_state(Translation(locale=locale, revision=article.revision, due_at=now))
        for locale in current_backends().settings.locales
    ]


def _withdraw(article: TestArticle, status: PublicationStatus, now: datetime) -> None:
    article.status, article.withdrawn_at, article.updated_at = status.value, now, now
    article.translations, article.is_due = [], False
    if status is PublicationStatus.DELETED:
        erase_content(article)


def _translate(article: TestArticle, brand_names: tuple[str, ...], now: datetime) -> list[dict[str, Any]]:
    source = read_article(without_own_translations(article.payload), brand_names)
    states = []
    for state in article.translations:
        locale = state["locale"]
        row = Translation(locale=locale, revision=article.revision, attempts=article.attempts, due_at=now)
        own = find_own_translation(article.payload, locale)
        read = read_article(leave_for_engine(source.payload, own), brand_names) if own else source
        try:
            translated = read.translate(engine=Pseudo(), target=locale)
        except PermanentEngineError as error:
            row.status, row.reason = TranslationStatus.FAILED, shorten_reason(str(error))
        else:
            row.status, row.translated_at = TranslationStatus.TRANSLATED, now
            row.untranslated_segments = translated.refused_count
            row.engine = PUBLISHER if own else translated.engine
        states.append(represent_state(row))
    return states
