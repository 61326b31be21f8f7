"""Measures what a malicious article of a megabyte costs.

The costs are those of reading it and of translating it into each locale, and its memory.
"""

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

from servers import SERVICE_PYTHON

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench import Bench

MEGABYTE = 1_000_000
SMALL = 62_500
TURN_SECONDS = 0.01

# The limit that the service promises for an article of a megabyte, for all locales together.
MOST_MIB = 400

# Each unit is repeated until the article is large enough. The last ones are close to what the service refuses
# to translate, or beyond it. The units of tests/articles/translation/hostile_markup.py are measured at a
# smaller size.
UNITS = {
    "Markdown list": ("content_markdown", "- a\n"),
    "Markdown nested lists": ("content_markdown", "".join("  " * depth + "- a\n" for depth in range(50))),
    "Markdown table": ("content_markdown", "|a" * 1_000 + "\n" + "|-" * 1_000 + "\n" + "a\n" * 20_000),
    "Markdown footnotes": ("content_markdown", "[^1]: word\n"),
    "HTML nested lists": ("content_html", "<ul><li>word "),
    "HTML table": ("content_html", "<tr><td>word<td>word</tr>"),
    "Markdown list of words": ("content_markdown", "- word word\n"),
    "Markdown paragraphs": ("content_markdown", "word word\n\n"),
    "Markdown hard breaks": ("content_markdown", "word  \n"),
    "Markdown hard breaks by backslashes": ("content_markdown", "word\\\n"),
    "Markdown escapes": ("content_markdown", "\\# word "),
    "Markdown code": ("content_markdown", "`a` word "),
    "Markdown backticks": ("content_markdown", "`" * 600 + "a"),
    "Markdown angles": ("content_markdown", "< word "),
    "HTML pairs": ("content_html", "<b>word</b>"),
    "HTML placeholders": ("content_html", "%s word "),
}


def measure_hostile_articles(bench: Bench) -> list[str]:
    """Measure each article, and half of it, each in its own process.

    The engine responds immediately.
    """
    from bench import QUICK  # this imports pytest, which the interpreter that runs main lacks

    size = MEGABYTE // 8 if bench.effort == QUICK else MEGABYTE
    told = []
    for name in UNITS:
        half, whole = _measured(name, size // 2), _measured(name, size)
        if whole.mib > MOST_MIB:
            raise AssertionError(f"{name} takes {whole.mib:.0f} MiB, which is more than {MOST_MIB}")
        if whole.is_refused:
            told.append(f"{name} is refused")
            continue
        growth = whole.total / half.total
        told.append(
            f"{name} {whole.read:.1f} s and {whole.locale:.1f} s ({growth:.1f} times as much as half of it,"
            f" {whole.mib:.0f} MiB, the event loop waited {whole.waited:.2f} s)"
        )
    seconds = {name: _measured(name, SMALL).total for name in _units_of_tests()}
    slowest = max(seconds, key=seconds.__getitem__)
    return [
        f"A hostile article of {size:,} bytes, read once and then for each locale: {'; '.join(told)}.",
        (
            f"Of {len(seconds)} kinds of hostile markup of {SMALL:,} bytes, the slowest ({slowest}) takes"
            f" {seconds[slowest]:.1f} s to be read and translated into one locale."
        ),
    ]


def _units_of_tests() -> dict[str, tuple[str, str]]:
    """Return the units that the tests repeat, by their names."""
    from articles.translation.hostile_markup import HTML, MARKDOWN

    units = {f"HTML: {name}": ("content_html", unit) for name, unit in HTML.items()}
    return units | {f"Markdown: {name}": ("content_markdown", unit) for name, unit in MARKDOWN.items()}


class _Measured(NamedTuple):
    """The CPU seconds to read an article and for one locale, and the longest wait of an event loop.

    `mib` is the memory above that of the idle process.
    """

    read: float
    locale: float
    waited: float
    mib: float
    is_refused: bool

    @property
    def total(self) -> float:
        return self.read + self.locale


def _measured(name: str, size: int) -> _Measured:
    command = [str(SERVICE_PYTHON), __file__, name, str(size)]
    return _Measured(*json.loads(subprocess.run(command, capture_output=True, check=True).stdout))


async def _longest_wait(work: Callable[[], None]) -> float:
    """Do work in a thread, as the service does, and return the longest wait of the event loop.

    This is measured as the process's CPU time between two turns of the loop, so that other programs do not
    add to it.
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
    """Print the fields of `_Measured` for the second locale."""
    from monitoring.articles.translation.article import read_article
    from monitoring.articles.translation.engines.pseudo import Pseudo
    from monitoring.articles.translation.memory_budget import TooMuchMarkupError
    from monitoring.cli.stopping import collect_seldom

    collect_seldom()  # as a worker does
    (field, unit), size = (UNITS | _units_of_tests())[sys.argv[1]], int(sys.argv[2])
    payload = {"article": {field: (unit * (size // len(unit) + 1))[:size]}}
    clock: list[float] = []
    is_refused = False

    def translate() -> None:
        nonlocal is_refused
        clock.append(time.process_time())
        article = read_article(payload)
        clock.append(time.process_time())
        for target in ("es", "fr"):  # one locale at a time, as for an article that is not small
            try:
                article.translate(engine=Pseudo(), target=target)
            except TooMuchMarkupError:
                is_refused = True
            clock.append(time.process_time())

    read_article({"article": {field: unit[:1000]}}).translate(engine=Pseudo(), target="es")  # loads modules
    kib_at_rest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    waited = asyncio.run(_longest_wait(translate))
    mib = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - kib_at_rest) / 1024
    print(json.dumps(_Measured(clock[1] - clock[0], clock[3] - clock[2], waited, mib, is_refused)))


if __name__ == "__main__":
    main()
