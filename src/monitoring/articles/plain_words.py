"""Converts short texts from publishers to plain text and to folder names. Has no side effects."""

from __future__ import annotations

import html
import re
import unicodedata

from anyascii import anyascii

MAX_FOLDER_CHARACTERS = 120

# Block tags separate words, whereas inline tags may be inside a word. Other tags, such as `<Button>`, count
# as text.
_BLOCK_TAG = re.compile(
    r"</?(?:br|p|div|h[1-6]|hr|li|ul|ol|section|header|figure|figcaption)\b[^<>]*>", re.IGNORECASE
)
_INLINE_TAG = re.compile(
    r"</?(?:a|abbr|b|bdi|big|cite|code|del|dfn|em|font|i|img|ins|kbd|mark|q|s|samp|small|span|strike|strong|sub|sup|time|tt"
    r"|u|var|wbr)\b[^<>]*>|<!--.*?-->",
    re.IGNORECASE | re.DOTALL,
)
_APOSTROPHE = re.compile(r"(?<=\w)['\u2018\u2019\u02bc\u02bb\u02b9\u2032\uff07`\u00b4](?=\w)")


def read_words(text: str) -> str:
    """Return a short text, which may be HTML, as plain text on one line."""
    text = _INLINE_TAG.sub("", _BLOCK_TAG.sub(" ", text))
    return " ".join(html.unescape(text).split())


def name_folder(text: str | None) -> str:
    """Make a folder name from lower-case ASCII letters, digits and single hyphens. The name may be empty.

    Apostrophes are dropped, and other characters become hyphens, so words never merge. Letters of scripts
    that have capital letters are transliterated. Letters of other scripts are dropped.
    """
    letters = _APOSTROPHE.sub("", unicodedata.normalize("NFC", read_words(text or "")))
    latin = "".join(map(_in_latin, letters)).lower()
    return re.sub(r"[^a-z0-9]+", "-", latin).strip("-")[:MAX_FOLDER_CHARACTERS].rstrip("-")


def _in_latin(char: str) -> str:
    match unicodedata.category(char):
        case "Lu" | "Ll" | "Lt" | "Nd" | "Nl":
            return anyascii(char)
        case "No":  # fractions and superscripts
            return f" {anyascii(char)} "
        case "Mn" | "Cf":  # combining marks, soft hyphens
            return ""
        case _:
            return char if char.isascii() else " "
