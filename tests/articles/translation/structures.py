"""The structure that a translation must keep, found by other parsers than the translation's own."""

import re
from collections import Counter
from html.parser import HTMLParser

from markdown_it import MarkdownIt


def html_structure(source: str) -> Counter[str]:
    """Count everything in HTML except words."""
    return Counter(map(repr, _Structure(source).parts))


def markdown_structure(source: str) -> Counter[str]:
    """Count the rendered tags with their attributes, except words in them, and the URLs that GitHub links.

    A footnote is no definition of a link, unless it begins with an address.
    """
    source = re.sub(r"(?<!\\)\[\^[^\]\s]+\]:(?![^\S\n]*(?:[</#.]|\w+:/|mailto:|www\.))", r"\\\g<0>", source)
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    tags = re.findall(r"</?[A-Za-z!][^<>]*>", parser.render(source))
    tags = [re.sub(r' (?:alt|title)="[^"]*"|(?<= href="#)[^"]*|(?<= href=#)[^\s>]*', "", tag) for tag in tags]
    paragraphs = [token.children or [] for token in parser.parse(source) if token.type == "inline"]
    words = ["".join(part.content if part.type == "text" else " " for part in parts) for parts in paragraphs]
    links = [link for text in words for link in re.findall(r"https?://[^\s<]+", text)]
    return Counter(tags + [link.rstrip("?!.,:;*_~'\")]|") for link in links])


# In these is no markup. Python's parser knows that of `script` and `style`.
_WITHOUT_MARKUP = ("title", "textarea", "xmp", "iframe", "noembed", "noframes")


class _Structure(HTMLParser):
    def __init__(self, source: str) -> None:
        super().__init__()
        self.parts: list[object] = []
        self.feed(source)

    def parse_marked_section(self, i: int, report: int = 1) -> int:  # noqa: ARG002
        """Read `<![` as HTML does, up to the next `>`; Python 3.11's parser may give up on it."""
        return self.rawdata.find(">", i) + 1 or -1

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.parts.append(
            (tag, [(name, None if name in ("alt", "title") else value) for name, value in attrs])
        )
        if tag in _WITHOUT_MARKUP:
            self.set_cdata_mode(tag)

    def handle_endtag(self, tag: str) -> None:
        self.parts.append(tag)

    def handle_comment(self, data: str) -> None:
        self.parts.append(("comment", data))
