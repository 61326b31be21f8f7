"""Queues notifications about articles for the teams that may read articles.

Each notification is inserted as a database row in the caller's transaction. A periodic sweep sends the
queued notifications.
"""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from monitoring.articles.models import Article, Translation, TranslationStatus
from monitoring.articles.representations import represent_state
from monitoring.auth.models import Team
from monitoring.backends.current import current_backends
from monitoring.contract.document import Json
from monitoring.notifications.announcing import announce
from monitoring.notifications.routing import Announcement

_EVENTS = {
    TranslationStatus.TRANSLATED: "article.translated",
    TranslationStatus.FAILED: "article.failed",
}


async def find_readers() -> list[Team]:
    """Return the teams that may read articles."""
    names = current_backends().settings.article_teams
    return await Team.filter(name__in=names) if names else []


async def announce_translation(article: Article, translation_id: UUID) -> None:
    """Queue notifications that a translation was stored or has failed permanently."""
    if readers := await find_readers():
        translation = await Translation.get(id=translation_id)
        event = _EVENTS[TranslationStatus(translation.status)]
        about = {"article": _describe(article), "translation": represent_state(translation)}
        await _announce(readers, article, event, about)


async def announce_withdrawal(article: Article) -> None:
    """Queue notifications that an article was unpublished or deleted."""
    if readers := await find_readers():
        await _announce(readers, article, "article.unpublished", {"article": _describe(article)})


async def _announce(readers: list[Team], article: Article, event: str, subject: Mapping[str, Json]) -> None:
    now = current_backends().clock.now()
    await announce(
        [
            Announcement(
                team_id=team.id, event=event, happened_at=now, subject=subject, subject_id=article.id
            )
            for team in readers
        ]
    )


def _describe(article: Article) -> dict[str, Json]:
    """Render an article as the schema `NotificationArticle`.

    The article's content is left out, because a notification may be kept after the article is deleted.
    """
    return {
        "id": str(article.id),
        "slug": article.slug,
        "status": article.status,
        "revision": article.revision,
    }
