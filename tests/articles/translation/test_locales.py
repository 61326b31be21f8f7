"""A locale gets the nearest language of an engine, and never another script."""

from __future__ import annotations

import pytest

from monitoring.articles.translation.engines.apertium import MODES
from monitoring.articles.translation.engines.deepl import DOCUMENTED
from monitoring.articles.translation.engines.locales import closest_code
from translation_servers import LibreTranslateServer


class TestClosestCode:
    @pytest.mark.parametrize(
        ("locale", "apertium", "deepl", "libretranslate"),
        [
            ("es", "es", "es", "es"),
            ("es-MX", "es", "es", "es"),
            ("es-419", "es", "es-419", "es"),
            ("pt", "pt", "pt-PT", "pt"),
            ("pt-PT", "pt", "pt-PT", "pt"),
            ("pt-AO", "pt", "pt-PT", "pt"),
            ("pt-BR", "pt-br", "pt-BR", "pt-BR"),
            ("ca", "ca", "ca", "ca"),
            ("zh", None, "zh", "zh-Hans"),
            ("zh-CN", None, "zh", "zh-Hans"),
            ("zh-TW", None, "zh-Hant", "zh-Hant"),
            ("zh-Hant-HK", None, "zh-Hant", "zh-Hant"),
            ("no", None, "nb", "nb"),
            ("sr-Latn", None, None, None),
            ("tlh", None, None, None),
        ],
    )
    def test_of_each_engine(
        self, locale: str, apertium: str | None, deepl: str | None, libretranslate: str | None
    ) -> None:
        lists = MODES, DOCUMENTED, LibreTranslateServer.targets
        assert [closest_code(locale, codes) for codes in lists] == [apertium, deepl, libretranslate]

    @pytest.mark.parametrize(
        "locale", ["es", "pt", "pt-BR", "no", "zh", "zh-TW", "zh-Hant-HK", "sr-Latn", "x", ""]
    )
    def test_is_none_where_the_engine_has_nothing_near(self, locale: str) -> None:
        assert closest_code(locale, ["de"]) is None

    def test_is_in_no_script_that_the_region_does_not_read(self) -> None:
        assert closest_code("zh-TW", ["zh"]) is None
