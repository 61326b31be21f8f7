"""What workers do for articles."""

from __future__ import annotations

from uuid import UUID

from monitoring.articles.claims import claim_translation
from monitoring.articles.translating import fulfil_claim
from monitoring.articles.translators import current_translator
from monitoring.backends.current import current_backends
from monitoring.backends.tasks import task
from monitoring.logs import log_article


async def ask_for_translation(article_id: str) -> None:
    """Nudge a worker, unless the only one is in this process and has no engine: it would do nothing."""
    settings = current_backends().settings
    if settings.redis_url or settings.translator != "none":
        await translate_article.send(article_id)


@task(queue_name="articles")
async def translate_article(article_id: str) -> None:
    """Translate whatever is due of an article, one locale after the other. Sent twice, it does nothing twice.

    Without an engine or a blog storage nothing is attempted: the rows wait, visibly.
    """
    log_article(UUID(article_id))
    translator = current_translator()
    if translator is None or current_backends().blog_storage is None:
        return
    while claim := await claim_translation(UUID(article_id)):
        delay_seconds = await fulfil_claim(claim, translator)
        if delay_seconds is not None:
            await translate_article.send(article_id, delay_seconds=delay_seconds)
