"""People have the last word: corrections stand above every engine, and survive new revisions."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from articles.desk import Gate, ObedientEngine, deliver, read_page, states, translate
from monitoring.articles.corrections import (
    BrokenCodes,
    TranslatedSegment,
    UnknownSegment,
    correct,
    list_segments,
    take_back_correction,
)
from monitoring.articles.models import PublicationStatus, TranslationMemory
from monitoring.articles.retranslation import TranslationFilter, retranslate
from monitoring.articles.translation.translated_segments import segment_hash
from monitoring.articles.withdrawal import PUBLISHER, withdraw_article
from monitoring.audit.actors import Actor

if TYPE_CHECKING:
    from monitoring.articles.models import Article

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("backends")]

TITLE = "Running shoes"
EDITOR = Actor("an editor")
SENTENCE = "Fit <g1>beats</g1> shine."


@pytest.fixture
async def article(backends: object) -> Article:  # noqa: ARG001
    article = await deliver(TITLE, content="Fit **beats** shine.", format="markdown")
    await translate(article)
    return article


async def title_of(article: Article, locale: str = "es") -> str:
    return str((await read_page(f"{article.slug}/{locale}.json"))["delivery"]["article"]["title"])


async def test_segments_are_listed_with_the_engines_words(article: Article) -> None:
    assert await list_segments(article, "es") == [
        TranslatedSegment(segment_hash(TITLE), TITLE, f"es: {TITLE}", is_corrected=False),
        TranslatedSegment(segment_hash(SENTENCE), SENTENCE, f"es: {SENTENCE}", is_corrected=False),
    ]


async def test_a_correction_replaces_the_engines_words_in_one_locale_and_is_marked(article: Article) -> None:
    assert await correct(article, "es", {segment_hash(SENTENCE): "Manda el <g1>ajuste</g1>."}, EDITOR) == 1
    assert await states(article) == {"es": "queued", "pt-BR": "translated"}
    await translate(article)
    page = await read_page(f"{article.slug}/es.json")
    assert page["delivery"]["article"]["content"] == "Manda el **ajuste**."
    assert page["corrected_segments"] == 1
    _, corrected = await list_segments(article, "es")
    assert (corrected.text, corrected.is_corrected) == ("Manda el <g1>ajuste</g1>.", True)
    assert (await read_page(f"{article.slug}/pt-BR.json"))["corrected_segments"] == 0


async def test_a_correction_that_no_engine_could_give_is_taken(article: Article) -> None:
    await correct(article, "es", {segment_hash(TITLE): "I'm sorry, 3 shoes"}, EDITOR)
    await translate(article)
    assert await title_of(article) == "I'm sorry, 3 shoes"


async def test_a_correction_survives_a_new_revision_another_engine_and_a_forgotten_memory(
    article: Article,
) -> None:
    await correct(article, "es", {segment_hash(TITLE): "Zapatillas"}, EDITOR)
    await deliver(TITLE, content="Another text.", format="markdown")
    engine = ObedientEngine()
    engine.name = "another"
    await translate(article, engine)
    assert await title_of(article) == "Zapatillas"
    await retranslate(TranslationFilter(article.id), forgets_memory=True)
    await translate(article, engine)
    assert await title_of(article) == "Zapatillas"


async def test_a_correction_that_is_taken_back_leaves_the_engines_words(article: Article) -> None:
    await correct(article, "es", {segment_hash(TITLE): "Zapatillas"}, EDITOR)
    assert await take_back_correction(article, "es", segment_hash(TITLE), EDITOR)
    await translate(article)
    assert await title_of(article) == f"es: {TITLE}"
    assert not await take_back_correction(article, "es", segment_hash(TITLE), EDITOR)


async def test_the_same_correction_again_changes_nothing(article: Article) -> None:
    correction = {segment_hash(TITLE): "Zapatillas"}
    await correct(article, "es", correction, EDITOR)
    await translate(article)
    assert await correct(article, "es", correction, EDITOR) == 0
    assert await states(article) == {"es": "translated", "pt-BR": "translated"}


async def test_a_correction_made_while_the_locale_is_translated_is_not_lost(article: Article) -> None:
    gate = Gate()
    await deliver(TITLE, content="Another text.", format="markdown")
    worker = asyncio.create_task(translate(article, ObedientEngine(gate)))
    assert await asyncio.to_thread(gate.reached.wait, 30)
    await correct(article, "es", {segment_hash(TITLE): "Zapatillas"}, EDITOR)
    gate.opened.set()
    await worker
    await translate(article)
    assert await title_of(article) == "Zapatillas"


async def test_a_correction_of_another_articles_segment_cannot_be_taken_back(article: Article) -> None:
    other = await deliver("Other shoes", id="art_2")
    await correct(article, "es", {segment_hash(TITLE): "Zapatillas"}, EDITOR)
    with pytest.raises(UnknownSegment):
        await take_back_correction(other, "es", segment_hash(TITLE), EDITOR)
    assert (await list_segments(article, "es"))[0].is_corrected


@pytest.mark.parametrize(
    "broken",
    [
        "Manda el ajuste.",
        "Manda el <g2>ajuste</g2>.",
        "<g1></g1>",
        "",
        "Manda el <g1>ajuste</g1>: http://a.example",
    ],
)
async def test_a_correction_with_other_markup_is_refused_and_nothing_is_changed(
    broken: str, article: Article
) -> None:
    with pytest.raises(BrokenCodes, match=segment_hash(SENTENCE)):
        await correct(
            article, "es", {segment_hash(TITLE): "Zapatillas", segment_hash(SENTENCE): broken}, EDITOR
        )
    with pytest.raises(UnknownSegment, match="nobody"):
        await correct(article, "es", {segment_hash(TITLE): "Zapatillas", "nobody": "?"}, EDITOR)
    assert not any(segment.is_corrected for segment in await list_segments(article, "es"))


async def test_deleting_the_article_erases_its_corrections(article: Article) -> None:
    await correct(article, "es", {segment_hash(TITLE): "Zapatillas"}, EDITOR)
    revised = await deliver("Better shoes", content="Not translated yet.")
    await correct(revised, "pt-BR", {segment_hash("Better shoes"): "Sapatos melhores"}, EDITOR)
    await withdraw_article(article.id, PublicationStatus.DELETED, PUBLISHER)
    assert await TranslationMemory.all().count() == 0
