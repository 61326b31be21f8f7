"""Runs a worker's translation engine in dedicated threads, because calls to the engine block."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

from monitoring.articles.chosen_engine import make_engine, read_chosen_terms
from monitoring.articles.exports.pages import find_heading_ids
from monitoring.articles.fair_threads import FairThreads
from monitoring.articles.links.pages import PageLink, find_page_links
from monitoring.articles.shared_exclusive_lock import SharedExclusiveLock
from monitoring.articles.storage import SOURCE_LOCALE
from monitoring.articles.translation.article import SourceArticle, TranslatedArticle, read_article
from monitoring.articles.translation.engines.protocol import (
    Engine,
    PermanentEngineError,
    TransientEngineError,
)
from monitoring.articles.translation.judgement import find_fault
from monitoring.articles.translation.memory_budget import TooMuchMarkupError
from monitoring.articles.translation.terms import Terms
from monitoring.articles.usage import metered
from monitoring.metrics import ENGINE_ANSWERS_REFUSED, ENGINE_ERRORS, ENGINE_SECONDS
from monitoring.settings import Settings
from monitoring.tracing import span

Result = TypeVar("Result")


def locales_at_once(settings: Settings) -> int:
    """Return how many locales of an article are translated in parallel, with one engine request each."""
    return min(len(settings.locales), settings.translator_concurrency)


class EngineRunner:
    """Runs an engine in dedicated threads, so that the engine never delays the blog storage.

    One thread pool parses articles and inserts translations. A second pool sends requests to the engine.
    Articles take turns using the second pool.
    """

    def __init__(self, engine: Engine, settings: Settings, terms: Terms) -> None:
        self.engine = engine
        self._find_fault = None if engine.is_demonstration else partial(find_fault, terms=terms)
        self._name = settings.translator
        self._brand_names = settings.brand_names
        self._threads = ThreadPoolExecutor(
            settings.worker_threads * locales_at_once(settings), thread_name_prefix="translation"
        )
        self._requests = FairThreads(settings.translator_concurrency, "engine")
        # An article that may have crashed another worker holds this lock exclusively. If the article also
        # crashes this worker, no other article's translation is affected.
        self.lock = SharedExclusiveLock()

    async def read(self, payload: Mapping[str, Any]) -> SourceArticle:
        """Parse the reader-visible texts in a payload."""
        return await self._run(partial(read_article, payload, self._brand_names))

    async def find_links(self, *payloads: Mapping[str, Any]) -> list[PageLink]:
        """Return the links in the texts of all payloads."""
        return [link for payload in payloads for link in await self._run(partial(find_page_links, payload))]

    async def find_heading_ids(self, payload: Mapping[str, Any]) -> list[str]:
        """Return the ids that site generators derive from the headings of a payload's English text."""
        return await self._run(partial(find_heading_ids, payload))

    async def translate(
        self,
        source: SourceArticle,
        locale: str,
        article_id: UUID,
        *,
        known: Mapping[str, str],
        corrections: Mapping[str, str],
    ) -> TranslatedArticle:
        """Translate an article into `locale`. Raises the engine's errors and `BudgetUsedUp`.

        `known` and `corrections` map segment hashes to existing translations. The engine translates only
        segments that are in neither map.
        """
        estimate = source.cost(self.engine.batch_limit, {**known, **corrections})
        async with metered(self.engine, self._name, locale, estimate) as engine:
            work = partial(
                source.translate,
                engine=engine,
                source=SOURCE_LOCALE,
                target=locale,
                known=known,
                find_fault=self._find_fault,
                submit=partial(self._requests.submit, article_id),
                corrections=corrections,
            )
            return await self._translate(work, locale)

    async def _translate(self, work: Callable[[], TranslatedArticle], locale: str) -> TranslatedArticle:
        attributes = {"monitoring.engine": self._name, "monitoring.locale": locale}
        with span("translate", attributes=attributes), _measured(self._name, locale):
            translated = await self._run(work)
        for fault, count in translated.faults.items():
            ENGINE_ANSWERS_REFUSED.labels(self._name, locale, fault).inc(count)
        return translated

    async def close(self) -> None:
        """Close the engine, and cancel work that has not begun."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._requests.close()
        await asyncio.to_thread(self.engine.close)

    async def _run(self, work: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)


@contextmanager
def _measured(engine_name: str, locale: str) -> Iterator[None]:
    try:
        with ENGINE_SECONDS.labels(engine_name, locale).time():
            yield
    except TooMuchMarkupError:  # not the engine's fault
        raise
    except Exception as error:
        ENGINE_ERRORS.labels(engine_name, _kind_of(error)).inc()
        raise


def _kind_of(error: Exception) -> str:
    if isinstance(error, TransientEngineError):
        return "transient"
    return "permanent" if isinstance(error, PermanentEngineError) else "unexpected"


_current: ContextVar[EngineRunner | None] = ContextVar("current_engine", default=None)


@asynccontextmanager
async def open_engine(settings: Settings, engine: Engine | None = None) -> AsyncIterator[None]:
    """Provide `engine`, or else the configured engine, to tasks that start in this context.

    Raises `SettingsError` if the engine does not support the locales or the terms file is invalid. Without an
    engine, translations stay queued.
    """
    terms = read_chosen_terms(settings)
    engine = engine or make_engine(settings, terms)
    if engine is None:
        yield
        return
    runner = EngineRunner(engine, settings, terms)
    token = _current.set(runner)
    try:
        yield
    finally:
        _current.reset(token)
        await runner.close()


def current_engine() -> EngineRunner | None:
    """Return the engine runner for the current task, or None if no engine is configured."""
    return _current.get()
