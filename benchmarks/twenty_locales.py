"""Measures how long translating 20 KB into 20 locales takes, if the engine responds in half a second.

The engine runs in a separate process, so that its own work is not measured.

`PYTHONPATH=tests .venv/bin/python benchmarks/twenty_locales.py`
"""

from __future__ import annotations

import asyncio
import re
import time
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from monitoring.articles.engine_runner import open_engine
from monitoring.articles.models import Translation
from monitoring.articles.service import receive_submission
from monitoring.articles.tasks import translate_article
from temporary_backends import temporary_backends
from translation_servers import KEY, OpenAIServer

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from translation_servers import Question, Reply

LOCALES = "es,pt,fr,it,ca,de,nl,sv,da,nb,fi,pl,cs,sk,ro,hu,tr,id,vi,hr"
ANSWER_SECONDS = 0.5
CONCURRENCY = 20
PARAGRAPH = (
    "A shoe that **fits** beats one that *shines*, says [our guide](https://blog.example/fit/{0}). Part {0}"
    " tells where to run, how far, and with which `drop_mm` on the label, so that your knees stay well."
)
ARTICLE = "\n\n".join(f"## Part {number}\n\n{PARAGRAPH.format(number)}" for number in range(100))


class SlowModel(OpenAIServer):
    """A fake language model that responds after a delay, with meaningless words."""

    def answer(self, question: Question) -> Reply:
        time.sleep(ANSWER_SECONDS)
        return super().answer(question)


def reversed_words(text: str) -> str:
    """Reverse every word, and leave codes unchanged."""
    return re.sub(r"<[^>]+>|[^\W\d_]+", _reversed, text)


def _reversed(found: re.Match[str]) -> str:
    return found[0] if found[0].startswith("<") else found[0][::-1]


def serve(line: Connection) -> None:
    """Send the model's URL and name.

    On request, send the number of requests that the model received, and exit.
    """
    with SlowModel() as model:
        model.translate = reversed_words
        line.send((model.url, model.model))
        line.recv()
        line.send(len(model.questions))


async def measure(line: Connection, folder: Path) -> None:
    """Submit an article, translate it, and print how long the translation took."""
    url, model = line.recv()
    async with (
        temporary_backends(
            folder,
            locales=LOCALES,
            translator="openai",
            translator_url=url,
            translator_api_key=KEY,
            openai_model=model,
            translator_concurrency=CONCURRENCY,
        ) as backends,
        open_engine(backends.settings),
    ):
        delivery = {"article": {"id": "a", "title": "Shoes", "content": ARTICLE, "format": "markdown"}}
        article_id = (await receive_submission(delivery)).article.id
        begun_at, processor_at = time.perf_counter(), time.process_time()
        await translate_article.function(str(article_id))
        seconds, processor_seconds = time.perf_counter() - begun_at, time.process_time() - processor_at
        translated = await Translation.filter(status="translated").count()
    line.send("How many?")
    size, requests = len(ARTICLE) / 1000, line.recv()
    print(f"{size:.0f} KB into {translated} locales: {seconds:.1f} s, {requests} requests", end=", ")
    print(f"{processor_seconds:.1f} s of a processor")


if __name__ == "__main__":
    context = get_context("spawn")
    ours, its = context.Pipe()
    engine = context.Process(target=serve, args=[its], daemon=True)
    engine.start()
    with TemporaryDirectory() as temporary:
        asyncio.run(measure(ours, Path(temporary)))
    engine.join()
