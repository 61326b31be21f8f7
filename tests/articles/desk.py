"""The publisher's desk: submissions for tests, engines that obey, and ways to see the results."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import orjson

from monitoring.articles.engine_runner import open_engine
from monitoring.articles.models import Article, Translation
from monitoring.articles.service import receive_submission
from monitoring.articles.tasks import translate_article
from monitoring.articles.translation.engines.protocol import BatchLimit
from monitoring.backends.current import current_backends

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LOCALES = ("es", "pt-BR")


def make_submission(
    title: str = "Running shoes",
    *,
    timestamp: str | None = None,
    website: dict[str, Any] | None = None,
    **article: Any,
) -> dict[str, Any]:
    """Write a submission of the article `art_1`, or of another."""
    beside = {"timestamp": timestamp, "website": website}
    return {
        "article": {"id": "art_1", "title": title, **article},
        **{name: value for name, value in beside.items() if value is not None},
    }


async def deliver(title: str = "Running shoes", **details: Any) -> Article:
    """Deliver an article, as the webhook does."""
    return (await receive_submission(make_submission(title, **details))).article


class ObedientEngine:
    """Translates `Shoes` into `es: Shoes`, after doing what the test says."""

    name = "obedient"
    is_demonstration = False
    batch_limit = BatchLimit(max_texts=100, max_bytes=64 * 1024)

    def __init__(self, before: Callable[[str], None] = lambda _: None) -> None:
        self.asked: list[tuple[str, str]] = []
        self._before = before

    def check(self, locales: Sequence[str]) -> list[str]:
        return ["is obedient, but not into Klingon"] if "tlh" in locales else []

    def translate(self, segments: Sequence[str], source: str, target: str) -> list[str]:  # noqa: ARG002
        self.asked += [(target, segment) for segment in segments]
        self._before(target)
        return [f"{target}: {segment}" for segment in segments]

    def close(self) -> None:
        """Hold nothing."""


class Gate:
    """Stops an engine in the middle of its work, until the test lets it go on."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.opened = threading.Event()

    def __call__(self, _: str) -> None:
        self.reached.set()
        assert self.opened.wait(timeout=30)


async def translate(article: Article, engine: ObedientEngine | None = None) -> None:
    """Do what a worker does when it gets the article's message."""
    async with open_engine(current_backends().settings, engine or ObedientEngine()):
        await translate_article.function(str(article.id))


async def states(article: Article) -> dict[str, str]:
    """Tell the state of every locale."""
    rows = await Translation.filter(article_id=article.id).order_by("locale")
    return {row.locale: row.status for row in rows}


async def translation_of(article: Article, locale: str = "es") -> Translation:
    return await Translation.get(article_id=article.id, locale=locale)


async def make_due(article: Article) -> None:
    """Let time pass: leases run out, and delays are over."""
    past = datetime.now(UTC) - timedelta(seconds=1)
    await Translation.filter(article_id=article.id).update(due_at=past)


async def read_page(path: str) -> Any:
    """Read a JSON file of the blog storage, None if it is not there."""
    storage = current_backends().blog_storage
    assert storage
    content = await storage.get(path)
    return content and orjson.loads(content)
