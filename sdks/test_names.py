"""The names of the SDKs are those of the document, in the words and the case of each language."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

import names
from generators import GO_OPTIONS, JAVA_OPTIONS, ROOT, RUBY_OPTIONS
from names import Names, camel, fields_of_anything, operations, pascal, schema_names

if TYPE_CHECKING:
    from collections.abc import Callable

GUIDE = ROOT / "docs" / "guides" / "generate-an-sdk.md"

# What generators make up when a document leaves something without a name, or names it after its place.
UGLY = re.compile(
    r"\d$|Type_?\d|[Ii]nline|^Default|^(get|post|patch|delete)?[Aa]pi[A-Z]\w*(?<!Request)$|(One|Any|All)Of|Inner$"
)


@dataclass(frozen=True)
class Expected:
    read: Callable[[], Names]
    spell: Callable[[str], str]  # an operationId as a method
    around: Callable[[], set[str]]  # the types that the generator puts around the document's
    without: frozenset[str] = frozenset()  # the document's types that it spells in place


def nothing() -> set[str]:
    return set()


def around_hey_api() -> set[str]:
    suffixes = ("Data", "Error", "Errors", "Response", "Responses")
    parameters = set(names.document()["components"]["parameters"])
    of_operations = {pascal(name) + suffix for name in operations() for suffix in suffixes}
    return of_operations | parameters | {"ClientOptions", "Options"}


def around_go() -> set[str]:
    requests = {f"Api{pascal(name)}Request" for name in operations()}
    return requests | {f"{tag}APIService" for tag in operations().values()}


def apis() -> set[str]:
    return {f"{tag}Api" for tag in operations().values()}


EXPECTED = {
    "python": Expected(names.python, str, nothing),
    "openapi-fetch": Expected(names.openapi_fetch, str, nothing),
    "hey-api": Expected(names.hey_api, camel, around_hey_api),
    "java": Expected(names.java, camel, apis),
    "go": Expected(names.go, pascal, around_go),
    "ruby": Expected(names.ruby, str, apis),
}


@pytest.fixture(params=EXPECTED)
def expected(request: pytest.FixtureRequest) -> Expected:
    return EXPECTED[request.param]


def test_every_operation_is_a_method_and_nothing_else_is(expected: Expected) -> None:
    assert expected.read().methods == {expected.spell(name) for name in operations()}


def test_no_type_is_made_up(expected: Expected) -> None:
    assert expected.read().types - expected.around() <= schema_names()


def test_what_a_notification_webhook_receives_has_its_types(expected: Expected) -> None:
    """Answers lead to none of them: only the callback does, and no operation comes of that."""
    assert expected.read().types >= {"Notification", "NotificationSubject", "NotificationMonitor"}


def test_no_name_tells_of_a_place_instead_of_a_thing(expected: Expected) -> None:
    found = expected.read()
    assert not [name for name in found.types | found.methods if UGLY.search(name)]


def test_nothing_is_untyped_that_the_document_describes(expected: Expected) -> None:
    assert expected.read().untyped_fields <= fields_of_anything()


def test_nothing_can_be_written_nowhere() -> None:
    """An object without a word on its fields is `Record<string, never>` to openapi-typescript."""
    text = names.OPENAPI_FETCH.read_text()
    assert not re.findall(r"^ {8,}(\w+)\??: Record<string, never>", text, re.MULTILINE)


def test_the_guide_has_the_table_of_names() -> None:
    assert names.write_table() in GUIDE.read_text(), "print it with `python sdks/names.py`"


@pytest.mark.parametrize("options", [JAVA_OPTIONS, GO_OPTIONS, RUBY_OPTIONS, "--default-non-nullable=false"])
def test_the_guide_has_the_options_that_are_used_here(options: str) -> None:
    assert options in GUIDE.read_text()
