"""What engines are asked is counted, and kept within the month's budget."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from articles.desk import LOCALES, ObedientEngine, deliver, make_due, states, translate, translation_of
from monitoring.articles.models import EngineUsage, TranslationMemory
from monitoring.articles.retranslation import TranslationFilter, retranslate
from monitoring.articles.translation.engines.protocol import TransientEngineError
from monitoring.articles.usage import list_usage, this_month
from temporary_backends import temporary_backends

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

pytestmark = pytest.mark.anyio

SHOES = len("Shoes")


@pytest.fixture
async def budget(tmp_path: Path) -> AsyncIterator[int]:
    """Open a service whose budget suffices for a title in one of two locales."""
    budget = 2 * SHOES - 1
    async with temporary_backends(
        tmp_path, locales="es,pt-BR", translator="pseudo", translation_monthly_characters=budget
    ):
        yield budget


async def counted() -> list[tuple[str, int, int]]:
    return [(row.locale, row.characters, row.requests) for row in await list_usage(this_month())]


@pytest.mark.usefixtures("backends")
class TestCounting:
    async def test_is_by_locale_and_leaves_out_what_is_remembered(self) -> None:
        await translate(await deliver("Shoes"))
        await translate(await deliver("Shoes", excerpt="Fit"))
        assert await counted() == [(locale, SHOES + len("Fit"), 2) for locale in LOCALES]

    async def test_has_what_an_engine_was_asked_in_vain(self) -> None:
        def fail(_: str) -> None:
            raise TransientEngineError("away")

        await translate(await deliver("Shoes"), ObedientEngine(fail))
        assert await counted() == [(locale, SHOES, 1) for locale in LOCALES]


class TestBudget:
    async def test_lets_translations_wait_visibly_and_unharmed(self, budget: int) -> None:
        article, engine = await deliver("Shoes"), ObedientEngine()
        await translate(article, engine)
        assert len(engine.asked) == 1
        [waiting] = [locale for locale, status in (await states(article)).items() if status == "queued"]
        row = await translation_of(article, waiting)
        assert row.reason == f"It needs {SHOES} characters, and {SHOES} of this month's {budget} are used"
        assert row.attempts == 0
        assert row.due_at > datetime.now(UTC) + timedelta(minutes=50)

    @pytest.mark.usefixtures("budget")
    async def test_begins_anew_with_the_month_and_is_not_used_for_what_is_remembered(self) -> None:
        article, engine = await deliver("Shoes"), ObedientEngine()
        await translate(article, engine)
        await EngineUsage.all().update(month="2001-01")
        await make_due(article)
        await translate(article, engine)
        assert await states(article) == dict.fromkeys(LOCALES, "translated")
        assert await retranslate(TranslationFilter(article.id), forgets_memory=False) == len(LOCALES)
        await translate(article, engine)
        assert await states(article) == dict.fromkeys(LOCALES, "translated")
        assert len(engine.asked) == len(LOCALES)


@pytest.mark.usefixtures("backends")
class TestRetranslating:
    async def test_asks_again_only_for_the_locale_whose_memory_is_forgotten(self) -> None:
        article, engine = await deliver("Shoes"), ObedientEngine()
        await translate(article)
        assert await retranslate(TranslationFilter(article.id, "es"), forgets_memory=True) == 1
        assert (await TranslationMemory.get()).locale == "pt-BR"
        await translate(article, engine)
        assert engine.asked == [("es", "Shoes")]
        assert (await translation_of(article)).engine == "obedient"

    async def test_leaves_out_what_waits_already(self) -> None:
        await deliver("Shoes")
        assert await retranslate(TranslationFilter(), forgets_memory=True) == 0
