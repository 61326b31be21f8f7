"""Parses a submission: the requested status, the article's identity, its content and its time.

Has no side effects.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import orjson

from monitoring.articles.field_names import (
    OTHER_WORDS,
    OWN_TRANSLATIONS,
    PUBLICATION_TIMES,
    PUBLISHING_FIELDS,
    PUBLISHING_FIELDS_OF_ARTICLE,
    TAGS,
    TEXTS,
    TITLES,
)
from monitoring.articles.models import PublicationStatus
from monitoring.articles.own_translations import keep_own_translations
from monitoring.articles.plain_words import name_folder, read_words
from monitoring.articles.publishing_words import read_status
from monitoring.articles.rules import SENT_FIELD, SOURCE_TIME_FIELDS
from monitoring.articles.times import parse_time

MAX_FIELD_CHARACTERS = 80  # of a field name in an error message
MAX_TITLE_CHARACTERS = 1000
MAX_TAG_CHARACTERS = 255
MAX_TAGS = 1000

# These fields may differ each time that an article is sent, so a change in them does not create a new
# revision.
SUBMISSION_FIELDS = PUBLISHING_FIELDS | {"timestamp"}

# Known fields. Long text in any other field may be the article's text under an unknown name.
READ_FIELDS = SUBMISSION_FIELDS.union(TITLES, TAGS, OTHER_WORDS)

# A value of an unknown field may be the article's text if it has at least this many words.
FEWEST_WORDS_OF_TEXT = 6

# Automations send "" for a missing value, and editors write an empty text as `<p></p>`. So whitespace,
# zero-width characters, comments, and elements that show nothing when empty all count as empty.
_EMPTY_TEXT = re.compile(
    r"""(?>(?:
        [\s\u00ad\u200b-\u200f\u2060\ufeff]
        | &(?:nbsp|ensp|emsp|thinsp|shy|zwj|zwnj|\#0*(?:9|10|13|32|160|173|820[3-7])|\#x0*(?:a0|ad|200[b-f]));
        | <!--.*?-->
        | </?(?:p|br|div|span|h[1-6]|[uo]l|li|strong|b|em|i|u|a|small|font|center|section|article|blockquote
            |figure|figcaption|table|tbody|thead|tr|t[dh])(?=[\s/>])[^<>]*>
    )*)""",
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,2000}>")


@dataclass(frozen=True, slots=True)
class Submission:
    """A publisher's payload, and the values parsed from it.

    `source_time` and `source_time_field` are None if no field has a valid time.
    """

    payload: dict[str, Any]
    status: PublicationStatus
    identity: str
    content_hash: str
    source_time: datetime | None
    source_time_field: str | None

    def completed_by(self, kept: Mapping[str, Any]) -> Submission:
        """Return the submission with missing fields filled in from `kept`, the stored payload.

        Only a submission without text is completed. A submission with text replaces all stored fields except
        the publisher's own translations. A null or empty value counts as missing.
        """
        payload = self.payload
        if kept and not self._has(TEXTS):
            told = _without_empty(payload)
            payload = _without_submission_fields(kept) | told
            payload["article"] = _without_status(kept["article"]) | told.get("article", {})
            # Nulls in translations are kept, because they withdraw a translation.
            translations = {name: self.payload["article"].get(name) for name in OWN_TRANSLATIONS}
            payload["article"] |= {name: value for name, value in translations.items() if value}
        payload = keep_own_translations(payload, kept.get("article", {}))
        if payload is self.payload:
            return self
        return replace(self, payload=payload, content_hash=_hash_content(payload))

    def published_at(self, moment: datetime) -> Submission:
        """Return the submission as if its publisher had sent it for publication at `moment`."""
        payload = _without_submission_fields(self.payload)
        payload["article"] = _without_status(self.payload["article"])
        return replace(
            self,
            payload=payload,
            status=PublicationStatus.PUBLISHED,
            content_hash=_hash_content(payload),
            source_time=moment,
            source_time_field=SENT_FIELD,
        )

    def has_words(self) -> bool:
        """Return whether there is a title or a text."""
        return self._has(TEXTS) or self._has(TITLES)

    def _has(self, fields: Collection[str]) -> bool:
        article = self.payload["article"]
        return any(
            isinstance(article[name], str) and not _is_empty(article[name])
            for name in article
            if name in fields
        )

    def find_unread_text(self) -> str | None:
        """Return the name of an unknown field with long text.

        Returns None if there is no such field, or if a known field contains the article's text.
        """
        if self._has(TEXTS):
            return None
        article = self.payload["article"]
        parts = {f"article.{name}": part for name, part in article.items() if name not in READ_FIELDS}
        parts |= {name: part for name, part in self.payload.items() if name not in {"article", *READ_FIELDS}}
        found = next((field for field, part in parts.items() if any(map(_is_long, _leaves(part)))), None)
        return found and "".join(filter(str.isprintable, found))[:MAX_FIELD_CHARACTERS]

    def folders(self) -> Iterator[str]:
        """Yield candidate folder names, best first.

        All except the first contain a hash of the article's identity, so no other article has them.
        """
        article = self.payload["article"]
        names = (_write_name(article.get("slug")), read_title(self.payload), _write_name(article.get("id")))
        folder = next(filter(None, map(name_folder, names)), "article")
        fingerprint = _fingerprint(self.identity)
        yield folder
        yield f"{folder}-{fingerprint[:8]}"
        yield f"{folder}-{fingerprint}"


def read_submission(payload: dict[str, Any], received_at: datetime) -> Submission:
    """Parse a schema-valid payload.

    A source time in the future is replaced by `received_at`, so that a wrong clock does not make all later
    submissions stale.
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


def _is_empty(value: object) -> bool:
    return value is None or (isinstance(value, str) and bool(_EMPTY_TEXT.fullmatch(value)))


def _is_long(text: object) -> bool:
    words = _TAG.sub(" ", text).split() if isinstance(text, str) else ()
    return sum(any(map(str.isalpha, word)) for word in words) >= FEWEST_WORDS_OF_TEXT


def _leaves(part: object) -> Iterator[object]:
    """Yield every scalar in a JSON value."""
    members = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    if not isinstance(part, dict | list):
        yield part
    for member in members:
        yield from _leaves(member)


def _without_empty(told: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object without nulls, empty texts, and objects that contain only nulls and empty texts."""
    members = {
        name: _without_empty(value) if isinstance(value, dict) else value for name, value in told.items()
    }
    return {name: value for name, value in members.items() if value != {} and not _is_empty(value)}


def _hash_content(payload: Mapping[str, Any]) -> str:
    """Return the SHA-256 hash of a payload.

    Fields about the payload's delivery and the article's status are left out.
    """
    return hash_json(_without_submission_fields(payload) | {"article": _without_status(payload["article"])})


def _without_status(article: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in article.items() if name not in PUBLISHING_FIELDS_OF_ARTICLE}


def _without_submission_fields(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in payload.items() if name not in SUBMISSION_FIELDS}


def private_folder(identity: str) -> str:
    """Return the folder name of an article that was never published. The folder has no files."""
    return f"unpublished-{_fingerprint(identity)}"


def _fingerprint(identity: str) -> str:
    return hashlib.sha256(identity.encode()).hexdigest()


def identify_article(payload: Mapping[str, Any]) -> str:
    """Return an article's identity: its website's id and its own id, or else its slug or content hash.

    The ids `7`, `7.0` and `"7"` are the same. The website's id is hashed, so that it cannot be mistaken for
    another part of the identity.
    """
    article, website = payload["article"], payload.get("website") or {}
    names = ((field, _write_name(article.get(field))) for field in ("id", "slug"))
    known_by = next((f"{field}:{name}" for field, name in names if name), None)
    known_by = known_by or f"sha256:{hash_json(_without_status(article))}"
    website_id = _write_name(website.get("id"))
    return f"website:{hash_json(website_id)}/{known_by}" if website_id else known_by


def _write_name(value: str | float | None) -> str:
    """Convert an id or slug to a string without surrounding whitespace. The number `7.0` becomes "7"."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "" if value is None else str(value).strip()


def hash_json(value: Any) -> str:  # noqa: ANN401 - any JSON
    """Hash a JSON value (SHA-256). Key order and whitespace have no effect."""
    return hashlib.sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).hexdigest()


def read_title(payload: Mapping[str, Any]) -> str | None:
    """Return the title as plain text, or None if there is none."""
    article = payload["article"]
    titles = (read_words(article[name]) for name in TITLES if isinstance(article.get(name), str))
    return next((title[:MAX_TITLE_CHARACTERS] for title in titles if title), None)


def read_tags(payload: Mapping[str, Any]) -> list[str]:
    """Return the article's distinct tag names. Empty and overlong ones are omitted."""
    names = (name.strip() for name in name_tags(payload["article"]))
    return list(dict.fromkeys(name for name in names if 0 < len(name) <= MAX_TAG_CHARACTERS))[:MAX_TAGS]


def name_tags(article: Mapping[str, Any]) -> Sequence[str]:
    """Return an article's tag names. Its tags may be a list, a map or a comma-separated string."""
    tags = next(filter(None, map(article.get, TAGS)), None)
    match tags:
        case str():
            return tags.split(",")
        case list():
            return [name for tag in tags if (name := _name_tag(tag))]
        case dict():
            return [name for key, tag in tags.items() if (name := key if tag is True else _name_tag(tag))]
        case _:
            return []


def _name_tag(tag: object) -> str | None:
    """Return the name of a tag, or None if it has no name.

    A tag is a string or, from Ghost, Hashnode and Sanity, an object.
    """
    names = (
        [tag.get(field) for field in ("name", "label", "title", "value", "slug")]
        if isinstance(tag, dict)
        else [tag]
    )
    return next((name for name in names if isinstance(name, str) and name), None)


def read_publication_time(payload: Mapping[str, Any]) -> datetime | None:
    """Return the publication time of a payload, or None if no field has a valid time."""
    told = (part.get(name) for part in (payload, payload["article"]) for name in PUBLICATION_TIMES)
    return next(filter(None, map(parse_time, told)), None)


def find_source_time(payload: Mapping[str, Any]) -> tuple[datetime, str] | tuple[None, None]:
    """Return the first valid time in `SOURCE_TIME_FIELDS` and its field, or `(None, None)`."""
    article = payload["article"]
    texts = (payload.get(SENT_FIELD), payload.get("published_at"), article.get("published_at"))
    for field, text in zip(SOURCE_TIME_FIELDS, texts, strict=True):
        if moment := parse_time(text):
            return moment, field
    return None, None
