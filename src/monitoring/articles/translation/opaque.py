"""Text among words that is never translated: URLs, placeholders, shortcodes, brand names."""

import re
from functools import lru_cache

from monitoring.articles.translation import formulas

# Every quantifier is bounded, so that hostile text costs linear time.
_PATTERNS = (
    *formulas.PATTERNS,
    r"\{\{[^{}]{0,200}\}\}",  # {{ placeholder }}
    r"\{%[^%]{0,200}%\}",  # {% tag %}
    r"\$?\{[^{}\n]{1,200}\}",  # {name}, ${x}, {.class}
    r"%\([A-Za-z_]\w{0,60}\)[sdifr]\b|(?<![\w%])%(?:\d\$)?[sdif]\b",  # %(name)s, %s, %1$s
    r"(?:https?|ftp)://(?:[^\s<>()]|\([^\s<>()]{0,200}\)){0,2000}(?:[^\s<>()\"'.,;:!?\]*_~|]|\([^\s<>()]{0,200}\))",
    r"\bwww\.[\w.-]{1,250}\w(?:/[\w./%#?=&+-]{0,500}\w)?",
    r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}",  # e-mail addresses
    r"(?<![\w&])[@#][A-Za-z_]\w{0,60}",  # @mention, #hashtag
    r"\[\[[^\[\]]{1,200}\]\]",  # [[wiki link]]
    r"\[/?[\w^!-]{1,60}(?:\s[^\[\]=]{0,60}=[^\[\]]{0,400})?\]|\[ \]",  # [TOC], [^1], [gallery ids="1"], [ ]
    r"(?<![\w:]):[a-z][a-z0-9_+-]{1,40}:(?![\w:])",  # :emoji:
)


@lru_cache(maxsize=32)
def opaque_pattern(brand_names: tuple[str, ...] = ()) -> re.Pattern[str]:
    """Match text that is never translated. Brand names match as whole words, in their own case."""
    longest_first = sorted(filter(None, brand_names), key=len, reverse=True)
    brands = [rf"(?<!\w){re.escape(name)}(?!\w)" for name in longest_first]
    return re.compile("|".join((*brands, *_PATTERNS)))
