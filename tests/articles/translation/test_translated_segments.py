"""Segments are translated once, remembered by hash, and translated in parts if an answer breaks codes."""

from functools import partial
from threading import Event

import pytest

from articles.translation.engines_of_tests import FunctionEngine
from monitoring.articles.fair_threads import FairThreads
from monitoring.articles.translation.engines.protocol import BatchLimit, TransientEngineError
from monitoring.articles.translation.translated_segments import Translations, segment_hash, translate_segments

HEADINGS = ["The right shoes", "Find your size", "When to buy", "After the race", "Your feet", "Our shops"]
FRENCH = [
    "Les bonnes chaussures",
    "Trouvez votre taille",
    "Quand les changer",
    "Après la course",
    "Vos pieds",
    "Nos magasins",
]
SPANISH = ["Las zapatillas", "Encuentra tu talla", "Cuándo comprar", "Tras la carrera", "Tus pies", "Tiendas"]


class TestTranslateSegments:
    def test_a_segment_is_asked_for_once_and_learned(self) -> None:
        engine = FunctionEngine(str.upper)
        translations = translate_segments(["one", "two", "one"], engine, "en", "es", {})
        assert engine.asked == ["one", "two"]
        assert translations.learned == {segment_hash("one"): "ONE", segment_hash("two"): "TWO"}

    def test_a_remembered_segment_is_not_asked_for(self) -> None:
        engine = FunctionEngine(str.upper)
        translations = translate_segments(["one"], engine, "en", "es", {segment_hash("one"): "uno"})
        assert (engine.asked, translations.texts, translations.learned) == ([], {"one": "uno"}, {})

    def test_a_memory_that_does_not_fit_is_not_trusted(self) -> None:
        known = {segment_hash("one"): "<script>"}
        assert translate_segments(["one"], FunctionEngine(str.upper), "en", "es", known).texts == {
            "one": "ONE"
        }

    def test_broken_codes_are_healed_by_translating_between_them(self) -> None:
        engine = FunctionEngine(lambda segment: segment.replace("<x1/>", "").upper())
        assert translate_segments(["one <x1/> two"], engine, "en", "es", {}).texts == {
            "one <x1/> two": "ONE <x1/> TWO"
        }

    def test_a_segment_with_no_acceptable_answer_is_refused_and_not_learned(self) -> None:
        translations = translate_segments(["one <x1/>", "two"], FunctionEngine(lambda _: ""), "en", "es", {})
        assert translations.refused == {"one <x1/>": "empty", "two": "empty"}
        assert not translations.learned

    def test_a_wrong_number_of_answers_is_an_error_of_the_engine(self) -> None:
        engine = FunctionEngine(str.upper)
        engine.translate = lambda *_: ["ONE"]  # type: ignore[method-assign]
        with pytest.raises(TransientEngineError, match="returned 1 texts for 2 segments"):
            translate_segments(["one", "two"], engine, "en", "es", {})


