from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from articles.exports.sample_pages import (
    ARTICLE_ID,
    PUBLISHED_AT,
    RECEIVED_AT,
    TRANSLATED_AT,
    make_page,
    read_front_matter,
    read_text,
)
from monitoring.articles.exports import EXPORTS


def write(name: str = "astro", **page: Any) -> str:
    return EXPORTS[name].write_file(make_page(**page))


class TestFrontMatter:
    def test_has_what_a_schema_asks_for_and_dates_that_are_dates(self) -> None:
        file = write(
            title="Tênis: quais?",
            meta_description="Três perguntas",
            tags=["corrida"],
            content="Olá\n",
            delivery={
                "main_image": {"url": "https://example.com/a.jpg", "alt": "Tênis"},
                "published_at": "2026-11-20T09:00:00Z",
            },
        )
        assert read_front_matter(file) == {
            "title": "Tênis: quais?",
            "description": "Três perguntas",
            "lang": "pt-BR",
            "translationKey": "shoes",
            "date": PUBLISHED_AT,
            "lastmod": TRANSLATED_AT,
            "tags": ["corrida"],
            "image": "https://example.com/a.jpg",
            "image_alt": "Tênis",
            "article_id": ARTICLE_ID,
            "revision": 2,
        }
        assert read_text(file) == "Olá\n"

    def test_has_a_title_and_a_date_whatever_was_sent(self) -> None:
        front_matter = read_front_matter(
            write(content="Olá", published_at="some day", seo={"description": 7})
        )
        assert (front_matter["title"], front_matter["date"]) == ("shoes", RECEIVED_AT)
        assert "description" not in front_matter

    def test_does_not_lie_in_the_future_where_generators_leave_it_out(self) -> None:
        assert read_front_matter(write(title="t", published_at="2030-01-01"))["date"] == RECEIVED_AT

    def test_says_that_a_demonstration_is_a_draft(self) -> None:
        assert read_front_matter(write(title="t", is_demonstration=True))["draft"] is True

    def test_has_only_tags_that_can_be_paths(self) -> None:
        tags = ["a  b", "C#", "CI/CD", "a  b", "..", "/", "../up", "", 7, {"id": 8}]
        assert read_front_matter(write(title="t", tags=tags))["tags"] == ["a b", "C#", "CI/CD"]

    def test_of_eleventy_names_neither_collections_nor_an_engine_that_runs_text(self) -> None:
        front_matter = read_front_matter(write("eleventy", title="t", tags=["constructor"]))
        assert "tags" not in front_matter
        assert (front_matter["keywords"], front_matter["templateEngineOverride"]) == (["constructor"], "md")

    @pytest.mark.parametrize("title", ["1e3", "0o17", "true", "~", "2026-11-20"])
    def test_quotes_what_some_reader_takes_for_something_else(self, title: str) -> None:
        assert f'title: "{title}"\n' in write(title=title)

    @given(st.text(st.characters(exclude_categories=["Cs"])))
    def test_has_any_title_on_one_line(self, title: str) -> None:
        file = write(title=title, content="---\n")
        assert read_front_matter(file)["title"] == (" ".join(title.split()) or "shoes")


class TestText:
    @pytest.mark.parametrize(
        ("article", "text"),
        [
            ({"content_markdown": "**m**", "content": "c", "content_html": "<b>h</b>"}, "**m**"),
            ({"content": "c", "content_html": "<b>h</b>"}, "c"),
            ({"content": "---\ntitle: own\n---\n\n# Olá"}, "# Olá"),
            ({"content_html": "<b>h</b>"}, "<div>\n<b>h</b>\n</div>"),
            ({"content": "<b>h</b>", "format": "html"}, "<div>\n<b>h</b>\n</div>"),
            ({"title": "t"}, ""),
        ],
    )
    def test_is_markdown_and_html_stays_html(self, article: dict[str, Any], text: str) -> None:
        assert read_text(write(**article)).strip() == text

    def test_of_html_is_no_markdown_after_blank_lines(self) -> None:
        html = "<p>a</p>\n\n    <p>*b*</p>\n \n<!--\n\n--><a\n\nhref='/'>c</a><script>d\n\n*e*</script>"
        text = read_text(write(content_html=html))
        assert MarkdownIt().render(text) == text
        assert "&#10;" not in text

    def test_keeps_the_blank_lines_of_code(self) -> None:
        text = read_text(write(content_html="<pre>a\n\n \n*b*</pre>\n\n<p>c</p>"))
        assert text == "<div>\n<pre>a&#10;&#10;\n*b*</pre>\n<p>c</p>\n</div>\n"
        assert MarkdownIt().render(text) == text


