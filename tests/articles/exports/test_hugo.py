from __future__ import annotations

import pytest

from articles.exports.sample_pages import (
    ARTICLE_ID,
    RECEIVED_AT,
    TRANSLATED_AT,
    make_page,
    read_front_matter,
    read_text,
)
from monitoring.articles.exports.hugo import HugoExport, escape_shortcodes


class TestHugoExport:
    def test_names_languages_as_hugo_does(self) -> None:
        names = [HugoExport().name_file(locale) for locale in ("en", "pt-BR", "zh-Hant")]
        assert names == ["index.en.md", "index.pt-br.md", "index.zh-hant.md"]

    def test_uses_hugos_own_names(self) -> None:
        image = {"url": "https://example.com/a.jpg", "alt": "Tênis"}
        page = make_page(
            title="Tênis",
            excerpt="Três perguntas",
            tags=["corrida"],
            is_demonstration=True,
            delivery={"main_image": image},
        )
        assert read_front_matter(HugoExport().write_file(page)) == {
            "title": "Tênis",
            "description": "Três perguntas",
            "slug": "shoes",
            "translationKey": "shoes",
            "date": RECEIVED_AT,
            "lastmod": TRANSLATED_AT,
            "tags": ["corrida"],
            "images": ["https://example.com/a.jpg"],
            "image_alt": "Tênis",
            "article_id": ARTICLE_ID,
            "revision": 2,
            "draft": True,
        }


class TestHeadingIds:
    IDS = ("fit-first", "wear", "fit-first-1", "own", "tag", "last")
    TEXT = """\
[Lleva](#desgaste) y [otro](#prueba-primero) y [suyo](#suyo)

# Prueba primero

> ## Desgaste ##

Prueba primero
---
### Suyo {#own}
<h4>Etiqueta</h4>

- # Último
"""

    def test_are_those_of_the_english_headings_wherever_hugo_makes_one(self) -> None:
        page = {**make_page(content=self.TEXT, format="markdown"), "heading_ids": self.IDS}
        assert (
            read_text(HugoExport().write_file(page))
            == """\
[Lleva](#wear) y [otro](#fit-first) y [suyo](#suyo)

# Prueba primero {#fit-first}

> ## Desgaste ## {#wear}

Prueba primero {#fit-first-1}
---
### Suyo {#own}
<h4>Etiqueta</h4>

- # Último {#last}
"""
        )

    @pytest.mark.parametrize(
        "ids", [(), IDS[1:], ("prueba-primero", "desgaste", "prueba-primero-1", "", "", "")]
    )
    def test_stay_as_they_are_if_there_are_none_or_others_or_the_same(self, ids: tuple[str, ...]) -> None:
        page = {**make_page(content=self.TEXT, format="markdown"), "heading_ids": ids}
        text = read_text(HugoExport().write_file(page))
        assert text == self.TEXT


class TestEscapeShortcodes:
    """test_generators.py shows that Hugo prints these as they were."""

    @pytest.mark.parametrize(
        ("text", "escaped"),
        [
            ("{{ name }} {% raw %} {x}", "{{ name }} {% raw %} {x}"),
            ("a {{< evil >}} b {{% worse %}} c", "a {{</* evil */>}} b {{%/* worse */%}} c"),
            ("{{</* x */>}}", "{{</*/* x */*/>}}"),
            ("{{< {{% x %}} >}}", "{{</* {{% x %}} */>}}"),
            ("{{<>}}", "{{</**/>}}"),
            ("{{{< x >}}}", "{{{</* x */>}}}"),
            ("{{< a >}} {{< b", "{{</* a */>}} {{&lt; b"),
            ("{{% a >}}", "{{&#37; a >}}"),
        ],
    )
    def test_leaves_nothing_for_hugo_to_run(self, text: str, escaped: str) -> None:
        assert escape_shortcodes(text) == escaped

    def test_takes_linear_time(self) -> None:
        openings = "{{<{{%" * 100_000
        assert escape_shortcodes(openings) == "{{&lt;{{&#37;" * 100_000
