"""Proves that a translated Markdown document renders to the same structure as its source.

Both are read with the dialects that the translation knows, and as a renderer reads them that knows none.
"""

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from markdown_it.token import Token

from monitoring.articles.translation.markdown_dialects import DIALECT_TOKENS, LITERAL_BLOCK, LITERAL_INLINE
from monitoring.articles.translation.markdown_spans import parse_blocks, parse_inline

_WORDS = frozenset(("text", "text_special", "softbreak"))
_LITERAL = frozenset(
    ("code_block", "code_inline", "fence", LITERAL_BLOCK, LITERAL_INLINE, "abbreviation_open")
)
_BARE_ADDRESS = re.compile(r"(?:(?:https?|ftp)://|www\.)[^\s<]+", re.IGNORECASE)
_HTML_OPENING = re.compile(r"<(?:/?[\w-]+|[!?][^>]*)")


@dataclass(frozen=True, slots=True)
class _Block:
    lines: range
    is_inline: bool
    signature: Hashable
    has_dialect: bool = False


class SourceStructure:
    """The structure of a source document: read when it is first needed, once for all translations."""

    def __init__(self, source: str) -> None:
        self._source = source

    @cached_property
    def _blocks(self) -> list[_Block]:
        return _read(self._source)

    @cached_property
    def _plain_blocks(self) -> list[_Block]:
        return _read(self._source, has_dialects=False)

    def changed_blocks(self, rendered: str) -> frozenset[int] | None:
        """Return the blocks whose inline markup differs, apart from its order; None if the blocks differ."""
        before, after = self._blocks, _read(rendered)
        changed = _differences(before, after)
        if changed is None or not any(block.has_dialect for block in before + after):
            return changed
        changed_in_plain = _differences(self._plain_blocks, _read(rendered, has_dialects=False))
        if changed_in_plain is None:
            return None
        lines = {line for index in changed_in_plain for line in self._plain_blocks[index].lines}
        touched = (
            index
            for index, block in enumerate(before)
            if block.is_inline and not lines.isdisjoint(block.lines)
        )
        return changed | frozenset(touched)


def _differences(before: list[_Block], after: list[_Block]) -> frozenset[int] | None:
    if len(before) != len(after):
        return None
    pairs = enumerate(zip(before, after, strict=True))
    changed = frozenset(index for index, (old, new) in pairs if old.signature != new.signature)
    return changed if all(before[index].is_inline and after[index].is_inline for index in changed) else None


def _read(source: str, *, has_dialects: bool = True) -> list[_Block]:
    environment: dict[str, Any] = {}
    tokens = parse_blocks(source, environment, has_dialects=has_dialects)
    return [_describe(token, environment, has_dialects=has_dialects) for token in tokens]


def _describe(token: Token, environment: dict[str, Any], *, has_dialects: bool) -> _Block:
    lines = range(*(token.map or (0, 0)))
    if token.type == "inline":
        children = parse_inline(token.content, environment, has_dialects=has_dialects)
        if children is None:
            return _Block(lines, is_inline=True, signature=token.content)
        markup: Counter[Hashable] = Counter(_placed_signatures(children))
        markup.update(_bare_addresses(children))
        has_dialect = any(child.type in DIALECT_TOKENS for child in children)
        return _Block(lines, is_inline=True, signature=frozenset(markup.items()), has_dialect=has_dialect)
    if (
        token.type == "code_block" and not has_dialects
    ):  # perhaps words of a footnote, which is read elsewhere
        return _Block(lines, is_inline=False, signature=token.type)
    return _Block(
        lines, is_inline=False, signature=_signature(token), has_dialect=token.type in DIALECT_TOKENS
    )


def _placed_signatures(children: Sequence[Token]) -> Iterator[Hashable]:
    """Describe markup with what it stands in: `**` without blanks beside it may pair with another."""
    parents = [""]
    for child in children:
        if child.nesting < 0:
            parents.pop()
        if child.type not in _WORDS:
            yield _signature(child), parents[-1]
        if child.nesting > 0:
            parents.append(child.type)


def _bare_addresses(children: Sequence[Token]) -> Iterator[str]:
    """Find what GitHub's Markdown makes links of (GFM 6.9), without the punctuation at its end."""
    words = "".join(child.content if child.type in ("text", "text_special") else " " for child in children)
    for address in _BARE_ADDRESS.findall(words):
        yield address.rstrip("?!.,:;*_~'\")]|")


def _attribute(attribute: tuple[str, object]) -> tuple[str, str]:
    """Leave out words, and which heading a link within the document leads to: that moves with its words."""
    name, value = attribute
    is_in_page = name == "href" and str(value).startswith("#")
    return name, "#" if is_in_page else "" if name in ("alt", "title") else str(value)


def _signature(token: Token) -> Hashable:
    attributes = tuple(sorted(map(_attribute, token.attrs.items())))
    if token.type in _LITERAL:
        content = token.content
    else:  # of HTML, all but the words in its attributes
        opening = _HTML_OPENING.match(token.content) if token.type == "html_inline" else None
        content = opening.group() if opening else ""
    return token.type, token.tag, token.info, attributes, content