class TestPicturesForAstro:
    """Astro fails if an image is missing, but does not look in HTML."""

    @pytest.mark.parametrize(
        ("content", "expected"),
        [
            ("![a](a.png)\n**b**", '<img src="a.png" alt="a"><!-- -->\n**b**'),
            (
                "> - ![a *b* `c`](<a b.png> 'd \"e\"')\n>   f",
                '> - <img src="a%20b.png" alt="a b c" title="d &quot;e&quot;"><!-- -->\n>   f',
            ),
            (
                "|![a](b)|c\\|![d\\|e](f)|\n|-|-|",
                '|<img src="b" alt="a"><!-- -->|c\\|<img src="f" alt="d&#124;e"><!-- -->|\n|-|-|',
            ),
            ("[^1]: a\n\n    ![b](c)", '[^1]: a\n\n    <img src="c" alt="b"><!-- -->'),
            ("![a][b]\n\n[b]: c", '<img src="c" alt="a"><!-- -->\n\n[b]: c'),
            ("[![a](b)](c) {![d](e)}", '[<img src="b" alt="a"><!-- -->](c) {<img src="e" alt="d"><!-- -->}'),
            ("![![a](b)](c)", '<img src="c" alt="a"><!-- -->'),
            (
                "![a](https://) ![b](https://[)",
                '<img src="https://" alt="a"><!-- --> <img src="https://%5B" alt="b"><!-- -->',
            ),
            ("![a](@/b) ![c](d:e)", '<img src="@/b" alt="a"><!-- --> <img src="d:e" alt="c"><!-- -->'),
            ("*[" * 1_001 + "![a](b)", "*[" * 1_001 + "!&#91;a](b)"),
        ],
    )
    def test_are_html_if_their_addresses_may_be_files(self, content: str, expected: str) -> None:
        assert read_text(write(content=content)) == f"{expected}\n"

    @pytest.mark.parametrize(
        "content",
        ["![a](/b)", "![a](https://a.example/b)", "![](#a)", "![]()", "`![a](b)`", "    ![a](b)\n\nc"],
    )
    def test_stay_as_they_are_if_not(self, content: str) -> None:
        assert read_text(write(content=content)) == f"{content}\n"

    @pytest.mark.parametrize(
        ("delivery", "url", "address"),
        [
            ({"website": {"baseUrl": "https://a.example/blog"}}, None, "https://a.example/blog/b"),
            ({"website": {"baseUrl": "https://a.example"}}, "https://a.example/c/d", "https://a.example/c/b"),
            ({"website": {"baseUrl": 5}}, 7, "b"),
            ({"website": None}, "https://[", "b"),
        ],
    )
    def test_have_whole_addresses_if_the_site_is_known(
        self, delivery: dict[str, Any], url: Any, address: str
    ) -> None:
        text = read_text(write(content="![a](b)", url=url, delivery=delivery))
        assert text == f'<img src="{address}" alt="a"><!-- -->\n'

    def test_are_no_images_in_what_would_take_too_much_memory(self) -> None:
        content = "![a](b)" * 200_000
        assert "![" not in read_text(write(content=content))

    def test_are_left_alone_in_other_exports(self) -> None:
        assert read_text(write("next", content="![a](b)")) == "![a](b)\n"
