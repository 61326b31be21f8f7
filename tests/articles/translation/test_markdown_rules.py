"""Rules that are asked less often read the same as all of markdown-it's."""

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from articles.translation.soups import markdown_soup
from monitoring.articles.translation.markdown_rules import ask_less, parse_blocks
from monitoring.articles.translation.markdown_spans import normalised

LINES = (
    "word", "two words", " word", "\tword", "word ", "word  ", "word\t", "word\\", "> word", "- word",
    "*word", "word*", "`word", "[word", "word](a)", "word]", "![word", "<b", "a>", "&amp;", "&", "word!",
    "http://a.example", "word - word: word", "a|b", "-|-", "---", "===", "", "[word]: a",
)  # fmt: skip
lines = st.lists(st.sampled_from(LINES), min_size=3, max_size=12).map("\n".join)


def make_parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable(["table", "strikethrough"])


def rendered_by_rules_asked_less(source: str) -> str:
    parser = make_parser()
    ask_less(parser, {}, lambda *_: None)
    environment: dict[str, Any] = {}
    tokens = parse_blocks(source, parser, environment)
    for token in tokens:
        if token.type == "inline":
            token.children = parser.inline.parse(token.content, parser, environment, [])
            for child in token.children:
                for each in (child, *(child.children or ())):  # the words of an image are its own
                    each.type = each.type.removesuffix("_special")  # as markdown-it's own last step does
    return str(parser.renderer.render(tokens, parser.options, environment))


@pytest.mark.embedded("nothing is kept anywhere: once is enough")
class TestRulesAskedLess:
    @settings(deadline=None)
    @given(lines | markdown_soup)
    @example("[one\ntwo](a)\nthree")
    @example("![word\n&amp;](a)")
    @example('one\n![two\n three](a "b\nc")  \nfour')
    def test_read_what_markdown_it_reads(self, source: str) -> None:
        source = normalised(source)
        assert rendered_by_rules_asked_less(source) == make_parser().render(source)
