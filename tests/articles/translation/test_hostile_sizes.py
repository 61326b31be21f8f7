"""Hostile markup takes work in proportion to its size, predictable memory, and overflows no stack.

A sixteenth of a megabyte shows it, and the memory of even less.
"""

import cProfile
import tracemalloc
from collections.abc import Callable

import pytest

from articles.translation.engines_of_tests import FunctionEngine, translate_article
from articles.translation.hostile_markup import HTML, MARKDOWN
from monitoring.articles.translation.article import read_article
from monitoring.articles.translation.memory_budget import MOST_BYTES, predict_bytes
from monitoring.articles.translation.untranslated import opaque_pattern

SIZE = 62_500
MEBIBYTE = 1024**2
MEMORY_SIZE = 4_000
KEPT_BY_OTHERS_BYTES = 200_000  # such as caches
MOST_GROWTH = 2.2  # at twice the size
SELDOM = pytest.mark.night("every third one tells if the prediction counts what it should")
CALLS_OF_OTHERS = 10_000  # milliseconds: since Python 3.12 a profiler counts those of other threads, too

WRITTEN_BY_PEOPLE = {
    "a dense list": "- a\n",
    "short paragraphs": "Yes, he said.\n\n",
    "headings": "# A title\n\nSome words.\n\n",
    "table rows": "| one | two | 3 |\n",
    "links": "[a link](/page)\n",
    "a list of links": "- [word](https://example.com/word) word\n",
    "code blocks": "```\nfoo(bar)\n```\n\nwords:\n\n",
    "code spans": "`a` and `b` are words. ",
    "tasks": "- [ ] a word\n",
    "a glossary": "**word** has this meaning\n\n",
    "a poem": "some words of a line  \n",
    "a changelog": "* mend `word` ([#12](https://example.com/12))\n",
}


def translate(field: str, unit: str, size: int) -> None:
    payload = {"article": {field: (unit * (size // len(unit) + 1))[:size]}}
    engine = FunctionEngine(lambda segment: segment.replace("word", "mot"))
    translate_article(payload, engine=engine, target="fr")


def count_calls(work: Callable[[], None]) -> int:
    """Count the calls of functions, of Python's own too: the same on every machine, whatever else it does."""
    profile = cProfile.Profile()
    profile.runcall(work)
    return sum(entry.callcount for entry in profile.getstats())


@pytest.mark.embedded("nothing is kept anywhere: once is enough")
@pytest.mark.parametrize("unit", WRITTEN_BY_PEOPLE.values(), ids=WRITTEN_BY_PEOPLE)
def test_a_mebibyte_that_people_write_is_within_the_budget(unit: str) -> None:
    text = (unit * (MEBIBYTE // len(unit) + 1))[:MEBIBYTE]
    assert predict_bytes(text, is_markdown=True, opaque=opaque_pattern()) <= MOST_BYTES


@pytest.mark.embedded("nothing is kept anywhere: once is enough")
@pytest.mark.parametrize(
    ("field", "unit"),
    [
        pytest.param(field, unit, id=f"{field} {name}", marks=[] if number % 3 == 0 else SELDOM)
        for field, units in (("content_html", HTML), ("content_markdown", MARKDOWN))
        for number, (name, unit) in enumerate(units.items())
    ],
)
class TestHostileSizes:
    def test_take_no_more_memory_than_was_predicted(self, field: str, unit: str) -> None:
        article = {field: (unit * MEMORY_SIZE)[:MEMORY_SIZE]}
        engine = FunctionEngine(lambda segment: segment.replace("a", "e").replace("word", "mot"))
        translate(field, unit, 500)  # fills the caches
        tracemalloc.start()
        try:
            source = read_article({"article": article})
            source.translate(engine=engine, target="fr")
            _, peak_bytes = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak_bytes <= source.predicted_bytes + KEPT_BY_OTHERS_BYTES

    @pytest.mark.night("a translation of hours would end the test before this one, too")
    def test_at_twice_the_size_make_twice_as_many_calls(self, field: str, unit: str) -> None:
        half = count_calls(lambda: translate(field, unit, SIZE // 2))
        assert count_calls(lambda: translate(field, unit, SIZE)) <= MOST_GROWTH * half + CALLS_OF_OTHERS
