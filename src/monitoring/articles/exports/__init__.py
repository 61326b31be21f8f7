"""What static site generators read beside the JSON: one file a locale, laid out as `BLOG_EXPORT` says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from monitoring.articles.exports.collections import CollectionExport, EleventyExport
from monitoring.articles.exports.hugo import HugoExport
from monitoring.articles.exports.markdown import MarkdownExport

if TYPE_CHECKING:
    from monitoring.articles.exports.protocol import Export

# By the value of BLOG_EXPORT. The others, `json` and `none`, mean JSON alone.
EXPORTS: Mapping[str, Export] = {
    "hugo": HugoExport(),
    "astro": CollectionExport(),
    "next": CollectionExport(),
    "eleventy": EleventyExport(),
    "markdown": MarkdownExport(),
}
