"""What a submission asks for: that the article is published, taken back or erased. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from monitoring.articles.models import PublicationStatus

# The words of the document's pattern for `event` and `status`, without their endings. A word that is the end
# of another one comes after it.
TEST_WORDS = ("test", "ping")
PUBLISHING_WORDS = {
    **dict.fromkeys(("delete", "deletion", "remove"), PublicationStatus.DELETED),
    **dict.fromkeys(("unpublish", "unlist", "archive", "private", "hidden"), PublicationStatus.UNPUBLISHED),
    **dict.fromkeys(("draft", "pending", "schedule", "future"), PublicationStatus.UNPUBLISHED),
    **dict.fromkeys(("publish", "live", "restore"), PublicationStatus.PUBLISHED),
    **dict.fromkeys(("create", "new", "add", "update", "edit", "change"), PublicationStatus.PUBLISHED),
    **dict.fromkeys(("trash", "untrash"), PublicationStatus.UNPUBLISHED),  # WordPress restores a draft
}

_WORD = re.compile("|".join((*TEST_WORDS, *PUBLISHING_WORDS)))


def is_test_submission(payload: Mapping[str, Any]) -> bool:
    """Recognise a test ping, which providers send when somebody presses their "Test" button."""
    return any(word in TEST_WORDS for word in _find_words(payload))


def read_status(payload: Mapping[str, Any]) -> PublicationStatus:
    """Return the status that the article is to have. Without a word for it, the article is published.

    If words contradict each other, the one that takes most away counts: an article that its publisher has
    taken back must not stay published.
    """
    asked = {PUBLISHING_WORDS[word] for word in _find_words(payload) if word in PUBLISHING_WORDS}
    for status in (PublicationStatus.DELETED, PublicationStatus.UNPUBLISHED):
        if status in asked:
            return status
    return PublicationStatus.PUBLISHED


def _find_words(payload: Mapping[str, Any]) -> Iterator[str]:
    article = payload.get("article") or {}  # a test needs none
    for text in (payload.get("event"), payload.get("status"), article.get("status")):
        yield from _WORD.findall((text or "").lower())
