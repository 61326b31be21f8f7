"""Whatever publishers write becomes harmless on a page, at little cost."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from articles.translation.soups import html_soup, markdown_soup
from monitoring.app.articles.markdown import render_markdown
from monitoring.app.articles.markup import MAX_LEVELS, read_blocks
from monitoring.app.articles.side_by_side import MAX_CHARACTERS
from monitoring.articles.translation.content_formats import TextFormat

ALLOWED = {
    "a", "blockquote", "br", "caption", "code", "dd", "del", "dl", "dt", "em", "h3", "h4", "h5", "h6", "hr",
    "ins", "li", "mark", "ol", "p", "pre", "strong", "sub", "sup", "table", "tbody", "td", "tfoot", "th",
    "thead", "tr", "ul",
}  # fmt: skip

HTML = {
    "formatting that reopens": "".join(f"<b x={number}>" for number in range(9_000)) + "<p>x" * 20_000,
    "a long address that reopens": f'<p><a href="http://x/{"y" * 50_000}"></p>' + "<p>x</p>" * 18_000,
    "an address that reopens": f'<p><a href="http://x/{"y" * 1_900}"></p>' + "<p>x</p>" * 24_000,
    "deep blocks": "<blockquote><p>" * 13_000,
    "deep tables": "<table><tr><td>" * 13_000,
    "deep inline": "<b><i><s><code>" * 13_000,
    "words in tables": "<table><p>x" * 18_000,
    "blocks": "<p>x" * 50_000,
    "cells": "<table>" + "<td>" * 49_000,
    "items": "<ul>" + "<li>x" * 39_000,
    "crossed": "<b><i>x</b></i>" * 13_000,
    "angles": "<" * 200_000,
    "never closed": '<a b="' * 33_000,
    "hidden": "<video>" * 28_000,
    "hidden and closed": "<svg>" * 33_000 + "</svg>",
    "attributes": f"<a {'href=http://xx ' * 1_000}>" * 13,
}
MARKDOWN = {
    "a reference": f"[a]: http://{'x' * 39_000}\n\n" + "[a]\n\n" * 19_000,
    "references in a paragraph": f"[a]: http://{'x' * 39_000}\n\n" + "[a]" * 30_000,
    "tables of little": ("|a" * 256 + "\n" + "|-" * 256 + "\n" + "a\n" * 255 + "\n") * 130,
    "brackets": "[" * 200_000,
    "emphasis": "*a **b _c " * 20_000,
    "lists": "- a\n" * 50_000,
    "quotes": ("> " * 50 + "a\n") * 2_000,
    "code": "`a` " * 50_000,
    "unmatched code": ("`" + "a``" * 5_000) * 13,
}


def markup_of(source: str) -> list[str]:
    return [str(block.html) for block in read_blocks(source)]


def kinds_of(source: str) -> list[str]:
    return [block.kind for block in read_blocks(source)]


class Inspector(HTMLParser):
    """Reads HTML as a browser does, and notes elements, attributes and unclosed elements."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str, str]] = []
        self.open: list[str] = []
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in ("br", "hr"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def assert_harmless(markup: str) -> None:
    seen = Inspector(markup)
    assert seen.tags <= ALLOWED
    assert seen.open == []
    for tag, name, value in seen.attributes:
        assert tag == "a"
        if name == "href":
            assert value.lower().startswith(("http://", "https://"))
        else:
            assert (name, value) == ("rel", "noopener nofollow noreferrer")


class TestReadBlocks:
    def test_keeps_paragraphs_lists_tables_and_emphasis(self) -> None:
        assert markup_of(
            "<p>A <b>shoe</b> that <i>fits</i></p><ul><li>Road</li><li>Trail</li></ul>"
            "<table><tr><th>Drop</th></tr><tr><td>8 mm</td></tr></table><blockquote><p>Buy</p></blockquote>"
            "<pre><code>a\n  b</code></pre><hr>"
        ) == [
            "<p>A <strong>shoe</strong> that <em>fits</em></p>",
            "<ul><li>Road</li><li>Trail</li></ul>",
            "<table><tbody><tr><th>Drop</th></tr><tr><td>8 mm</td></tr></tbody></table>",
            "<blockquote><p>Buy</p></blockquote>",
            "<pre><code>a\n  b</code></pre>",
            "<hr>",
        ]

    def test_puts_headings_below_those_of_the_page(self) -> None:
        assert kinds_of("<h1>a</h1><h2>b</h2><h3>c</h3><h4>d</h4><h6>e</h6>") == [
            "h3",
            "h4",
            "h5",
            "h6",
            "h6",
        ]

    @pytest.mark.parametrize(
        ("source", "shown"),
        [
            ("<h2>a</h2><h3>b</h3><h2>c</h2>", ["h3", "h4", "h3"]),
            ("<h1>a</h1><h4>b</h4><h4>c</h4><h2>d</h2>", ["h3", "h4", "h4", "h4"]),
            ("<h4>a</h4><h2>b</h2><h1>c</h1>", ["h3", "h3", "h3"]),
        ],
    )
    def test_leaves_out_no_level_of_headings(self, source: str, shown: list[str]) -> None:
        assert kinds_of(source) == shown

    def test_looks_into_wrappers(self) -> None:
        source = "<div class=page><section><p>a</p><div>b</div>c<figure><figcaption>d</figcaption></figure>"
        assert markup_of(source) == ["<p>a</p>", "<p>b</p>", "<p>c</p>", "<p>d</p>"]

    def test_keeps_divisions_in_an_item_apart(self) -> None:
        assert markup_of("<ul><li><div>a</div><div>b</div></li></ul>") == [
            "<ul><li><p>a</p><p>b</p></li></ul>"
        ]

    def test_closes_what_was_left_open(self) -> None:
        assert markup_of("<ul><li>a<li><b>b<ul><li>c</ul><p>d") == [
            "<ul><li>a</li><li><strong>b</strong><ul><li>c</li></ul><p>d</p></li></ul>"
        ]

    @pytest.mark.parametrize(
        "source", ["<p></p>", "<a href='https://a.example/'></a>", "<h2><b></b></h2>", " \n"]
    )
    def test_leaves_out_what_is_empty(self, source: str) -> None:
        assert markup_of(source) == []

    def test_links_to_the_web_only_and_asks_for_no_credit(self) -> None:
        source = '<p><a href=" https://a.example/?a=1&amp;b=2" target="_blank" onclick="x()">go</a></p>'
        assert markup_of(source) == [
            '<p><a href="https://a.example/?a=1&amp;b=2" rel="noopener nofollow noreferrer">go</a></p>'
        ]

    @pytest.mark.parametrize(
        "address",
        [
            "javascript:alert(1)",
            "JaVaScRiPt:alert(1)",
            "java&#10;script:alert(1)",
            "&#106;avascript:alert(1)",
            "data:text/html,x",
            "vbscript:x",
            "//evil.example/",
            "/app/sign-out",
            "mailto:a@example.com",
            "https:",
            f"https://a.example/{'x' * 3_000}",
        ],
    )
    def test_leaves_the_words_of_any_other_link(self, address: str) -> None:
        assert markup_of(f'<p><a href="{address}">go</a></p>') == ["<p>go</p>"]

    def test_tells_what_an_image_shows_and_never_where_it_is(self) -> None:
        source = (
            '<p><img src="https://e.example/x" srcset="y 2x" alt="A &quot;red&quot; <b>shoe"><img src=z></p>'
        )
        assert markup_of(source) == ['<p>[Image: A "red" &lt;b&gt;shoe][Image]</p>']

    def test_hides_what_is_no_text(self) -> None:
        source = "<p>a<script>alert(1)</script><style>p{}</style><svg><text>b</text></svg></p><!-- c --><p>d"
        assert markup_of(source) == ["<p>a</p>", "<p>d</p>"]

    def test_hides_no_article_behind_an_element_that_never_ends(self) -> None:
        assert markup_of("<video src=x><p>The rest</p>") == ["<p>The rest</p>"]

    def test_takes_text_for_text(self) -> None:
        assert markup_of("a < b &lt;script&gt; &amp;amp;") == ["<p>a &lt; b &lt;script&gt; &amp;amp;</p>"]

    def test_stops_nesting_at_a_depth(self) -> None:
        [block] = markup_of("<blockquote>" * 500 + "words")
        assert block.count("<blockquote>") == MAX_LEVELS
        assert "words" in block

    @pytest.mark.parametrize(
        "source",
        [
            "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=x&gt;'>",
            "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
            "<svg></p><style><a id='</style><img src=1 onerror=alert(1)>'>",
            "<a href='https://a.example/\" onmouseover=alert(1) x=\"'>x</a>",
            "<table><td background=https://e.example/x><input type=image src=https://e.example/y>",
            "<p style='background:url(https://e.example/z)' class=c id=i>x<iframe srcdoc='<script>'></p>",
            "<<script>alert(1)//<</script>",
            "<img src=x:x onerror=alert(1)//",
            "<form action=https://e.example><button>x</button></form><base href=https://e.example>",
            "<textarea><img src=x onerror=alert(1)></textarea><title><img src=x></title>",
            "<meta http-equiv=refresh content='0;url=https://e.example'><link rel=stylesheet href=//e>",
        ],
    )
    def test_disarms(self, source: str) -> None:
        for markup in markup_of(source) + markup_of(render_markdown(source)):
            assert_harmless(markup)

    @given(html_soup)
    def test_is_harmless_whatever_it_reads(self, source: str) -> None:
        for markup in markup_of(source):
            assert_harmless(markup)

    @given(st.text())
    def test_keeps_every_word_that_has_no_markup(self, text: str) -> None:
        words = "".join(text.split()).replace("<", "").replace("&", "").replace("\0", "")
        seen = "".join(markup_of(words)).removeprefix("<p>").removesuffix("</p>")
        assert seen == words.replace(">", "&gt;").replace("\xa0", "&nbsp;")


class TestRenderMarkdown:
    def test_renders_what_the_translation_reads(self) -> None:
        source = "# Fit\n\nA **shoe**, ~~or~~ two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\n<x>\n```\n"
        assert kinds_of(render_markdown(source)) == ["h3", "p", "table", "pre"]

    def test_shows_front_matter_as_it_stands(self) -> None:
        first, second = markup_of(render_markdown("\ufeff---\ntitle: <Fit>\n---\n# Fit\n"))
        assert first == "<pre>---\ntitle: &lt;Fit&gt;\n---\n</pre>"
        assert second == "<h3>Fit</h3>"

    def test_leaves_a_paragraph_no_human_would_write(self) -> None:
        [markup] = markup_of(render_markdown("**a** " * 1_000))
        assert "<strong>" not in markup
        assert markup.count("**a**") == 1_000

    @given(markdown_soup)
    def test_is_harmless_after_sanitising(self, source: str) -> None:
        for markup in markup_of(render_markdown(source)):
            assert_harmless(markup)


@pytest.mark.embedded("nothing is kept anywhere: once is enough")
class TestHostileSizes:
    @pytest.mark.parametrize("source", HTML.values(), ids=HTML)
    def test_of_html_stay_small(self, source: str) -> None:
        markup = markup_of(source[: MAX_CHARACTERS[TextFormat.HTML]])
        assert sum(map(len, markup)) <= 6 * MAX_CHARACTERS[TextFormat.HTML]

    @pytest.mark.parametrize("source", MARKDOWN.values(), ids=MARKDOWN)
    def test_of_markdown_stay_small(self, source: str) -> None:
        rendered = render_markdown(source[: MAX_CHARACTERS[TextFormat.MARKDOWN]])
        assert len(rendered) <= 20 * MAX_CHARACTERS[TextFormat.MARKDOWN]
