"""The real Apertium, from Debian's packages."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from articles.translation.engines_of_tests import translate_article
from articles.translation.soups import html_soup
from articles.translation.structures import html_structure
from monitoring.articles.translation.engines.apertium import MODES, Apertium, modes_for
from monitoring.articles.translation.engines.apertium_pipe import ApertiumPipe
from monitoring.articles.translation.engines.apertium_stream import to_stream
from monitoring.articles.translation.engines.protocol import PermanentEngineError, TransientEngineError
from monitoring.articles.translation.inline_codes import accepted


class TestTranslate:
    @pytest.mark.parametrize(
        ("locale", "expected"),
        [
            ("es", "El zapato rojo"),
            ("ca", "La sabata vermella"),
            ("gl", "O zapato vermello"),
            ("eo", "La ruĝa ŝuo"),
            ("pt", "O sapato vermelho"),
            ("fr", "La chaussure rouge"),
            ("it", "La scarpa rossa"),
        ],
    )
    def test_english_becomes_each_language(self, locale: str, expected: str, apertium: Apertium) -> None:
        assert apertium.translate(["The red shoe"], "en", locale) == [expected]

    @pytest.mark.parametrize(
        ("segment", "expected"),
        [
            ("The <g1>red <g2>shoe</g2></g1> is here", "El <g1><g2>zapato</g2> rojo</g1> es aquí"),
            ("Use <x1/>, (<x2/>) and <x3/>.", "Uso <x1/>, (<x2/>) y <x3/>."),
            ("<g1>The house <x2/></g1> and <g3>the <g4>big</g4> changes</g3>", None),
        ],
    )
    def test_codes_travel_with_their_words(
        self, segment: str, expected: str | None, apertium: Apertium
    ) -> None:
        [answer] = apertium.translate([segment], "en", "es")
        assert accepted(segment, answer) == (expected or answer)

    def test_its_own_special_characters_are_words_like_others(self, apertium: Apertium) -> None:
        specials = "\\ [ ] { } ^ $ / &lt; &gt; @ * # + ~"
        assert apertium.translate([specials], "en", "es") == [specials]

    def test_unknown_words_carry_no_mark(self, apertium: Apertium) -> None:
        assert apertium.translate(["Zzyzx"], "en", "es") == ["Zzyzx"]

    def test_too_many_codes_are_answered_by_nothing(self, apertium: Apertium) -> None:
        assert apertium.translate(["<x1/>" * 60 + "word"], "en", "es") == [""]

    @settings(deadline=None)
    @given(segments=st.lists(st.text(st.characters(exclude_characters="<&>")), max_size=3))
    def test_every_segment_is_answered(self, segments: list[str], apertium: Apertium) -> None:
        assert len(apertium.translate(segments, "en", "es")) == len(segments)

    def test_more_than_a_pipe_holds_is_answered(self, apertium: Apertium) -> None:
        long = "the red shoe " * 6_000  # a pipe holds 64 KiB
        assert apertium.translate([long, "The red shoe"], "en", "es")[1] == "El zapato rojo"

    def test_threads_get_their_own_answers(self, apertium: Apertium) -> None:
        numbers = [str(number) for number in range(200)]
        with ThreadPoolExecutor(8) as threads:
            answers = threads.map(
                lambda number: apertium.translate([f"{number} &lt;"], "en", "es")[0], numbers
            )
        assert list(answers) == [f"{number} &lt;" for number in numbers]

    def test_a_language_it_does_not_know_is_a_permanent_error(self, apertium: Apertium) -> None:
        for source, target in (("en", "ja"), ("de", "es")):
            with pytest.raises(PermanentEngineError, match=f"cannot translate {source} into {target}"):
                apertium.translate(["word"], source, target)

    @settings(deadline=None)
    @given(source=html_soup)
    def test_markup_survives_it(self, source: str, apertium: Apertium) -> None:
        payload = {"article": {"content_html": f"<p>The <b>red</b> {source}"}}
        article = translate_article(payload, engine=apertium, target="es").payload["article"]
        assert html_structure(article["content_html"]) == html_structure(payload["article"]["content_html"])


@pytest.mark.programs("apertium")
class TestPipe:
    def test_a_pipeline_that_was_killed_starts_again(self) -> None:
        pipe = ApertiumPipe(Path("/usr/share/apertium/modes/eng-spa.mode"), silence_timeout_seconds=30)
        before = pipe.translate([to_stream("one house")])
        os.killpg(pipe._running.pid, signal.SIGKILL)  # type: ignore[union-attr]  # noqa: SLF001
        assert pipe.translate([to_stream("one house")]) == before
        pipe.close()

    @pytest.mark.parametrize(
        ("command", "patience_seconds", "reason"),
        [("tail -f /dev/null", 0.2, "did not respond"), ("true", 30, "died twice")],
    )
    def test_silence_and_death_are_transient(
        self, command: str, patience_seconds: float, reason: str, tmp_path: Path
    ) -> None:
        mode_file = tmp_path / "broken.mode"
        mode_file.write_text(command)
        pipe = ApertiumPipe(mode_file, silence_timeout_seconds=patience_seconds)
        with pytest.raises(TransientEngineError, match=f"mode broken {reason}"):
            pipe.translate(["word"])


class TestCheck:
    def test_every_listed_language_is_served_by_the_installed_packages(self, apertium: Apertium) -> None:
        assert apertium.check(list(MODES)) == []

    def test_problems_are_named(self, apertium: Apertium, tmp_path: Path) -> None:
        assert apertium.check(["ja"]) == [f"Apertium cannot translate into ja, but into {', '.join(MODES)}"]
        assert "es-fr.mode is missing" in Apertium(modes_folder=tmp_path).check(["fr"])[1]

    def test_a_dictionary_that_changes_changes_the_name(self, tmp_path: Path) -> None:
        dictionary = tmp_path / "eng-spa.bin"
        dictionary.write_text("one")
        (tmp_path / "eng-spa.mode").write_text(f"lt-proc '{dictionary}'")
        names = {Apertium(tmp_path).name, Apertium(tmp_path).name}
        dictionary.write_text("one more")
        names.add(Apertium(tmp_path).name)
        assert len(names) == 2

    @pytest.mark.parametrize(
        ("locale", "route"),
        [
            ("es-MX", ("eng-spa",)),
            ("pt_BR", ("eng-spa", "es-pt_BR")),
            ("pt-PT", ("eng-spa", "es-pt")),
            ("ja", ()),
        ],
    )
    def test_a_region_falls_back_to_its_language(self, locale: str, route: tuple[str, ...]) -> None:
        assert modes_for(locale) == route
