"""Tests that the OpenAPI 3.0 version is valid (3.0.4), and describes the same API as the document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from openapi_schema_validator import OAS30Validator, oas30_format_checker
from openapi_spec_validator import OpenAPIV30SpecValidator

import promises
from monitoring.contract.openapi_30 import derive_openapi_30
from monitoring.contract.publishing import publish
from test_examples import find_examples

if TYPE_CHECKING:
    from collections.abc import Iterator

    from running_service import RunningService

DERIVED = derive_openapi_30(publish(promises.DOCUMENT.root))
# The OpenAPI 3.0 document's examples. The examples of its schemas are in the keyword `example`.
EXAMPLES = [row for row in find_examples(DERIVED) if not row[0].startswith("#/x-webhooks")]


def schemas_in(node: Any) -> Iterator[dict[str, Any]]:
    """Yield every object in the document that could be a schema."""
    if isinstance(node, dict):
        yield node
        for name, below in node.items():
            if name not in ("example", "value", "default", "enum"):
                yield from schemas_in(below)
    if isinstance(node, list):
        for below in node:
            yield from schemas_in(below)


class TestRendition:
    def test_it_is_served(self, service: RunningService) -> None:
        assert promises.ask(service, "GET", "/openapi-3.0.json").json == DERIVED

    def test_it_is_a_valid_openapi_3_0_document(self) -> None:
        OpenAPIV30SpecValidator(DERIVED).validate()

    def test_it_has_the_same_operations_and_answers(self) -> None:
        whole = promises.DOCUMENT.root["paths"]
        assert {path: item.keys() for path, item in DERIVED["paths"].items()} == {
            path: item.keys() for path, item in whole.items()
        }
        for operation in promises.OPERATIONS.values():
            derived = DERIVED["paths"][operation.path][operation.method]
            assert derived["operationId"] == operation.operation_id
            assert derived["responses"].keys() == operation.responses.keys()

    def test_null_is_said_beside_a_type_and_nowhere_else(self) -> None:
        for schema in schemas_in(DERIVED):
            if "nullable" in schema:
                assert isinstance(schema["type"], str)
                assert schema.keys().isdisjoint({"$ref", "allOf", "anyOf", "oneOf"})

    def test_an_array_says_what_its_items_are(self) -> None:
        arrays = [schema for schema in schemas_in(DERIVED) if schema.get("type") == "array"]
        assert [schema for schema in arrays if "items" not in schema] == []

    def test_every_example_is_what_its_schema_allows(self) -> None:
        found = {}
        for pointer, example, schema in EXAMPLES:
            whole = {"components": DERIVED["components"], **schema}
            errors = [*OAS30Validator(whole, format_checker=oas30_format_checker).iter_errors(example)]
            if errors:
                found[pointer] = errors
        assert found == {}
