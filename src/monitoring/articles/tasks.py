"""What workers do for articles."""

from __future__ import annotations

from uuid import UUID

from monitoring.articles.claims import claim_translation
from monitoring.articles.engine_runner import current_engine
from monitoring.articles.translation_attempt import attempt_translation
from monitoring.backends.current import current_backends
from monitoring.backends.tasks import task
from monitoring.logs import log_article


async def ask_for_translation(article_id: str) -> None:
    """Nudge a worker, unless the only worker is this process and it has no engine."""
    settings = current_backends().settings
    if settings.redis_url or settings.translator != "none":
        await translate_article.send(article_id)


@task(queue_name="articles")
async def translate_article(article_id: str) -> None:
    """Translate the due locales of an article, one after the other. A second message does nothing.

    Without an engine or a blog storage nothing is attempted, and the rows wait where everybody can see them.
    """
    log_article(UUID(article_id))
    runner = current_engine()
    if runner is None or current_backends().blog_storage is None:
        return
    while claim := await claim_translation(UUID(article_id)):
        delay_seconds = await attempt_translation(claim, runner)
        if delay_seconds is not None:
            await translate_article.send(article_id, delay_seconds=delay_seconds)
