"""Lays out an article beside its translation, paragraph by paragraph, as readers see them.

Has no side effects.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from itertools import islice
from typing import Any

from markupsafe import Markup

from monitoring.app.articles.markup import Block, read_blocks
from monitoring.app.formatting import capitalize
from monitoring.articles.translation.article import Path, Texts, texts_for_readers
from monitoring.articles.translation.content_formats import TextFormat

# The most characters that are shown of a text, by its format. Even long articles are shorter than these
# limits, and a text within its limit takes less than a second to lay out. Markdown takes ten times as long as
# HTML of the same length.
MAX_CHARACTERS = {
    TextFormat.PLAIN: 10_000,
    TextFormat.HTML: 200_000,
    TextFormat.MARKDOWN: 80_000,
    TextFormat.MDX: 80_000,
}
MAX_BLOCKS = 1_000
MAX_FIELDS = 200

_RIGHT_TO_LEFT = frozenset(
    {"ar", "arc", "ckb", "dv", "fa", "he", "ks", "nqo", "ps", "sd", "syr", "ug", "ur", "yi"}
)
_RIGHT_TO_LEFT_SCRIPTS = frozenset({"adlm", "arab", "hebr", "nkoo", "syrc", "thaa"})
_WRITTEN_IN_CAPITALS = {"og": "Open Graph", "seo": "SEO", "html": "HTML", "markdown": "Markdown"}


@dataclass(frozen=True, slots=True)
class Row:
    """Two pieces of text shown side by side; None for a side without text."""

    original: Markup | None
    translation: Markup | None


@dataclass(frozen=True, slots=True)
class Passage:
    """A field of the article and its translation.

    The passage has a row for each paragraph. If the paragraphs of the two sides do not match, it has a single
    row.
    """

    label: str
    rows: list[Row]
    is_cut: bool


@dataclass(frozen=True, slots=True)
class Reading:
    """An article beside its translation. `is_cut` is true if they have more fields than are shown."""

    words: list[Passage]  # titles, descriptions and image texts, with one row each
    texts: list[Passage]
    is_cut: bool


@dataclass(frozen=True, slots=True)
class _Side:
    blocks: Sequence[Block]
    is_cut: bool

    def kinds(self, count: int | None = None) -> list[str]:
        return [block.kind for block in self.blocks[:count]]

    def join(self) -> Markup | None:
        return Markup("\n").join(block.html for block in self.blocks) if self.blocks else None


def lay_side_by_side(original: Mapping[str, Any], translation: Mapping[str, Any] | None) -> Reading:
    """Lay out an original beside its translation, which may be None.

    All HTML in the result is escaped or sanitised. Call this function in a thread, because a hostile article
    can take seconds.
    """
    ours, theirs = texts_for_readers(original), texts_for_readers(translation or {"article": {}})
    formats = {path: text_format for path, (text_format, _) in (theirs | ours).items()}
    paths = [path for path in ours | theirs if _has_words(ours, path) or _has_words(theirs, path)]
    shown = paths[:MAX_FIELDS]
    passages = {path: _pair(path, _read_side(ours, path), _read_side(theirs, path)) for path in shown}
    return Reading(
        words=[passages[path] for path in shown if formats[path] is TextFormat.PLAIN],
        texts=[passages[path] for path in shown if formats[path] is not TextFormat.PLAIN],
        is_cut=len(paths) > MAX_FIELDS,
    )


def direction_of(locale: str) -> str:
    """Return the value of HTML's `dir` for a locale: `rtl` or `ltr`."""
    language, *others = locale.lower().split("-")
    script = next((part for part in others if len(part) == 4), None)  # noqa: PLR2004 - ISO 15924
    is_right_to_left = script in _RIGHT_TO_LEFT_SCRIPTS if script else language in _RIGHT_TO_LEFT
    return "rtl" if is_right_to_left else "ltr"


def _has_words(texts: Texts, path: Path) -> bool:
    return path in texts and bool(texts[path][1].strip())


def _read_side(texts: Texts, path: Path) -> _Side:
    text_format, text = texts.get(path, (TextFormat.PLAIN, ""))
    source = text[: MAX_CHARACTERS[text_format]]
    is_cut = len(source) < len(text)
    if text_format is TextFormat.PLAIN:
        return _Side([Block("words", Markup.escape(unescape(source)))] if text.strip() else [], is_cut)
    if text_format.is_markdown:
        from monitoring.app.articles.markdown import render_markdown  # noqa: PLC0415 - 2 MiB, as `nh3`

        source = render_markdown(source)
    blocks = list(islice(read_blocks(source), MAX_BLOCKS + 1))
    is_cut |= len(blocks) > MAX_BLOCKS
    if is_cut and len(blocks) > 1:
        blocks.pop()  # the last block is beyond the limit, or may be truncated
    return _Side(blocks, is_cut)


def _pair(path: Path, original: _Side, translation: _Side) -> Passage:
    """Return a row for each pair of blocks if both sides have the same kinds of blocks in the same order.

    Otherwise, return a single row.
    """
    label = _label(path)
    is_cut = original.is_cut or translation.is_cut
    count = min(len(original.blocks), len(translation.blocks))
    # If one side is truncated, only as many blocks as both sides have can be compared.
    is_alike = original.kinds(count if is_cut else None) == translation.kinds(count if is_cut else None)
    if is_alike and count:
        both = zip(original.blocks, translation.blocks, strict=False)
        return Passage(label, [Row(ours.html, theirs.html) for ours, theirs in both], is_cut)
    return Passage(label, [Row(original.join(), translation.join())], is_cut)


def _label(path: Path) -> str:
    """Return a field's label: `("article", "images", 0, "alt")` gives "Image 1, alt"."""
    parts: list[str] = []
    for part in path[1:] if path[0] == "article" else path:
        if isinstance(part, int):
            parts[-1] = f"{parts[-1].removesuffix('s')} {part + 1}"
        else:
            spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", part).lower().split("_")
            parts.append(" ".join(_WRITTEN_IN_CAPITALS.get(word, word) for word in spaced))
    label = ", ".join(parts)
    return capitalize(label)
