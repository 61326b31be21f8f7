"""What only DeepL's engine does, against a server that speaks its protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from articles.translation.engines_of_tests import translate_article
from monitoring.articles.translation.engines.deepl import DOCUMENTED, DeepL
from monitoring.articles.translation.engines.protocol import PermanentEngineError, TransientEngineError
from monitoring.articles.translation.terms import Terms
from translation_servers import KEY, DeepLServer, Reply

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def server() -> Iterator[DeepLServer]:
    with DeepLServer() as running:
        yield running


class TestRequest:
    def test_codes_are_told_to_be_tags_within_sentences(self, server: DeepLServer) -> None:
        DeepL(KEY, url=server.url).translate(["One <x1/>"], "en", "es")
        [question] = server.questions
        assert question.body == {
            "text": ["One <x1/>"],
            "source_lang": "EN",
            "target_lang": "ES",
            "tag_handling": "xml",
            "tag_handling_version": "v2",
            "outline_detection": False,
            "split_sentences": "nonewlines",
            "preserve_formatting": True,
        }

    def test_formality_and_the_glossary_of_the_locale_are_asked_for(self, server: DeepLServer) -> None:
        engine = DeepL(KEY, url=server.url, formality="more", glossaries={"es": "a-glossary"})
        for locale in ("es", "fr"):
            engine.translate(["One"], "en", locale)
        assert [question.body["formality"] for question in server.questions] == ["more", "more"]
        assert [question.body.get("glossary_id") for question in server.questions] == ["a-glossary", None]

    def test_a_request_has_fifty_texts_and_128_kib_at_most(self, server: DeepLServer) -> None:
        segments = [f"{number} {'ß' * 1000}" for number in range(120)]
        answers = DeepL(KEY, url=server.url).translate(segments, "en", "es")
        assert [answer.split()[0] for answer in answers] == [str(number) for number in range(120)]
        assert max(len(question.raw) for question in server.questions) <= server.max_bytes
        assert max(len(question.body["text"]) for question in server.questions) <= server.max_texts

    def test_what_is_refused_as_too_large_is_asked_for_in_halves(self, server: DeepLServer) -> None:
        server.max_bytes = 1024
        segments = ["one " * 20, "two " * 20, "three " * 20, "four " * 20, "five " * 20]
        answers = DeepL(KEY, url=server.url).translate(segments, "en", "es")
        assert answers == [segment.upper() for segment in segments]

    def test_a_path_of_the_url_is_kept(self, server: DeepLServer) -> None:
        with pytest.raises(PermanentEngineError, match="404"):
            DeepL(KEY, url=f"{server.url}/proxy").translate(["one"], "en", "es")
        assert server.questions[0].path == "/proxy/v2/translate"

    def test_a_redirect_does_not_get_the_key(self, server: DeepLServer) -> None:
        with DeepLServer() as another:
            server.reply_next(Reply(307, headers={"Location": f"{another.url}/v2/translate"}))
            with pytest.raises(PermanentEngineError, match="307"):
                DeepL(KEY, url=server.url).translate(["one"], "en", "es")
            assert not another.questions

    @pytest.mark.parametrize("text", [None, 1, ["one"]])
    def test_an_answer_that_is_no_text_is_asked_for_later(self, text: object, server: DeepLServer) -> None:
        server.reply_next(Reply(200, {"translations": [{"text": text}]}))
        with pytest.raises(TransientEngineError, match="in an unexpected format"):
            DeepL(KEY, url=server.url).translate(["one"], "en", "es")

    def test_where_tags_are_not_kept_words_go_without_them(self, server: DeepLServer) -> None:
        engine = DeepL(KEY, url=server.url)
        payload = {"article": {"content_html": "<p>Salt &amp; <b>pepper</b> are good</p><p>A &lt; B</p>"}}
        translated = translate_article(payload, engine=engine, target="ca")
        assert translated.payload == {
            "article": {"content_html": "<p>SALT &amp; <b>PEPPER</b> ARE GOOD</p><p>A &lt; B</p>"}
        }
        assert not any("tag_handling" in question.body for question in server.questions)


TERMS = Terms(
    {"": {"Polar": "Polar"}, "es": {"shoe": "zapato"}, "pt": {"shoe": "sapato"}, "pt-BR": {"shoe": "tenis"}}
)


class TestTerms:
    @staticmethod
    def engine_for(server: DeepLServer, *locales: str, **options: Any) -> DeepL:
        engine = DeepL(KEY, url=server.url, **{"terms": TERMS} | options)
        assert engine.check(locales) == []
        return engine

    @staticmethod
    def glossary_ids(server: DeepLServer) -> list[str | None]:
        asked = [question for question in server.questions if question.path == "/v2/translate"]
        return [question.body.get("glossary_id") for question in asked]

    def test_are_one_glossary_with_a_dictionary_a_language(self, server: DeepLServer) -> None:
        engine = self.engine_for(server, "es", "fr", "ca")
        assert len(server.glossaries) == 1, "none is made before it is needed"
        assert engine.translate(["Polar shoe"], "en", "es") == ["POLAR ZAPATO"]
        assert engine.translate(["Polar shoe"], "en", "fr") == ["POLAR SHOE"]
        made = server.glossaries[1]["dictionaries"]
        assert [(each["source_lang"], each["target_lang"], each["entries"]) for each in made] == [
            ("EN", "ES", "Polar\tPolar\nshoe\tzapato"),
            ("EN", "FR", "Polar\tPolar"),
        ]

    def test_are_found_again_by_other_processes_with_the_same_terms(self, server: DeepLServer) -> None:
        for _ in range(2):
            self.engine_for(server, "es").translate(["shoe"], "en", "es")
        assert self.glossary_ids(server) == ["glossary-1"] * 2
        changed = Terms({"es": {"shoe": "calzado"}})
        assert self.engine_for(server, "es", terms=changed).translate(["shoe"], "en", "es") == ["CALZADO"]
        assert len(server.glossaries) == 3

    def test_that_another_process_sends_at_the_same_moment_are_found(self, server: DeepLServer) -> None:
        self.engine_for(server, "es").translate(["shoe"], "en", "es")
        server.max_glossaries = 2
        engine = self.engine_for(server, "es")
        server.reply_next(Reply(200, {"glossaries": []}))
        assert engine.translate(["shoe"], "en", "es") == ["ZAPATO"]

    def test_of_variants_of_a_language_are_sent_where_they_agree(self, server: DeepLServer) -> None:
        self.engine_for(server, "pt", "pt-BR").translate(["shoe"], "en", "pt-BR")
        [dictionary] = server.glossaries[1]["dictionaries"]
        assert (dictionary["target_lang"], dictionary["entries"]) == ("PT", "Polar\tPolar")

    def test_do_not_replace_a_glossary_of_the_operators(self, server: DeepLServer) -> None:
        engine = self.engine_for(server, "es", "fr", glossaries={"es": "a-glossary"})
        for locale in ("es", "fr"):
            engine.translate(["shoe"], "en", locale)
        assert self.glossary_ids(server) == ["a-glossary", "glossary-1"]
        assert [each["target_lang"] for each in server.glossaries[1]["dictionaries"]] == ["FR"]

    def test_are_not_sent_where_deepl_has_no_glossaries(self, server: DeepLServer) -> None:
        self.engine_for(server, "sv").translate(["shoe"], "en", "sv")
        assert self.glossary_ids(server) == [None]

    def test_that_deepl_refuses_stop_no_translation(
        self, server: DeepLServer, own_log: pytest.LogCaptureFixture
    ) -> None:
        server.max_glossaries = 1
        engine = self.engine_for(server, "es")
        for _ in range(2):
            assert engine.translate(["shoe"], "en", "es") == ["SHOE"]
        [record] = own_log.records
        assert "Too many glossaries" in record.getMessage()

    @pytest.mark.parametrize("reply", [Reply(503), Reply(200, {"glossaries": [{}]})])
    def test_are_sent_later_if_deepl_does_not_answer(self, reply: Reply, server: DeepLServer) -> None:
        engine = self.engine_for(server, "es")
        server.reply_next(reply)
        with pytest.raises(TransientEngineError):
            engine.translate(["shoe"], "en", "es")
        assert engine.translate(["shoe"], "en", "es") == ["ZAPATO"]


class TestRefusal:
    @pytest.mark.parametrize(
        ("reply", "reason"),
        [
            (
                Reply(456, {"message": "Quota Exceeded"}),
                r"DeepL has used up its quota \(456\): Quota Exceeded",
            ),
            (Reply(403, {"message": "Invalid key"}), r"DeepL refused the key \(403\)$"),
            (
                Reply(404, {"message": "Glossary not found"}),
                r"refused the request \(404\): Glossary not found",
            ),
        ],
    )
    def test_of_quota_key_and_glossary_is_final(self, reply: Reply, reason: str, server: DeepLServer) -> None:
        server.reply_next(reply)
        with pytest.raises(PermanentEngineError, match=reason):
            DeepL(KEY, url=server.url).translate(["one"], "en", "es")


class TestCheck:
    def test_its_own_list_decides(self, server: DeepLServer) -> None:
        engine = DeepL(KEY, url=server.url)
        assert engine.check(["es", "pt", "ca"]) == []
        assert engine.check(["ja"]) == [
            "DeepL cannot translate into ja, but into ca, de, es, fr, it, pt-BR, pt-PT, sv, zh-Hans, zh-Hant"
        ]

    @pytest.mark.parametrize("reply", [Reply(503), Reply(200, b"<html>"), Reply(200, [{"lang": "es"}])])
    def test_while_it_does_not_answer_its_documentation_decides(
        self, reply: Reply, server: DeepLServer
    ) -> None:
        server.reply_next(reply, reply)
        engine = DeepL(KEY, url=server.url)
        assert engine.check(["ja"]) == []
        [problem] = engine.check(["tlh"])
        assert problem.startswith("DeepL cannot translate into tlh, but into ace, af, ")

    def test_a_key_it_refuses_is_a_problem(self, server: DeepLServer) -> None:
        assert DeepL("another", url=server.url).check(["es"]) == ["DeepL refused the key (403)"]

    def test_formality_is_demanded_only_where_it_exists(self, server: DeepLServer) -> None:
        assert DeepL(KEY, url=server.url, formality="less").check(["es", "sv"]) == [
            "DeepL has no choice of formality for sv; prefer_less applies only to locales that have it"
        ]
        assert DeepL(KEY, url=server.url, formality="prefer_less").check(["es", "sv"]) == []

    def test_the_documented_languages_have_no_english_and_only_variants_of_portuguese(self) -> None:
        assert not {"en", "pt"} & DOCUMENTED.keys()


class TestName:
    def test_changes_with_formality_and_glossaries(self) -> None:
        names = {
            DeepL(KEY).name,
            DeepL(KEY, formality="more").name,
            DeepL(KEY, glossaries={"es": "one"}).name,
            DeepL(KEY, glossaries={"es": "two"}).name,
        }
        assert len(names) == 4

    def test_stays_with_other_terms_because_the_memory_is_judged_by_them(self) -> None:
        assert DeepL(KEY, terms=TERMS).name == DeepL(KEY).name
