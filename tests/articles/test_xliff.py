"""Translations as XLIFF, read and edited by a translator's own tool: the Translate Toolkit."""

from __future__ import annotations

import re
from io import BytesIO
from typing import Any

import pytest
from translate.storage.xliff2 import Xliff2File

from monitoring.articles.corrections import TranslatedSegment
from monitoring.articles.xliff import EditedTranslation, NoXliff, read_xliff, write_xliff

ARTICLE_ID = "019a9c41-0c2e-7f55-8a3b-6d1f9e4b7a12"
SEGMENTS = [
    TranslatedSegment(
        "a1", "Fit &amp; <g1>shine</g1>, <x2/>.", "Ajuste &amp; <g1>brillo</g1>, <x2/>.", is_corrected=False
    ),
    TranslatedSegment("b2", "Title &lt;3", None, is_corrected=False),
    TranslatedSegment("c3", "Shoes\x0b", "Zapatillas", is_corrected=True),
]


def open_in_the_toolkit(content: bytes) -> Any:
    return Xliff2File.parsestring(content)  # type: ignore[no-untyped-call]


def write() -> bytes:
    return write_xliff(ARTICLE_ID, "pt-BR", SEGMENTS).encode()


def edit(old: str, new: str) -> bytes:
    written = write().decode()
    assert old in written
    return written.replace(old, new).encode()


def nested(depth: int) -> str:
    return '<mrk id="m">' * depth + "</mrk>" * depth


# No codec has the first name, the second's is not for texts, and expat cannot use the others.
UNREADABLE = ("klingon", "rot13", "utf-7", "shift_jis")


def test_a_tool_reads_sources_targets_and_states() -> None:
    store = open_in_the_toolkit(write())
    assert (store.sourcelanguage, store.targetlanguage) == ("en", "pt-BR")
    assert [unit.getid() for unit in store.units] == ["a1", "b2", "c3"]
    assert [unit.istranslated() for unit in store.units] == [True, False, True]
    assert [unit.isapproved() for unit in store.units] == [False, False, True]
    assert store.units[1].source == "Title <3"


def test_what_a_tool_edits_comes_back_with_its_codes() -> None:
    store = open_in_the_toolkit(write())
    store.units[1].target = "T\u00edtulo <3 & mais"
    saved = BytesIO()
    store.units[2].target = "Zapatos"
    store.serialize(saved)
    assert read_xliff(saved.getvalue()) == EditedTranslation(
        ARTICLE_ID, "pt-BR", {"b2": "T\u00edtulo &lt;3 &amp; mais", "c3": "Zapatos"}
    )


def test_targets_of_a_tool_that_drops_what_is_ours_are_all_taken() -> None:
    content = re.sub(rb' own:written="\w+"', b"", write())
    assert read_xliff(content).texts == {"a1": "Ajuste &amp; <g1>brillo</g1>, <x2/>.", "c3": "Zapatillas"}


def test_a_unit_that_a_tool_has_divided_is_joined() -> None:
    divided = edit(
        '<segment state="final"><source>Shoes</source><target>Zapatillas</target></segment>',
        "<segment><source>Sho</source><target>Zapa</target></segment>"
        "<ignorable><source> </source></ignorable>"
        '<segment><source>es</source><target><mrk id="m1">tillas</mrk></target></segment>',
    )
    assert read_xliff(divided).texts["c3"] == "Zapa tillas"


def test_elements_within_each_other_are_read() -> None:
    assert read_xliff(edit("Zapatillas", nested(100) + "Zapatos")).texts == {"c3": "Zapatos"}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "no XML"),
        (b"<xliff/>", "no XLIFF 2"),
        (edit("</file>", "</file><file id='x'/>"), "with one file"),
        (edit('version="2.1"', 'version="2.1" xmlns:a="b"').replace(b"trgLang", b"a:trgLang"), "trgLang"),
        (edit('<ph id="x2"/>', '<sc id="x2"/>'), "the element sc"),
        (
            b'<!DOCTYPE a [<!ENTITY b "c"><!ENTITY d SYSTEM "file:///etc/hostname">]><xliff>&d;</xliff>',
            "no XML",
        ),
        *((f'<?xml version="1.0" encoding="{name}"?><xliff/>'.encode(), "no XML") for name in UNREADABLE),
        (edit('<ph id="x2"/>', nested(101)), "more than 100 elements within each other"),
        (edit('<ph id="x2"/>', nested(100_000)), "more than 100 elements within each other"),
    ],
)
def test_another_file_is_refused_with_a_reason(content: bytes, reason: str) -> None:
    with pytest.raises(NoXliff, match=reason):
        read_xliff(content)
