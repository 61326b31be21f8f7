"""Proves that a translated Markdown document renders to the same structure as its source."""

import re
from collections import Counter
from collections.abc import Hashable
from typing import Any

from markdown_it.token import Token

from monitoring.articles.translation.markdown_spans import parse_blocks, parse_inline

_WORDS = frozenset(("text", "text_special", "softbreak"))
_LITERAL = frozenset(("code_block", "code_inline", "fence"))
_HTML_OPENING = re.compile(r"<(?:/?[\w-]+|[!?][^>]*)")


def changed_blocks(source: str, rendered: str) -> frozenset[int] | None:
    """Return the blocks whose inline markup differs, apart from its order; None if the blocks differ."""
    before, after = _structure(source), _structure(rendered)
    if len(before) != len(after):
        return None
    pairs = enumerate(zip(before, after, strict=True))
    changed = frozenset(index for index, (old, new) in pairs if old != new)
    are_all_inline = all(isinstance(before[index], frozenset) for index in changed)
    return changed if are_all_inline else None


def _structure(source: str) -> list[Hashable]:
    """Describe each block; the description of inline content is a frozenset."""
    environment: dict[str, Any] = {}
    return [
        _inline_structure(token, environment) if token.type == "inline" else _signature(token)
        for token in parse_blocks(source, environment)
    ]


def _inline_structure(token: Token, environment: dict[str, Any]) -> frozenset[object]:
    children = parse_inline(token.content, environment)
    if children is None:
        return frozenset((token.content,))
    return frozenset(Counter(_signature(child) for child in children if child.type not in _WORDS).items())


def _signature(token: Token) -> Hashable:
    attributes = tuple(sorted((name, value) for name, value in token.attrs.items() if name != "alt"))
    if token.type in _LITERAL:
        content = token.content
    else:  # of HTML, all but the words in its attributes
        opening = _HTML_OPENING.match(token.content) if token.type == "html_inline" else None
        content = opening.group() if opening else ""
    return token.type, token.tag, token.info, attributes, content
