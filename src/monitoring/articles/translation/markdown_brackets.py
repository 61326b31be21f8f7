"""Parses bracket syntax of dialects other than CommonMark.

Examples are `[words]{.attributes}` (pandoc, Quarto), `[words]({{ template }})` (Jekyll, Hugo),
`[words][identifier]` without a definition (mkdocstrings), `^[a footnote]` (pandoc) and `:name[words]{…}`
(remark-directive). The parser puts the text between an opening and a closing token. The syntax around the
text is kept.
"""

import re

from markdown_it.rules_inline import StateInline

from monitoring.articles.translation.markdown_braces import braces_end

BRACKET_OPEN, BRACKET_CLOSE, BRACKET_LITERAL = "bracket_open", "bracket_close", "bracket_literal"
BRACKET_BEGINNINGS = "[!^:"

_OPENING = re.compile(r"!?\[|\^\[|(?<!:):{1,2}[A-Za-z][\w-]{0,60}+(?:\[|(?=\{))")
_LITERAL = re.compile(
    r"""\[[^\[\]\n]{0,300}?(?<![\w.])-?@[\w{][^\[\]\n]{0,300}\](?![(\[{:])  # a citation of pandoc
    |\[\#[\w.:-]{1,100}\]  # an anchor of Nextra
    # an inclusion of DocFX
    |\[![\w-]{1,60}[ \[][^\[\]\n]{0,500}(?:\[?[^\[\]\n]{0,300}\]\([^()\n]{0,500}\)[ ]?)?\]
    |!\[\[[^\[\]\n]{1,300}\]\]  # what Obsidian embeds
    |\[[^\[\]\n]{1,300}\]\[\]  # an identifier as a label
    """,
    re.VERBOSE,
)
_TARGET = re.compile(
    r"""\((?>(?:\{\{[^{}\n]{0,500}\}\} | \{%[^%\n]{0,500}%\} | \{[^{}\n]{0,200}\} | \([^()\n]{0,200}\)
    | [^(){}\n]){1,500})\)
    |\[(?!\^)[^\[\]\n]{1,300}\]""",
    re.VERBOSE,
)


def brackets(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 (markdown-it's signature)
    """Parse brackets that are neither a link nor an image."""
    source, start, last = state.src, state.pos, state.posMax
    opening = _OPENING.match(source, start, last)
    if not opening:
        return False
    if literal := _LITERAL.match(source, start, last):
        return _push_literal(state, literal.end(), silent=silent)
    if not opening[0].endswith("["):  # a directive without text
        end = braces_end(source, opening.end(), last)
        return end is not None and _push_literal(state, end, silent=silent)
    words_end = state.md.helpers.parseLinkLabel(state, opening.end() - 1)
    if words_end < 0:
        return False
    end = _end_of_target(source, words_end + 1, last)
    if end is None and opening[0] in ("[", "!["):
        return False
    end = end or words_end + 1
    if not silent:
        state.pos, state.posMax = opening.end(), words_end
        state.push(BRACKET_OPEN, "", 1).content = opening[0]
        state.md.inline.tokenize(state)
        state.push(BRACKET_CLOSE, "", -1).content = source[words_end:end]
    state.pos, state.posMax = end, last
    return True


def _push_literal(state: StateInline, end: int, *, silent: bool) -> bool:
    if not silent:
        state.push(BRACKET_LITERAL, "", 0).content = state.src[state.pos : end]
    state.pos = end
    return True


def _end_of_target(source: str, start: int, last: int) -> int | None:
    """Return the end of the target or attributes after brackets, or None if there are none."""
    if source.startswith("{", start):
        return braces_end(source, start, last)
    target = _TARGET.match(source, start, last)
    return target.end() if target else None
