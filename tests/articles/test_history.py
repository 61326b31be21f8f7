"""What became of an article is kept as long as the article, for its newest revisions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from articles.desk import LOCALES, ObedientEngine, deliver, translate
from monitoring.articles import history
from monitoring.articles.history import list_history
from monitoring.articles.models import PublicationStatus
from monitoring.articles.translation.engines.protocol import PermanentEngineError
from monitoring.articles.withdrawal import PUBLISHER, withdraw_article

if TYPE_CHECKING:
    from monitoring.articles.models import Article

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("backends")]


class Helpless(ObedientEngine):
    def translate(self, *_: object) -> list[str]:
        raise PermanentEngineError("No words")


async def tell(article: Article) -> set[tuple[str, int, str | None, str | None]]:
    return {
        (each.event, each.revision, each.locale, each.reason) for each in await list_history(article.id, 100)
    }


async def test_revisions_results_and_new_publications_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    article = await deliver("Shoes")
    await translate(article)
    first = {("translated", 1, locale, None) for locale in LOCALES}
    assert await tell(article) == first
    await deliver("Shoes", content="Fit")
    await translate(article, Helpless())
    second = {("revised", 2, None, None)} | {("failed", 2, locale, "No words") for locale in LOCALES}
    assert await tell(article) == first | second
    await withdraw_article(article.id, PublicationStatus.UNPUBLISHED, PUBLISHER)
    monkeypatch.setattr(history, "KEPT_REVISIONS", 2)
    await deliver("Shoes", content="Fit first")
    assert await tell(article) == second | {("revised", 3, None, None), ("published", 3, None, None)}
    await withdraw_article(article.id, PublicationStatus.DELETED, PUBLISHER)
    assert await tell(article) == set()
