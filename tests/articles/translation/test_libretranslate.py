"""What only LibreTranslate's engine does, against a server that speaks its protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from monitoring.articles.translation.engines.libretranslate import LibreTranslate
from monitoring.articles.translation.engines.protocol import PermanentEngineError, TransientEngineError
from translation_servers import KEY, LibreTranslateServer, Reply

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def server() -> Iterator[LibreTranslateServer]:
    with LibreTranslateServer() as running:
        yield running


class TestRequest:
    def test_it_is_html_and_has_the_key(self, server: LibreTranslateServer) -> None:
        assert LibreTranslate(server.url, api_key=KEY).translate(["One <x1/>"], "en", "es") == ["ONE <x1/>"]
        assert server.questions[-1].body == {
            "q": ["One <x1/>"],
            "source": "en",
            "target": "es",
            "format": "html",
            "api_key": KEY,
        }

    def test_the_limits_of_its_operator_are_kept(self, server: LibreTranslateServer) -> None:
        server.batch_limit, server.char_limit = 3, 20
        segments = ["one", "two", "three", "four", "a text of more than twenty characters"]
        answers = LibreTranslate(server.url, api_key=KEY).translate(segments, "en", "es")
        assert answers == ["ONE", "TWO", "THREE", "FOUR", ""]

    def test_a_key_is_not_sent_when_there_is_none(self, server: LibreTranslateServer) -> None:
        with pytest.raises(PermanentEngineError, match="contact the server operator to get an API key"):
            LibreTranslate(server.url).translate(["one"], "en", "es")
        assert "api_key" not in server.questions[-1].body

    def test_a_path_of_the_url_is_kept(self, server: LibreTranslateServer) -> None:
        assert LibreTranslate(f"{server.url}/libre").check(["es"]) == [
            "LibreTranslate refused the request (404)"
        ]
        assert server.questions[0].path == "/libre/languages"


class TestCheck:
    def test_the_languages_installed_there_decide(self, server: LibreTranslateServer) -> None:
        engine = LibreTranslate(server.url, api_key=KEY)
        assert engine.check(["es", "pt", "ca"]) == []
        assert engine.check(["ja"]) == [
            f"LibreTranslate cannot translate into ja, but into {', '.join(server.targets)}"
        ]

    def test_a_server_that_is_away_at_the_start_is_asked_later(self, server: LibreTranslateServer) -> None:
        engine = LibreTranslate(server.url, api_key=KEY)
        server.reply_next(Reply(503), Reply(200, b"<html>"), Reply(503))
        assert engine.check(["tlh"]) == []
        assert engine.check(["tlh"]) == []
        with pytest.raises(TransientEngineError):
            engine.translate(["one"], "en", "es")
        assert engine.translate(["one"], "en", "es") == ["ONE"]
        with pytest.raises(PermanentEngineError, match="cannot translate en into tlh"):
            engine.translate(["one"], "en", "tlh")
