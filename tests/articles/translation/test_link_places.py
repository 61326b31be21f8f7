from __future__ import annotations

import pytest

from monitoring.articles.translation.content_formats import TextFormat
from monitoring.articles.translation.link_places import find_links


def addresses(text: str, text_format: TextFormat = TextFormat.MARKDOWN) -> list[str]:
    links = find_links(text, text_format)
    assert [text[link.start : link.end] for link in links] == [link.raw for link in links]
    return [link.raw for link in links]


@pytest.mark.parametrize(
    "text",
    [
        "See [it](/fit).",
        "See [it](</fit> 'A guide').",
        "See [it]( /fit\n'A guide').",
        "> - See [it](/fit)\n>   there",
        "See [it][guide].\n\n[guide]: /fit 'A guide'",
        "| a | b |\n|---|---|\n| c | [it](/fit) |",
        "# [It](/fit)",
        "---\ntitle: A\n---\n\nSee [it](/fit).",
        'See <a class="b" href="/fit">it</a>.',
        "<div>\n<a href='/fit'>it</a>\n</div>",
        "<div>\n\n[it](/fit)\n\n</div>",
        "[![A shoe](/shoe.png)](/fit)",
        "Two\r\nlines and [it](/fit)\r\n",
    ],
)
def test_links_of_markdown_are_found(text: str) -> None:
    assert addresses(text) == ["/fit"]


@pytest.mark.parametrize(
    "text",
    [
        "![it](/fit)",
        "`[it](/fit)`",
        "```\n[it](/fit)\n```",
        "    [it](/fit)",
        "\\[it](/fit)",
        "<!-- [it](/fit) <a href='/fit'> -->",
        "<https://blog.example.com/fit>",
        "https://blog.example.com/fit",
        "[it](/f\\_it)",
        "<script>'<a href=\"/fit\">'</script>",
    ],
)
def test_what_is_no_link_of_markdown_or_is_written_with_escapes_is_not_found(text: str) -> None:
    assert addresses(text) == []


def test_links_of_html_are_found() -> None:
    html = (
        '<p><A HREF=/fit>a</A><a\nhref="/b?c&amp;d">b</a><a name="x">c</a><link href="/d"><img src="/e"></p>'
    )
    assert addresses(html, TextFormat.HTML) == ["/fit", "/b?c&amp;d"]


def test_a_text_that_would_take_too_much_memory_is_not_read() -> None:
    assert find_links("[a](/b)" * 1_000_000, TextFormat.MARKDOWN) == []
