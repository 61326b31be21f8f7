"""From the locale a page is wanted in to the code an engine knows it by."""

from collections.abc import Iterable

# What a tag means to readers where its prefix alone would be another script, or nothing an engine lists.
_MEANT = {
    "no": "nb",
    "pt": "pt-pt",
    "zh": "zh-hans",
    "zh-hk": "zh-hant",
    "zh-mo": "zh-hant",
    "zh-tw": "zh-hant",
}
_SCRIPT_CHARACTERS = 4


def closest_code(locale: str, codes: Iterable[str]) -> str | None:
    """Find the code for a BCP 47 locale, in any case: its own, or that of its language without the region.

    A script is never given up: who reads `sr-Latn` is not served with what `sr` may be.
    """
    by_tag = {code.replace("_", "-").lower(): code for code in codes}
    tag = locale.replace("_", "-").lower()
    while tag not in by_tag:
        if tag in _MEANT:
            return by_tag.get(_MEANT[tag])
        tag, _, last = tag.rpartition("-")
        if not tag or len(last) == _SCRIPT_CHARACTERS:
            return None
    return by_tag[tag]
