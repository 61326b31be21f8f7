"""What happened to an article reads as a story: what is alike and close together is told once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from monitoring.app.article_timeline import BURST, tell_article
from monitoring.app.incident_timeline import Entry
from monitoring.articles.models import Article, Happening, HistoryEntry

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)


def failed(after: timedelta, locale: str) -> HistoryEntry:
    return HistoryEntry(
        happened_at=NOW + after, event=Happening.FAILED, revision=1, locale=locale, reason="No words"
    )


def test_a_burst_is_one_entry_with_its_last_moment() -> None:
    article = Article(received_at=NOW)
    article.translations._set_result_for_query([])  # noqa: SLF001 - as if they had been fetched
    second = timedelta(seconds=1)
    history = [failed(BURST, "es"), failed(timedelta(), "pt"), failed(2 * BURST + second, "es")]
    assert tell_article(article, history, [], []) == [
        Entry(NOW + 2 * BURST + second, "Given up: es", "No words"),
        Entry(NOW + BURST, "Given up: es, pt", "No words"),
        Entry(NOW, "Received from the publisher"),
    ]
