"""The webhook, written by hand with FastAPI and SQLAlchemy 2.

With ROW_BY_ROW=1, each locale's row is inserted in a loop. Otherwise, the session inserts all rows together.
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, FastAPI, Header, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from callers import Refused
from sqlalchemy_rows import Article, Translation, open_sessions
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

ROW_BY_ROW = os.environ.get("ROW_BY_ROW") == "1"

Text = Annotated[str, Field(max_length=1_000_000)]


class ArticleIn(BaseModel):
    """A submission's article, including unknown fields."""

    model_config = ConfigDict(extra="allow")

    id: str | int | None = None
    title: Annotated[str, Field(max_length=1000)] | None = None
    slug: Annotated[str, Field(max_length=255)] | None = None
    content: Text | None = None
    content_html: Text | None = None
    content_markdown: Text | None = None
    meta_description: Annotated[str, Field(max_length=5000)] | None = None


class Delivery(BaseModel):
    """A publisher's submission, including unknown fields."""

    model_config = ConfigDict(extra="allow")

    article: ArticleIn
    main_image: dict[str, Any] | None = None
    website: dict[str, Any] | None = None
    published_at: str | None = None
    timestamp: str | None = None


class Accepted(BaseModel):
    """The response to the publisher."""

    article_id: UUID
    status: str
    locales: list[str]


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Open the database and Redis while the application runs."""
    engine, app.state.sessions = open_sessions()
    app.state.messages = Messages()
    yield
    await app.state.messages.close()
    await engine.dispose()


app = FastAPI(lifespan=lifespan)


@app.exception_handler(Refused)
async def refuse(_: Request, refused: Refused) -> JSONResponse:
    """Return the error response for a `Refused` exception."""
    return JSONResponse({"error": refused.error}, refused.status)


async def publisher(x_webhook_secret: Annotated[str | None, Header()] = None) -> None:
    """Permit only callers with the webhook secret."""
    demand_secret(x_webhook_secret)


@app.post("/api/webhooks/publisher", status_code=202, dependencies=[Depends(publisher)])
async def deliver_article(delivery: Delivery, request: Request, response: Response) -> Accepted:
    """Store an article, and queue its translation."""
    payload = delivery.model_dump(exclude_unset=True)
    async with request.app.state.sessions() as session, session.begin():
        article, is_new = await _keep(session, payload)
    if is_new:
        await request.app.state.messages.send(str(article.id))
    response.headers["Location"] = f"/api/articles/{article.id}"
    return Accepted(article_id=article.id, status="accepted", locales=LOCALES)


async def _keep(session: AsyncSession, payload: dict[str, Any]) -> tuple[Article, bool]:
    now, identity, content_hash = datetime.now(UTC), identify(payload), hash_json(payload)
    article = await session.scalar(select(Article).where(Article.identity == identity).with_for_update())
    if article and article.content_hash == content_hash:
        return article, False
    if article is None:
        slug = folder_of(payload)
        if await session.scalar(select(Article.id).where(Article.slug == slug)):
            slug = f"{slug}-{content_hash[:8]}"
        article = Article(id=uuid7(), identity=identity, slug=slug, revision=0, received_at=now)
        session.add(article)
    article.revision += 1
    article.title = payload["article"].get("title")
    article.content_hash, article.payload = content_hash, payload
    article.source_time = read_time(payload)
    article.updated_at = article.nudged_at = now
    await session.flush()
    await _queue_translations(session, article, now)
    await store_original(article.slug, _page(article))
    return article, True


async def _queue_translations(session: AsyncSession, article: Article, now: datetime) -> None:
    wanted = select(Translation.locale).where(Translation.article_id == article.id)
    known = set(await session.scalars(wanted))
    for locale in LOCALES:
        if locale not in known:
            row = Translation(
                article_id=article.id, locale=locale, revision=article.revision, status="queued", due_at=now
            )
            session.add(row)
            if ROW_BY_ROW:
                await session.flush()
    if known:
        rows = update(Translation).where(Translation.article_id == article.id)
        await session.execute(rows.values(revision=article.revision, status="queued", attempts=0, due_at=now))


def _page(article: Article) -> dict[str, Any]:
    return {
        "article_id": str(article.id),
        "slug": article.slug,
        "locale": "en",
        "source_locale": "en",
        "revision": article.revision,
        "received_at": article.updated_at.isoformat(),
        "delivery": article.payload,
    }
