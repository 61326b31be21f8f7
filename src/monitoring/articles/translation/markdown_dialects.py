"""Rules for markdown-it that read what CommonMark does not know: formulas, footnotes, abbreviations, MDX.

Which dialect a site renders is unknown, so these are read wherever they can stand. What they find is literal,
or marks where words begin. Hostile text costs linear time: a search for an end stops at the next beginning.
"""

import re
from collections.abc import Callable

from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock, reference
from markdown_it.rules_inline import StateInline

from monitoring.articles.translation.opaque import FORMULA

LITERAL_BLOCK, LITERAL_INLINE = "dialect_block", "dialect_inline"
DIALECT_TOKENS = frozenset((LITERAL_BLOCK, LITERAL_INLINE, "footnote_open", "abbreviation_open"))

BEGINNINGS = {  # the characters of the rules that `add_dialects` adds
    "formula": "$\\",
    "module": "ie",
    "expression": "{",
    "footnote": "[",
    "abbreviation": "*",
    "literal": "$\\[{~<",  # those of `_LITERALS`
}

FindEnd = Callable[[StateBlock, int, int], int | None]

_FORMULA_LINE = re.compile(r"\$\$(?!.*\$\$.*\S)|\\{1,2}\[\s*$")
_FORMULA_END = re.compile(r"(?:\$\$|\\\])(?:\s*(?:\([^()]{1,60}\)|\{#[^{}]{1,60}\}))?\s*$")
_FOOTNOTE = re.compile(r"\[\^[^\]\s]{1,60}\]:")
_FOOTNOTE_OF_WORDS = re.compile(r"\[\^[^\]\s]{1,60}\]:(?!\s*(?:[</#.]|\w+:/|mailto:|www\.))")
_ABBREVIATION = re.compile(r"\*\[[^\[\]]{1,100}\]:[ \t]*(?=\S)")
_MODULE = re.compile(
    r"""import\s*(?:(?:type\s+)?(?:[\w$*][\w$*\s,]*+)?(?:\{[^{}'"]*+(?:\}|$))?\s*(?:from\s*+)?['"]
    |(?:type\s+)?(?:[\w$]++\s*,\s*)?\{[^{}'"]*$)
    |export\s*(?:[{*]|\s(?:default|const|let|var|function|class|async|type|interface|enum)\b)""",
    re.VERBOSE,
)
_EXPRESSION_LINE = re.compile(r"\{(?![{%#:.])")
_BRACKETS = re.compile(r"[(\[{]|[)\]}]")

_BRACES_IN_BRACES = r"(?>(?:\{[^{}]{0,500}+%s\}[^{}]{0,500}+){0,20})"
_BRACES = r"\{[^{}]{0,1000}+%s\}" % (_BRACES_IN_BRACES % (_BRACES_IN_BRACES % ""))
_TAG_WITH_EXPRESSION = re.compile(
    rf"""<(?=[^<>]{{0,500}}\{{|/?[A-Za-z][\w-]*\.)/?[A-Za-z][\w.:-]{{0,100}}+
    (?>(?:\s++(?:[\w:.@-]{{1,100}}+(?:\s?=\s?(?:"[^"]{{0,1000}}+"|'[^']{{0,1000}}+'|{_BRACES}))?|{_BRACES})){{0,50}})
    \s*+/?>""",
    re.VERBOSE,
)
_LITERALS = {  # by the character that they begin with
    "$": FORMULA,
    "\\": FORMULA,
    "[": re.compile(r"\[\^[^\[\]\s]{1,60}\](?![(:])"),  # a reference to a footnote
    "{": re.compile(_BRACES),
    "~": re.compile(r"(?<!~)~(?![~\s])[^~\n]{1,300}(?<!\s)~(?!~)"),  # GitHub's second form of strikethrough
    "<": _TAG_WITH_EXPRESSION,
}


def add_dialects(parser: MarkdownIt) -> None:
    """Add the rules. What they find has one of the `DIALECT_TOKENS`."""
    everywhere: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}
    blocks = parser.block.ruler
    blocks.after("code", "formula", _literal_block(_formula_end), everywhere)
    blocks.after("formula", "module", _literal_block(_module_end))
    blocks.after("module", "expression", _literal_block(_expression_end))
    blocks.before("reference", "footnote", _footnote, {"alt": ["paragraph", "reference"]})
    blocks.before("list", "abbreviation", _abbreviation, {"alt": ["paragraph"]})
    parser.inline.ruler.before("escape", "literal", _literal_inline)


