"""Determines the writing scripts of languages. Has no side effects."""

import unicodedata
from functools import lru_cache

_SCRIPTS = {
    **dict.fromkeys(("ru", "uk", "bg", "sr", "mk", "be", "kk", "ky", "mn", "tg", "cyrl"), ("CYRILLIC",)),
    **dict.fromkeys(("ar", "fa", "ur", "ps", "arab"), ("ARABIC",)),
    **dict.fromkeys(("hi", "mr", "ne", "deva"), ("DEVANAGARI",)),
    **dict.fromkeys(("zh", "yue", "hans", "hant"), ("CJK",)),
    "ja": ("CJK", "HIRAGANA", "KATAKANA"),
    "ko": ("HANGUL",),
    "el": ("GREEK",),
    "he": ("HEBREW",),
    "th": ("THAI",),
    "ka": ("GEORGIAN",),
    "hy": ("ARMENIAN",),
    "bn": ("BENGALI",),
    "ta": ("TAMIL",),
    "te": ("TELUGU",),
    "kn": ("KANNADA",),
    "ml": ("MALAYALAM",),
    "gu": ("GUJARATI",),
    "km": ("KHMER",),
    "lo": ("LAO",),
    "my": ("MYANMAR",),
    "si": ("SINHALA",),
    "am": ("ETHIOPIC",),
    "pa": ("GURMUKHI",),
    "latn": ("LATIN",),
}
_WITHOUT_SPACES = {"CJK", "HIRAGANA", "KATAKANA", "HANGUL", "THAI", "LAO", "KHMER", "MYANMAR"}


def is_without_spaces(locale: str) -> bool:
    """Return whether a locale is written with few or no spaces between words."""
    return not _WITHOUT_SPACES.isdisjoint(scripts_of(locale))


@lru_cache(maxsize=256)
def scripts_of(locale: str) -> tuple[str, ...]:
    """Return the scripts of a locale, determined by its script or language subtag. The default is Latin."""
    language, *subtags = locale.lower().split("-")
    return next((_SCRIPTS[tag] for tag in (*subtags, language) if tag in _SCRIPTS), ("LATIN",))


@lru_cache(maxsize=4096)
def script_of(char: str) -> str:
    """Return the first word of a character's Unicode name, which for letters is the script."""
    return unicodedata.name(char, "").partition(" ")[0]
