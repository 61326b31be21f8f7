from __future__ import annotations

import asyncio
import logging
import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from unittest.mock import DEFAULT, Mock

import pytest

import chosen_backends
from articles.desk import (
    LOCALES,
    Gate,
    ObedientEngine,
    deliver,
    make_due,
    read_page,
    states,
    translate,
    translation_of,
)
from intercepted_messages import intercept_messages
from moments import a_second_ago
from monitoring.articles import claims
from monitoring.articles.claims import claim_translation, needs_to_be_alone
from monitoring.articles.corrections import list_segments
from monitoring.articles.engine_runner import open_engine
from monitoring.articles.models import Translation, TranslationMemory
from monitoring.articles.queueing import retry_failed
from monitoring.articles.refused_segments import find_refusals
from monitoring.articles.representations import represent_state
from monitoring.articles.tasks import translate_article
from monitoring.articles.translation.article import read_article
from monitoring.articles.translation.engines.protocol import (
    BatchLimit,
    PermanentEngineError,
    TransientEngineError,
)
from monitoring.articles.translation.memory_budget import MOST_BYTES
from monitoring.articles.translation.translated_segments import segment_hash
from monitoring.backends.current import current_backends

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from uuid import UUID


pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("backends")]


def raiser(error: Exception, locale: str = "es") -> ObedientEngine:
    """Make an engine that fails for one locale."""

    def fail(target: str) -> None:
        if target == locale:
            raise error

    return ObedientEngine(fail)


class SpeechlessEngine(ObedientEngine):
    """Has no words for one segment in one locale."""

    def __init__(self, locale: str, segment: str) -> None:
        super().__init__()
        self._wordless = locale, segment

    def translate(self, segments: Sequence[str], source: str, target: str) -> list[str]:
        texts = super().translate(segments, source, target)
        return [
            "" if (target, segment) == self._wordless else text
            for segment, text in zip(segments, texts, strict=True)
        ]