def take_footnotes_for_words(parser: MarkdownIt) -> None:
    """Read `[^1]: Ibid.` as a paragraph, where CommonMark knows only a definition of a link to `Ibid.`.

    Who writes footnotes has a renderer that knows them. `[^1]: https://a.example` remains a definition.
    """

    def definition(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001 (see below)
        return not _FOOTNOTE_OF_WORDS.match(_line(state, start)) and reference(state, start, end, silent)

    parser.block.ruler.at("reference", definition)


def _literal_inline(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 (markdown-it's signature)
    pattern = _LITERALS.get(state.src[state.pos])
    found = pattern.match(state.src, state.pos, state.posMax) if pattern else None
    if not found:
        return False
    if not silent:
        state.push(LITERAL_INLINE, "", 0).content = found.group()
    state.pos = found.end()
    return True


def _line(state: StateBlock, number: int) -> str:
    return state.src[state.bMarks[number] + state.tShift[number] : state.eMarks[number]]


def _literal_block(find_end: FindEnd) -> Callable[[StateBlock, int, int, bool], bool]:
    def rule(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001 (see above)
        if state.is_code_block(start) or (found := find_end(state, start, end)) is None:
            return False
        if not silent:
            token = state.push(LITERAL_BLOCK, "", 0)
            token.content = state.getLines(start, found, 0, keepLastLF=True)
            token.map = [start, found]
            state.line = found
        return True

    return rule


def _formula_end(state: StateBlock, start: int, end: int) -> int | None:
    """Find the line after a formula. The next line with `$$` must end it, so that prices cannot."""
    first = _line(state, start)
    if not _FORMULA_LINE.match(first):
        return None
    if _FORMULA_END.search(first, 2):
        return start + 1
    sign = "$$" if first.startswith("$") else "\\]"
    for number in range(start + 1, end):
        line = _line(state, number)
        if line and state.sCount[number] < state.blkIndent:
            return None
        if sign in line or line.startswith("\\["):
            return number + 1 if _FORMULA_END.search(line) else None
    return None


def _module_end(state: StateBlock, start: int, end: int) -> int | None:
    """Find the blank line after an `import` or `export` of MDX. One in brackets does not count."""
    if state.level or state.sCount[start] or not _MODULE.match(_line(state, start)):
        return None
    depth, first_blank = 0, end
    for number in range(start, end):
        line = _line(state, number)
        depth += _depth(line)
        if not line:
            first_blank = min(first_blank, number)
            if depth <= 0:
                return number
        elif first_blank < number and _MODULE.match(line):
            break
    return first_blank


def _expression_end(state: StateBlock, start: int, end: int) -> int | None:
    """Find the line after a `{…}` of MDX that stands alone."""
    if not _EXPRESSION_LINE.match(_line(state, start)):
        return None
    depth = 0
    for number in range(start, end):
        line = _line(state, number)
        is_beginning = line.startswith("{") and state.sCount[number] <= state.sCount[start]
        is_outside = bool(line) and state.sCount[number] < state.blkIndent
        if number > start and (is_beginning or is_outside):
            return None
        depth += _depth(line)
        if depth <= 0:
            return number + 1 if line.rstrip().endswith("}") else None
    return None


def _depth(line: str) -> int:
    return sum(1 if bracket in "([{" else -1 for bracket in _BRACKETS.findall(line))


def _footnote(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001 (see above)
    """Read a footnote as the list item that it resembles: four blanks before what belongs to it."""
    mark = _FOOTNOTE.match(_line(state, start))
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
    """Read `*[HTML]: what it means`, one line."""
    mark = _ABBREVIATION.match(_line(state, start))
    if not mark or state.is_code_block(start):
        return False
    if silent:
        return True
    state.line = start + 1
    state.push("abbreviation_open", "", 1).content = mark.group()
    token = state.push("inline", "", 0)
    token.content = _line(state, start)[mark.end() :].strip()
    token.map, token.children = [start, state.line], []
    state.push("abbreviation_close", "", -1)
    return True
