"""Of the front matter within a text, what readers see is translated, and the rest stays byte by byte."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from articles.translation.engines_of_tests import FunctionEngine
from monitoring.articles.translation.content_formats import TextFormat
from monitoring.articles.translation.documents import read_document
from monitoring.articles.translation.translated_segments import translate_segments

if TYPE_CHECKING:
    from collections.abc import Callable


def translated(source: str, translate: Callable[[str], str] = str.upper, brands: tuple[str, ...] = ()) -> str:
    document = read_document(source, TextFormat.MARKDOWN, brands)
    texts = translate_segments(document.segments(), FunctionEngine(translate), "en", "es", {}).texts
    return document.translated(texts).text


def yaml_of(text: str) -> Any:
    return yaml.safe_load(text.split("---\n")[1])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("title: the red shoe", "THE RED SHOE"),
        ("title:   the red shoe  ", "THE RED SHOE"),
        ('title: "the \\"red\\" shoe"', 'THE "RED" SHOE'),
        ("title: 'it''s a shoe'", "IT'S A SHOE"),
        ("title: a shoe: the red one", None),  # no YAML
        ("title: time 10:30 it is", "TIME 10:30 IT IS"),
        ("title: '12'", "12"),
        ("title: shoe # a comment", "shoe"),
        ("title: >-\n  the red\n  shoe", "the red shoe"),
        ("title: the red\n  shoe", "the red shoe"),
        ("title: [a, b]", ["a", "b"]),
    ],
)
def test_a_title_in_yaml(field: str, value: object) -> None:
    source = f"---\nslug: a shoe\n{field}\ntags: [red shoe]\nnested:\n  title: red\n---\n\n# one\n"
    text = translated(source)
    assert text.endswith("tags: [red shoe]\nnested:\n  title: red\n---\n\n# ONE\n")
    if value is not None:
        assert yaml_of(text)["title"] == value


def test_an_answer_cannot_break_the_front_matter() -> None:
    answers = {"one": 'un: "x" # \\ \'', "two": "deux'\\"}
    text = translated(
        "---\ntitle: one\ndescription: 'two'\ndraft: true\n---\nthree\n",
        lambda each: answers.get(each, "TROIS"),
    )
    assert yaml_of(text) == {"title": 'un: "x" # \\ \'', "description": "deux'\\", "draft": True}
    assert text.endswith("---\nTROIS\n")


def test_toml() -> None:
    text = translated(
        '+++\ntitle = "the \\"red\\" shoe"\nsummary=\'a shoe\'\ndraft = true\n+++\none\n',
        lambda each: f"l'{each}",
    )
    read = tomllib.loads(text.split("+++\n")[1])
    assert read == {"title": 'l\'the "red" shoe', "summary": "l\u2019a shoe", "draft": True}


def test_placeholders_and_brands_stay() -> None:
    source = '---\ntitle: "run {{ name }} Acme"\ndescription: run {{ name }}\n---\n'
    text = translated(source, lambda each: each.replace("run", "corre"), ("Acme",))
    assert text == source.replace('"run', '"corre')


def test_links_follow_their_headings_behind_a_longer_title() -> None:
    source = "---\ntitle: one\n---\n\n[go](#two)\n\n## two\n"
    assert translated(source, lambda each: f"{each} more") == (
        '---\ntitle: "one more"\n---\n\n[go more](#two-more)\n\n## two more\n'
    )
