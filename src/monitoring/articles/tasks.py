"""Worker tasks for articles."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from functools import partial
from uuid import UUID

from monitoring.articles.claims import claim_translation, needs_to_be_alone
from monitoring.articles.engine_runner import EngineRunner, current_engine, locales_at_once
from monitoring.articles.test_articles import rehearse_translation
from monitoring.articles.translation_attempt import SharedReading, attempt_translation
from monitoring.backends.current import current_backends
from monitoring.backends.errors import BackendUnavailable
from monitoring.backends.tasks import task
from monitoring.logs import log_article


async def ask_for_translation(article_id: str) -> None:
    """Send a translation task, unless this process is the only worker and has no engine."""
    settings = current_backends().settings
    if settings.redis_url or settings.translator != "none":
        await translate_article.send(article_id)


@task(queue_name="articles")
async def translate_article(article_id: str) -> None:
    """Translate the due locales of an article, several at once. A redelivered message has no effect.

    If there is no engine or no blog storage, nothing is attempted, and the translations stay queued.
    """
    log_article(UUID(article_id))
    runner = current_engine()
    if runner is None or current_backends().blog_storage is None:
        return
    reading = SharedReading(runner)
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(locales_at_once(current_backends().settings)):
                group.create_task(_translate_due(article_id, runner, reading))
    except ExceptionGroup as failures:  # several locales may fail because of one outage
        _, unforeseen = failures.split(BackendUnavailable)
        raise (unforeseen or failures).exceptions[0] from None


@task(queue_name="articles")
async def translate_test_article(article_id: str) -> None:
    """Translate a test article. A redelivered message has no effect."""
    await rehearse_translation(UUID(article_id))


async def _translate_due(article_id: str, runner: EngineRunner, reading: SharedReading) -> None:
    while True:
        # The claim is made after both locks are acquired. So if the process dies while waiting for a lock,
        # no attempt is lost.
        async with AsyncExitStack() as turn:
            await turn.enter_async_context(reading.one_locale)
            async with runner.lock.hold(partial(needs_to_be_alone, UUID(article_id))):
                claim = await claim_translation(UUID(article_id))
                if claim is None:
                    return
                delay_seconds = await attempt_translation(claim, runner, reading, turn)
        if delay_seconds is not None:
            await translate_article.send(article_id, delay_seconds=delay_seconds)
