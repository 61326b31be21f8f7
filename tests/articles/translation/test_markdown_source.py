"""Markdown is translated in place and renders to the same structure."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from articles.translation.engines_of_tests import FunctionEngine, hurtful_engine
from articles.translation.soups import markdown_soup
from articles.translation.structures import markdown_structure
from monitoring.articles.translation.documents import TextFormat, read_document
from monitoring.articles.translation.translated_segments import translate_segments


def translated(source: str, engine: FunctionEngine) -> str:
    document = read_document(source, TextFormat.MARKDOWN)
    return document.translated(translate_segments(document.segments(), engine, "en", "es", {}).texts)


class TestSegments:
    @pytest.mark.parametrize(
        ("source", "expected"),
        [
            ("One *two* **three** ~~four~~", ["One <g1>two</g1> <g2>three</g2> <g3>four</g3>"]),
            ("## Title ##", ["Title"]),
            ("One\ntwo\n===", ["One two"]),
            ("> one\n> two\n> - three\n>   four", ["one two", "three four"]),
            ("one  \ntwo\\\nthree", ["one", "two", "three"]),
            ("Run `x` on <https://a.example>", ["Run <x1/> on <x2/>"]),
            ("A \\*star\\* &amp; more", ["A *star* &amp; more"]),
            ("See ![A shoe](a.png) there", ["See <x1/> there", "A shoe"]),
            ("| One | b\\|c |\n|--|--|\n| two `x` | 3 |", ["One", "two <x1/>"]),
            ("```\ncode\n```\n\n    code\n", []),
            ("---\ntitle: x\n---\nword", ["word"]),
            (
                "<div>\n<p>one <b>two</b></p>\n</div>\n\nthree <i>four</i>",
                ["one <g1>two</g1>", "three <g1>four</g1>"],
            ),
            ('<div class="notranslate">\n\none\n\n</div>\n\ntwo', ["two"]),
            ("::: tip One\ntwo\n:::", ["two"]),
            ("> [!NOTE]\n> one", ["one"]),
            ("Term\n: meaning", ["Term", "meaning"]),
            ("One[^1]\n\n[^1]: Two words", ["One<x1/>", "Two words"]),
            ("- [ ] one\n- [x] two", ["one", "two"]),
            ("[ref]: https://a.example", []),
        ],
    )
    def test_words_are_cut_where_sentences_end(self, source: str, expected: list[str]) -> None:
        assert read_document(source, TextFormat.MARKDOWN).segments() == expected

    @settings(deadline=None)
    @given(markdown_soup)
    def test_the_template_of_any_text_is_that_text(self, source: str) -> None:
        assert read_document(source, TextFormat.MARKDOWN).translated({}) == source


class TestTranslated:
    @pytest.mark.parametrize(
        ("source", "expected"),
        [
            ("one [two](x 'T')\r\n", "ONE [TWO](x 'T')\r\n"),
            ("see [ref] [ref][]\n\n[ref]: x", "SEE [REF][ref] [REF][ref]\n\n[ref]: x"),
            ("* one\n  two\n+ three", "* ONE TWO\n+ THREE"),
            ("| a | b |\n|:-|-:|\n|  one  | `b` |", "| A | B |\n|:-|-:|\n|  ONE  | `b` |"),
            ("<b>one</b> &nbsp; `b`", "<b>ONE</b> &nbsp; `b`"),
            ("<p>\none *two*\n</p>", "<p>\nONE *TWO*\n</p>"),
            ("__one__ snake_case https://a.example/b_c", "__ONE__ SNAKE_CASE https://a.example/b_c"),
        ],
    )
    def test_only_words_change(self, source: str, expected: str) -> None:
        engine = FunctionEngine(
            lambda segment: re.sub(r"[a-z]+(?![^<]*>)", lambda word: word[0].upper(), segment)
        )
        assert translated(source, engine) == expected

    @pytest.mark.parametrize(
        ("answer", "expected"),
        [
            ("# mot", "\\# mot"),
            ("1. mot", "1\\. mot"),
            ("- mot", "\\- mot"),
            ("mot -->", "mot --\\>"),
            ("mot *x* _y_ a_b", "mot \\*x\\* \\_y\\_ a_b"),
            ("mot [x](y)", "mot \\[x\\](y)"),
            ("mot &amp;copy; &lt;", "word"),
            ("mot &amp;copy;", "mot \\&copy;"),
            ("mot\n\nmot", "mot mot"),
        ],
    )
    def test_words_cannot_become_markup(self, answer: str, expected: str) -> None:
        assert translated("word", FunctionEngine(lambda _: answer)) == expected

    def test_words_in_an_html_block_are_escaped_as_html(self) -> None:
        engine = FunctionEngine(lambda _: "mot * &lt; &amp;copy;")
        assert translated("<p>\none &lt;\n</p>", engine) == "<p>\nmot * &lt; &amp;copy;\n</p>"

    def test_a_paragraph_whose_emphasis_would_break_stays_as_it_was(self) -> None:
        engine = FunctionEngine(lambda segment: segment.replace("two", "«two»").replace("one", "un"))
        assert translated("one**two**one\n\none", engine) == "one**two**one\n\nun"

    @settings(deadline=None)
    @given(source=markdown_soup, seed=st.integers(0, 1_000))
    def test_no_answer_changes_the_rendered_structure(self, source: str, seed: int) -> None:
        result = translated(source, hurtful_engine(seed))
        assert markdown_structure(result) == markdown_structure(source)
        result.encode()
