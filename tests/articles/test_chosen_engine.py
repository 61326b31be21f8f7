from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from monitoring.articles.chosen_engine import make_engine
from monitoring.settings import SettingsError
from temporary_backends import make_settings
from translation_servers import KEY, DeepLServer, LibreTranslateServer, OpenAIServer, Reply

if TYPE_CHECKING:
    from pathlib import Path

SERVERS = {"deepl": DeepLServer, "libretranslate": LibreTranslateServer, "openai": OpenAIServer}


class TestTranslator:
    def test_is_none_when_none_is_configured(self, tmp_path: Path) -> None:
        assert make_engine(make_settings(tmp_path)) is None

    def test_is_the_engine_of_the_settings(self, tmp_path: Path) -> None:
        engine = make_engine(make_settings(tmp_path, translator="pseudo"))
        assert engine
        assert engine.name == "pseudo"

    @pytest.mark.parametrize("name", SERVERS)
    def test_asks_the_server_of_the_settings(self, name: str, tmp_path: Path) -> None:
        with SERVERS[name]() as server:
            engine = make_engine(
                make_settings(
                    tmp_path,
                    translator=name,
                    translator_url=server.url,
                    translator_api_key=KEY,
                    translator_rate="100/1",
                    openai_model=OpenAIServer.model,
                    openai_instructions="Say tú.",
                    deepl_formality="prefer_more",
                    deepl_glossaries="es=a-glossary",
                )
            )
            assert engine
            assert engine.name.startswith(name)
            assert engine.translate(["one"], "en", "es") == ["ONE"]
            engine.close()


class TestStart:
    @pytest.mark.parametrize(
        ("settings", "sentences"),
        [
            ({"translator": "deepl"}, ["TRANSLATOR: deepl needs TRANSLATOR_API_KEY"]),
            ({"translator": "libretranslate"}, ["TRANSLATOR: libretranslate needs TRANSLATOR_URL"]),
            (
                {"translator": "openai"},
                ["TRANSLATOR: openai needs TRANSLATOR_API_KEY", "TRANSLATOR: openai needs OPENAI_MODEL"],
            ),
        ],
    )
    def test_without_what_the_engine_needs_ends_with_a_sentence(
        self, settings: dict[str, Any], sentences: list[str], tmp_path: Path
    ) -> None:
        with pytest.raises(SettingsError) as refused:
            make_engine(make_settings(tmp_path, **settings))
        assert str(refused.value).splitlines() == sentences

    @pytest.mark.parametrize(
        ("name", "sentence"),
        [
            ("deepl", "TRANSLATOR: DeepL cannot translate into tlh, but into ca, de, es, "),
            ("libretranslate", "TRANSLATOR: LibreTranslate cannot translate into tlh, but into ca, es, "),
        ],
    )
    def test_with_a_locale_its_server_does_not_have_ends_with_a_sentence(
        self, name: str, sentence: str, tmp_path: Path
    ) -> None:
        with SERVERS[name]() as server, pytest.raises(SettingsError) as refused:
            make_engine(
                make_settings(
                    tmp_path,
                    translator=name,
                    translator_url=server.url,
                    translator_api_key=KEY,
                    locales="es,tlh",
                )
            )
        assert str(refused.value).startswith(sentence)

    @pytest.mark.parametrize(
        ("terms", "sentence"),
        [
            ("locale,term,translation\nes,,zapato\n", "TERMS_FILE: line 2 has no term"),
            (None, "TERMS_FILE: cannot be read: No such file or directory"),
        ],
    )
    @pytest.mark.parametrize("name", ["none", "pseudo"])
    def test_with_a_wrong_file_of_terms_ends_with_a_sentence(
        self, name: str, terms: str | None, sentence: str, tmp_path: Path
    ) -> None:
        file = tmp_path / "terms.csv"
        if terms is not None:
            file.write_text(terms)
        with pytest.raises(SettingsError) as refused:
            make_engine(make_settings(tmp_path, translator=name, terms_file=file))
        assert str(refused.value) == sentence

    def test_with_a_locale_apertium_does_not_have_ends_with_a_sentence(self, tmp_path: Path) -> None:
        with pytest.raises(SettingsError, match=r"^TRANSLATOR: Apertium "):
            make_engine(make_settings(tmp_path, translator="apertium", locales="es,tlh"))

    @pytest.mark.parametrize("name", ["deepl", "libretranslate"])
    def test_with_a_key_that_is_refused_tells_no_key(self, name: str, tmp_path: Path) -> None:
        with SERVERS[name]() as server:
            server.reply_next(Reply(403, {"message": f"{KEY} is unknown", "error": f"{KEY} is unknown"}))
            settings = make_settings(
                tmp_path, translator=name, translator_url=server.url, translator_api_key=KEY
            )
            with pytest.raises(SettingsError) as refused:
                make_engine(settings)
        assert "refused the key (403)" in str(refused.value)
        assert KEY not in str(refused.value)

    @pytest.mark.parametrize("name", SERVERS)
    def test_does_not_need_the_server(self, name: str, tmp_path: Path) -> None:
        with SERVERS[name]() as server:
            settings = make_settings(
                tmp_path,
                translator=name,
                translator_url=server.url,
                translator_api_key=KEY,
                openai_model=OpenAIServer.model,
            )
        assert make_engine(settings)
