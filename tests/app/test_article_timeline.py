"""What happened to an article reads as a story: what is alike and close together is told once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

from monitoring.app.articles.timeline import BURST, build_article_timeline
from monitoring.app.incidents.timeline import Entry, Tone
from monitoring.articles.models import HistoryEntry, HistoryEvent

if TYPE_CHECKING:
    from monitoring.articles.models import Article

FAILED = "Could not be translated into"
NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)


def failed(after: timedelta, locale: str) -> HistoryEntry:
    return HistoryEntry(
        happened_at=NOW + after, event=HistoryEvent.FAILED, revision=1, locale=locale, reason="No words"
    )


def test_what_is_alike_is_one_entry_until_something_else_happens() -> None:
    article = cast("Article", SimpleNamespace(received_at=NOW, translations=[]))  # a model needs a database
    minute = timedelta(minutes=1)
    history = [
        failed(minute, "pt"),
        failed(2 * minute, "es"),
        HistoryEntry(happened_at=NOW + 3 * minute, event=HistoryEvent.REVISED, revision=2),
        failed(4 * minute, "es"),
        failed(4 * minute + BURST, "pt"),
        failed(5 * minute + BURST, "fr"),
    ]
    assert build_article_timeline(article, history, [], [], {}) == [
        Entry(NOW + 5 * minute + BURST, f"{FAILED} French", "No words", tone=Tone.BAD),
        Entry(
            NOW + 4 * minute + BURST,
            f"{FAILED} Portuguese, Spanish",
            "No words",
            tone=Tone.BAD,
        ),
        Entry(NOW + 3 * minute, "Revision 2 received from the publisher", ""),
        Entry(NOW + 2 * minute, f"{FAILED} Portuguese, Spanish", "No words", tone=Tone.BAD),
        Entry(NOW, "Received from the publisher"),
    ]
