"""What a megabyte that was written to hurt costs the translation: reading it, and each locale."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

from bench import QUICK
from servers import SERVICE_PYTHON

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench import Bench

MEGABYTE = 1_000_000
TURN_SECONDS = 0.01

# Each is repeated to the size. tests/articles/translation/test_hostile_sizes.py has many more, and smaller.
UNITS = {
    "Markdown list": ("content_markdown", "- a\n"),
    "Markdown nested lists": ("content_markdown", "".join("  " * depth + "- a\n" for depth in range(50))),
    "Markdown table": ("content_markdown", "|a" * 1_000 + "\n" + "|-" * 1_000 + "\n" + "a\n" * 20_000),
    "Markdown footnotes": ("content_markdown", "[^1]: word\n"),
    "HTML nested lists": ("content_html", "<ul><li>word "),
    "HTML table": ("content_html", "<tr><td>word<td>word</tr>"),
}


def measure_hostile_articles(bench: Bench) -> list[str]:
    """Measure each, and half of it, in a process of its own, with an engine that answers at once."""
    size = MEGABYTE // 8 if bench.effort == QUICK else MEGABYTE
    told = []
    for name in UNITS:
        half, whole = _measured(name, size // 2), _measured(name, size)
        growth = whole.total / half.total
        told.append(
            f"{name} {whole.read:.1f} s and {whole.locale:.1f} s ({growth:.1f} times as much as half of it,"
            f" the event loop waited {whole.waited:.2f} s)"
        )
    return [f"A hostile article of {size:,} bytes, read once and then for each locale: {'; '.join(told)}."]


class _Measured(NamedTuple):
    """CPU seconds of reading an article, and of a locale, and the longest that an event loop waited."""

    read: float
    locale: float
    waited: float

    @property
    def total(self) -> float:
        return self.read + self.locale


def _measured(name: str, size: int) -> _Measured:
    command = [str(SERVICE_PYTHON), __file__, name, str(size)]
    return _Measured(*json.loads(subprocess.run(command, capture_output=True, check=True).stdout))


async def _longest_wait(work: Callable[[], None]) -> float:
    """Do work in a thread, as the service does, and return how long the loop waited for it at most.

    That is the process's CPU time from one turn of the loop to the next: other programs do not add to it.
    """
    longest, last = 0.0, time.process_time()
    working = asyncio.create_task(asyncio.to_thread(work))
    while not working.done():
        await asyncio.sleep(TURN_SECONDS)
        now = time.process_time()
        longest, last = max(longest, now - last - TURN_SECONDS), now
    await working
    return longest


def main() -> None:
    """Print what `_Measured` says, of the second locale."""
    from monitoring.articles.translation.article import read_article
    from monitoring.articles.translation.engines.pseudo import Pseudo
    from monitoring.cli.stopping import collect_seldom

    collect_seldom()  # as a worker does
    (field, unit), size = UNITS[sys.argv[1]], int(sys.argv[2])
    payload = {"article": {field: (unit * (size // len(unit) + 1))[:size]}}
    clock: list[float] = []

    def translate() -> None:
        clock.append(time.process_time())
        article = read_article(payload)
        clock.append(time.process_time())
        for target in ("es", "fr"):
            article.translate(engine=Pseudo(), target=target)
            clock.append(time.process_time())

    waited = asyncio.run(_longest_wait(translate))
    print(json.dumps(_Measured(clock[1] - clock[0], clock[3] - clock[2], waited)))


if __name__ == "__main__":
    main()
