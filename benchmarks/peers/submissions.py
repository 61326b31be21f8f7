"""Shared code of the peers for submissions: secret, identity, file and message, but not the rows."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import redis.asyncio

from callers import Refused

WEBHOOK_SECRET = os.environ["WEBHOOK_SECRET"].encode()
LOCALES = os.environ["LOCALES"].split(",")
BLOG_FOLDER = Path(os.environ.get("BLOG_FOLDER", "/nonexistent"))


def demand_secret(sent: str | None) -> None:
    """Raise `Refused` for callers without the webhook secret."""
    if not hmac.compare_digest((sent or "").encode(), WEBHOOK_SECRET):
        raise Refused(401, "Invalid webhook secret")


def identify(payload: dict[str, Any]) -> str:
    """Return the article's id or, if it has none, its slug or, if it has neither, a hash of its content."""
    article = payload["article"]
    for field in ("id", "slug"):
        if article.get(field):
            return f"{field}:{article[field]}"
    return f"sha256:{hash_json(article)}"


def hash_json(value: Any) -> str:
    """Hash a JSON value, regardless of the order of keys."""
    return hashlib.sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).hexdigest()


def folder_of(payload: dict[str, Any]) -> str:
    """Return the article's folder."""
    article = payload["article"]
    named = str(article.get("slug") or article.get("title") or article.get("id") or "article").lower()
    return re.sub(r"[^a-z0-9]+", "-", named).strip("-")[:120] or "article"


def read_time(payload: dict[str, Any]) -> datetime | None:
    """Return when the publisher sent the submission, or None if this cannot be read."""
    try:
        moment = datetime.fromisoformat(payload.get("timestamp") or payload.get("published_at") or "")
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


async def store_original(slug: str, page: dict[str, Any]) -> None:
    """Store the English page durably under its name."""
    content = orjson.dumps(page, option=orjson.OPT_INDENT_2)
    await asyncio.to_thread(_write_durably, BLOG_FOLDER / slug / "en.json", content)


def _write_durably(target: Path, content: bytes) -> None:
    is_new = not target.parent.exists()
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".draft-{target.name}")
    with draft.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(target)
    for folder in [target.parent, *([target.parent.parent] if is_new else [])]:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


class Messages:
    """Sends a message to the workers for each article. Without Redis, the workers poll instead."""

    def __init__(self) -> None:
        url = os.environ.get("REDIS_URL")
        self._client = redis.asyncio.Redis.from_url(url) if url else None

    async def send(self, article_id: str) -> None:
        """Send one message, after the commit."""
        if self._client:
            await self._client.rpush("translate_article", article_id)

    async def close(self) -> None:
        """Close the connections."""
        if self._client:
            await self._client.aclose()
