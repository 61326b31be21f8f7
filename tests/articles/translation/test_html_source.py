"""HTML is translated in place: every byte of the source that is not words stays."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from articles.translation.engines_of_tests import FunctionEngine, hurtful_engine
from articles.translation.soups import html_soup
from articles.translation.structures import html_structure
from monitoring.articles.translation.content_formats import TextFormat
from monitoring.articles.translation.documents import read_document
from monitoring.articles.translation.translated_segments import translate_segments


def segments(source: str) -> list[str]:
    return read_document(source, TextFormat.HTML).segments()


def translated(source: str, engine: FunctionEngine) -> str:
    document = read_document(source, TextFormat.HTML)
    return document.translated(translate_segments(document.segments(), engine, "en", "es", {}).texts).text


class TestSegments:
    @pytest.mark.parametrize(
        ("source", "expected"),
        [
            ("<p>One <b>two</b></p><p>three</p>", ["One <g1>two</g1>", "three"]),
            ("<p><strong>All bold</strong></p>", ["All bold"]),
            ("one<br>two", ["one", "two"]),
            ("Run <code>rm -rf</code> now", ["Run <x1/> now"]),
            ("Mail me@example.com or {{ name }} at https://a.example/b.", ["Mail <x1/> or <x2/> at <x3/>."]),
            ("5 &lt; 6 &amp;\n  so on", ["5 &lt; 6 &amp; so on"]),
            ('See <img alt="A shoe"> there', ["See <x1/> there", "A shoe"]),
            ('<a title="Go" href=x>there</a>', ["Go", "there"]),
            ("<b>one <p>two</b> three", ["one", "two", "three"]),
            ("<a href=x><b>12</b></a> rooms", ["<x1/> rooms"]),
            ("<p translate=no>one</p><p class='a notranslate'>two <p>x</p></p>three", ["three"]),
            ("<pre>one</pre><script>var two</script><style>three</style><!-- four -->", []),
            ("<script><!--<script>a</script>b</script>one", ["one"]),
            ("<script><!-- <script> --></script>one<script><!--></script>two", ["one", "two"]),
            ("one \\(a_b\\) $$x\ny$$ $x^2$ and $5 or $10", ["one <x1/> <x2/> <x3/> and $5 or $10"]),
            ("one \\(two words\\) three", ["one <x1/> three"]),
            ('<iframe title="One">two</iframe><style title="three"></style>', ["One"]),
            (
                '<p lang=fr title="un">deux</p><p lang="en-GB">one <i xml:lang=la>id est</i></p>',
                ["one <x1/>"],
            ),
            ("<textarea><b>one</textarea>two", ["two"]),
            ("<title>One &amp; two</title>", ["One &amp; two"]),
            ("<li>one<li>two", ["one", "two"]),
            ('one <a href="never closed', ["one"]),
            ("<svg><text>one</text></svg> <svg/> two", ["<x1/> <x2/> two"]),
            ("123 - <b>!</b>", []),
        ],
    )
    def test_words_are_cut_where_sentences_end(self, source: str, expected: list[str]) -> None:
        assert segments(source) == expected

    def test_brand_names_are_opaque_as_whole_words_in_their_own_case(self) -> None:
        document = read_document(
            "Acme and Acme Shoes, not Acmes or acme", TextFormat.HTML, ("Acme", "Acme Shoes")
        )
        assert document.segments() == ["<x1/> and <x2/>, not Acmes or acme"]

    @settings(deadline=None)
    @given(html_soup)
    def test_the_template_of_any_text_is_that_text(self, source: str) -> None:
        assert read_document(source, TextFormat.HTML).translated({}).text == source


class TestTranslated:
    def test_only_words_change(self) -> None:
        source = (
            "<p class=a>One &copy;&nbsp;<a  href='/?a=1&amp;b' title='so'>two</a>, <br />\n <i>x</i></p >"
        )
        expected = (
            "<p class=a>ONE &copy;&nbsp;<a  href='/?a=1&amp;b' title='SO'>TWO</a>, <br />\n <i>X</i></p >"
        )
        engine = FunctionEngine(lambda segment: segment.upper().replace("G1", "g1"))
        assert translated(source, engine) == expected

    def test_codes_may_change_places_but_not_parents(self) -> None:
        moved = FunctionEngine(lambda _: "<g2>deux</g2> <g1>un</g1>")
        assert translated("<b>one</b> <i>two</i>", moved) == "<i>deux</i> <b>un</b>"
        nested = FunctionEngine(
            lambda segment: "<g1>un <g2>deux</g2></g1>" if "g1" in segment else segment.upper()
        )
        assert translated("<b>one</b> <i>two</i>", nested) == "<b>ONE</b> <i>TWO</i>"

    def test_quotes_cannot_leave_an_attribute(self) -> None:
        engine = FunctionEngine(lambda _: "\" 'mot' onload=x &lt;")
        assert translated('<img alt="word">', engine) == '<img alt="word">'
        engine = FunctionEngine(lambda _: "\" 'mot' onload=x")
        assert translated('<img alt="word">', engine) == "<img alt=\"&quot; 'mot' onload=x\">"
        assert translated("<img alt='word'>", engine) == "<img alt='\" &#39;mot&#39; onload=x'>"

    @settings(deadline=None)
    @given(source=html_soup, seed=st.integers(0, 1_000))
    @example(source="<![CDATA[<p><!--]]><img alt='It&apos;s'>-->", seed=8)
    @example(source="<title><!-- a </title> b>--> c", seed=2)
    def test_no_answer_changes_tags_attributes_or_comments(self, source: str, seed: int) -> None:
        result = translated(source, hurtful_engine(seed))
        assert html_structure(result) == html_structure(source)
        result.encode()
