"""Exports pages in the layout of version 0.1.0, such as `shoes/pt-BR.md`, for sites that still use it.

Has no side effects.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

from monitoring.articles.exports.pages import (
    LOCALE,
    StoredPage,
    find_description,
    find_source,
    write_yaml,
)
from monitoring.articles.submissions import read_title


class MarkdownExport:
    """Markdown with YAML front matter. If the publisher sent only HTML, the text stays HTML."""

    files: ClassVar[re.Pattern[str]] = re.compile(rf"{LOCALE}\.md")

    def name_file(self, locale: str) -> str:
        """Return the locale's file name."""
        return f"{locale}.md"

    def write_file(self, page: StoredPage) -> str:
        """Return a page as text with YAML front matter. Missing fields are omitted."""
        article, image = page["delivery"]["article"], page["delivery"].get("main_image") or {}
        front_matter = {
            "title": read_title(page["delivery"]),
            "description": find_description(page),
            "slug": page["slug"],
            "locale": page["locale"],
            "date": page["delivery"].get("published_at") or article.get("published_at"),
            "tags": article.get("tags"),
            "image": image.get("url"),
            "image_alt": image.get("alt"),
            "article_id": page["article_id"],
            "revision": page["revision"],
            "translated_at": page["translated_at"],
            "is_demonstration": page["is_demonstration"] or None,
        }
        present = {
            name: _on_one_line(value) for name, value in front_matter.items() if value not in (None, "", [])
        }
        text, _ = find_source(article)
        return f"---\n{write_yaml(present, sort_keys=False)}---\n\n{text.rstrip()}\n"


def _on_one_line(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Join the lines of a string, because not every front matter parser supports multi-line values."""
    return " ".join(value.split()) if isinstance(value, str) else value
