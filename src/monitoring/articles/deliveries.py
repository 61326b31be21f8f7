"""What a delivery says of itself: which article, which content, and when. Pure."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import orjson

from monitoring.articles.rules import SOURCE_TIME_FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MAX_FOLDER_CHARACTERS = 120

# These tell deliveries apart, not revisions: the same article sent again differs in them.
DELIVERY_FIELDS = ("event", "timestamp")

_EPOCH_SECONDS = re.compile(r"\d{10}(\.\d{1,9})?")
_EPOCH_MILLISECONDS = re.compile(r"\d{13}")


@dataclass(frozen=True, slots=True)
class Delivery:
    """A publisher's payload and what it says.

    `source_time` and the field that tells it are None when it says nothing intelligible.
    """

    payload: dict[str, Any]
    identity: str
    content_hash: str
    size_bytes: int
    source_time: datetime | None
    source_time_field: str | None

    def folders(self) -> Iterator[str]:
        """Name folders for it, best first. Those after the first are this article's alone."""
        article = self.payload["article"]
        named = (sanitise_slug(_write_name(article.get(field))) for field in ("slug", "title", "id"))
        folder = next(filter(None, named), "article")
        fingerprint = hashlib.sha256(self.identity.encode()).hexdigest()
        yield folder
        yield f"{folder}-{fingerprint[:8]}"
        yield f"{folder}-{fingerprint}"


def read_delivery(payload: dict[str, Any], received_at: datetime) -> Delivery:
    """Read a payload that the document allows.

    A source time in the future counts as now: a wrong clock must not make all later deliveries stale.
    """
    content = {name: value for name, value in payload.items() if name not in DELIVERY_FIELDS}
    written = _write_canonically(content)
    source_time, source_time_field = find_source_time(payload)
    return Delivery(
        payload=payload,
        identity=identify_article(payload),
        content_hash=hashlib.sha256(written).hexdigest(),
        size_bytes=len(written),
        source_time=source_time and min(source_time, received_at),
        source_time_field=source_time_field,
    )


def is_test_delivery(payload: Mapping[str, Any]) -> bool:
    """Tell a test ping, as providers send when somebody presses "Test" there."""
    return str(payload.get("event")).strip().lower() == "test"


def identify_article(payload: Mapping[str, Any]) -> str:
    """Say by what an article is known within its website: its id, else its slug, else its content.

    Ids `7`, `7.0` and `"7"` are one. The website's id is hashed, so that none looks like id and more.
    """
    article, website = payload["article"], payload.get("website") or {}
    names = ((field, _write_name(article.get(field))) for field in ("id", "slug"))
    known_by = next((f"{field}:{name}" for field, name in names if name), None)
    known_by = known_by or f"sha256:{hash_json(article)}"
    website_id = _write_name(website.get("id"))
    return f"website:{hash_json(website_id)}/{known_by}" if website_id else known_by


def _write_name(value: str | float | None) -> str:
    """Write an id, slug or title without blanks around it; in JSON, `7.0` is the integer 7."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "" if value is None else str(value).strip()


def hash_json(value: Any) -> str:  # noqa: ANN401 - whatever JSON can say
    """Hash what JSON means (SHA-256): neither the order of keys nor blanks count."""
    return hashlib.sha256(_write_canonically(value)).hexdigest()


def _write_canonically(value: Any) -> bytes:  # noqa: ANN401 - as above
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def find_source_time(payload: Mapping[str, Any]) -> tuple[datetime, str] | tuple[None, None]:
    """Find the first of `SOURCE_TIME_FIELDS` that tells a time. Returns the time and the field."""
    article = payload["article"]
    texts = (payload.get("timestamp"), payload.get("published_at"), article.get("published_at"))
    for field, text in zip(SOURCE_TIME_FIELDS, texts, strict=True):
        if moment := parse_time(text):
            return moment, field
    return None, None


def parse_time(text: str | None) -> datetime | None:
    """Read ISO 8601 (UTC unless it says otherwise) or epoch seconds or milliseconds; None if neither."""
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
    """Make a folder name of lower-case ASCII letters, digits and single hyphens; empty if nothing is left."""
    letters = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", letters).strip("-")[:MAX_FOLDER_CHARACTERS].rstrip("-")
