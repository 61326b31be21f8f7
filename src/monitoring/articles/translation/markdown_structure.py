"""Verifies that a translated Markdown document has the same structure as its source.

If either document has syntax of other dialects, both are parsed twice: with the rules for dialects, and as
plain CommonMark with tables and strikethrough.
"""

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Any

from markdown_it.token import Token

from monitoring.articles.translation.markdown_brackets import BRACKET_CLOSE, BRACKET_LITERAL, BRACKET_OPEN
from monitoring.articles.translation.markdown_dialects import DIALECT_TOKENS, LITERAL_INLINE
from monitoring.articles.translation.markdown_literal_blocks import LITERAL_BLOCK
from monitoring.articles.translation.markdown_spans import parse_blocks, parse_inline
from monitoring.articles.translation.segments import Segment, verbatim

_ONLY_WORDS: frozenset[Hashable] = frozenset()  # the signature of inline content without markup
_WORDS = frozenset(("text", "text_special", "softbreak"))
_LITERAL = frozenset(
    (
        "code_block",
        "code_inline",
        "fence",
        LITERAL_BLOCK,
        LITERAL_INLINE,
        BRACKET_OPEN,
        BRACKET_CLOSE,
        BRACKET_LITERAL,
        "abbreviation_open",
    )
)
_BARE_ADDRESS = re.compile(r"(?:(?:https?|ftp)://|www\.)[^\s<]+", re.IGNORECASE)
# Text that no Markdown rule can match. It does not begin with `i` or `e`, as MDX's `import` and `export` do,
# and it contains no signs of markup. Hyphens are excluded because the search for tables depends on them.
_PLAIN_WORDS = re.compile(
    r"""
    (?! [ie] | .*www\. | .*[^\S\ ] | .*\ (?:\ |\Z) )
    [A-Za-z\u00a1-\U0010ffff] [A-Za-z0-9\ .,;?'"()/%+=\u00a1-\U0010ffff]*
    """,
    re.IGNORECASE | re.VERBOSE,
)
_HTML_OPENING = re.compile(r"<(?:/?[\w-]+|[!?][^>]*)")


class Structure:
    """The structure of a document: the signature of each block, and the lines of blocks with inline content.

    A translation must not change the signatures.
    """

    __slots__ = ("_has_dialects", "has_dialect", "lines", "signatures")

    def __init__(self, *, has_dialects: bool = True) -> None:
        self.signatures: list[Hashable] = []
        self.lines: dict[int, tuple[int, int]] = {}
        self.has_dialect = False
        self._has_dialects = has_dialects

    def add(self, token: Token, children: Sequence[Token] | None) -> None:
        """Add the next block.

        `children` are its inline tokens, or None if it has no inline content or too many delimiters.
        """
        if token.type == "inline":
            first_line, end_line = token.map or (0, 0)
            self.lines[len(self.signatures)] = first_line, end_line
            self.signatures.append(token.content if children is None else self._inline_signature(children))
        elif token.type == "code_block" and not self._has_dialects:
            self.signatures.append(token.type)  # may be a footnote's text, which only dialect rules parse
        else:
            self.signatures.append(_signature(token))
            self.has_dialect |= token.type in DIALECT_TOKENS

    def _inline_signature(self, children: Sequence[Token]) -> Hashable:
        addresses = list(_bare_addresses(children))
        types = {child.type for child in children}
        if not addresses and types <= _WORDS:
            return _ONLY_WORDS
        self.has_dialect |= not types.isdisjoint(DIALECT_TOKENS)
        markup: Counter[Hashable] = Counter(_placed_signatures(children))
        markup.update(addresses)
        return frozenset(markup.items())

    def is_line_of_words(self, block: int) -> bool:
        """Return whether a block is a single line of inline content without markup."""
        first_line, end_line = self.lines.get(block, (0, 0))
        return end_line - first_line == 1 and self.signatures[block] == _ONLY_WORDS

    def differences(self, other: "Structure") -> frozenset[int] | None:
        """Return the indexes of the blocks that differ in inline markup. The order of the markup is ignored.

        Returns None if the documents do not have the same blocks.
        """
        if len(self.signatures) != len(other.signatures):
            return None
        if self.signatures == other.signatures:
            return frozenset()
        pairs = enumerate(zip(self.signatures, other.signatures, strict=True))
        changed = frozenset(index for index, (old, new) in pairs if old != new)
        return changed if changed <= self.lines.keys() & other.lines.keys() else None


