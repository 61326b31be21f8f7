"""An article and its translation stand side by side, paragraph by paragraph."""

from __future__ import annotations

from typing import Any

import pytest

from articles.translation.engines_of_tests import translate_article
from monitoring.app.articles.side_by_side import (
    MAX_BLOCKS,
    MAX_CHARACTERS,
    MAX_FIELDS,
    Reading,
    direction_of,
    lay_side_by_side,
)
from monitoring.articles.translation.content_formats import TextFormat
from monitoring.articles.translation.engines.pseudo import Pseudo

PARAGRAPHS = "<p>One</p><p>Two</p>"


def texts(reading: Reading) -> dict[str, list[tuple[Any, Any]]]:
    """Return rows by label."""
    return {
        passage.label: [(row.original, row.translation) for row in passage.rows]
        for passage in reading.words + reading.texts
    }


def lay_contents(original: str, translation: str) -> list[tuple[Any, Any]]:
    reading = lay_side_by_side(
        {"article": {"content_html": original}}, {"article": {"content_html": translation}}
    )
    return texts(reading)["Content HTML"]


class TestLaySideBySide:
    def test_pairs_paragraphs_of_the_same_kinds_in_the_same_order(self) -> None:
        assert lay_contents(PARAGRAPHS, "<p>Uno</p><p>Dos</p>") == [
            ("<p>One</p>", "<p>Uno</p>"),
            ("<p>Two</p>", "<p>Dos</p>"),
        ]

    @pytest.mark.parametrize("translation", ["<p>Uno</p>", "<p>Uno</p><ul><li>Dos</li></ul>"])
    def test_shows_both_whole_where_they_do_not_match(self, translation: str) -> None:
        [(original, other)] = lay_contents(PARAGRAPHS, translation)
        assert original == "<p>One</p>\n<p>Two</p>"
        assert str(other).replace("\n", "") == translation

    def test_shows_an_original_without_a_translation(self) -> None:
        delivery = {"article": {"title": "Shoes", "content_html": PARAGRAPHS}}
        assert texts(lay_side_by_side(delivery, None)) == {
            "Title": [("Shoes", None)],
            "Content HTML": [("<p>One</p>\n<p>Two</p>", None)],
        }

    def test_names_every_field_readers_see_in_their_order(self) -> None:
        image = {"url": "https://e.example/x", "alt": "A shoe"}
        delivery = {
            "main_image": image,
            "article": {
                "images": ["https://e.example/y", image],
                "seo": {"og": {"title": "c"}},
                "metaTitle": "b",
                "title": "a",
                "slug": "never",
                "excerpt": " ",
            },
        }
        assert texts(lay_side_by_side(delivery, delivery)) == {
            "Title": [("a", "a")],
            "Meta title": [("b", "b")],
            "SEO, Open Graph, title": [("c", "c")],
            "Image 2, alt": [("A shoe", "A shoe")],
            "Main image, alt": [("A shoe", "A shoe")],
        }
        in_order = ["Title", "Meta title", "SEO, Open Graph, title", "Image 2, alt", "Main image, alt"]
        assert list(texts(lay_side_by_side(delivery, delivery))) == in_order

    def test_shows_fields_that_only_an_older_translation_has(self) -> None:
        reading = lay_side_by_side({"article": {"title": "a"}}, {"article": {"title": "b", "summary": "c"}})
        assert texts(reading) == {"Title": [("a", "b")], "Summary": [(None, "c")]}

    def test_escapes_words(self) -> None:
        [(original, _)] = texts(lay_side_by_side({"article": {"title": "<script>"}}, None))["Title"]
        assert original == "&lt;script&gt;"

    @pytest.mark.parametrize(
        ("format_name", "content", "kinds"),
        [
            ("markdown", "# <b>One</b>\n\nTwo", ["<h3><strong>One</strong></h3>", "<p>Two</p>"]),
            ("html", "# One", ["<p># One</p>"]),
            (None, "<p># One</p>", ["<p># One</p>"]),
        ],
    )
    def test_reads_content_in_its_format(
        self, format_name: str | None, content: str, kinds: list[str]
    ) -> None:
        delivery = {"article": {"content": content, "format": format_name}}
        rows = texts(lay_side_by_side(delivery, delivery))["Content"]
        assert rows == [(kind, kind) for kind in kinds]

    def test_pairs_every_paragraph_of_a_real_translation(self) -> None:
        content = "# Fit\n\nA **shoe**.\n\n1. One\n2. Two\n\n| a | b |\n|---|---|\n| c | d |\n\n> Buy\n"
        delivery = {"article": {"title": "Shoes", "content": content, "format": "markdown"}}
        translated = translate_article(delivery, engine=Pseudo(), target="es").payload
        rows = texts(lay_side_by_side(delivery, translated))["Content"]
        assert len(rows) == 5
        assert all(original != translation for original, translation in rows)


class TestLimits:
    def test_cut_a_text_of_many_paragraphs_and_keep_what_is_shown_in_pairs(self) -> None:
        source = "<p>a</p>" * (MAX_BLOCKS + 10)
        [passage] = lay_side_by_side(*[{"article": {"content_html": source}}] * 2).texts
        assert passage.is_cut
        assert len(passage.rows) == MAX_BLOCKS

    def test_cut_a_long_text_where_it_is_too_long(self) -> None:
        original = "<p>" + "a" * (MAX_CHARACTERS[TextFormat.HTML] // 2) + "</p>"
        [passage] = lay_side_by_side(
            {"article": {"content_html": original * 3}},
            {"article": {"content_html": f"<p>{'b' * 10}</p>" * 3}},
        ).texts
        assert passage.is_cut
        assert [len(row.original or "") for row in passage.rows] == [len(original)]

    def test_leave_whole_what_fits(self) -> None:
        [passage] = lay_side_by_side({"article": {"content_html": "<p>a</p>" * MAX_BLOCKS}}, None).texts
        assert not passage.is_cut

    def test_cut_words(self) -> None:
        [passage] = lay_side_by_side({"article": {"subtitle": "a" * 20_000}}, None).words
        assert passage.is_cut
        assert len(passage.rows[0].original or "") == MAX_CHARACTERS[TextFormat.PLAIN]

    def test_cut_the_number_of_fields(self) -> None:
        images = [{"alt": "a"}] * (MAX_FIELDS + 1)
        reading = lay_side_by_side({"article": {"images": images}}, None)
        assert reading.is_cut
        assert len(reading.words) == MAX_FIELDS
        assert not lay_side_by_side({"article": {"images": images[1:]}}, None).is_cut


@pytest.mark.parametrize(
    ("locale", "direction"),
    [
        ("es", "ltr"),
        ("ar", "rtl"),
        ("ar-EG", "rtl"),
        ("he", "rtl"),
        ("az-Arab", "rtl"),
        ("ku-Latn", "ltr"),
        ("fa-Latn-IR", "ltr"),
        ("pt-BR", "ltr"),
    ],
)
def test_the_direction_follows_script_or_language(locale: str, direction: str) -> None:
    assert direction_of(locale) == direction
