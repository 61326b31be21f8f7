from __future__ import annotations

from typing import Any

import pytest

from articles.desk import ObedientEngine, deliver, read_page, states, translate, translation_of
from monitoring.articles.models import Article
from monitoring.articles.own_translations import find_own_translation, keep_own_translations
from monitoring.articles.reading import read_translation
from monitoring.articles.representations import represent_state, represent_translation

pytestmark = pytest.mark.anyio

OWN = {"title": "Zapatillas", "content": "Nuestro texto"}
TEXT = "Shoes"


class TestReading:
    @pytest.mark.parametrize(
        "told",
        [
            {"translations": {"es": OWN}},
            {"translations": {"es_ES": OWN, "fr": None, "de": 7}},
            {"translations": [{"languages_code": "es-ES", **OWN}, 7, {"title": "Of no locale"}]},
            {"localizations": [{"locale": "es", **OWN}]},
        ],
    )
    def test_is_found_in_whatever_form_it_comes(self, told: dict[str, Any]) -> None:
        assert find_own_translation({"article": told}, "es") == OWN

    @pytest.mark.parametrize(
        "told",
        [
            {"translations": {"es": 17, "en": 12}},  # Polylang
            {"translations": {"es": {"id": 17, "title": " "}}},
            {"translations": {"es-MX": OWN}},
            {"translations": {"es": {**OWN, "status": "draft"}}},
            {"translations": {"es": {**OWN, "draft": True}}},
            {"translations": "es"},
            {"localizations": None},
        ],
    )
    def test_is_none_without_words_for_everybody_in_the_locale(self, told: dict[str, Any]) -> None:
        assert find_own_translation({"article": told}, "es") is None

    @pytest.mark.parametrize("told", [{}, {"translations": {"en": 12}}, {"localizations": []}])
    def test_what_is_none_stays_as_it_came(self, told: dict[str, Any]) -> None:
        assert keep_own_translations({"article": told}, {}) == {"article": told}


@pytest.mark.usefixtures("backends")
class TestOwnTranslations:
    async def test_takes_the_place_of_ours_and_leaves_the_rest_to_the_engine(self) -> None:
        engine = ObedientEngine()
        article = await deliver(content=TEXT, excerpt="Short", translations={"es": OWN})
        await translate(article, engine)
        page = await read_page("running-shoes/es.json")
        assert page["engine"] == "publisher"
        assert page["delivery"]["article"] == {"id": "art_1", "excerpt": "es: Short", **OWN}
        assert [text for locale, text in engine.asked if locale == "es"] == ["Short"]
        other = await read_page("running-shoes/pt-BR.json")
        assert (other["engine"], other["delivery"]["article"]["content"]) == ("obedient", f"pt-BR: {TEXT}")
        assert "translations" not in other["delivery"]["article"]

    async def test_is_marked_as_the_publishers(self) -> None:
        article = await deliver(content=TEXT, translations={"es": OWN})
        await translate(article)
        marks = {}
        for locale in ("es", "pt-BR"):
            _, page = await read_translation(article.id, locale)
            state = represent_state(await translation_of(article, locale))
            answer = represent_translation(article, locale, page)
            marks[locale] = state["is_publishers_own"], answer["is_publishers_own"]
        assert marks == {"es": (True, True), "pt-BR": (False, False)}

    async def test_stands_for_the_text_under_whatever_name(self) -> None:
        article = await deliver(
            content_html=f"<p>{TEXT}</p>",
            translations={"es": {"body_markdown": "Texto", "headline": "Título"}},
        )
        await translate(article)
        page = await read_page("running-shoes/es.json")
        assert page["delivery"]["article"] == {
            "id": "art_1",
            "body_markdown": "Texto",
            "headline": "Título",
        }

    async def test_needs_no_engine_that_works(self) -> None:
        def fail(_: str) -> None:
            raise AssertionError

        article = await deliver(content=TEXT, translations={"es": OWN, "pt-BR": OWN})
        await translate(article, ObedientEngine(fail))
        assert await states(article) == {"es": "translated", "pt-BR": "translated"}

    async def test_is_no_demonstration(self) -> None:
        engine = ObedientEngine()
        engine.is_demonstration = True
        article = await deliver(content=TEXT, translations={"es": OWN})
        await translate(article, engine)
        rows = [(await translation_of(article, locale)).is_demonstration for locale in ("es", "pt-BR")]
        assert rows == [False, True]

    async def test_stays_when_the_source_changes(self) -> None:
        await deliver(content=TEXT, translations={"es": OWN})
        article = await deliver(content=f"{TEXT} last")
        await translate(article)
        page = await read_page("running-shoes/es.json")
        assert (page["revision"], page["delivery"]["article"]["content"]) == (2, OWN["content"])

    async def test_comes_later_and_beside_others(self) -> None:
        await deliver(content=TEXT, translations={"es": OWN})
        article = await deliver(translations={"pt-BR": {"content": "O texto"}})
        await translate(article)
        texts = [
            (await read_page(f"running-shoes/{locale}.json"))["delivery"]["article"]["content"]
            for locale in ("en", "es", "pt-BR")
        ]
        assert texts == [TEXT, OWN["content"], "O texto"]

    @pytest.mark.parametrize("told", [None, {**OWN, "status": "draft"}])
    async def test_is_taken_back(self, told: dict[str, Any] | None) -> None:
        await translate(await deliver(content=TEXT, translations={"es": OWN}))
        article = await deliver(translations={"es": told})
        await translate(article)
        page = await read_page("running-shoes/es.json")
        assert (page["engine"], page["delivery"]["article"]["content"]) == ("obedient", f"es: {TEXT}")
        assert (await translation_of(article)).engine == "obedient"

    async def test_makes_no_revision_when_it_comes_again(self) -> None:
        for _ in range(2):
            await deliver(content=TEXT, localizations=[{"locale": "es", **OWN}])
        assert (await Article.get()).revision == 1
        await deliver(content=TEXT)
        assert (await Article.get()).revision == 1
