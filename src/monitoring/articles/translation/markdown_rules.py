"""Makes markdown-it try only rules that can match, because trying rules takes most of the time.

The rules and their order are the same as in markdown-it. If the characters with which a rule's match can
begin are known, the rule is tried only at these characters. The end of a paragraph is searched for only once,
instead of by two rules. Plain text becomes one token, even if it spans several lines.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Generic, Literal, TypeVar, cast

from markdown_it import MarkdownIt
from markdown_it.ruler import Ruler
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from monitoring.articles.translation.markdown_in_html import HTML_OPEN, HtmlState

BlockRule = Callable[[StateBlock, int, int, bool], bool]
InlineRule = Callable[[StateInline, bool], bool]
NoteMarkup = Callable[[StateInline, int, int], None]
Rule = TypeVar("Rule")

# markdown-it's chains of block rules. The chain "" has all rules. Each other chain has the rules that may
# interrupt a block of that type.
_CHAINS = ("", "paragraph", "reference", "blockquote", "list")
_BEGINNINGS_OF_BLOCKS = {  # rules that are not listed can match any line
    "fence": "`~",
    "blockquote": ">",
    "hr": "*-_",
    "list": "*+-0123456789",
    "reference": "[",
    "html_block": "<",
    "heading": "#",
}
_BEGINNINGS_OF_MARKUP = {
    "newline": "\n",
    "escape": "\\",
    "backticks": "`",
    "strikethrough": "~",
    "emphasis": "*_",
    "link": "[",
    "image": "!",
    "autolink": "<",
    "html_inline": "<",
    "entity": "&",
}
_END_OF_LABEL = "]"  # the link rule searches text for it
_NOTHING = cast("dict[str, Any]", MappingProxyType({}))  # markdown-it's rules replace it, never change it


def ask_less(parser: MarkdownIt, beginnings: Mapping[str, str], note_markup: NoteMarkup) -> None:
    """Make a parser try its active rules only where they can match.

    `beginnings` maps rules that are not part of markdown-it to the characters with which a match can begin.
    `note_markup` is called for new inline tokens, with the start of their markup and the number of tokens
    before them.
    """
    blocks, inline = parser.block.ruler, parser.inline.ruler
    asked = {chain: _ask_block_rules(blocks, chain, beginnings) for chain in _CHAINS}
    parser.block.ruler = _RulesAsOne(blocks, asked | {"paragraph": _ask_once(asked["paragraph"])})
    parser.inline.ruler = _RulesAsOne(inline, {"": _ask_inline_rules(inline, beginnings, note_markup)})


def parse_blocks(source: str, parser: MarkdownIt, environment: dict[str, Any]) -> list[Token]:
    """Parse the blocks of a source with LF line endings."""
    state = _State(source, parser, environment)
    parser.block.tokenize(state, 0, state.lineMax)
    return state.tokens


def words(content: str) -> Token:
    """Make a text token for inline content without markup."""
    token = _Token("text", "", 0)
    token.content = content
    return token


class _Token(Token):
    """A token without its own dictionaries. It is created three times as fast as markdown-it's tokens."""

    __slots__ = ()

    def __init__(self, ttype: str, tag: str, nesting: Literal[-1, 0, 1]) -> None:
        self.type = ttype
        self.tag = tag
        self.nesting = nesting
        self.attrs = self.meta = _NOTHING
        self.map = self.children = None
        self.content = self.markup = self.info = ""
        self.level = 0
        self.block = self.hidden = False


class _State(HtmlState):
    """A parser state that reuses equal tokens.

    A megabyte of short lines has a million tokens, most of which only start or end a paragraph or list item.
    Equal tokens are shared, except for the last token, because only the last token may still be modified. The
    `map` of a shared token is meaningless.
    """

    # The cached search for the end of a paragraph: the rule `lheading` fills it, and `paragraph` reuses it.
    # It is valid while the number of tokens is `asked_at` and the lines to parse end at `asked_until`.
    asked_at = asked_until = last_inside = first_outside = -1

    def __init__(self, source: str, parser: MarkdownIt, environment: dict[str, Any]) -> None:
        super().__init__(source, parser, environment, [])
        self._alike: dict[tuple[str, str, str, int], Token] = {}

    def push(self, ttype: str, tag: str, nesting: Literal[-1, 0, 1]) -> Token:
        token = _Token(ttype, tag, nesting)
        token.block = True
        if nesting < 0:
            self.level -= 1
        token.level = self.level
        if self.is_in_html and ttype == "inline":
            token.info = HTML_OPEN
        if nesting > 0:
            self.level += 1
        if self.tokens:
            self.tokens[-1] = self._shared(self.tokens[-1])
        self.tokens.append(token)
        return token

    def _shared(self, token: Token) -> Token:
        if not token.nesting or token.attrs or token.content:
            return token
        return self._alike.setdefault((token.type, token.tag, token.info, token.level), token)


