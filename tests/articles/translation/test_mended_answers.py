"""What leaves no doubt in an answer is mended, and what a language needs stays."""

# ruff: noqa: RUF001 - other languages have other letters

from __future__ import annotations

import pytest

from monitoring.articles.translation.inline_codes import accepted
from monitoring.articles.translation.mended_answers import mended

LINKED = "Read <g1>our guide</g1> now & then"


@pytest.mark.parametrize(
    ("segment", "answer", "mends"),
    [
        ('A "good" shoe', "Un zapato &amp;quot;bueno&amp;quot;", 'Un zapato "bueno"'),
        (
            LINKED,
            "Lee &lt;g1&gt;la guía&lt;/g1&gt; ahora &amp;amp; luego",
            "Lee <g1>la guía</g1> ahora & luego",
        ),
        (LINKED, "Lee &amp;lt;g1&amp;gt;la guía&amp;lt;/g1&amp;gt; ya", "Lee <g1>la guía</g1> ya"),
        ("Write &amp;amp; for it", "Escribe &amp;amp; por ello", "Escribe &amp;amp; por ello"),
        (LINKED, "Lee<g1> la guía </g1>ya", "Lee <g1>la guía</g1> ya"),
        ("<g1><g2>One</g2></g1> two", "<g1><g2>Uno </g2></g1>dos", "<g1><g2>Uno</g2></g1> dos"),
        ("<g1> One</g1> two", "<g1> Uno</g1> dos", "<g1> Uno</g1> dos"),
        ("A good shoe", "\u202bUn \u2066buen\u2069 za\u00adpato\ufeff\u202c", "Un buen zapato"),
        ("A good shoe", "Un\u00a0buen\u00a0zapato", "Un buen zapato"),
        ("It fits well.", "Queda bien", "Queda bien."),
        ("It fits well.", "Queda bien..", "Queda bien."),
        ("A good shoe", "Un buen zapato.", "Un buen zapato"),
        ("Shoes and the like", "Zapatos, etc.", "Zapatos, etc."),
        ("Shoes of Acme Inc", "Zapatos de Acme S.A.", "Zapatos de Acme S.A."),
        ("Shoes fit if you measure them well.", "Los zapatos", "Los zapatos"),  # half of it
        ("And so on...", "Y así..", "Y así.."),
        ("It fits well!", "Queda bien", "Queda bien"),
    ],
)
def test_spanish(segment: str, answer: str, mends: str) -> None:
    assert accepted(segment, mended(segment, answer, "es")) == mends.replace(" & ", " &amp; ")


@pytest.mark.parametrize(
    ("answer", "target"),
    [
        ("می\u200cخواهم", "fa"),
        ("\u200fشراء GmbH\u200e", "ar"),
        ("รองเท้า\u200bที่ดี", "th"),
        ("क्\u200dष", "hi"),
        ("合适", "zh-Hans"),
    ],
)
def test_what_a_script_needs_stays(answer: str, target: str) -> None:
    assert mended("It fits well", answer, target) == answer


def test_what_the_segment_has_stays() -> None:
    segment, answer = "soft\u00adware \u202aabc\u202c", "soft\u00adware \u202aabc\u202c, sí"
    assert mended(segment, answer, "es") == answer


@pytest.mark.parametrize("answer", [None, 7, ["x"]])
def test_what_is_no_text_is_left_to_others(answer: object) -> None:
    assert mended("It fits well.", answer, "es") is answer
