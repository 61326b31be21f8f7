"""Maps locales to an engine's language codes."""

from collections.abc import Iterable

# Maps a tag to the more specific tags that it usually means. For example, an engine may list only `nb`,
# `pt-PT` or `zh-Hans`, and not `no`, `pt` or `zh`. `zh-HK`, `zh-MO` and `zh-TW` are written in a different
# script from `zh`.
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
    """Return the engine's code for a BCP 47 locale, or else for its language. Ignores case.

    Returns None if the engine has neither. The script is never ignored: `sr-Latn` does not match `sr`, which
    may be in a different script.
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
