"""What a delivery says of itself: which article, which content, and when. Pure."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MAX_FOLDER_CHARACTERS = 120

# These tell deliveries apart, not revisions: the same article sent again differs in them.
DELIVERY_FIELDS = ("event", "timestamp")

_EPOCH_SECONDS = re.compile(r"\d{10}(\.\d{1,9})?")
_EPOCH_MILLISECONDS = re.compile(r"\d{13}")


@dataclass(frozen=True, slots=True)
class Delivery:
    """A publisher's payload and what it says. `source_time` is None when it says nothing intelligible."""

    payload: dict[str, Any]
    identity: str
    content_hash: str
    source_time: datetime | None

    def folders(self) -> Iterator[str]:
        """Name folders for it, best first. Those after the first are this article's alone."""
        article = self.payload["article"]
        named = (sanitise_slug(str(article.get(field) or "")) for field in ("slug", "title", "id"))
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
    source_time = find_source_time(payload)
    return Delivery(
        payload=payload,
        identity=identify_article(payload["article"]),
        content_hash=hash_json(content),
        source_time=source_time and min(source_time, received_at),
    )


def is_test_delivery(payload: Mapping[str, Any]) -> bool:
    """Tell a test ping, as providers send when somebody presses "Test" there."""
    return str(payload.get("event")).strip().lower() == "test"


def identify_article(article: Mapping[str, Any]) -> str:
    """Say by what an article is known: its id, else its slug, else its content. Ids `7` and `"7"` are one."""
    for name in ("id", "slug"):
        value = article.get(name)
        if value is not None and str(value).strip():
            return f"{name}:{str(value).strip()}"
    return f"sha256:{hash_json(article)}"


def hash_json(value: Any) -> str:  # noqa: ANN401 - whatever JSON can say
    """Hash what JSON means (SHA-256): neither the order of keys nor blanks count."""
    return hashlib.sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).hexdigest()


def find_source_time(payload: Mapping[str, Any]) -> datetime | None:
    """Find when the publisher made this: `timestamp`, else `published_at`, beside the article or in it."""
    named = (payload.get("timestamp"), payload.get("published_at"), payload["article"].get("published_at"))
    return next(filter(None, map(parse_time, named)), None)


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
