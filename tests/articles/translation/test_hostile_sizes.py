"""Hostile markup takes seconds, not hours, predictable memory, and overflows no stack.

A sixteenth of a megabyte shows it, and the memory of even less.
"""

import cProfile
import time
import tracemalloc
from collections.abc import Callable

import pytest

from articles.translation.engines_of_tests import FunctionEngine, translate_article
from monitoring.articles.translation.article import read_article
from monitoring.articles.translation.memory_budget import MOST_BYTES, predict_bytes
from monitoring.articles.translation.opaque import opaque_pattern

SIZE = 62_500
MEBIBYTE = 1024**2
MEMORY_SIZE = 4_000
KEPT_BY_OTHERS_BYTES = 200_000  # such as caches
LIMIT_SECONDS = 6.0  # they take up to 2; quadratic time would be 15 seconds and more
MOST_GROWTH = 2.2  # at twice the size
CALLS_OF_OTHERS = 10_000  # milliseconds: since Python 3.12 a profiler counts those of other threads, too

HTML = {
    "deep pairs": "<b>" * 5_000 + "word" + "</b>" * 5_000,
    "deep blocks": "<div>word " * 5_000 + "</div>" * 5_000,
    "never closed": "<b>word ",
    "crossed": "<b><i>word</b></i>",
    "unclosed tags": '<a b="',
    "unclosed comments": "<!-- ",
    "opaque": "<code>",
    "raw text": "<title>",
    "angles": "<",
    "references": "&amp",
    "one word": "a",
    "placeholders": "{{ a ",
    "punctuation": "http://....",
    "images": "<img alt='word'>",
    "scripts": "<script><!--",
    "dollars": "$a_",
    "TeX brackets": "\\(a ",
    "short paragraphs": "<p>a",
    "short pairs": "<b>a</b>",
    "attributes": '<a title="a" title="b">',
    "mentions": "@a b ",
    "percent signs": "%s a ",
}
MARKDOWN = {
    "emphasis": "*a **b _c ",
    "brackets": "[",
    "links": "[a](b) ",
    "code spans": "`a` ",
    "escapes": "\\*a ",
    "quotes": "> " * 50 + "a\n",
    "lists": "- a\n",
    "references": "[a]: b\n",
    "table": "|a" * 1_000 + "\n" + "|-" * 1_000 + "\n" + "a\n" * 20_000,
    "tables": "|a" * 256 + "\n" + "|-" * 256 + "\n" + "a\n" * 255 + "\n",
    "lines": "word word\n",
    "tags": "<b>word</b> ",
    "formula lines": "$$\n",
    "formula lines never closed": "$$\na $$ b\n\n",
    "dollars": "word $a_",
    "TeX brackets": "\\\\[a \\\\(a",
    "JavaScript never closed": "export const a = {\n\n",
    "braces": "{a",
    "tildes": "~a ",
    "braces on lines": "{\n\n",
    "tags with braces": "<a b={",
    "footnotes": "[^1]: word\n",
    "deep footnotes": "[^1]: " * 30 + "word\n",
    "abbreviations": "*[a]: word\n",
    "hard breaks": "a  \n",
    "hard breaks by backslashes": "a\\\n",
    "backslashes": "\\\\",
    "what is escaped": "< a",
    "references to characters": "&amp;a ",
    "addresses": "<a:b>",
    "images": "![a](b) ",
    "short lists": "- + * a\n",
    "empty items": "-\n+\n*\n",
    "numbers": "1. a\n",
    "empty headings": "#\n",
    "underlined": "a\n=\n",
    "emphasised words": "*a* b\n\n",
    "strong words": "**a** b\n\n",
    "short formulas": "$a$ b",
    "short braces": "a{a}",
    "links to headings": "# a\n[b](#a)\n",
    "small tables": "a|b\n-|-\n\n",
    "emoji": "a :aa: ",
    "HTML blocks": "<p>a\n\n",
    "newlines": "\n",
    "blanks before lines": " a\n",
    "blanks behind lines": "a \n",
    "headings of one letter": "# a\n",
    "spans": "[a]{b} ",
    "inline footnotes": "^[a",
    "directives": ":a[b]{c} ",
    "template links": "[a]({{ b }}) ",
    "unknown references": "[a][b] ",
    "citations never closed": "[@a ",
    "code tags on lines": "{% raw %}\n",
    "code tags": "{% raw %}a{% endraw %} ",
    "code tags never closed": "a {% raw %} ",
    "TeX environments never closed": "\\begin{a}\n",
    "TeX environments": "\\begin{a}\n\\end{a}\n",
    "TeX commands": "\\a{b} ",
    "components": "<A b={c}>\n\n",
    "components never closed": "<A b={`\n\n",
    "indented components never closed": "  <A b={'\n",
    "Markdown in HTML": "<p>\n- a\n",
    "long lists in HTML": "<p>\n" + "- a\n" * 1_000 + "\n",
    "blocks of PyMdown": "/// a\n    b: c\n",
    "inclusions": "--8<--\na\n",
    "callouts": "> [!a]- b\n",
    "grid tables": "+--+\n| a\n",
    "emails in brackets": "[a-@",
}
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
        *(pytest.param("content_html", unit, id=f"html {name}") for name, unit in HTML.items()),
        *(pytest.param("content_markdown", unit, id=f"markdown {name}") for name, unit in MARKDOWN.items()),
    ],
)
class TestHostileSizes:
    @pytest.mark.night("the next test translates a sixteenth of each")
    def test_end_in_time(self, field: str, unit: str) -> None:
        start = time.process_time()
        translate(field, unit, SIZE)
        assert time.process_time() - start < LIMIT_SECONDS

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

    @pytest.mark.night("test_end_in_time finds what takes hours")
    def test_at_twice_the_size_make_twice_as_many_calls(self, field: str, unit: str) -> None:
        half = count_calls(lambda: translate(field, unit, SIZE // 2))
        assert count_calls(lambda: translate(field, unit, SIZE)) <= MOST_GROWTH * half + CALLS_OF_OTHERS
