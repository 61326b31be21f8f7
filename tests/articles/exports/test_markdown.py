from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from monitoring.articles.exports.markdown import MarkdownExport

PAGE = {
    "article_id": "019a9c41-0c2e-7f55-8a3b-6d1f9e4b7a12",
    "slug": "shoes",
    "locale": "es",
    "revision": 2,
    "translated_at": "2026-11-20T09:00:07.480000Z",
    "is_demonstration": False,
}


def read_front_matter(page: str) -> Any:
    return yaml.safe_load(page.split("\n---\n", 1)[0])


def make_page(*, main_image: dict[str, Any] | None = None, **article: Any) -> str:
    return MarkdownExport().write_file(PAGE | {"delivery": {"article": article, "main_image": main_image}})


class TestExportedPage:
    def test_is_front_matter_and_text(self) -> None:
        page = make_page(
            title="Zapatillas: ¿cuáles?",
            meta_description="Tres preguntas",
            tags=["correr"],
            content="# Hola\n",
            main_image={"url": "https://example.com/a.jpg", "alt": "Zapatillas"},
        )
        assert read_front_matter(page) == {
            "title": "Zapatillas: ¿cuáles?",
            "description": "Tres preguntas",
            "slug": "shoes",
            "locale": "es",
            "tags": ["correr"],
            "image": "https://example.com/a.jpg",
            "image_alt": "Zapatillas",
            "article_id": PAGE["article_id"],
            "revision": 2,
            "translated_at": PAGE["translated_at"],
        }
        assert page.endswith("---\n\n# Hola\n")

    @pytest.mark.parametrize(
        ("article", "text"),
        [
            ({"content_markdown": "**m**", "content_html": "<b>h</b>"}, "**m**"),
            ({"content": "c", "content_html": "<b>h</b>"}, "c"),
            ({"content_html": "<b>h</b>"}, "<b>h</b>"),
            ({"title": "t"}, ""),
        ],
    )
    def test_prefers_markdown_to_html(self, article: dict[str, Any], text: str) -> None:
        assert make_page(**article).split("---\n\n", 1)[1].strip() == text

    @given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="<&")))  # which are HTML's
    def test_has_any_title_on_one_line(self, title: str) -> None:
        page = make_page(title=title, content="---\n")
        assert read_front_matter(page).get("title", "") == " ".join(title.split())
