"""Reads a submission: what it asks for, which article it is, which content, and from when. Pure."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import orjson

from monitoring.articles.models import PublicationStatus
from monitoring.articles.rules import SOURCE_TIME_FIELDS

MAX_FOLDER_CHARACTERS = 120
MAX_TAG_CHARACTERS = 255

# These fields differ each time the same article is sent, so they make no new revision.
SUBMISSION_FIELDS = ("event", "status", "timestamp")
TEXT_FIELDS = ("content", "content_html", "content_markdown")

# Automations send "" for what they have no value for, and editors write an empty text as `<p></p>`: blanks,
# characters without width, comments, and elements that show nothing unless there is something in them.
_EMPTY_TEXT = re.compile(
    r"""(?:
        [\s\u00ad\u200b-\u200f\u2060\ufeff]
        | &(?:nbsp|ensp|emsp|thinsp|shy|zwj|zwnj|\#0*(?:9|10|13|32|160|173|820[3-7])|\#x0*(?:a0|ad|200[b-f]));
        | <!--.*?-->
        | </?(?:p|br|div|span|h[1-6]|[uo]l|li|strong|b|em|i|u|a|small|font|center|section|article|blockquote
            |figure|figcaption|table|tbody|thead|tr|t[dh])(?=[\s/>])[^<>]*>
    )*+""",
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)
_EPOCH_SECONDS = re.compile(r"\d{10}(\.\d{1,9})?")
_EPOCH_MILLISECONDS = re.compile(r"\d{13}")


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

_PUBLISHING_WORD = re.compile("|".join((*TEST_WORDS, *PUBLISHING_WORDS)))


@dataclass(frozen=True, slots=True)
class Submission:
    """A publisher's payload, and what was read from it.

    `source_time` and `source_time_field` are None if no field has a time that we can read.
    """

    payload: dict[str, Any]
    status: PublicationStatus
    identity: str
    content_hash: str
    source_time: datetime | None
    source_time_field: str | None

    def completed_by(self, kept: Mapping[str, Any]) -> Submission:
        """Return the submission, with what it leaves out taken from the stored payload.

        Only a submission without text is completed: others say all there is. A null and an empty text name
        nothing.
        """
        if self._has(*TEXT_FIELDS) or not kept:
            return self
        told = _without_empty(self.payload)
        payload = _without_submission_fields(kept) | told
        payload["article"] = _without_status(kept["article"]) | told.get("article", {})
        return replace(self, payload=payload, content_hash=_hash_content(payload))

    def has_words(self) -> bool:
        """Return whether there is a title or text, without which the page would be empty."""
        return self._has("title", *TEXT_FIELDS)

    def _has(self, *fields: str) -> bool:
        article = self.payload["article"]
        return not all(_is_empty(article.get(field)) for field in fields)

    def folders(self) -> Iterator[str]:
        """Name folders for the article, best first. No other article can have those after the first."""
        article = self.payload["article"]
        named = (sanitise_slug(_write_name(article.get(field))) for field in ("slug", "title", "id"))
        folder = next(filter(None, named), "article")
        fingerprint = _fingerprint(self.identity)
        yield folder
        yield f"{folder}-{fingerprint[:8]}"
        yield f"{folder}-{fingerprint}"


def read_submission(payload: dict[str, Any], received_at: datetime) -> Submission:
    """Read a payload that the document allows.

    A source time in the future counts as now, so that a wrong clock does not make all later submissions
    stale.
    """
    source_time, source_time_field = find_source_time(payload)
    return Submission(
        payload=payload,
        status=read_status(payload),
        identity=identify_article(payload),
        content_hash=_hash_content(payload),
        source_time=source_time and min(source_time, received_at),
        source_time_field=source_time_field,
    )


def is_test_submission(payload: Mapping[str, Any]) -> bool:
    """Return whether this is a test ping, which providers send when somebody presses their "Test" button."""
    return any(word in TEST_WORDS for word in _publishing_words(payload))


def read_status(payload: Mapping[str, Any]) -> PublicationStatus:
    """Return the status that the article is to have. Without a word for it, the article is published.

    If words contradict each other, the one that takes most away counts: an article that its publisher has
    taken back must not stay published.
    """
    asked = {PUBLISHING_WORDS[word] for word in _publishing_words(payload) if word in PUBLISHING_WORDS}
    for status in (PublicationStatus.DELETED, PublicationStatus.UNPUBLISHED):
        if status in asked:
            return status
    return PublicationStatus.PUBLISHED


def _publishing_words(payload: Mapping[str, Any]) -> Iterator[str]:
    article = payload.get("article") or {}  # a test needs none
    for text in (payload.get("event"), payload.get("status"), article.get("status")):
        yield from _PUBLISHING_WORD.findall((text or "").lower())


def _is_empty(value: object) -> bool:
    return value is None or (isinstance(value, str) and bool(_EMPTY_TEXT.fullmatch(value)))


def _without_empty(told: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out nulls and empty texts, and objects that have nothing else."""
    members = {
        name: _without_empty(value) if isinstance(value, dict) else value for name, value in told.items()
    }
    return {name: value for name, value in members.items() if value != {} and not _is_empty(value)}


def _hash_content(payload: Mapping[str, Any]) -> str:
    """Return the hash (SHA-256) of a payload's content."""
    return hash_json(_without_submission_fields(payload) | {"article": _without_status(payload["article"])})


def _without_status(article: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in article.items() if name != "status"}


def _without_submission_fields(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in payload.items() if name not in SUBMISSION_FIELDS}


def private_folder(identity: str) -> str:
    """Name the folder of an article that was never published, which holds no files."""
    return f"unpublished-{_fingerprint(identity)}"


def _fingerprint(identity: str) -> str:
    return hashlib.sha256(identity.encode()).hexdigest()


def identify_article(payload: Mapping[str, Any]) -> str:
    """Return what identifies an article within its website: its id, else its slug, else its content.

    The ids `7`, `7.0` and `"7"` are the same. The website's id is hashed, so that its text cannot be
    mistaken for a part of the identity.
    """
    article, website = payload["article"], payload.get("website") or {}
    names = ((field, _write_name(article.get(field))) for field in ("id", "slug"))
    known_by = next((f"{field}:{name}" for field, name in names if name), None)
    known_by = known_by or f"sha256:{hash_json(_without_status(article))}"
    website_id = _write_name(website.get("id"))
    return f"website:{hash_json(website_id)}/{known_by}" if website_id else known_by


def _write_name(value: str | float | None) -> str:
    """Write an id, slug or title without surrounding blanks. In JSON, `7.0` is the integer 7."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "" if value is None else str(value).strip()


def hash_json(value: Any) -> str:  # noqa: ANN401 - whatever JSON can say
    """Hash a JSON value (SHA-256). The order of keys and blanks do not count."""
    return hashlib.sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).hexdigest()


def read_tags(payload: Mapping[str, Any]) -> list[str]:
    """Return the article's tags that are text, each once. Those of another form name nothing to ask for."""
    texts = (tag.strip() for tag in payload["article"].get("tags") or () if isinstance(tag, str))
    return list(dict.fromkeys(tag for tag in texts if 0 < len(tag) <= MAX_TAG_CHARACTERS))


def find_source_time(payload: Mapping[str, Any]) -> tuple[datetime, str] | tuple[None, None]:
    """Find the first of `SOURCE_TIME_FIELDS` that has a readable time. Returns the time and the field."""
    article = payload["article"]
    texts = (payload.get("timestamp"), payload.get("published_at"), article.get("published_at"))
    for field, text in zip(SOURCE_TIME_FIELDS, texts, strict=True):
        if moment := parse_time(text):
            return moment, field
    return None, None


def parse_time(text: str | None) -> datetime | None:
    """Read ISO 8601 (UTC by default), or seconds or milliseconds since the epoch. Returns None otherwise."""
    text = (text or "").strip()
    try:
        if _EPOCH_SECONDS.fullmatch(text):
            return datetime.fromtimestamp(float(text), UTC)
        if _EPOCH_MILLISECONDS.fullmatch(text):
            return datetime.fromtimestamp(int(text) / 1000, UTC)
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def sanitise_slug(text: str) -> str:
    """Make a folder name of lower-case ASCII letters, digits and single hyphens. It may be empty."""
    letters = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", letters).strip("-")[:MAX_FOLDER_CHARACTERS].rstrip("-")
