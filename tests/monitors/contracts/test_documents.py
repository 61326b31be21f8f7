"""What a document promises of an operation is found, whatever version it is of, and however hostile."""

from __future__ import annotations

from typing import Any

import pytest

from monitoring.contract.document import published_document
from monitoring.monitors.contracts.documents import MAX_DEPTH, UnusableDocumentError, find_rules
from monitoring.monitors.contracts.judging import Rules, Violation
from monitors.contracts.promises import DOCUMENT, LINE, ORDER, promise

HEADERS = {"content-type": "application/json; charset=utf-8", "x-page": "1"}


def judge(document: Any, body: str, status_code: int = 200) -> Violation | None:
    rules = Rules(find_rules(document, "get_order"))
    rules.compile_all()
    return rules.judge(status_code, HEADERS, body)


class TestPromise:
    def test_that_is_kept_is_no_violation(self) -> None:
        assert judge(DOCUMENT, '{"id": 1, "total": 0.5, "lines": [{"name": "a"}]}') is None
        assert judge(DOCUMENT, "whatever", 404) is None

    @pytest.mark.parametrize(
        ("body", "pointer"),
        [
            ('{"id": 1}', ""),
            ('{"id": "secret", "total": 1}', "/id"),
            ('{"id": 1, "total": -1}', "/total"),
            ('{"id": 1, "total": 1, "lines": [{"name": "a"}, {"name": 7}]}', "/lines/1/name"),
            ('["secret"]', ""),
            ("secret", ""),
        ],
    )
    def test_that_the_body_breaks_is_named_by_where_without_the_value(self, body: str, pointer: str) -> None:
        violation = judge(DOCUMENT, body)
        assert violation
        assert violation.pointer == pointer
        assert "secret" not in violation.sentence

    def test_is_about_status_headers_and_media_type_too(self) -> None:
        rules = Rules(find_rules(DOCUMENT, "get_order"))
        for status_code, headers, sentence in (
            (500, HEADERS, "status 500 is not documented"),
            (200, {**HEADERS, "content-type": "text/html"}, "the media type is not documented"),
            (200, {**HEADERS, "x-page": "b"}, "the header x-page is not as its schema says"),
            (200, {"content-type": "application/json"}, "the header x-page is missing"),
        ):
            assert rules.judge(status_code, headers, "{}") == ("", sentence)


class TestVersions:
    @pytest.mark.parametrize(
        ("schema", "kept", "broken"),
        [
            ({"type": "string", "nullable": True}, "null", "1"),
            ({"type": "integer", "minimum": 1, "exclusiveMinimum": True}, "2", "1"),
            ({"type": "integer", "maximum": 1, "exclusiveMaximum": False}, "1", "2"),
            (
                {
                    "type": "object",
                    "required": ["a", "password"],
                    "properties": {"password": {"type": "string", "writeOnly": True}},
                },
                '{"a": 1}',
                '{"password": "x"}',
            ),
        ],
    )
    def test_3_0_says_some_things_in_its_own_way(self, schema: Any, kept: str, broken: str) -> None:
        document = promise(schema, version="3.0.3")
        assert judge(document, kept) is None
        assert judge(document, broken)

    def test_3_1_is_json_schema(self) -> None:
        document = promise({"type": ["string", "null"], "exclusiveMinimum": 1, "$defs": {"example": LINE}})
        assert judge(document, "null") is None
        assert judge(document, "1")

    def test_names_like_keywords_are_names(self) -> None:
        document = promise({"type": "object", "properties": {"title": {"type": "string"}, "x-a": False}})
        assert judge(document, '{"title": 1}') == ("/title", 'value is not of type "string"')
        assert judge(document, '{"x-a": 1}')

    def test_our_own_document_can_be_held_to_every_operation(self) -> None:
        for operation_id in published_document().operations:
            Rules(find_rules(published_document().root, operation_id)).compile_all()


class TestReferences:
    def test_may_be_circular(self) -> None:
        node = {"type": "object", "properties": {"next": {"$ref": "#/components/schemas/Node"}}}
        document = promise({"$ref": "#/components/schemas/Node"}, {"Node": node})
        assert judge(document, '{"next": {"next": {}}}') is None
        assert judge(document, '{"next": {"next": 1}}') == ("/next/next", 'value is not of type "object"')

    def test_to_themselves_promise_nothing(self) -> None:
        loop = {"$ref": "#/components/schemas/Loop"}
        assert judge(promise(loop, {"Loop": loop}), "1") is None

    @pytest.mark.parametrize(
        ("schema", "reason"),
        [
            ({"$ref": "https://a.example/b.json"}, "reference_outside"),
            ({"$ref": "other.yaml#/a"}, "reference_outside"),
            ({"$dynamicRef": "#a"}, "reference_outside"),
            ({"$ref": "#/components/schemas/Nobody"}, "unreadable"),
            ({"$ref": 1}, "unreadable"),
        ],
    )
    def test_that_lead_nowhere_are_refused(self, schema: Any, reason: str) -> None:
        with pytest.raises(UnusableDocumentError) as raised:
            find_rules(promise(schema), "get_order")
        assert raised.value.reason == reason


def nested(levels: int) -> Any:
    schema: Any = {}
    for _ in range(levels):
        schema = {"items": schema}
    return schema


class TestHostileDocuments:
    @pytest.mark.parametrize(
        ("document", "reason"),
        [
            (None, "unreadable"),
            ([], "unreadable"),
            ({"openapi": "2.0"}, "unreadable"),
            ({"openapi": 3.1}, "unreadable"),
            ({"openapi": "3.1.0"}, "unreadable"),
            ({"openapi": "3.1.0", "paths": {"/": {"get": 1}}}, "unreadable"),
            ({"openapi": "3.1.0", "paths": {}}, "operation_unknown"),
            (promise(nested(MAX_DEPTH)), "too_large"),
            (promise({"enum": list(range(200_000))}), "too_large"),
            (promise({"enum": ["a" * 300_000]}), "too_large"),
        ],
        ids=str.__class__,
    )
    def test_are_refused(self, document: Any, reason: str) -> None:
        with pytest.raises(UnusableDocumentError) as raised:
            find_rules(document, "get_order")
        assert raised.value.reason == reason

    @pytest.mark.parametrize(
        "schema", [{"type": "no"}, {"pattern": "("}, {"pattern": "(?=a)"}, {"minimum": "a"}]
    )
    def test_with_schemas_that_are_none_do_not_compile(self, schema: Any) -> None:
        with pytest.raises(ValueError, match="is not"):
            Rules(find_rules(promise(schema), "get_order")).compile_all()

    def test_with_patterns_that_would_never_end_are_judged_in_linear_time(self) -> None:
        assert judge(promise({"pattern": "^(a+)+$"}), f'"{"a" * 100_000}b"')

    def test_are_small_once_they_are_read(self) -> None:
        many = {f"S{number}": ORDER for number in range(1000)}
        assert len(find_rules(promise(ORDER, {"Line": LINE, **many}), "get_order")["$defs"]) == 1
