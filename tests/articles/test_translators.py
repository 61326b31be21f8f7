from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from monitoring.articles.translators import build_translator
from monitoring.settings import SettingsError
from temporary_backends import make_settings

if TYPE_CHECKING:
    from pathlib import Path


class TestTranslator:
    def test_is_none_when_none_is_configured(self, tmp_path: Path) -> None:
        assert build_translator(make_settings(tmp_path)) is None

    def test_is_the_engine_of_the_settings(self, tmp_path: Path) -> None:
        engine = build_translator(make_settings(tmp_path, translator="pseudo"))
        assert engine
        assert engine.name == "pseudo"

    def test_that_cannot_serve_a_locale_stops_the_start_with_its_reasons(self, tmp_path: Path) -> None:
        with pytest.raises(SettingsError, match=r"^TRANSLATOR: "):
            build_translator(make_settings(tmp_path, translator="apertium", locales="es,tlh"))
