"""Determines an article's status from the words and flags of a submission. Has no side effects."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from monitoring.articles.field_names import (
    EVENTS,
    HIDING_FLAGS,
    HIDING_TIMES,
    PERHAPS_EVENTS,
    SHOWING_FLAGS,
    STATES,
    TEST_FLAGS,
    TEXTS,
)
from monitoring.articles.models import PublicationStatus
from monitoring.articles.translation.front_matter import front_matter_length

# The words in the OpenAPI document's pattern for `event` and `status`, without grammatical endings.
TEST_WORDS = ("test", "ping")
PUBLISHING_WORDS = {
    **dict.fromkeys(("delete", "deletion", "remove"), PublicationStatus.DELETED),
    **dict.fromkeys(("unpublish", "unlist", "archive", "private", "hidden"), PublicationStatus.UNPUBLISHED),
    **dict.fromkeys(("draft", "pending", "schedule", "future"), PublicationStatus.UNPUBLISHED),
    **dict.fromkeys(("members", "paid", "password", "internal"), PublicationStatus.UNPUBLISHED),
    **dict.fromkeys(("publish", "public", "live", "restore"), PublicationStatus.PUBLISHED),
    **dict.fromkeys(("create", "new", "add", "update", "edit", "change"), PublicationStatus.PUBLISHED),
    **dict.fromkeys(("attach", "detach"), PublicationStatus.PUBLISHED),  # Ghost: a tag of the post changed
    **dict.fromkeys(("trash", "untrash"), PublicationStatus.UNPUBLISHED),  # WordPress restores as draft
}
# Nouns that may accompany the words above, as in `article.published` and `webhook.test`.
_NOUNS = (
    *("article", "blog", "content", "entry", "page", "post", "item", "collection", "document", "record"),
    *("webhook", "hook", "event", "tag", "cms", "management", "integration", "connection", "website", "site"),
    *("auto", "only", "re", "un"),
)

_PUBLISHING_WORD = re.compile("|".join((*TEST_WORDS, *PUBLISHING_WORDS)))
_ANY_WORD = "|".join((*TEST_WORDS, *PUBLISHING_WORDS, *_NOUNS))
_NOTHING_ELSE = re.compile(rf"(?>(?:(?:{_ANY_WORD})(?:ed|d|s)?[ ._:/-]*)*)")

_FIELD_OF_A_WORD = re.compile(r"^([A-Za-z_-]+)[ \t]*[:=][ \t]*[\"']?([\w-]+)[\"']?[ \t\r]*$", re.MULTILINE)
_NO_TIME = (None, "", 0, False)
_YES, _NO = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


def is_test_submission(payload: Mapping[str, Any]) -> bool:
    """Return whether the payload is a test. Publishers send one when somebody clicks their "Test" button."""
    words = _find_words((*_own_texts(payload), *_texts_of_others(payload)))
    return any(_read_flag(payload.get(name)) for name in TEST_FLAGS) or not set(TEST_WORDS).isdisjoint(words)


def read_status(payload: Mapping[str, Any]) -> PublicationStatus:
    """Return the status that the payload requests for the article. The default is published.

    If words conflict, the most restrictive status wins, because a withdrawn article must not stay published.
    Only the fields `event`, `status` and `article.status` can delete an article, because a deletion cannot be
    undone.
    """
    front_matter = _front_matter_of(payload)
    texts = (*_texts_of_others(payload), *filter(_is_nothing_else, map(front_matter.get, STATES)))
    own, others = (
        {PUBLISHING_WORDS.get(word) for word in _find_words(told)} for told in (_own_texts(payload), texts)
    )
    if PublicationStatus.DELETED in own:
        return PublicationStatus.DELETED
    withdraws = not own.union(others) <= {None, PublicationStatus.PUBLISHED}
    is_hidden = any(map(_is_hidden, (payload, _article_of(payload), front_matter)))
    return PublicationStatus.UNPUBLISHED if withdraws or is_hidden else PublicationStatus.PUBLISHED


def _article_of(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    return payload.get("article") or {}  # a test may have no article


def _front_matter_of(payload: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the front matter fields with a single-word value. DEV and Hugo mark drafts with such fields."""
    texts = (text for name, text in _article_of(payload).items() if name in TEXTS and isinstance(text, str))
    front_matter = "\n".join(text[: front_matter_length(text)] for text in texts)
    return dict(_FIELD_OF_A_WORD.findall(front_matter))


def _own_texts(payload: Mapping[str, Any]) -> tuple[object, ...]:
    return payload.get("event"), payload.get("status"), _article_of(payload).get("status")


def _texts_of_others(payload: Mapping[str, Any]) -> Iterator[object]:
    yield from (payload.get(name) for name in (*EVENTS, *STATES))
    yield from (_article_of(payload).get(name) for name in STATES)
    yield from filter(_is_nothing_else, map(payload.get, PERHAPS_EVENTS))


def _is_nothing_else(text: object) -> bool:
    return isinstance(text, str) and bool(_NOTHING_ELSE.fullmatch(text.lower()))


def _find_words(texts: Iterable[object]) -> Iterator[str]:
    for text in texts:
        yield from _PUBLISHING_WORD.findall(text.lower() if isinstance(text, str) else "")


def _is_hidden(part: Mapping[str, Any]) -> bool:
    shows, hides = ({_read_flag(part.get(name)) for name in names} for names in (SHOWING_FLAGS, HIDING_FLAGS))
    return False in shows or True in hides or any(part.get(name) not in _NO_TIME for name in HIDING_TIMES)


def _read_flag(value: object) -> bool | None:
    """Parse a boolean, which automations may send as text or a number. Returns None for anything else."""
    if isinstance(value, int | float) and value in {0, 1}:
        return bool(value)
    text = str(value).strip().lower()
    return True if text in _YES else False if text in _NO else None
