"""Translations are made in time though the clock of a machine is wrong, or was ahead and is set back."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
import time_machine

from articles.desk import LOCALES, ObedientEngine, deliver, states, translate
from intercepted_messages import intercept_messages
from monitoring.articles.claims import claim_translation
from monitoring.articles.models import Article, Translation
from monitoring.articles.queueing import NEVER
from monitoring.articles.rules import LONGEST_PAUSE
from monitoring.articles.sweeping import sweep
from monitoring.articles.translation.engines.protocol import TransientEngineError
from monitoring.backends.clock import Clock

if TYPE_CHECKING:
    from monitoring.backends.assembly import Backends

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("backends")]

HOUR = timedelta(hours=1)
AHEAD = [pytest.param(ahead, id=str(ahead)) for ahead in (24 * HOUR, 3650 * 24 * HOUR)]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collect messages instead of sending them."""
    article_ids: list[str] = []
    intercept_messages(monkeypatch, lambda article_id, _: article_ids.append(article_id))
    return article_ids


def shifted(backends: Backends, by: timedelta) -> Backends:
    """Return the backends of a process that believes in a clock which is ahead by so much."""
    return replace(backends, clock=Clock(read_machine_time=lambda: datetime.now(UTC) + by))


def refuse(_: str) -> None:
    raise TransientEngineError("busy")


@pytest.mark.production("SQLite has one machine, whose clock counts")
class TestAMachine:
    async def test_that_is_an_hour_behind_translates_a_new_article(
        self, backends: Backends, sent: list[str]
    ) -> None:
        article = await deliver()
        await Article.all().update(nudged_at=datetime.now(UTC) - timedelta(minutes=1))
        with time_machine.travel(datetime.now(UTC) - HOUR):
            worker = replace(backends, clock=Clock(backends.database.read_time))
            await worker.clock.read()
            with worker.activate():
                assert await sweep() == 1
                await translate(article)
        assert sent == [str(article.id)]
        assert await states(article) == dict.fromkeys(LOCALES, "translated")

    async def test_that_is_an_hour_ahead_takes_no_lease_of_another(self, backends: Backends) -> None:
        article = await deliver()
        while await claim_translation(article.id):
            pass
        with time_machine.travel(datetime.now(UTC) + HOUR):
            worker = replace(backends, clock=Clock(backends.database.read_time))
            await worker.clock.read()
            with worker.activate():
                assert await claim_translation(article.id) is None


@pytest.mark.parametrize("ahead", AHEAD)
class TestAClockThatWasAhead:
    async def test_keeps_no_retry_from_being_tried(
        self, backends: Backends, sent: list[str], ahead: timedelta
    ) -> None:
        article = await deliver()
        with shifted(backends, ahead).activate():
            await translate(article, ObedientEngine(refuse))
        sent.clear()  # what asks for the retries, later
        await Article.all().update(nudged_at=NEVER)
        assert await sweep() == 1
        assert sent == [str(article.id)]
        await translate(article)
        assert await states(article) == dict.fromkeys(LOCALES, "translated")

    async def test_keeps_no_new_revision_from_being_translated(
        self, backends: Backends, sent: list[str], ahead: timedelta
    ) -> None:
        await deliver()
        with shifted(backends, ahead).activate():
            article = await deliver("Trail shoes")
        assert await sweep() == 1
        assert sent == [str(article.id)]
        await translate(article)
        assert await states(article) == dict.fromkeys(LOCALES, "translated")


async def test_what_waits_by_right_is_left_alone() -> None:
    article = await deliver()
    await Article.all().update(nudged_at=NEVER)
    await Translation.all().update(due_at=datetime.now(UTC) + LONGEST_PAUSE)
    assert await sweep() == 0
    assert await claim_translation(article.id) is None
