"""Exports render files for static site generators. These files are stored next to the JSON files.

Each locale of an article has one exported file, in the layout that `BLOG_EXPORT` names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from monitoring.articles.exports.astro import AstroExport
from monitoring.articles.exports.collections import CollectionExport, EleventyExport
from monitoring.articles.exports.hugo import HugoExport
from monitoring.articles.exports.markdown import MarkdownExport

if TYPE_CHECKING:
    from monitoring.articles.exports.protocol import Export

# Keyed by the value of BLOG_EXPORT. `json` and `none` have no entry, because with these values only JSON
# files are stored.
EXPORTS: Mapping[str, Export] = {
    "hugo": HugoExport(),
    "astro": AstroExport(),
    "next": CollectionExport(),
    "eleventy": EleventyExport(),
    "markdown": MarkdownExport(),
}
