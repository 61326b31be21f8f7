r"""Finds formulas among words: in dollars, or in TeX's brackets, which to Markdown are escaped signs.

Pandoc's rule tells dollars from prices: "$5 and $10" is no formula. Words without a sign of mathematics are
none either in dollars and square brackets, which writers escape for other reasons: "$5 here, 6$ there",
"\[so the editor\]". Hardly anybody escapes round brackets. Every quantifier is bounded.
"""

import re

_SIGN = r"(?:[\^_=+<>{}|]|\\[a-zA-Z,;!])"
_LINE_BREAK = r"\n(?![ \t]{0,50}\n)"  # a formula among words has no blank line
_BETWEEN_DOLLARS = rf"(?:(?!\]\(|</)(?:[^$\\`\n]|\\.|{_LINE_BREAK}))"
_BETWEEN_BRACKETS = rf"(?:[^\\\n]|\\(?![\[\]()])|{_LINE_BREAK})"
_NO_LONG_WORD = r"(?>(?:(?![^\W\d_]{3})%s){1,500})"

PATTERNS = (
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
FORMULA = re.compile("|".join(PATTERNS))
