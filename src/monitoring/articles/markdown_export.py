"""A page for static site generators: front matter and the article's text. Pure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Mapping


def export_page(page: Mapping[str, Any]) -> str:
    """Write a page of the blog storage as Markdown with YAML front matter.

    An article that came as HTML alone stays HTML, which Markdown allows. Missing fields are left out.
    """
    article, image = page["delivery"]["article"], page["delivery"].get("main_image") or {}
    seo = article.get("seo")
    seo = seo if isinstance(seo, dict) else {}
    front_matter = {
        "title": article.get("title"),
        "description": article.get("meta_description") or seo.get("description") or article.get("excerpt"),
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
    text = article.get("content_markdown") or article.get("content") or article.get("content_html") or ""
    written = yaml.safe_dump(present, allow_unicode=True, sort_keys=False, width=math.inf)
    return f"---\n{written}---\n\n{text.rstrip()}\n"


def _on_one_line(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Join lines: not every reader of front matter understands a value of several lines."""
    return " ".join(value.split()) if isinstance(value, str) else value
