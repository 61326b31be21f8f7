"""The export interface. A new export needs a module here, an entry in `EXPORTS` and a `BLOG_EXPORT` value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar, Protocol


class Export(Protocol):
    """Renders one file for each locale of an article. Has no side effects.

    The caller stores the file next to that locale's JSON file.
    """

    # Matches the file names of this export, so that its files can be removed.
    files: ClassVar[re.Pattern[str]]

    def name_file(self, locale: str) -> str:
        """Return the name of a locale's file in the article's folder."""
        ...

    def write_file(self, page: Mapping[str, Any]) -> str:
        """Return the content of the file for a page from the blog storage (see docs/blog-storage.md)."""
        ...