class TestJudgement:
    """What the judge finds is asked for once more."""

    @staticmethod
    def find_fault(segment: str, answer: str, target: str) -> str | None:
        assert (segment.lower(), target) == (segment, "es")
        return None if answer.isupper() else "chatter"

    def translate(self, answers: list[str], known: dict[str, str]) -> tuple[Translations, list[str]]:
        engine = FunctionEngine(lambda _: answers.pop(0))
        return translate_segments(["one"], engine, "en", "es", known, self.find_fault), engine.asked

    def test_a_second_answer_that_is_good_is_taken(self) -> None:
        translations, asked = self.translate(["sorry", "UNO"], {})
        assert (translations.texts, asked) == ({"one": "UNO"}, ["one"] * 2)
        assert not translations.refused
        assert translations.faults == {"chatter": 1}

    def test_there_is_no_third_question(self) -> None:
        translations, asked = self.translate(["sorry", "sorry"], {})
        assert asked == ["one"] * 2
        assert translations.refused == {"one": "chatter"}
        assert not translations.texts
        assert not translations.learned

    def test_a_refusal_that_was_remembered_is_replaced(self) -> None:
        translations, _ = self.translate(["UNO"], {segment_hash("one"): "sorry"})
        assert translations.learned == {segment_hash("one"): "UNO"}

    def test_the_runs_between_codes_are_judged_too(self) -> None:
        engine = FunctionEngine(lambda segment: "DOS" if segment == "two" else "sorry")
        translations = translate_segments(["one <x1/> two"], engine, "en", "es", {}, self.find_fault)
        assert not translations.learned
        assert translations.refused == {"one <x1/> two": "chatter"}

    def test_what_is_wrong_about_markup_twice_is_translated_between_the_codes(self) -> None:
        def find_fault(_: str, answer: str, __: str) -> str | None:
            return "markup" if "DO<g1>S" in answer else None

        engine = FunctionEngine(
            lambda segment: segment.upper().replace("O <G1>", "O<g1>").replace("/G", "/g")
        )
        translations = translate_segments(["do <g1>so</g1>"], engine, "en", "es", {}, find_fault)
        assert engine.asked == ["do <g1>so</g1>", "do <g1>so</g1>", "do", "so"]
        assert translations.texts == {"do <g1>so</g1>": "DO <g1>SO</g1>"}
        assert (translations.faults, translations.refused) == ({"markup": 2}, {})

    def test_what_was_put_together_from_runs_is_judged_as_a_whole(self) -> None:
        def find_fault(segment: str, answer: str, target: str) -> str | None:  # noqa: ARG001
            return "repetition" if answer.count("DOS") > 1 else None

        engine = FunctionEngine(lambda _: "DOS")
        translations = translate_segments(["one <x1/> two"], engine, "en", "es", {}, find_fault)
        assert translations.refused == {"one <x1/> two": "repetition"}

    def test_what_is_wrong_with_all_texts_of_a_request_is_wrong_with_the_short_ones(self) -> None:
        def find_fault(segment: str, answer: str, target: str) -> str | None:  # noqa: ARG001
            return "language" if len(answer) > 3 and answer.count("X") * 2 > len(answer) else None

        def refused(*segments: str) -> set[str]:
            engine = FunctionEngine(str.upper)
            return set(translate_segments(segments, engine, "en", "es", {}, find_fault).refused)

        assert refused("xxxx", "xxxxx", "one") == {"xxxx", "xxxxx", "one"}
        assert refused("xxxx", "three", "seven") == {"xxxx"}

    def test_short_answers_in_another_language_are_asked_for_once_more(self) -> None:
        answers = iter((*FRENCH, *SPANISH))
        engine = FunctionEngine(lambda _: next(answers))
        translations = translate_segments(HEADINGS, engine, "en", "es", {}, lambda *_: None)
        assert sorted(translations.texts.values()) == sorted(SPANISH)
        assert translations.faults == {"language": 6}

    def test_short_texts_of_the_memory_in_another_language_are_replaced(self) -> None:
        known = {segment_hash(each): text for each, text in zip(HEADINGS, FRENCH, strict=True)}
        translations = translate_segments(
            HEADINGS, FunctionEngine(lambda _: "Nada"), "en", "es", known, lambda *_: None
        )
        assert translations.learned == {segment_hash(each): "Nada" for each in HEADINGS}

    def test_short_corrections_are_not_judged(self) -> None:
        corrections = {segment_hash(each): text for each, text in zip(HEADINGS, FRENCH, strict=True)}
        engine = FunctionEngine(str.upper)
        translations = translate_segments(
            HEADINGS, engine, "en", "es", {}, lambda *_: None, corrections=corrections
        )
        assert sorted(translations.texts.values()) == sorted(FRENCH)

    def test_the_engine_works_on_while_an_answer_is_judged(self) -> None:
        is_asked_again = Event()

        def answer(segment: str) -> str:
            if segment == "two":
                is_asked_again.set()
            return segment.upper()

        def find_fault(segment: str, answer: str, target: str) -> str | None:  # noqa: ARG001
            return None if is_asked_again.wait(30) else "language"

        engine = FunctionEngine(answer)
        engine.batch_limit = BatchLimit(max_texts=1, max_bytes=1000)
        threads = FairThreads(1, "engine")
        submit = partial(threads.submit, "article")
        translations = translate_segments(["one", "two"], engine, "en", "es", {}, find_fault, submit)
        threads.close()
        assert translations.texts == {"one": "ONE", "two": "TWO"}


class TestSegmentHash:
    def test_it_is_stable_and_indifferent_to_spaces(self) -> None:
        assert segment_hash("one two") == segment_hash(" one\n two") == "7689d1ceb0c156d213d3370ce8c62d22"
