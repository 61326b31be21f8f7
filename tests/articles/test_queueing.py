"""The metrics of the articles room."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from articles.desk import ObedientEngine, deliver, make_due, translate
from metric_values import reading
from monitoring.articles.claims import claim_translation
from monitoring.articles.models import Article
from monitoring.articles.queueing import measure_translations
from monitoring.articles.tasks import translate_article
from monitoring.articles.translation.engines.protocol import PermanentEngineError, TransientEngineError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from monitoring.backends.assembly import Backends

pytestmark = pytest.mark.anyio


def refusal(error: Exception) -> Callable[[str], None]:
    """Make an engine say this whatever it is asked."""

    def refuse(_: str) -> None:
        raise error

    return refuse


@pytest.mark.usefixtures("backends")
class TestBacklog:
    async def test_counts_what_waits_and_what_failed(self) -> None:
        await deliver()
        failing = await deliver("Boots", id="art_2")
        await translate(failing, ObedientEngine(refusal(PermanentEngineError("no"))))
        await measure_translations()
        for locale in ("es", "pt-BR"):
            assert reading("translations", locale=locale, status="queued") == 1
            assert reading("translations", locale=locale, status="translating") == 0
            assert reading("translations", locale=locale, status="failed") == 1

    async def test_tells_how_long_the_oldest_revision_has_waited(self) -> None:
        await deliver()
        old = await deliver("Boots", id="art_2")
        await Article.filter(id=old.id).update(updated_at=datetime.now(UTC) - timedelta(hours=1))
        await measure_translations()
        assert 3600 <= reading("oldest_untranslated_age_seconds", locale="es") < 4000

    async def test_has_no_age_once_everything_is_translated(self) -> None:
        article = await deliver()
        await measure_translations()
        assert reading("oldest_untranslated_age_seconds", locale="es") > 0
        await translate(article)
        await measure_translations()
        assert reading("oldest_untranslated_age_seconds", locale="es") == 0
        assert reading("translations", locale="es", status="queued") == 0

    async def test_counts_what_is_being_translated(self) -> None:
        article = await deliver()
        assert await claim_translation(article.id)
        await measure_translations()
        assert reading("translations", locale="es", status="translating") == 1
        assert reading("oldest_untranslated_age_seconds", locale="es") > 0


class TestQueueDepth:
    async def test_counts_messages_until_they_are_done(self, backends: Backends) -> None:
        article_id = str((await deliver()).id)
        await translate_article.send(article_id)
        await translate_article.send(article_id)
        await translate_article.send(article_id, delay_seconds=600)
        depths = await backends.queue.depths()
        assert (depths["articles"], depths["articles.DQ"]) == (2, 1)
        await measure_translations()
        assert reading("queue_messages", queue="articles") == 2
        assert reading("queue_messages", queue="articles.DQ") == 1


@pytest.mark.usefixtures("backends")
class TestEngine:
    async def test_is_timed_under_the_name_of_the_settings(self) -> None:
        before = reading("engine_duration_seconds_count", engine="pseudo", locale="es")
        await translate(await deliver())
        assert reading("engine_duration_seconds_count", engine="pseudo", locale="es") == before + 1

    @pytest.mark.parametrize(
        ("error", "kind"),
        [
            (TransientEngineError("busy"), "transient"),
            (PermanentEngineError("no"), "permanent"),
            (ZeroDivisionError(), "unexpected"),
        ],
    )
    async def test_has_its_errors_counted_by_kind(self, error: Exception, kind: str) -> None:
        before = reading("engine_errors_total", engine="pseudo", kind=kind)
        await translate(await deliver(), ObedientEngine(refusal(error)))
        assert reading("engine_errors_total", engine="pseudo", kind=kind) == before + 2  # two locales


@pytest.mark.usefixtures("backends")
class TestOutcomes:
    async def test_are_counted_by_locale(self) -> None:
        before = reading("translations_finished_total", locale="es", outcome="translated")
        await translate(await deliver())
        assert reading("translations_finished_total", locale="es", outcome="translated") == before + 1

    async def test_count_the_segments_that_stayed_in_english(self) -> None:
        class Forgetful(ObedientEngine):
            def translate(self, segments: Sequence[str], source: str, target: str) -> list[str]:
                answers = super().translate(segments, source, target)
                return ["" if answer.endswith("Fit 1.") else answer for answer in answers]

        before = reading("segments_left_in_english_total", locale="es")
        content = "\n\n".join(f"Fit {number}." for number in range(9))
        await translate(await deliver(content=content, format="markdown"), Forgetful())
        assert reading("segments_left_in_english_total", locale="es") == before + 1

    async def test_count_a_failure_once_and_a_retry_not_at_all(self) -> None:
        before = reading("translations_finished_total", locale="es", outcome="failed")
        article = await deliver()
        engine = ObedientEngine(refusal(TransientEngineError("busy")))
        for _ in range(4):
            await translate(article, engine)
            await make_due(article)
        assert reading("translations_finished_total", locale="es", outcome="failed") == before + 1

    async def test_count_what_killed_its_worker_each_time(self) -> None:
        before = reading("translations_finished_total", locale="es", outcome="failed")
        article = await deliver()
        while await claim_translation(article.id):
            await make_due(article)
        assert reading("translations_finished_total", locale="es", outcome="failed") == before + 1
