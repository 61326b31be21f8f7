"""Exports write files for static site generators, which are stored next to the JSON files.

There is one exported file per locale of an article, in the layout that `BLOG_EXPORT` names.
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
