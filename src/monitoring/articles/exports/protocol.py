"""What an export is. A new one is a file beside this one, a name in `EXPORTS` and in `BLOG_EXPORT`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar, Protocol


class Export(Protocol):
    """The file that a locale of an article becomes beside its JSON. Pure."""

    # Matches the names it gives, so that its files can be removed.
    files: ClassVar[re.Pattern[str]]

    def name_file(self, locale: str) -> str:
        """Name a locale's file in the article's folder."""
        ...

    def write_file(self, page: Mapping[str, Any]) -> str:
        """Write a page of the blog storage, as docs/blog-storage.md describes it, for the generator."""
        ...
