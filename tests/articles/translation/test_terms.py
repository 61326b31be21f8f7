"""Terms are found in English as whole words, and an answer must have their translations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from monitoring.articles.translation.judgement import Fault, find_fault
from monitoring.articles.translation.terms import LocaleTerms, Terms, read_terms

if TYPE_CHECKING:
    from pathlib import Path


class TestFile:
    @staticmethod
    def read(folder: Path, text: str | bytes) -> Terms:
        file = folder / "terms.csv"
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return read_terms(file)

    def test_the_most_specific_line_decides(self, tmp_path: Path) -> None:
        terms = self.read(
            tmp_path,
            "locale,term,translation\n,Polar,\n,shoe,1\nes,shoe,2\nes-MX,shoe,3\nes,sock,4\nzh-hant,shoe,5\n",
        )
        assert [terms.into(locale).translations["shoe"] for locale in ("fr", "es", "es-MX", "es-AR")] == [
            *"1232"
        ]
        assert terms.into("zh-Hant-TW").translations["shoe"] == "5"
        assert terms.into("es-MX").translations == {"Polar": "Polar", "shoe": "3", "sock": "4"}

    def test_a_spreadsheet_writes_it_with_a_mark_quotes_and_empty_lines(self, tmp_path: Path) -> None:
        text = '\ufefflocale,term,translation\r\n\r\nes,"fit,\r\n""snug""","ajuste  ""ceñido"""\r\n'
        assert self.read(tmp_path, text).into("es").translations == {'fit, "snug"': 'ajuste "ceñido"'}

    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            ("", "line 1 must be locale,term,translation"),
            ("es,shoe,zapato\n", "line 1 must be locale,term,translation"),
            ("locale,term,translation\nes,shoe,zapato,\n", "line 2 must have 3 fields"),
            ("locale,term,translation\n,shoe,\nes, ,zapato\n", "line 3 has no term"),
            ("locale,term,translation\nes,shoe,za\0pato\n", "line 2 "),
            ("locale,term,translation\nes,shoe,za\x9fpato\n", "line 2 has a control character"),
            (
                "locale,term,translation\nSpanish,shoe,zapato\n",
                "line 2 must name a BCP 47 tag, such as pt or pt-BR, or no locale",
            ),
            (
                "locale,term,translation\nes-MX,shoe,tenis\nes,shoe,zapato\nes-mx,shoe,tenis\n",
                "line 4 repeats the locale and the term of line 2",
            ),
            ('locale,term,translation\nes,"shoe" s,zapato\n', "line 2 is not CSV: "),
            (b"locale,term,translation\nes,shoe,calzado\nes,sock,calcet\xedn\n", "is not UTF-8"),
        ],
    )
    def test_that_is_wrong_is_refused_with_its_line(
        self, text: str | bytes, sentence: str, tmp_path: Path
    ) -> None:
        with pytest.raises(ValueError) as refused:  # noqa: PT011 - the sentence is compared
            self.read(tmp_path, text)
        assert str(refused.value).startswith(sentence)


class TestFind:
    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("Running shoes fit", ["running shoes"]),
            ("A RUNNING\n\xa0SHOES test", ["running shoes"]),
            ("shoes, and running shoes", ["running shoes", "shoes"]),
            ("Overshoes and shoesmith", []),
            ("Polar night, polar bear", ["Polar", "polar"]),
            ("POLAR bear", ["polar"]),
            ("Learn C++.", ["C++"]),
            ("c++", []),
        ],
    )
    def test_whole_words_are_found_the_longest_first(self, text: str, found: list[str]) -> None:
        terms = LocaleTerms(dict.fromkeys(["shoes", "running shoes", "polar", "Polar", "C++"], "x"))
        assert list(terms.find(text)) == found


@pytest.mark.parametrize(
    ("segment", "answer", "is_heeded"),
    [
        ("Running shoes fit", "Las zapatillas de correr te quedan", True),
        ("Running shoes fit", "Las ZAPATILLAS\xa0DE CORRER te quedan", True),
        ("Running shoes fit", "Los tenis para correr te quedan", False),
        ("A <g1>running</g1> shoe", "Una zapatilla de <g1>correr</g1>", True),
        ("Shoes fit", "Los zapatos te quedan", True),
        ("Two running shoes and two running shoes", "Cuatro zapatillas de correr", True),
        ("Polar &amp; more", "Polar y más", True),
        ("Polar &amp; more", "polar y más", False),
        ("Made for trail", "Hecho para trail", True),
        ("Made for trail", "Hecho para TRAIL", True),
        ("Made for trail", "Hecho para el monte", False),
        ("The speed counts", "Важна скорости", True),
        ("The speed counts", "Важна быстрота", False),
    ],
)
def test_an_answer_needs_the_translations_of_its_terms(segment: str, answer: str, is_heeded: bool) -> None:  # noqa: FBT001
    terms = Terms(
        {
            "": {"Polar": "Polar", "trail": "trail", "speed": "скорость"},
            "es": {"running shoes": "zapatillas de correr", "running shoe": "zapatilla de correr"},
        }
    )
    target = "ru" if "speed" in segment else "es"
    assert find_fault(segment, answer, target, terms) is (None if is_heeded else Fault.TERMS)
