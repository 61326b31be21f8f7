"""Files for static site generators beside the JSON: one per locale, in the layout set by `BLOG_EXPORT`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from monitoring.articles.exports.astro import AstroExport
from monitoring.articles.exports.collections import CollectionExport, EleventyExport
from monitoring.articles.exports.hugo import HugoExport
from monitoring.articles.exports.markdown import MarkdownExport

if TYPE_CHECKING:
    from monitoring.articles.exports.protocol import Export

# Keyed by the value of BLOG_EXPORT. `json` and `none` are not here: they mean JSON alone.
EXPORTS: Mapping[str, Export] = {
    "hugo": HugoExport(),
    "astro": AstroExport(),
    "next": CollectionExport(),
    "eleventy": EleventyExport(),
    "markdown": MarkdownExport(),
}
