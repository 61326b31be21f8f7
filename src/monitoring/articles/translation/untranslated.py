"""Patterns for text that is never translated: formulas, URLs, placeholders, shortcodes, brand names.

Every quantifier is bounded, so that hostile text takes linear time.
"""

import re
from functools import lru_cache

# Formulas between dollar signs, or between TeX brackets such as "\(", which Markdown treats as escapes.
# Pandoc's rule excludes prices, so "$5 and $10" is not a formula. If text between dollar signs or square
# brackets has words, it must also have a math sign, so "$5 here, 6$ there" and "\[so the editor\]" are not
# formulas. Round brackets need no math sign, because authors hardly ever escape them for another reason.
_SIGN = r"(?:[\^_=+<>{}|]|\\[a-zA-Z,;!])"
_LINE_BREAK = r"\n(?![ \t]{0,50}\n)"  # an inline formula has no blank line
_BETWEEN_DOLLARS = rf"(?:(?!\]\(|</)(?:[^$\\`\n]|\\.|{_LINE_BREAK}))"
_BETWEEN_BRACKETS = rf"(?:[^\\\n]|\\(?![\[\]()])|{_LINE_BREAK})"
_NO_LONG_WORD = r"(?>(?:(?![^\W\d_]{3})%s){1,500})"

_FORMULA_PATTERNS = (
    r"\$\$[^$]{1,2000}\$\$",
    r"(?<![\w$\\])\$`[^`\n]{1,500}`\$",
    rf"""(?x:
        (?<![\w$\\]) \$ (?![\s$])
        (?= [^$\s]{{1,500}}\$ | [^$]{{0,500}}?{_SIGN} | {_NO_LONG_WORD % r"[^$]"}\$ )
        (?>{_BETWEEN_DOLLARS}{{1,500}})
        (?<!\s) \$ (?![\d$])
    )""",
    rf"\\{{1,2}}\((?>{_BETWEEN_BRACKETS}{{1,1000}})\\{{1,2}}\)",
    rf"""(?x:
        \\{{1,2}}\[
        (?= {_BETWEEN_BRACKETS}{{0,500}}?{_SIGN} | {_NO_LONG_WORD % _BETWEEN_BRACKETS}\\ )
        (?>{_BETWEEN_BRACKETS}{{1,1000}})
        \\{{1,2}}\]
    )""",
)
FORMULA = re.compile("|".join(_FORMULA_PATTERNS))

# TeX without dollar signs, as MathJax, Jupyter and pandoc parse it.
_TEX_ARGUMENT = r"(?:\{(?:[^{}\n]|\{[^{}\n]{0,200}\}){0,300}\}|\[[^\[\]\n]{0,200}\](?=[\[{]))"
TEX = (
    rf"\\begin\{{[A-Za-z]{{1,60}}\*?\}}(?s:.{{0,2000}}?)\\end\{{[A-Za-z]{{1,60}}\*?\}}"
    rf"|(?<!\\)\\[A-Za-z]{{1,60}}+\*?{_TEX_ARGUMENT}{{0,9}}+"
)

# The names of template tags that enclose code. Other tags, such as `{{< note >}}`, may enclose text.
_CODE_NAME = r"""(?ix:
    [\w-]{0,40}(?:code|highlight|mermaid|katex|latex|mathjax|plantuml|graphviz|diagram|chart|verbatim|literal
        |snippet|terminal|console|swagger|openapi|asciinema|script|stylesheet|filetree|file-tree)[\w-]{0,40}
    |raw[\w-]{0,40}|schema|tikz|math|tex|uml|dot|gist|prism|comment|style|css|scss|js|html|svg|json|ya?ml|toml|csv|sql|shell
    |bash|sh|cmd|commands?|output|pre|d2|kroki|goat|echarts|plotly|vega|geojson|graph|flow|sequence|gantt|abc
)"""
CODE_TAG = re.compile(
    rf"\{{%-?\s*(?P<liquid>{_CODE_NAME})(?![\w-])[^%\n]{{0,500}}%\}}"
    rf"|\{{\{{[<%]\s*(?P<hugo>{_CODE_NAME})(?![\w-])[^{{}}\n]{{0,500}}(?<!/)[>%]\}}\}}"
)
END_OF_CODE_TAG = re.compile(
    r"\{%-?\s*end_?(?P<liquid>[\w-]{1,80})\s*-?%\}|\{\{[<%]\s*/\s*(?P<hugo>[\w-]{1,80})\s*[>%]\}\}"
)
_NAMED = re.compile(r"\?P<\w+>")  # removed, because groups change what `findall` returns
CODE_BETWEEN_TAGS = _NAMED.sub("?:", rf"(?:{CODE_TAG.pattern})(?s:.{{0,2000}}?)(?:{END_OF_CODE_TAG.pattern})")

_ESCAPABLE_PATTERNS = (
    r"\{\{[^{}]{0,200}\}\}",  # {{ placeholder }}
    r"\{%[^%]{0,200}%\}",  # {% tag %}
    r"\$?\{[^{}\n]{1,200}\}",  # {name}, ${x}, {.class}
    r"%\([A-Za-z_]\w{0,60}\)[sdifr]\b|(?<![\w%])%(?:\d\$)?[sdif]\b",  # %(name)s, %s, %1$s
    r"(?:https?|ftp)://(?:[^\s<>()]|\([^\s<>()]{0,200}\)){0,2000}(?:[^\s<>()\"'.,;:!?\]*_~|]|\([^\s<>()]{0,200}\))",
    r"\bwww\.[\w.-]{1,250}\w(?:/[\w./%#?=&+-]{0,500}\w)?",
    r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}",  # e-mail addresses
    r"@ref\([\w:./-]{1,200}\)",  # bookdown writes `\@ref(name)`
    r"(?<![\w&])[@#][A-Za-z_]\w{0,60}(?:[-.:/]\w{1,60}){0,8}",  # @mention, #hashtag, @a-citation, @types/node
    r":::[a-z][\w-]{0,60} [^\n]{0,500}?:::",  # DocFX, inside a line of text
    r"%%[^%\n]{1,500}%%",  # a comment in Obsidian
    r"\[\[[^\[\]]{1,200}\]\]",  # [[wiki link]]
    r"\[/?[\w^!-]{1,60}(?:\s[^\[\]=]{0,60}=[^\[\]]{0,400})?\]|\[ \]",  # [TOC], [^1], [gallery ids="1"], [ ]
    r"(?<![\w:]):[a-z][a-z0-9_+-]{1,40}:(?![\w:])",  # :emoji:
    r"(?<!\w)[A-Za-z0-9]{1,60}(?:_[A-Za-z0-9]{1,60}){1,20}(?!\w)",  # snake_case, even outside code
)
# A backslash before a match is part of the match.
_PATTERNS = (
    *_FORMULA_PATTERNS,
    TEX,
    CODE_BETWEEN_TAGS,
    rf"(?:(?<!\\)\\)?(?:{'|'.join(_ESCAPABLE_PATTERNS)})",
)


@lru_cache(maxsize=32)
def opaque_pattern(brand_names: tuple[str, ...] = ()) -> re.Pattern[str]:
    """Return the pattern of untranslated text. Brand names match as whole words, case-sensitively."""
    longest_first = sorted(filter(None, brand_names), key=len, reverse=True)
    brands = [rf"(?<!\w){re.escape(name)}(?!\w)" for name in longest_first]
    return re.compile("|".join((*brands, *_PATTERNS)))
