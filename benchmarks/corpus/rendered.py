"""Renders documents as GitHub and a browser do, with parsers that the translation does not use."""

import json
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import cmarkgfm
import html5lib
from cmarkgfm.cmark import Options

from corpus.texts import FETCHED
from monitoring.articles.translation.content_formats import TextFormat

_WORDS = {"alt", "title", "aria-label", "placeholder", "content", "label"}
_LITERAL = {"code", "pre", "script", "style", "textarea", "xmp", "iframe", "noembed", "noframes", "plaintext"}
_HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
_OPTIONS = Options.CMARK_OPT_UNSAFE | Options.CMARK_OPT_FOOTNOTES


@dataclass(frozen=True, slots=True)
class Rendered:
    """A rendered document without its words: its tags, the targets of its in-page links, and its headings."""

    parts: list[object]
    in_page_links: list[str]
    headings: list[str]
    ids: frozenset[str]


def render(source: str, text_format: TextFormat) -> Rendered:
    """Render a document as GitHub and a browser do."""
    if text_format is TextFormat.MARKDOWN:
        source = cmarkgfm.markdown_to_html_with_extensions(
            source, options=_OPTIONS, extensions=["table", "autolink", "strikethrough", "tasklist"]
        )
    tree = html5lib.parse(source, treebuilder="etree", namespaceHTMLElements=False)
    parts = list(_parts(tree))
    elements = [element for element in tree.iter() if isinstance(element.tag, str)]
    links = [element.get("href", "") for element in elements if element.tag == "a"]
    return Rendered(
        parts,
        [unquote(link[1:]) for link in links if link.startswith("#")],
        ["".join(element.itertext()) for element in elements if element.tag in _HEADINGS],
        frozenset(value for element in elements for name in ("id", "name") if (value := element.get(name))),
    )


def github_anchors(headings: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the anchors of each document's headings, as github-slugger generates them."""
    anchors: list[list[str]] = ask_node("anchors.mjs", headings)
    return anchors


def ask_node(program: str, documents: Sequence[object]) -> Any:
    """Send documents to a Node.js program in this folder, and return its JSON output."""
    command = ["node", str(FETCHED / program)]
    done = subprocess.run(
        command, input=json.dumps(documents), capture_output=True, check=True, encoding="utf-8"
    )
    return json.loads(done.stdout)


def _parts(root: Any) -> Iterator[object]:
    opened: list[tuple[Any, bool]] = [(root, False)]
    while opened:
        element, is_end = opened.pop()
        if is_end:
            yield f"/{element.tag}"
            continue
        if not isinstance(element.tag, str):
            yield ("comment", element.text)
            continue
        yield (element.tag, sorted(_attribute(str(name), value) for name, value in element.attrib.items()))
        if element.tag in _LITERAL:
            yield "".join(element.itertext())
        opened.append((element, True))
        opened += ((child, False) for child in reversed(element))


def _attribute(name: str, value: str) -> tuple[str, str]:
    is_in_page = name == "href" and value.startswith("#")
    return name, "" if name in _WORDS else "#" if is_in_page else value


def first_difference(before: Rendered, after: Rendered) -> str | None:
    """Return the first difference between two documents, or None."""
    for old, new in zip(before.parts, after.parts, strict=False):
        if old != new:
            return re.sub(r"\s+", " ", f"{old} -> {new}")[:200]
    if len(before.parts) != len(after.parts):
        return f"{len(before.parts)} -> {len(after.parts)} parts"
    return None
