"""markdown-it rules for other dialects' blocks that are not translated: formulas, code, MDX, inclusions.

Hostile text takes linear time, because the search for the end of a block stops where another block begins, or
after a few such beginnings.
"""

import re
from bisect import bisect_right
from collections.abc import Callable

from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock

from monitoring.articles.translation.markdown_braces import tag_end
from monitoring.articles.translation.untranslated import CODE_TAG, END_OF_CODE_TAG

LITERAL_BLOCK = "dialect_block"

LITERAL_BLOCK_BEGINNINGS = {
    "formula": "$\\",
    "environment": "\\",
    "inclusion": "-;",
    "component": "<",
    "between_tags": "{",
    "grid": "+",
    "module": "ie",
    "expression": "{",
}

FindEnd = Callable[[StateBlock, int, int], int | None]

_FORMULA_LINE = re.compile(r"\$\$(?!.*\$\$.*\S)|\\{1,2}\[\s*$")
_FORMULA_END = re.compile(r"(?:\$\$|\\\])(?:\s*(?:\([^()]{1,60}\)|\{#[^{}]{1,60}\}))?\s*$")
_ENVIRONMENT = re.compile(r"\\(begin|end)\{([A-Za-z]{1,60}\*?)\}")
_MOST_ENVIRONMENTS = 20  # levels of nesting
_INCLUSION = re.compile(r";?-+8<-+\s*$")
_GRID = re.compile(r"\+(?:[-=:]+\+)+\s*$")
_MODULE = re.compile(
    r"""import\s*(?:(?:type\s+)?(?:[\w$*][\w$*\s,]*+)?(?:\{[^{}'"]*+(?:\}|$))?\s*(?:from\s*+)?['"]
    |(?:type\s+)?(?:[\w$]++\s*,\s*)?\{[^{}'"]*$)
    |export\s*(?:[{*]|\s(?:default|const|let|var|function|class|async|type|interface|enum)\b)""",
    re.VERBOSE,
)
_EXPRESSION_LINE = re.compile(r"\{(?![{%#:.])")
_BRACKETS = re.compile(r"[(\[{]|[)\]}]")


def add_literal_blocks(parser: MarkdownIt) -> None:
    """Add the rules of this module to a parser. They produce `LITERAL_BLOCK` tokens."""
    everywhere: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}
    blocks = parser.block.ruler
    blocks.after("code", "formula", _literal_block(_formula_end), everywhere)
    blocks.after("formula", "environment", _literal_block(_environment_end), everywhere)
    blocks.after("environment", "between_tags", _literal_block(_between_tags_end), everywhere)
    blocks.after("between_tags", "inclusion", _literal_block(_inclusion_end), everywhere)
    blocks.after("inclusion", "module", _literal_block(_module_end))
    blocks.after("module", "expression", _literal_block(_expression_end))
    blocks.after("expression", "grid", _literal_block(_grid_end))
    blocks.after("html_block", "component", _literal_block(_component_end))


def component_end(state: StateBlock, start: int, end: int) -> int | None:
    """Return the number of the line after an MDX tag, or None.

    The tag must be alone on its lines or contain a blank line.
    """
    position, last = state.bMarks[start] + state.tShift[start], state.eMarks[end - 1]
    found = tag_end(state.src, position, last)
    if found is None:
        return None
    after = bisect_right(state.bMarks, found - 1, start, end)
    is_alone = not state.src[found : state.eMarks[after - 1]].strip()
    has_prefixes = any(_has_prefix(state.src, mark) for mark in state.bMarks[start + 1 : after])
    has_blank_line = any(map(state.isEmpty, range(start, after)))
    return after if (is_alone or has_blank_line) and not has_prefixes else None


def _has_prefix(source: str, mark: int) -> bool:
    """Return whether a line has a prefix other than whitespace, such as the `>` of a block quote."""
    return bool(source[source.rfind("\n", 0, mark) + 1 : mark].strip())


