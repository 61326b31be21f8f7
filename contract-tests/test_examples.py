"""Tests that every example in the document matches its schema."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from monitoring.contract.document import Node, load_document
from monitoring.contract.validation import BrokenPromise, Validation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

DOCUMENT = load_document()
VALIDATION = Validation(DOCUMENT)


def find_examples(node: Node, pointer: str = "#") -> Iterator[tuple[str, object, Node]]:
    """Yield every example of a body, parameter, header or field, with its pointer and schema."""
    for name, reference in node.get("examples", {}).items() if "schema" in node else ():
        yield f"{pointer}/examples/{name}", DOCUMENT.follow(reference)["value"], node["schema"]
    if isinstance(examples := node.get("examples"), list):  # the examples of a schema
        yield from ((f"{pointer}/examples/{index}", example, node) for index, example in enumerate(examples))
    if "example" in node:
        yield f"{pointer}/example", node["example"], node.get("schema", node)
    for step, below in node.items():
        if step not in {"examples", "example", "default"} or pointer.endswith("/properties"):
            yield from find_examples_below(below, f"{pointer}/{step.replace('~', '~0').replace('/', '~1')}")


def find_examples_below(node: object, pointer: str) -> Iterator[tuple[str, object, Node]]:
    if isinstance(node, dict):
        yield from find_examples(node, pointer)
    if isinstance(node, list):
        for index, entry in enumerate(node):
            yield from find_examples_below(entry, f"{pointer}/{index}")


def find_broken_promises(examples: Iterable[tuple[str, object, Node]]) -> dict[str, str]:
    """Return the errors of the examples that do not match their schema, by pointer."""
    found = {}
    for pointer, example, schema in examples:
        try:
            VALIDATION.response_check(schema)(example)
        except BrokenPromise as broken:
            found[pointer] = str(broken)
    return found


EXAMPLES = list(find_examples(DOCUMENT.root))


def test_every_example_is_what_its_schema_allows() -> None:
    assert find_broken_promises(EXAMPLES) == {}


@pytest.mark.parametrize(
    "place",
    [
        "/requestBody/content/",
        "/responses/200/content/",
        "#/components/responses/",
        "#/components/parameters/",
        "#/components/headers/",
        "#/components/schemas/Monitor/properties/",
        "/get/parameters/",
    ],
)
def test_examples_are_found_wherever_they_can_stand(place: str) -> None:
    assert any(place in pointer for pointer, _, _ in EXAMPLES)


def test_wrong_examples_are_all_listed() -> None:
    pointer = "#/components/schemas/Monitor/properties/interval_seconds/examples/0"
    schema = next(schema for place, _, schema in EXAMPLES if place == pointer)
    assert find_broken_promises([("a", "soon", schema), ("b", 60, schema), ("c", None, schema)]).keys() == {
        "a",
        "c",
    }