class _RulesAsOne(Ruler[Rule], Generic[Rule]):
    """Replaces a complete ruler with one rule per chain, which calls the original rules."""

    def __init__(self, complete: Ruler[Rule], rules: Mapping[str, Rule]) -> None:
        super().__init__()
        self._active = complete.get_active_rules()
        self._rules = {chain: [rule] for chain, rule in rules.items()}

    def getRules(self, chainName: str = "") -> list[Rule]:  # noqa: N802, N803 - markdown-it's signature
        return self._rules[chainName]

    def get_active_rules(self) -> list[str]:
        return self._active


def _by_character(
    rules: Sequence[Rule], beginnings: Sequence[str | None]
) -> tuple[dict[str, tuple[Rule, ...]], tuple[Rule, ...]]:
    """Map characters to the rules to try there. Also return the rules to try at all other characters."""
    pairs = list(zip(rules, beginnings, strict=True))
    found = {
        character: tuple(rule for rule, others in pairs if others is None or character in others)
        for beginning in beginnings
        for character in beginning or ""
    }
    return found, tuple(rule for rule, beginning in pairs if beginning is None)


def _ask_block_rules(ruler: Ruler[BlockRule], chain: str, beginnings: Mapping[str, str]) -> BlockRule:
    known = {**_BEGINNINGS_OF_BLOCKS, **beginnings}
    names = dict(zip(ruler.getRules(""), ruler.get_active_rules(), strict=True))
    every = ruler.getRules(chain)
    by_character, others = _by_character(every, [known.get(names[rule]) for rule in every])

    def ask(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001 - a rule's signature
        position = state.bMarks[start] + state.tShift[start]
        is_empty = position >= state.eMarks[start]
        for rule in every if is_empty else by_character.get(state.src[position], others):
            if rule(state, start, end, silent):
                return True
        return False

    return ask


def _ask_once(ask: BlockRule) -> BlockRule:
    """Return a rule that caches which line ends a paragraph.

    The rule `lheading` checks line after line. If it finds no underline, the rule `paragraph` checks the same
    lines again. The cached result is valid until another token is added.
    """

    def ask_once(state: _State, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001 - a rule's signature
        if state.asked_at != len(state.tokens) or state.asked_until != end:
            state.asked_at, state.asked_until = len(state.tokens), end
            state.last_inside = state.first_outside = -1
        if start <= state.last_inside:
            return False
        if start == state.first_outside:
            return True
        if ask(state, start, end, silent):
            state.first_outside = start
            return True
        state.last_inside = start
        return False

    return cast("BlockRule", ask_once)


def _ask_inline_rules(
    ruler: Ruler[InlineRule], beginnings: Mapping[str, str], note_markup: NoteMarkup
) -> InlineRule:
    known = {**_BEGINNINGS_OF_MARKUP, **beginnings}
    names = ruler.get_active_rules()
    characters = "".join(known.get(name, "") for name in names if name != "newline")
    ruler.at("text", _take_words(characters + _END_OF_LABEL))
    rules = ruler.getRules("")
    by_character, others = _by_character(rules, [known.get(name) for name in names])

    def ask(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - a rule's signature
        start, known_count = state.pos, len(state.tokens)
        for rule in by_character.get(state.src[start], others):
            if rule(state, silent):
                if len(state.tokens) > known_count:
                    note_markup(state, start, known_count)
                return True
        return False

    return ask


def _take_words(ends: str) -> InlineRule:
    """Return the rule `text`, which consumes text up to one of the characters in `ends`.

    A line end is part of the text, unless whitespace is next to it. The rule `newline` handles line ends with
    whitespace.
    """
    ending = re.compile(rf"[{re.escape(ends)}]|(?<= )\n|\n(?=[ \t])")

    def text(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - a rule's signature
        found = ending.search(state.src, state.pos, state.posMax)
        end = found.start() if found else state.posMax
        if end == state.pos:
            return False
        if not silent:
            state.append_pending(state.src[state.pos : end])
        state.pos = end
        return True

    return text
