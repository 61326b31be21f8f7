"""The operator's terms, from a delivery to the published page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from articles.desk import ObedientEngine, deliver, read_page, translate, translation_of
from metric_values import reading
from monitoring.articles.engine_runner import open_engine
from monitoring.articles.retranslation import TranslationFilter, retranslate
from monitoring.articles.tasks import translate_article
from monitoring.backends.current import current_backends

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from monitoring.articles.models import Article

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("backends")]


class HeedfulEngine(ObedientEngine):
    def translate(self, segments: Sequence[str], source: str, target: str) -> list[str]:
        texts = super().translate(segments, source, target)
        return [text.replace("Running shoes", "Zapatillas de correr") for text in texts]


@pytest.fixture
def terms_file(tmp_path: Path) -> Path:
    file = tmp_path / "terms.csv"
    file.write_text("locale,term,translation\nes,running shoes,zapatillas de correr\n,Polar,\n")
    return file


async def translate_with(terms_file: Path, article: Article, engine: ObedientEngine) -> list[str]:
    """Translate with a file of terms, and return what the engine was asked into Spanish."""
    settings = current_backends().settings.model_copy(update={"terms_file": terms_file})
    async with open_engine(settings, engine):
        await translate_article.function(str(article.id))
    return [segment for target, segment in engine.asked if target == "es"]


def refused_answers() -> float:
    return reading("engine_answers_refused_total", engine="pseudo", locale="es", fault="terms")


async def test_an_engine_that_ignores_a_term_is_asked_once_more_and_then_english_stays(
    terms_file: Path,
) -> None:
    article = await deliver("Running shoes", excerpt="Fit beats shine.")
    refused_before = refused_answers()
    asked = await translate_with(terms_file, article, ObedientEngine())
    assert sorted(asked) == ["Fit beats shine.", "Running shoes", "Running shoes"]
    assert refused_answers() == refused_before + 2
    page = await read_page("running-shoes/es.json")
    assert page["delivery"]["article"]["title"] == "Running shoes"
    assert page["delivery"]["article"]["excerpt"] == "es: Fit beats shine."
    row = await translation_of(article)
    assert (row.status, row.untranslated_segments) == ("translated", 1)
    assert (await translation_of(article, "pt-BR")).untranslated_segments == 0


async def test_an_engine_that_heeds_a_term_is_believed(terms_file: Path) -> None:
    article = await deliver("Running shoes by Polar")
    refused_before = refused_answers()
    assert await translate_with(terms_file, article, HeedfulEngine()) == ["Running shoes by Polar"]
    page = await read_page("running-shoes-by-polar/es.json")
    assert page["delivery"]["article"]["title"] == "es: Zapatillas de correr by Polar"
    assert (refused_answers(), page["untranslated_segments"]) == (refused_before, 0)


async def test_a_new_term_renews_what_the_memory_has_without_it_and_no_more(terms_file: Path) -> None:
    article = await deliver("Running shoes", excerpt="Fit beats shine.")
    await translate(article)
    await retranslate(TranslationFilter(article.id), forgets_memory=False)
    assert await translate_with(terms_file, article, HeedfulEngine()) == ["Running shoes"]
    page = await read_page("running-shoes/es.json")
    assert page["delivery"]["article"] == {
        "id": "art_1",
        "title": "es: Zapatillas de correr",
        "excerpt": "es: Fit beats shine.",
    }