class TestTranslation:
    async def test_ends_as_one_file_a_locale_that_names_its_revision(self) -> None:
        article = await deliver("Running shoes")
        await translate(article)
        assert await states(article) == dict.fromkeys(LOCALES, "translated")
        page = await read_page("running-shoes/pt-BR.json")
        assert page["delivery"]["article"] == {"id": "art_1", "title": "pt-BR: Running shoes"}
        assert (page["revision"], page["engine"], page["is_demonstration"]) == (1, "obedient", False)

    async def test_counts_what_was_left_in_english_and_warns(self, own_log: pytest.LogCaptureFixture) -> None:
        article = await deliver("Running shoes", excerpt="Fit beats shine.")
        with own_log.at_level(logging.WARNING, logger="monitoring.articles.translation_attempt"):
            await translate(article, SpeechlessEngine("es", "Fit beats shine."))
        spanish, portuguese = [await read_page(f"running-shoes/{locale}.json") for locale in LOCALES]
        assert spanish["delivery"]["article"]["excerpt"] == "Fit beats shine."
        assert (spanish["untranslated_segments"], portuguese["untranslated_segments"]) == (1, 0)
        rows = [await translation_of(article, locale) for locale in LOCALES]
        assert [row.untranslated_segments for row in rows] == [1, 0]
        refused = [await find_refusals(row.id) for row in rows]
        assert refused == [{segment_hash("Fit beats shine."): "empty"}, {}]
        assert (await read_page("running-shoes/en.json"))["untranslated_segments"] == 0
        [record] = own_log.records
        assert record.args == ("es", 1)

    async def test_has_no_number_of_what_stayed_in_english_while_nothing_is_stored(self) -> None:
        article = await deliver("Running shoes")
        waiting = represent_state(await translation_of(article))
        await translate(article, SpeechlessEngine("es", "Running shoes"))
        failed, translated = [represent_state(await translation_of(article, locale)) for locale in LOCALES]
        told = [(row["status"], row["untranslated_segments"]) for row in (waiting, failed, translated)]
        assert told == [("queued", None), ("failed", None), ("translated", 0)]

    async def test_fails_if_too_much_was_left_in_english_and_asks_only_for_that_again(self) -> None:
        article = await deliver("Shoes", excerpt="Fit beats shine.", content="Run.")
        engine = ObedientEngine()
        engine.translate = lambda segments, *_: [  # type: ignore[method-assign]
            "As an AI, no" if len(each) > 4 else f"es: {each}" for each in segments
        ]
        await translate(article, engine)
        row = await translation_of(article)
        assert (row.status, row.reason) == (
            "failed",
            "2 of 3 segments stayed in English, no answer being acceptable (chatter)",
        )
        assert list((await find_refusals(row.id)).values()) == ["chatter", "chatter"]
        assert await read_page("shoes/es.json") is None
        assert await retry_failed(article.id, "es") == 1
        willing = ObedientEngine()
        await translate(article, willing)
        assert {segment for target, segment in willing.asked if target == "es"} == {
            "Shoes",
            "Fit beats shine.",
        }
        row = await translation_of(article)
        assert (row.status, row.untranslated_segments) == ("translated", 0)
        assert await find_refusals(row.id) == {}

    async def test_replaces_a_refusal_that_was_remembered(self) -> None:
        article = await deliver("Running shoes")
        await translate(article)
        await TranslationMemory.filter(locale="es").update(text="I'm sorry, but I can't help with that.")
        await deliver("Running shoes", excerpt="Fit")
        await translate(article)
        assert await TranslationMemory.filter(locale="es", text="es: Running shoes").exists()
        page = await read_page(f"{article.slug}/es.json")
        assert page["delivery"]["article"]["title"] == "es: Running shoes"

    async def test_asks_the_engine_only_for_what_has_changed(self) -> None:
        await translate(await deliver("Running shoes", excerpt="Fit beats shine."))
        engine = ObedientEngine()
        article = await deliver("Walking shoes", excerpt="Fit beats shine.")
        await translate(article, engine)
        assert sorted(engine.asked) == [("es", "Walking shoes"), ("pt-BR", "Walking shoes")]
        assert (await read_page("running-shoes/es.json"))["delivery"]["article"][
            "excerpt"
        ] == "es: Fit beats shine."

    async def test_asks_for_all_locales_and_all_batches_at_once(self) -> None:
        all_asked = threading.Barrier(4)  # it breaks if less than four are asked at once

        def meet(_: str) -> None:
            all_asked.wait(30)

        engine = ObedientEngine(meet)
        engine.batch_limit = BatchLimit(max_texts=1, max_bytes=1000)
        article = await deliver("Running shoes", excerpt="Fit beats shine.")
        await translate(article, engine)
        assert await states(article) == dict.fromkeys(LOCALES, "translated")

    async def test_reads_the_article_once_for_all_locales(self, monkeypatch: pytest.MonkeyPatch) -> None:
        read = Mock(wraps=read_article)
        monkeypatch.setattr("monitoring.articles.engine_runner.read_article", read)
        await translate(await deliver())
        read.assert_called_once()

    async def test_of_one_locale_fails_alone_if_the_article_can_be_read_again(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        read = Mock(wraps=read_article, side_effect=[RuntimeError("a bug"), DEFAULT])
        monkeypatch.setattr("monitoring.articles.engine_runner.read_article", read)
        article = await deliver()
        await translate(article)
        assert sorted((await states(article)).values()) == ["queued", "translated"]

    async def test_asked_for_twice_is_done_once(self) -> None:
        article, engine = await deliver(), ObedientEngine()
        await translate(article, engine)
        await translate(article, engine)
        assert len(engine.asked) == len(LOCALES)

    async def test_asked_for_ten_times_at_once_is_done_once(self) -> None:
        article, engine = await deliver(), ObedientEngine()
        async with open_engine(current_backends().settings, engine):
            await asyncio.gather(*(translate_article.function(str(article.id)) for _ in range(10)))
        assert len(engine.asked) == len(LOCALES)
        assert {row.attempts for row in await Translation.all()} == {1}
        assert await TranslationMemory.all().count() == len(LOCALES)

    async def test_waits_visibly_without_an_engine(self) -> None:
        article = await deliver()
        await translate_article.function(str(article.id))
        assert await states(article) == dict.fromkeys(LOCALES, "queued")
        assert (await translation_of(article)).attempts == 0

    async def test_of_a_locale_that_is_no_longer_wanted_is_not_begun(self) -> None:
        article = await deliver()
        await Translation.create(article=article, locale="tlh", revision=1, due_at=a_second_ago())
        await translate(article)
        assert (await states(article))["tlh"] == "queued"


class TestNewRevisionMeanwhile:
    async def test_the_earlier_one_is_not_stored_and_the_new_one_is(self) -> None:
        article, gate = await deliver("First"), Gate()
        async with open_engine(current_backends().settings, ObedientEngine(gate)):
            working = asyncio.ensure_future(translate_article.function(str(article.id)))
            await asyncio.to_thread(gate.reached.wait, 30)
            await deliver("Second")
            assert await states(article) == dict.fromkeys(LOCALES, "queued")
            gate.opened.set()
            await working
        assert await states(article) == dict.fromkeys(LOCALES, "translated")
        for locale in LOCALES:
            page = await read_page(f"first/{locale}.json")
            assert (page["revision"], page["delivery"]["article"]["title"]) == (2, f"{locale}: Second")
            assert (await translation_of(article, locale)).attempts == 1

    async def test_a_failure_of_the_earlier_one_does_not_count(self) -> None:
        article, gate = await deliver("First"), Gate()

        def fail(target: str) -> None:
            if not gate.opened.is_set():
                gate(target)
                raise PermanentEngineError("No such language")

        async with open_engine(current_backends().settings, ObedientEngine(fail)):
            working = asyncio.ensure_future(translate_article.function(str(article.id)))
            await asyncio.to_thread(gate.reached.wait, 30)
            await deliver("Second")
            gate.opened.set()
            await working
        assert await states(article) == dict.fromkeys(LOCALES, "translated")


class TestExpiredLease:
    async def test_lets_another_worker_finish_and_the_first_store_nothing(self) -> None:
        article, gate = await deliver(), Gate()
        async with open_engine(current_backends().settings, ObedientEngine(gate)):
            slow = asyncio.ensure_future(translate_article.function(str(article.id)))
            await asyncio.to_thread(gate.reached.wait, 30)
            await make_due(article)
            gate.opened.set()
            await translate_article.function(str(article.id))
            translated_at = (await translation_of(article)).translated_at
            await slow
        row = await translation_of(article)
        assert row.status == "translated"
        assert row.attempts <= 2
        assert translated_at in (None, row.translated_at)

    async def test_is_renewed_while_a_slow_engine_works(self, monkeypatch: pytest.MonkeyPatch) -> None:
        article, gate = await deliver(), Gate()
        async with open_engine(current_backends().settings, ObedientEngine(gate)):
            monkeypatch.setattr("monitoring.backends.leases.HEARTBEATS_A_LEASE", 10_000)
            working = asyncio.ensure_future(translate_article.function(str(article.id)))
            await asyncio.to_thread(gate.reached.wait, 30)
            claimed = await Translation.filter(status="translating").first().values("id", "due_at")
            async with asyncio.timeout(30):
                while await Translation.exists(**claimed):
                    pass
            gate.opened.set()
            await working

    async def test_of_three_workers_that_were_killed_ends_as_failed_in_all_locales(self) -> None:
        article = await deliver()
        for _ in range(3):
            assert await claim_translation(article.id)  # and dies
            await make_due(article)
        assert await claim_translation(article.id) is None
        rows = [await translation_of(article, locale) for locale in LOCALES]
        assert [(row.status, row.attempts) for row in rows] == [("failed", 3), ("failed", 0)]
        assert {row.reason for row in rows} == {
            "A worker stopped while translating this (given up after 3 attempts)"
        }

    async def test_of_workers_that_were_killed_counts_from_the_start_after_an_attempt_that_ended(
        self,
    ) -> None:
        article = await deliver()
        for _ in range(2):
            assert await claim_translation(article.id)  # and dies
            await make_due(article)
        assert await needs_to_be_alone(article.id)

        def fail(_: str) -> None:
            raise TransientEngineError("Not now")

        await translate(article, ObedientEngine(fail))
        assert not await needs_to_be_alone(article.id)
        await Translation.all().update(status="failed")
        await retry_failed()
        assert await claim_translation(article.id)  # and dies
        await make_due(article)
        assert await claim_translation(article.id)

    async def test_is_not_tried_again_while_others_are_translated(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        deadly, other = await deliver("Deadly", id="deadly"), await deliver("Other", id="other")
        assert await claim_translation(deadly.id)  # and dies
        await make_due(deadly)
        gate, asked = Gate(), asyncio.Event()

        async def note_question(article_id: UUID) -> bool:
            is_alone = await needs_to_be_alone(article_id)
            if article_id == deadly.id:
                asked.set()
            return is_alone

        engine = ObedientEngine(gate)
        async with open_engine(current_backends().settings, engine):
            working = [asyncio.ensure_future(translate_article.function(str(other.id)))]
            await asyncio.to_thread(gate.reached.wait, 30)
            monkeypatch.setattr("monitoring.articles.tasks.needs_to_be_alone", note_question)
            working.append(asyncio.ensure_future(translate_article.function(str(deadly.id))))
            await asked.wait()
            for _ in range(20):  # as many turns as a claim takes, several times over
                assert "queued" in (await states(deadly)).values()
                assert (await translation_of(deadly)).attempts == 1
            gate.opened.set()
            await asyncio.gather(*working)
        assert await states(deadly) == await states(other) == dict.fromkeys(LOCALES, "translated")


class TestArticleThatIsTooDear:
    async def test_is_published_in_english_and_failed_with_the_reason(self) -> None:
        dear = "".join("`" * count + "a" for count in range(1_200))
        article = await deliver("Dear", content_markdown=dear)
        await translate(article, engine := ObedientEngine())
        assert engine.asked == []
        page = await read_page("dear/en.json")
        assert page["delivery"]["article"]["content_markdown"] == dear
        for locale in LOCALES:
            row = await translation_of(article, locale)
            assert (row.status, row.attempts, row.reason) == (
                "failed",
                1,
                "The article has too much markup to be translated",
            )

    async def test_has_no_segments_to_correct(self) -> None:
        article = await deliver("Dear", content_html="<b>" * 400_000)
        assert await list_segments(article, "es") == []

    @pytest.mark.parametrize(("small_bytes", "attempted"), [(-1, 1), (MOST_BYTES, len(LOCALES))])
    async def test_is_claimed_for_one_locale_after_the_other_if_it_is_not_small(
        self, small_bytes: int, attempted: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("monitoring.articles.translation.article.SMALL_BYTES", small_bytes)
        article, gate = await deliver(), Gate()
        async with open_engine(current_backends().settings, ObedientEngine(gate)):
            working = asyncio.ensure_future(translate_article.function(str(article.id)))
            await asyncio.to_thread(gate.reached.wait, 30)
            async with asyncio.timeout(30):
                while await Translation.filter(attempts=1).count() < attempted:
                    pass
            for _ in range(20):  # as many turns as a claim takes, several times over
                assert await Translation.filter(attempts=1).count() == attempted
            gate.opened.set()
            await working
        assert await states(article) == dict.fromkeys(LOCALES, "translated")


class TestStoppedWorker:
    async def test_gives_the_attempt_back(self) -> None:
        article, gate = await deliver(), Gate()
        async with open_engine(current_backends().settings, ObedientEngine(gate)):
            working = asyncio.ensure_future(translate_article.function(str(article.id)))
            await asyncio.to_thread(gate.reached.wait, 30)
            working.cancel()
            await asyncio.wait([working])
            gate.opened.set()
        assert await states(article) == dict.fromkeys(LOCALES, "queued")
        assert {row.attempts for row in await Translation.all()} == {0}

    async def test_gives_a_claim_back_that_was_made_while_it_was_stopped(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        article, claim = await deliver(), claims._claim  # noqa: SLF001

        async def claim_and_be_stopped(article_id: UUID, claim_id: UUID) -> None:
            await claim(article_id, claim_id)
            raise asyncio.CancelledError

        monkeypatch.setattr(claims, "_claim", claim_and_be_stopped)
        with pytest.raises(asyncio.CancelledError):
            await claim_translation(article.id)
        assert await states(article) == dict.fromkeys(LOCALES, "queued")
        assert (await translation_of(article)).attempts == 0


class TestFailure:
    async def test_for_good_tells_the_reason_and_leaves_other_locales_alone(self) -> None:
        article = await deliver()
        await translate(article, raiser(PermanentEngineError("No such language")))
        assert await states(article) == {"es": "failed", "pt-BR": "translated"}
        assert (await translation_of(article)).reason == "No such language"

    @pytest.mark.parametrize(
        ("error", "reason"),
        [
            (TransientEngineError("The engine is away"), "The engine is away"),
            (ZeroDivisionError("secret"), "Something unexpected went wrong; the worker's log has it"),
        ],
    )
    async def test_for_now_waits_and_is_tried_again(self, error: Exception, reason: str) -> None:
        article = await deliver()
        await translate(article, raiser(error))
        row = await translation_of(article)
        assert (row.status, row.attempts, row.reason) == ("queued", 1, reason)
        assert row.due_at > datetime.now(UTC)
        await make_due(article)
        await translate(article)
        row = await translation_of(article)
        assert (row.status, row.attempts, row.reason) == ("translated", 2, None)

    async def test_for_now_is_nudged_again_when_it_is_due(self, sent: list[float]) -> None:
        article = await deliver()
        await translate(article, raiser(TransientEngineError("away")))
        assert len(sent) == 1
        assert sent[0] >= 5

    async def test_for_now_waits_as_long_as_the_engine_asks(self, sent: list[float]) -> None:
        article = await deliver()
        await translate(article, raiser(TransientEngineError("away", retry_after_seconds=1200)))
        assert sent == [1200]

    async def test_too_often_is_given_up(self) -> None:
        article = await deliver()
        for _ in range(3):
            await make_due(article)
            await translate(article, raiser(TransientEngineError("The engine is away")))
        row = await translation_of(article)
        assert (row.status, row.reason) == ("failed", "The engine is away (given up after 3 attempts)")

    async def test_of_the_storage_waits_and_marks_nothing_translated(self, tmp_path: Path) -> None:
        article = await deliver()
        with chosen_backends.blog_storage_away(tmp_path):
            await translate(article)
        row = await translation_of(article)
        assert (row.status, row.reason) == ("queued", "The blog storage did not take the translation")
        await make_due(article)
        engine = ObedientEngine()
        await translate(article, engine)
        assert (await translation_of(article)).status == "translated"
        assert engine.asked == [], "what was translated before is remembered"

    @pytest.fixture
    def sent(self, monkeypatch: pytest.MonkeyPatch) -> list[float]:
        delays: list[float] = []
        intercept_messages(monkeypatch, lambda _, delay_seconds: delays.append(delay_seconds))
        return delays
