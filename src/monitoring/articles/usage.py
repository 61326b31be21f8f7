"""Engine usage, counted by month, engine and locale, and limited by the monthly budget."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from tortoise.expressions import F

from monitoring.articles.models import EngineUsage, Translation, TranslationStatus
from monitoring.articles.translation.engines.metered import Cost, MeteredEngine
from monitoring.articles.translation.engines.protocol import Engine
from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.metrics import ENGINE_CHARACTERS, ENGINE_REQUESTS

# Part of the reason text of every translation that waits for the budget.
OF_THE_BUDGET = "of this month's"

# The engine and locale of the row with the monthly total.
TOTAL = ""


class BudgetUsedUp(Exception):  # noqa: N818 - nothing is wrong: the work waits
    """The remaining monthly budget is too small for a translation. The message is meant for operators."""


@asynccontextmanager
async def metered(engine: Engine, name: str, locale: str, estimate: Cost) -> AsyncIterator[MeteredEngine]:
    """Provide `engine`, and add this context's requests to the usage of engine `name` for `locale`.

    If there is a monthly budget, `estimate` is reserved in the budget until the context ends. Raises
    `BudgetUsedUp` if `estimate` exceeds the remaining budget.
    """
    budget = current_backends().settings.translation_monthly_characters
    reserved = estimate if budget else Cost()
    month = this_month()
    await _count(month, name, locale, reserved, budget)
    meter = MeteredEngine(engine)
    try:
        yield meter
    finally:
        ENGINE_CHARACTERS.labels(name, locale).inc(meter.cost.characters)
        ENGINE_REQUESTS.labels(name, locale).inc(meter.cost.requests)
        await _count(month, name, locale, meter.cost - reserved)


def this_month() -> str:
    """Return the calendar month in UTC, such as 2026-11."""
    return f"{datetime.now(UTC):%Y-%m}"


async def list_usage(month: str) -> Sequence[EngineUsage]:
    """Return the usage of a month, such as 2026-11, by engine and locale. The monthly total is omitted."""
    return await EngineUsage.filter(month=month).exclude(engine=TOTAL).order_by("engine", "locale")


async def count_waiting_for_budget() -> int:
    """Return the number of translations that wait for a larger budget or the next month."""
    queued = Translation.filter(status=TranslationStatus.QUEUED)
    return await queued.filter(reason__contains=OF_THE_BUDGET).count()


async def _count(month: str, engine: str, locale: str, cost: Cost, budget: int | None = None) -> None:
    if cost == Cost():
        return
    most_before = None if budget is None else budget - cost.characters
    async with transaction():
        if not await _add(month, TOTAL, TOTAL, cost, most_before):
            used = (await EngineUsage.get(month=month, engine=TOTAL, locale=TOTAL)).characters
            raise BudgetUsedUp(
                f"It needs {cost.characters} characters, and {used} {OF_THE_BUDGET} {budget} are used"
            )
        await _add(month, engine, locale, cost)


async def _add(month: str, engine: str, locale: str, cost: Cost, most_before: int | None = None) -> bool:
    """Add a cost to a usage row, and return True.

    If the row already counts more than `most_before` characters, do nothing and return False.
    """
    row = EngineUsage.filter(month=month, engine=engine, locale=locale)
    if most_before is not None:
        row = row.filter(characters__lte=most_before)
    adding = row.update(characters=F("characters") + cost.characters, requests=F("requests") + cost.requests)
    if await adding:
        return True
    new = EngineUsage(month=month, engine=engine, locale=locale)
    await EngineUsage.bulk_create([new], ignore_conflicts=True)
    return bool(await adding)
