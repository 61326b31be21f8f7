"""The webhook with the minimum of overhead, using Starlette and asyncpg.

One SQL statement stores all rows of an article.
"""

from __future__ import annotations

import os
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import asyncpg
import orjson
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
from uuid_utils.compat import uuid7

from callers import Refused
from submissions import (
    LOCALES,
    Messages,
    demand_secret,
    folder_of,
    hash_json,
    identify,
    read_time,
    store_original,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request

TEXTS = {
    "title": 1000,
    "slug": 255,
    "content": 1_000_000,
    "content_html": 1_000_000,
    "content_markdown": 1_000_000,
}
OBJECTS = ("main_image", "website")

KEEP = """
    WITH kept AS (
        INSERT INTO articles (id, identity, slug, title, revision, content_hash, source_time, payload,
                              received_at, updated_at, nudged_at)
        VALUES ($1, $2, CASE WHEN EXISTS (SELECT 1 FROM articles WHERE slug = $3)
                        THEN $3 || '-' || left($5, 8) ELSE $3 END, $4, 1, $5, $6, $7, $8, $8, $8)
        ON CONFLICT (identity) DO UPDATE
        SET title = $4, revision = articles.revision + 1, content_hash = $5, source_time = $6, payload = $7,
            updated_at = $8, nudged_at = $8
        WHERE articles.content_hash <> $5
        RETURNING id, slug, revision
    ), queued AS (
        INSERT INTO translations (id, article_id, locale, revision, status, attempts, due_at)
        SELECT given.id, kept.id, given.locale, kept.revision, 'queued', 0, $8
        FROM kept, unnest($9::uuid[], $10::text[]) AS given(id, locale)
        ON CONFLICT (article_id, locale) DO UPDATE
        SET revision = excluded.revision, status = 'queued', attempts = 0, due_at = $8, claim = NULL
    )
    SELECT id, slug, revision FROM kept
"""
FIND = "SELECT id FROM articles WHERE identity = $1"


class Shared:
    """The resources that the endpoint uses."""

    pool: asyncpg.Pool
    messages: Messages

    @asynccontextmanager
    async def open(self, _: object) -> AsyncIterator[None]:
        """Open the database and Redis while the application runs."""
        self.messages = Messages()
        async with asyncpg.create_pool(os.environ["DATABASE_URL"], min_size=1, max_size=10) as self.pool:
            yield
        await self.messages.close()


shared = Shared()


async def deliver_article(request: Request) -> Response:
    """Store an article, and queue its translation."""
    demand_secret(request.headers.get("x-webhook-secret"))
    try:
        payload = _check(orjson.loads(await request.body()))
    except orjson.JSONDecodeError:
        raise Refused(400, "must be JSON") from None
    now, identity = datetime.now(UTC), identify(payload)
    async with shared.pool.acquire() as connection, connection.transaction():
        row = await connection.fetchrow(
            KEEP,
            *(uuid7(), identity, folder_of(payload), payload["article"].get("title"), hash_json(payload)),
            *(read_time(payload), orjson.dumps(payload).decode(), now),
            *([uuid7() for _ in LOCALES], LOCALES),
        )
        article_id = str(row["id"] if row else await connection.fetchval(FIND, identity))
        if row:
            page = {"article_id": article_id, "slug": row["slug"], "locale": "en", "source_locale": "en"}
            told = {"revision": row["revision"], "received_at": now.isoformat(), "delivery": payload}
            await store_original(row["slug"], page | told)
    if row:
        await shared.messages.send(article_id)
    accepted = {"article_id": article_id, "status": "accepted", "locales": LOCALES}
    return _answer(accepted, 202, {"Location": f"/api/articles/{article_id}"})


def _check(payload: Any) -> dict[str, Any]:
    """Raise `Refused` for a payload that is not a valid submission."""
    if not isinstance(payload, dict) or not isinstance(payload.get("article"), dict):
        raise Refused(400, "article: must be an object")
    for name, most in TEXTS.items():
        value = payload["article"].get(name)
        if value is not None and not (isinstance(value, str) and len(value) <= most):
            raise Refused(400, f"article.{name}: must be a text of at most {most} characters")
    for name in OBJECTS:
        if not isinstance(payload.get(name, {}), dict):
            raise Refused(400, f"{name}: must be an object")
    return payload


def _answer(content: Any, status: int, headers: dict[str, str]) -> Response:
    return Response(orjson.dumps(content), status, headers, media_type="application/json")


async def refuse(_: Request, refused: Refused) -> Response:
    """Return the error response for a `Refused` exception."""
    return _answer({"error": refused.error}, refused.status, {})


app = Starlette(
    routes=[Route("/api/webhooks/publisher", deliver_article, methods=["POST"])],
    exception_handlers={Refused: refuse},  # type: ignore[dict-item]
    lifespan=shared.open,
)
