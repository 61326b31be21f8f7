"""The translation engine of a worker, and the threads in which it may take its time."""

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
from monitoring.metrics import ENGINE_ERRORS, ENGINE_SECONDS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping

    from monitoring.settings import Settings

Result = TypeVar("Result")


class Translator:
    """An engine and threads of its own: a slow engine must not keep the blog storage waiting for a thread."""

    def __init__(self, engine: Engine, settings: Settings) -> None:
        self.engine = engine
        self._name = settings.translator
        self._brand_names = settings.brand_names
        self._threads = ThreadPoolExecutor(settings.worker_threads, thread_name_prefix="translator")

    async def segment_hashes(self, payload: Mapping[str, Any]) -> list[str]:
        """List what to look up in the translation memory."""
        return await self._run(partial(segment_hashes, payload, self._brand_names))

    async def translate(
        self, payload: Mapping[str, Any], locale: str, known: Mapping[str, str]
    ) -> TranslatedArticle:
        """Translate what readers see of a payload. Raises the engine's errors."""
        work = partial(
            translate_article,
            payload,
            engine=self.engine,
            source=SOURCE_LOCALE,
            target=locale,
            brand_names=self._brand_names,
            known=known,
        )
        with _measured(self._name, locale):
            return await self._run(work)

    async def close(self) -> None:
        """Release the engine; what has not begun is not begun any more."""
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


_current: ContextVar[Translator | None] = ContextVar("current_translator", default=None)


@asynccontextmanager
async def open_translator(settings: Settings, engine: Engine | None = None) -> AsyncIterator[None]:
    """Give tasks that are started inside a translator: this engine, or that of the settings.

    Raises `SettingsError` if the engine cannot serve the locales. Without an engine translations wait.
    """
    engine = engine or make_engine(settings)
    if engine is None:
        yield
        return
    translator = Translator(engine, settings)
    token = _current.set(translator)
    try:
        yield
    finally:
        _current.reset(token)
        await translator.close()


def current_translator() -> Translator | None:
    """Return the translator this task was started with; None if none is configured."""
    return _current.get()
