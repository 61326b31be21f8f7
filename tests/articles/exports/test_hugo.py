from __future__ import annotations

import pytest

from articles.exports.sample_pages import (
    ARTICLE_ID,
    RECEIVED_AT,
    TRANSLATED_AT,
    make_page,
    read_front_matter,
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
