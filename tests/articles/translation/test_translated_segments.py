"""Segments are translated once, remembered by hash, and translated in parts if an answer breaks codes."""

import pytest

from articles.translation.engines_of_tests import FunctionEngine
from monitoring.articles.translation.engines import TransientEngineError
from monitoring.articles.translation.translated_segments import segment_hash, translate_segments


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
        assert translations.refused == {"one <x1/>", "two"}
        assert not translations.learned

    def test_a_wrong_number_of_answers_is_an_error_of_the_engine(self) -> None:
        engine = FunctionEngine(str.upper)
        engine.translate = lambda *_: ["ONE"]  # type: ignore[method-assign]
        with pytest.raises(TransientEngineError, match="answered 1 texts to 2 segments"):
            translate_segments(["one", "two"], engine, "en", "es", {})


class TestSegmentHash:
    def test_it_is_stable_and_indifferent_to_spaces(self) -> None:
        assert segment_hash("one two") == segment_hash(" one\n two") == "7689d1ceb0c156d213d3370ce8c62d22"