class SourceStructure:
    """The structure of a source document, both with and without dialects."""

    def __init__(self, source: str, structure: Structure, *, is_mdx: bool = False) -> None:
        self._source = source
        self._is_mdx = is_mdx
        self._structure = structure

    @cached_property
    def _plain_structure(self) -> Structure:
        return _read(self._source, has_dialects=False)

    def is_sure_to_stay(self, segment: Segment, text: str) -> bool:
        """Return whether replacing a segment with `text` certainly keeps the structure. Parses nothing.

        This is certain if the segment and `text` are plain text on a line without markup, and the document
        has no syntax of other dialects. With such syntax, the line may have a different meaning in one of the
        two parses.
        """
        return (
            not segment.codes
            and not self._structure.has_dialect
            and self._structure.is_line_of_words(segment.block)
            and bool(_PLAIN_WORDS.fullmatch(text) and _PLAIN_WORDS.fullmatch(verbatim(segment.source)))
        )

    def changed_blocks(self, rendered: str) -> frozenset[int] | None:
        """Return the indexes of the blocks whose inline markup differs in `rendered`.

        The order of the markup in a block is ignored. Returns None if `rendered` does not have the same
        blocks.
        """
        if rendered == self._source:  # nothing was translated
            return frozenset()
        before, after = self._structure, _read(rendered, is_mdx=self._is_mdx)
        changed = before.differences(after)
        if changed is None or not (before.has_dialect or after.has_dialect):
            return changed
        plain = self._plain_structure
        changed_in_plain = plain.differences(_read(rendered, has_dialects=False))
        if not changed_in_plain:
            return None if changed_in_plain is None else changed
        lines = {line for index in changed_in_plain for line in range(*plain.lines[index])}
        touched = (index for index, block in before.lines.items() if not lines.isdisjoint(range(*block)))
        return changed | frozenset(touched)


def _read(source: str, *, has_dialects: bool = True, is_mdx: bool = False) -> Structure:
    environment: dict[str, Any] = {}
    structure = Structure(has_dialects=has_dialects)
    for token in parse_blocks(source, environment, has_dialects=has_dialects, is_mdx=is_mdx):
        is_inline = token.type == "inline"
        content = token.content
        structure.add(
            token, parse_inline(content, environment, has_dialects=has_dialects) if is_inline else None
        )
    return structure


def _placed_signatures(children: Sequence[Token]) -> Iterator[Hashable]:
    """Yield the signature of each markup token, with the type of its parent.

    The parent's type shows whether a `**` pairs with a different `**` than in the source.
    """
    parents = [""]
    for child in children:
        if child.nesting < 0:
            parents.pop()
        if child.type not in _WORDS:
            yield _signature(child), parents[-1]
        if child.nesting > 0:
            parents.append(child.type)


def _bare_addresses(children: Sequence[Token]) -> Iterator[str]:
    """Yield the addresses that GitHub autolinks (GFM 6.9), without trailing punctuation."""
    words = "".join(child.content if child.type in ("text", "text_special") else " " for child in children)
    for address in _BARE_ADDRESS.findall(words):
        yield address.rstrip("?!.,:;*_~'\")]|")


def _attribute(attribute: tuple[str, object]) -> tuple[str, str]:
    """Return an attribute without its text or in-page anchor, which a translation may change."""
    name, value = attribute
    is_in_page = name == "href" and str(value).startswith("#")
    return name, "#" if is_in_page else "" if name in ("alt", "title") else str(value)


def _signature(token: Token) -> Hashable:
    if not token.attrs and not token.content:
        return _bare_signature(token.type, token.tag, token.info)
    attributes = tuple(sorted(map(_attribute, token.attrs.items())))
    if token.type in _LITERAL:
        content = token.content
    else:  # for HTML, only the tag name counts
        opening = _HTML_OPENING.match(token.content) if token.type == "html_inline" else None
        content = opening.group() if opening else ""
    return token.type, token.tag, token.info, attributes, content


@lru_cache(maxsize=1024)
def _bare_signature(token_type: str, tag: str, info: str) -> Hashable:
    return token_type, tag, info, (), ""
