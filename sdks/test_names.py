"""The names in the SDKs are those of the document, in the case of each language."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

import generators
import names
from building import GUIDE
from names import (
    Names,
    camel,
    conditional_fields,
    fields_of_anything,
    operations,
    pascal,
    receptions,
    schema_names,
)

if TYPE_CHECKING:
    from collections.abc import Callable

# Names that generators make up when the document names something after its place, or not at all.
UGLY = re.compile(
    r"\d$|Type_?\d|[Ii]nline|^Default|^(get|post|patch|delete)?[Aa]pi[A-Z]\w*(?<!Request)$|(One|Any|All)Of|Inner$"
)


def nothing() -> set[str]:
    return set()


@dataclass(frozen=True)
class Expected:
    read: Callable[[], Names]
    spell: Callable[[str], str]  # an operationId as a method
    around: Callable[[], set[str]]  # the types that the generator puts around the document's
    receives: bool = True  # whether it makes a method of what the service sends
    leaves_out: Callable[[], set[str]] = nothing  # the operations of which it makes no method


def around_python() -> set[str]:
    """Return the names of what has one value: the kind of something, and the header that only creates."""
    only_creates = {f"{pascal(name)}IfNoneMatch" for name in operations() if name.startswith("put_")}
    return {f"{name}Type" for name in schema_names()} | only_creates


def around_hey_api() -> set[str]:
    suffixes = ("Data", "Error", "Errors", "Response", "Responses")
    components = names.document()["components"]
    shared = {*components["parameters"], *components["requestBodies"]}
    of_operations = {pascal(name) + suffix for name in operations() for suffix in suffixes}
    of_receptions = {
        f"{pascal(name)}Webhook{part}" for name in receptions() for part in ("Payload", "Request")
    }
    return of_operations | of_receptions | shared | {"ClientOptions", "Options", "Webhooks"}


def around_go() -> set[str]:
    both = operations() | receptions()
    return {f"Api{pascal(name)}Request" for name in both} | {f"{tag}APIService" for tag in both.values()}


def apis() -> set[str]:
    return {f"{tag}Api" for tag in (operations() | receptions()).values()}


EXPECTED = {
    "python": Expected(names.python, str, around_python, receives=False, leaves_out=names.of_text),
    "openapi-fetch": Expected(names.openapi_fetch, str, nothing),
    "hey-api": Expected(names.hey_api, camel, around_hey_api, receives=False),
    "java": Expected(names.java, camel, apis),
    "go": Expected(names.go, pascal, around_go),
    "ruby": Expected(names.ruby, str, apis),
}


@pytest.fixture(params=EXPECTED)
def expected(request: pytest.FixtureRequest) -> Expected:
    return EXPECTED[request.param]


def test_every_operation_is_a_method_and_nothing_else_is(expected: Expected) -> None:
    both = operations() | (receptions() if expected.receives else {})
    assert expected.read().methods == {expected.spell(name) for name in both.keys() - expected.leaves_out()}


def test_no_type_is_made_up(expected: Expected) -> None:
    assert expected.read().types - expected.around() <= schema_names()


def test_what_a_notification_channel_receives_has_its_types(expected: Expected) -> None:
    """No answer refers to these types: only what stands under `webhooks` does."""
    assert expected.read().types >= {"Notification", "NotificationSubject", "NotificationMonitor"}


def test_no_name_tells_of_a_place_instead_of_a_thing(expected: Expected) -> None:
    found = expected.read()
    assert not [name for name in found.types | found.methods if UGLY.search(name)]


def test_nothing_is_untyped_that_the_document_describes(expected: Expected) -> None:
    assert expected.read().untyped_fields <= fields_of_anything() | conditional_fields()


def test_nothing_can_be_written_nowhere() -> None:
    """For openapi-typescript, an object whose fields are not described is `Record<string, never>`."""
    text = names.OPENAPI_FETCH.read_text()
    assert not re.findall(r"^ {8,}(\w+)\??: Record<string, never>", text, re.MULTILINE)


def test_the_guide_has_the_table_of_names() -> None:
    assert names.write_table() in GUIDE.read_text(), "print it with `python sdks/names.py`"


@pytest.mark.parametrize(
    "options",
    [
        *(value for name, value in vars(generators).items() if name.endswith("_OPTIONS")),
        "--default-non-nullable=false",
    ],
)
def test_the_guide_has_the_options_that_are_used_here(options: str) -> None:
    assert options in GUIDE.read_text()
