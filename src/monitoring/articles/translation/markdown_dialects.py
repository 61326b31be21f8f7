"""markdown-it rules for syntax beyond CommonMark: formulas, footnotes, abbreviations, MDX.

The dialect of a site is unknown, so all the rules always apply. A match is either kept literally, or is
markup that precedes translatable text. Hostile text takes linear time, because the search for the end of a
match stops where another match begins.
"""

import re

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, reference
from markdown_it.rules_inline import StateInline

from monitoring.articles.translation.markdown_braces import braces_end, tag_end
from monitoring.articles.translation.markdown_brackets import (
    BRACKET_BEGINNINGS,
    BRACKET_LITERAL,
    BRACKET_OPEN,
    brackets,
)
from monitoring.articles.translation.markdown_literal_blocks import (
    LITERAL_BLOCK,
    LITERAL_BLOCK_BEGINNINGS,
    add_literal_blocks,
    line_at,
)
from monitoring.articles.translation.untranslated import CODE_BETWEEN_TAGS, FORMULA, TEX

LITERAL_INLINE = "dialect_inline"
DIALECT_TOKENS = frozenset(
    (LITERAL_BLOCK, LITERAL_INLINE, BRACKET_OPEN, BRACKET_LITERAL, "footnote_open", "abbreviation_open")
)

BEGINNINGS = {  # for each rule that `add_dialects` adds, the characters at which the rule can match
    **LITERAL_BLOCK_BEGINNINGS,
    "footnote": "[",
    "abbreviation": "*",
    "literal": "$\\[{~<",  # for `_LITERALS`, braces and tags with braces
    "brackets": BRACKET_BEGINNINGS,
    "loose_tag": "<",
}

_FOOTNOTE = re.compile(r"\[\^[^\]\s]{1,60}\]:")
_FOOTNOTE_OF_WORDS = re.compile(r"\[\^[^\]\s]{1,60}\]:(?!\s*(?:[</#.]|\w+:/|mailto:|www\.))")
_ABBREVIATION = re.compile(r"\*\[[^\[\]]{1,100}\]:[ \t]*(?=\S)")
_LITERALS = {  # by first character
    "$": FORMULA,
    "\\": re.compile(f"{FORMULA.pattern}|{TEX}"),
    "[": re.compile(r"\[\^[^\[\]\s]{1,60}\](?![(:])"),  # a footnote reference
    "{": re.compile(CODE_BETWEEN_TAGS),
    "~": re.compile(
        r"~(?=\\[A-Za-z])|(?<!~)~(?![~\s])[^~\n]{1,300}(?<!\s)~(?!~)"
    ),  # a tie in TeX, or GitHub's strikethrough with one tilde
}
_LOOSE_TAG = re.compile(r"</?(?:[A-Za-z][^<>\n]{0,1000})?>")
_FIND_ENDS = {"{": braces_end, "<": tag_end}


def add_dialects(parser: MarkdownIt) -> None:
    """Add the dialect rules to a parser. They produce `DIALECT_TOKENS`."""
    add_literal_blocks(parser)
    blocks = parser.block.ruler
    blocks.before("reference", "footnote", _footnote, {"alt": ["paragraph", "reference"]})
    blocks.before("list", "abbreviation", _abbreviation, {"alt": ["paragraph"]})
    parser.inline.ruler.before("escape", "literal", _literal_inline)
    parser.inline.ruler.after("image", "brackets", brackets)
    parser.inline.ruler.after("html_inline", "loose_tag", _loose_tag)


def take_footnotes_for_words(parser: MarkdownIt) -> None:
    """Parse `[^1]: Ibid.` as a paragraph, not as CommonMark's link definition with the address `Ibid.`.

    Authors who write footnotes use a renderer that supports footnotes. `[^1]: https://a.example` remains a
    definition.
    """

    def definition(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001 (see below)
        return not _FOOTNOTE_OF_WORDS.match(line_at(state, start)) and reference(state, start, end, silent)

    parser.block.ruler.at("reference", definition)


def _literal_inline(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 (markdown-it's signature)
    source, start, last = state.src, state.pos, state.posMax
    pattern, find_end = _LITERALS.get(source[start]), _FIND_ENDS.get(source[start])
    found = pattern.match(source, start, last) if pattern else None
    end = found.end() if found else find_end(source, start, last) if find_end else None
    return end is not None and _push_literal(state, end, silent=silent)


def _loose_tag(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 (see above)
    """Parse what browsers, MDX or other Markdown parsers treat as a tag, such as `<a b="c"d>` and `<>`."""
    tag = _LOOSE_TAG.match(state.src, state.pos, state.posMax)
    return tag is not None and _push_literal(state, tag.end(), silent=silent)


def _push_literal(state: StateInline, end: int, *, silent: bool) -> bool:
    if not silent:
        state.push(LITERAL_INLINE, "", 0).content = state.src[state.pos : end]
    state.pos = end
    return True


def _footnote(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001 (see above)
    """Parse a footnote like a list item, whose content is indented by four spaces."""
    mark = _FOOTNOTE.match(line_at(state, start))
    if not mark or state.is_code_block(start):
        return False
    if silent:
        return True
    kept = state.bMarks[start], state.tShift[start], state.sCount[start], state.blkIndent, state.parentType
    opening = state.push("footnote_open", "", 1)
    state.bMarks[start] += state.tShift[start] + mark.end()
    state.tShift[start] = len(_line_from(state, start)) - len(_line_from(state, start).lstrip(" \t"))
    state.blkIndent += 4
    state.sCount[start] = state.blkIndent
    state.md.block.tokenize(state, start, end)
    state.bMarks[start], state.tShift[start], state.sCount[start], state.blkIndent, state.parentType = kept
    opening.map = [start, state.line]
    state.push("footnote_close", "", -1)
    return True


def _line_from(state: StateBlock, number: int) -> str:
    return state.src[state.bMarks[number] : state.eMarks[number]]


def _abbreviation(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: ARG001, FBT001 (see above)
    """Parse a one-line abbreviation: `*[HTML]: what it means`."""
    mark = _ABBREVIATION.match(line_at(state, start))
    if not mark or state.is_code_block(start):
        return False
    if silent:
        return True
    state.line = start + 1
    state.push("abbreviation_open", "", 1).content = mark.group()
    token = state.push("inline", "", 0)
    token.content = line_at(state, start)[mark.end() :].strip()
    token.map, token.children = [start, state.line], []
    state.push("abbreviation_close", "", -1)
    return True
