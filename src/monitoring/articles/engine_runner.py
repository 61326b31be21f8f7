"""The translation engine of a worker, in threads of its own where it may be slow."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from monitoring.articles.chosen_engine import make_engine
from monitoring.articles.storage import SOURCE_LOCALE
from monitoring.articles.translation.article import TranslatedArticle, segment_hashes, translate_article
from monitoring.articles.translation.engines import Engine, PermanentEngineError, TransientEngineError
from monitoring.articles.translation.judgement import find_fault
from monitoring.metrics import ENGINE_ANSWERS_REFUSED, ENGINE_ERRORS, ENGINE_SECONDS
from monitoring.tracing import span

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping

    from monitoring.settings import Settings

Result = TypeVar("Result")


class EngineRunner:
    """An engine and its own threads, so that the blog storage never waits for the engine's threads."""

    def __init__(self, engine: Engine, settings: Settings) -> None:
        self.engine = engine
        self._name = settings.translator
        self._brand_names = settings.brand_names
        self._threads = ThreadPoolExecutor(settings.worker_threads, thread_name_prefix="engine")

    async def segment_hashes(self, payload: Mapping[str, Any]) -> list[str]:
        """List the hashes to look up in the translation memory."""
        return await self._run(partial(segment_hashes, payload, self._brand_names))

    async def translate(
        self, payload: Mapping[str, Any], locale: str, known: Mapping[str, str]
    ) -> TranslatedArticle:
        """Translate the texts of a payload that readers see. Raises the engine's errors."""
        work = partial(
            translate_article,
            payload,
            engine=self.engine,
            source=SOURCE_LOCALE,
            target=locale,
            brand_names=self._brand_names,
            known=known,
            find_fault=None if self.engine.is_demonstration else find_fault,
        )
        attributes = {"monitoring.engine": self._name, "monitoring.locale": locale}
        with span("translate", attributes=attributes), _measured(self._name, locale):
            translated = await self._run(work)
        for fault, count in translated.faults.items():
            ENGINE_ANSWERS_REFUSED.labels(self._name, locale, fault).inc(count)
        return translated

    async def close(self) -> None:
        """Release the engine. Work that has not begun is cancelled."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        await asyncio.to_thread(self.engine.close)

    async def _run(self, work: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)


@contextmanager
def _measured(engine_name: str, locale: str) -> Iterator[None]:
    try:
        with ENGINE_SECONDS.labels(engine_name, locale).time():
            yield
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
    """Let tasks that start inside use this engine, or else the one that the settings name.

    Raises `SettingsError` if the engine cannot serve the locales. Without an engine, translations wait.
    """
    engine = engine or make_engine(settings)
    if engine is None:
        yield
        return
    runner = EngineRunner(engine, settings)
    token = _current.set(runner)
    try:
        yield
    finally:
        _current.reset(token)
        await runner.close()


def current_engine() -> EngineRunner | None:
    """Return the runner of this task, or None if no engine is configured."""
    return _current.get()
