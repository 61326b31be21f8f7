"""Hostile markup takes seconds, not hours, and overflows no stack: a sixteenth of a megabyte shows it."""

import time

import pytest

from articles.translation.engines_of_tests import FunctionEngine, translate_article

SIZE = 62_500
LIMIT_SECONDS = 2.5  # they take up to 0.5; quadratic time would be 15 seconds and more

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
}


@pytest.mark.embedded("nothing is kept anywhere: once is enough")
class TestHostileSizes:
    @pytest.mark.parametrize(
        ("field", "unit"),
        [
            *(pytest.param("content_html", unit, id=f"html {name}") for name, unit in HTML.items()),
            *(
                pytest.param("content_markdown", unit, id=f"markdown {name}")
                for name, unit in MARKDOWN.items()
            ),
        ],
    )
    def test_end_in_time(self, field: str, unit: str) -> None:
        payload = {"article": {field: (unit * (SIZE // len(unit) + 1))[:SIZE]}}
        engine = FunctionEngine(lambda segment: segment.replace("word", "mot"))
        start = time.process_time()
        translate_article(payload, engine=engine, target="fr")
        assert time.process_time() - start < LIMIT_SECONDS
