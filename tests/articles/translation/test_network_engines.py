"""What the engines asked over HTTP have in common: DeepL, LibreTranslate and language models."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from articles.translation.engines_of_tests import FunctionEngine, translate_article
from articles.translation.structures import html_structure, markdown_structure
from monitoring.articles.translation.engines.deepl import DeepL
from monitoring.articles.translation.engines.libretranslate import LibreTranslate
from monitoring.articles.translation.engines.openai_compatible import OpenAICompatible
from monitoring.articles.translation.engines.protocol import PermanentEngineError, TransientEngineError
from monitoring.articles.translation.engines.throttle import Throttle
from monitoring.articles.translation.inline_codes import CODE
from translation_servers import (
    HANG_UP,
    KEY,
    SILENCE,
    DeepLServer,
    LibreTranslateServer,
    OpenAIServer,
    Reply,
    in_capitals,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from monitoring.articles.translation.engines.protocol import Engine
    from translation_servers import TranslationServer

ARTICLE = json.loads((Path(__file__).parents[3] / "docs" / "examples" / "article.json").read_text())
SERVERS = {"deepl": DeepLServer, "libretranslate": LibreTranslateServer, "openai": OpenAIServer}


@pytest.fixture(params=SERVERS)
def server(request: pytest.FixtureRequest) -> Iterator[TranslationServer]:
    with SERVERS[request.param]() as running:
        yield running


@pytest.fixture
def engine(server: TranslationServer) -> Iterator[Engine]:
    """Make the server's engine. LibreTranslate's has already asked for the languages."""
    engine = engine_for(server)
    engine.check(["es"])
    server.questions.clear()
    yield engine
    engine.close()


def engine_for(server: TranslationServer, key: str = KEY, **options: Any) -> Engine:
    match server:
        case DeepLServer():
            return DeepL(key, url=server.url, **options)
        case LibreTranslateServer():
            return LibreTranslate(server.url, api_key=key, **options)
        case _:
            return OpenAICompatible(key, url=server.url, model=OpenAIServer.model, **options)


class TestArticle:
    def test_words_are_translated_and_markup_is_not(self, engine: Engine) -> None:
        translated = translate_article(ARTICLE, engine=engine, target="es")
        assert translated.payload == translate_article(ARTICLE, engine=CAPITALS, target="es").payload
        assert translated.payload["article"]["title"] == "HOW TO CHOOSE RUNNING SHOES"
        assert "**FITS**" in translated.payload["article"]["content"]
        assert not translated.refused_count

    def test_broken_codes_leave_the_markup_whole(self, engine: Engine, server: TranslationServer) -> None:
        server.translate = lambda text: CODE.sub("", in_capitals(text))
        before, after = ARTICLE["article"], translate_article(ARTICLE, engine=engine, target="es").payload
        article = after["article"]
        assert html_structure(article["content_html"]) == html_structure(before["content_html"])
        assert markdown_structure(article["content"]) == markdown_structure(before["content"])
        assert "**FITS**" in article["content"]

    def test_a_hostile_engine_writes_no_markup(self, engine: Engine, server: TranslationServer) -> None:
        server.translate = lambda text: f"{text}<img src=x onerror=alert(1)>"
        article = translate_article(ARTICLE, engine=engine, target="es").payload["article"]
        assert html_structure(article["content_html"]) == html_structure(ARTICLE["article"]["content_html"])


CAPITALS = FunctionEngine(in_capitals)


class TestTranslate:
    def test_answers_come_in_order_from_as_many_requests_as_it_takes(
        self, engine: Engine, server: TranslationServer
    ) -> None:
        segments = [f"shoe number {number}" for number in range(123)]
        assert engine.translate(segments, "en", "es") == [segment.upper() for segment in segments]
        assert len(server.questions) > 1

    def test_a_text_beyond_all_limits_is_answered_by_nothing(self, engine: Engine) -> None:
        too_long = "shoe " * 40_000
        assert engine.translate(["one", too_long, "two"], "en", "es") == ["ONE", "", "TWO"]

    def test_codes_and_escaped_characters_survive(self, engine: Engine) -> None:
        [answer] = engine.translate(["<g1>Salt &amp; <x2/></g1> is <g3>good</g3>"], "en", "es")
        assert answer.replace("&amp;", "&") == "<g1>SALT & <x2/></g1> IS <g3>GOOD</g3>"

    def test_characters_that_no_request_can_carry_are_left_out(self, engine: Engine) -> None:
        assert engine.translate(["a\x00b\ud800c\ufffed"], "en", "es") == ["ABCD"]

    def test_nothing_is_asked_for_nothing(self, engine: Engine, server: TranslationServer) -> None:
        assert engine.translate([], "en", "es") == []
        assert not server.questions

    def test_threads_get_their_own_answers(self, engine: Engine) -> None:
        words = [f"word {number}" for number in range(40)]
        with ThreadPoolExecutor(8) as threads:
            answers = list(threads.map(lambda word: engine.translate([word], "en", "es"), words))
        assert answers == [[word.upper()] for word in words]

    def test_another_source_than_english_is_refused(self, engine: Engine) -> None:
        with pytest.raises(PermanentEngineError, match="de"):
            engine.translate(["Schuh"], "de", "es")


class TestFailure:
    @pytest.mark.parametrize(
        ("reply", "reason", "retry_after_seconds"),
        [
            (Reply(429, headers={"Retry-After": "7"}), r"received too many requests \(429\)", 7),
            (Reply(429), r"received too many requests \(429\)", None),
            (Reply(500, b"<h1>oops</h1>"), r"failed \(500\)", None),
            (Reply(503, headers={"Retry-After": "120"}), r"failed \(503\)", 120),
            (Reply(504), r"failed \(504\)", None),
            (Reply(529), r"failed \(529\)", None),
            (Reply(200, b"<html>"), "return", None),
            (Reply(200, b""), "return", None),
            (Reply(200, []), "return", None),
            (Reply(200, {"translations": [], "translatedText": [], "choices": []}), "return", None),
            (Reply(200, {"translations": [{}], "translatedText": [1], "choices": [{}]}), "return", None),
        ],
    )
    def test_of_the_server_is_tried_again(
        self,
        reply: Reply,
        reason: str,
        retry_after_seconds: float | None,
        engine: Engine,
        server: TranslationServer,
    ) -> None:
        server.reply_next(reply)
        with pytest.raises(TransientEngineError, match=reason) as failure:
            engine.translate(["one"], "en", "es")
        assert failure.value.retry_after_seconds == retry_after_seconds
        assert len(server.questions) == 1, "no library may try again by itself"

    @pytest.mark.parametrize("status", [400, 401, 402, 403, 404])
    def test_of_the_request_is_final(self, status: int, engine: Engine, server: TranslationServer) -> None:
        server.reply_next(Reply(status, {"message": "No", "error": "No"}))
        with pytest.raises(PermanentEngineError, match=rf"\({status}\)"):
            engine.translate(["one"], "en", "es")

    def test_to_answer_in_time_is_tried_again(self, server: TranslationServer) -> None:
        engine = engine_for(server, timeout_seconds=0.2)
        engine.check(["es"])
        server.reply_next(SILENCE)
        with pytest.raises(TransientEngineError, match="did not respond"):
            engine.translate(["one"], "en", "es")

    def test_to_answer_at_all_is_tried_again(self, server: TranslationServer) -> None:
        engine = engine_for(server)
        engine.check(["es"])
        server.reply_next(HANG_UP)
        with pytest.raises(TransientEngineError, match="did not respond"):
            engine.translate(["one"], "en", "es")

    def test_tells_no_secret(self, engine: Engine, server: TranslationServer) -> None:
        for status in (400, 401, 403, 429, 500):
            told = f"The key {KEY} is no good"
            server.reply_next(Reply(status, {"message": told, "error": {"message": told}}))
            with pytest.raises((TransientEngineError, PermanentEngineError)) as failure:
                engine.translate(["one"], "en", "es")
            assert KEY[:6] not in str(failure.value)
            assert server.url not in str(failure.value)

    def test_of_the_key_is_final(self, server: TranslationServer) -> None:
        engine = engine_for(server, "another-key")
        with pytest.raises(PermanentEngineError, match=r"refused the key \(40[13]\)$"):
            engine.translate(["one"], "en", "es")


class TestClose:
    def test_nothing_is_asked_any_more(self, server: TranslationServer) -> None:
        engine = engine_for(server, throttle=Throttle())
        engine.check(["es"])
        asked = len(server.questions)
        engine.close()
        with pytest.raises(TransientEngineError, match="stopped"):
            engine.translate(["one"], "en", "es")
        assert len(server.questions) == asked


class TestName:
    def test_fits_the_memory_and_a_label(self, engine: Engine) -> None:
        assert re.fullmatch(r"[\w.:/-]{1,100}", engine.name)