def line_at(state: StateBlock, number: int) -> str:
    """Return a line without the prefixes of its containers."""
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
    """Return the number of the line after a formula, or None.

    The next line that contains `$$` must be a valid end of the formula. Without this rule, text with prices
    would match.
    """
    first = line_at(state, start)
    if not _FORMULA_LINE.match(first):
        return None
    if _FORMULA_END.search(first, 2):
        return start + 1
    sign = "$$" if first.startswith("$") else "\\]"
    for number in range(start + 1, end):
        line = line_at(state, number)
        if line and state.sCount[number] < state.blkIndent:
            return None
        if sign in line or line.startswith("\\["):
            return number + 1 if _FORMULA_END.search(line) else None
    return None


def _environment_end(state: StateBlock, start: int, end: int) -> int | None:
    r"""Return the number of the line after a TeX environment, or None.

    Such an environment has no dollar signs around it, and begins with a command such as `\begin{align}`.
    """
    if not line_at(state, start).startswith("\\begin{"):
        return None
    opened: list[str] = []
    for number in range(start, end):
        line = line_at(state, number)
        if line and state.sCount[number] < state.blkIndent:
            return None
        for command, name in _ENVIRONMENT.findall(line):
            if command == "begin":
                opened.append(name)
            elif not opened or opened.pop() != name:
                return None
        if not opened:
            return number + 1
        if len(opened) > _MOST_ENVIRONMENTS:
            return None
    return None


def _between_tags_end(state: StateBlock, start: int, end: int) -> int | None:
    """Return the number of the line after code between template tags, including the end tag, or None.

    The end tag is, for example, `{% endhighlight %}`.
    """
    opening = CODE_TAG.match(line_at(state, start))
    if not opening:
        return None
    if "ends_of_code_tags" not in state.env:
        state.env["ends_of_code_tags"] = _find_ends(state)
    numbers = state.env["ends_of_code_tags"].get((opening["liquid"] or opening["hugo"]).lower(), [])
    place = bisect_right(numbers, start - 1)
    if place == len(numbers) or numbers[place] >= end or state.sCount[numbers[place]] < state.blkIndent:
        return None
    return int(numbers[place]) + 1


def _find_ends(state: StateBlock) -> dict[str, list[int]]:
    """Return the numbers of the lines with end tags of template tags for code, keyed by tag name."""
    found: dict[str, list[int]] = {}
    for tag in END_OF_CODE_TAG.finditer(state.src):
        number = bisect_right(state.bMarks, tag.start(), 0, state.lineMax) - 1
        found.setdefault((tag["liquid"] or tag["hugo"]).lower(), []).append(number)
    return found


def _inclusion_end(state: StateBlock, start: int, end: int) -> int | None:
    """Return the number of the line after the second `--8<--` of a pair, which encloses paths, or None."""
    if not _INCLUSION.match(line_at(state, start)):
        return None
    for number in range(start + 1, end):
        if _INCLUSION.match(line_at(state, number)):
            return number + 1
    return None


def _component_end(state: StateBlock, start: int, end: int) -> int | None:
    return component_end(state, start, end)


def _grid_end(state: StateBlock, start: int, end: int) -> int | None:
    """Return the number of the line after a pandoc grid table, or None.

    The table is not translated, because text of a different length would break it.
    """
    if not _GRID.match(line_at(state, start)):
        return None
    number = start + 1
    while number < end and line_at(state, number).startswith(("+", "|")):
        number += 1
    return number if number > start + 1 else None


def _module_end(state: StateBlock, start: int, end: int) -> int | None:
    """Return the number of the blank line after an MDX `import` or `export`, or None.

    Blank lines inside brackets do not count.
    """
    if state.level or state.sCount[start] or not _MODULE.match(line_at(state, start)):
        return None
    depth, first_blank = 0, end
    for number in range(start, end):
        line = line_at(state, number)
        depth += _depth(line)
        if not line:
            first_blank = min(first_blank, number)
            if depth <= 0:
                return number
        elif first_blank < number and _MODULE.match(line):
            break
    return first_blank


def _expression_end(state: StateBlock, start: int, end: int) -> int | None:
    """Return the number of the line after an MDX `{…}` that is alone on its lines, or None."""
    if not _EXPRESSION_LINE.match(line_at(state, start)):
        return None
    depth = 0
    for number in range(start, end):
        line = line_at(state, number)
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
