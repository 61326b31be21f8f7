"""The document against itself and against the code: nothing is said twice, nothing is said in vain."""

from __future__ import annotations

import ast
import inspect
import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from openapi_spec_validator import validate

from monitoring.contract.catalogue import Catalogue
from monitoring.contract.document import Node, Operation, load_document
from monitoring.contract.sentences import OWN_KEYWORDS
from monitoring.contract.validation import Validation

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
SOURCES = {path: path.read_text() for path in sorted((ROOT / "src").rglob("*.py"))}
DOCUMENT = load_document()
CATALOGUE = Catalogue(DOCUMENT)
VALIDATION = Validation(DOCUMENT)
OPERATIONS = list(DOCUMENT.operations.values())

# Method names of every generated SDK: changing one breaks them all.
FROZEN_OPERATION_IDS = [
    "get_oauth_metadata",
    "issue_token",
    "list_monitors",
    "create_monitor",
    "get_monitor",
    "update_monitor",
    "delete_monitor",
    "check_monitor_now",
    "list_checks",
    "get_uptime",
    "get_response_times",
    "list_incidents",
    "get_incident",
    "list_notification_webhooks",
    "create_notification_webhook",
    "get_notification_webhook",
    "update_notification_webhook",
    "delete_notification_webhook",
    "test_notification_webhook",
    "list_notification_deliveries",
    "redeliver_notification",
    "deliver_article",
    "get_article",
    "get_health",
    "get_readiness",
    "get_document_yaml",
    "get_document_json",
    "get_docs",
    "get_guide",
]


def names_raised_in_code() -> set[str]:
    """Every `Problem("name")`, the tables that name problems, and what operations rename them to."""
    raised = {name for source in SOURCES.values() for name in _named_problems(ast.parse(source))}
    renamed: dict[str, str] = {}
    for operation in OPERATIONS:
        renamed |= operation.definition.get("x-problem-names", {})
    everywhere = {"malformed_form"}  # only the token endpoint takes a form, and it renames this one
    return (raised - everywhere) | set(renamed.values())


def _named_problems(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Problem" and node.args:
            yield from _texts(node.args[0])
        if isinstance(node, ast.keyword) and node.arg == "problem_names":
            yield from _texts(node.value)
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "NAMES_BY_STATUS":
            yield from _texts(node.value)


def _texts(node: ast.AST) -> Iterator[str]:
    return (
        part.value
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    )


def error_examples() -> list[tuple[str, Node, Node]]:
    """Every error example with the schema of its response."""
    responses = [response for operation in OPERATIONS for response in operation.responses.values()]
    responses += DOCUMENT.root["components"]["responses"].values()
    return [
        (name, DOCUMENT.follow(example), media["schema"])
        for response in responses
        for media in response.get("content", {}).values()
        for name, example in media.get("examples", {}).items()
        if name in CATALOGUE.templates
    ]


class TestDocument:
    def test_it_is_a_valid_openapi_3_0_document(self) -> None:
        validate(dict(DOCUMENT.root))
        assert DOCUMENT.root["openapi"].startswith("3.0.")

    def test_operation_ids_are_frozen(self) -> None:
        assert [operation.operation_id for operation in OPERATIONS] == FROZEN_OPERATION_IDS

    @pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.operation_id)
    def test_every_operation_says_who_may_call_it(self, operation: Operation) -> None:
        security = operation.definition["security"]
        assert security in ([], [{"bearerAuth": []}], [{"webhookSecret": []}])
        assert ("x-required-scope" in operation.definition) == (security == [{"bearerAuth": []}])

    @pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.operation_id)
    def test_every_operation_has_one_tag_a_summary_and_no_default_response(
        self, operation: Operation
    ) -> None:
        assert len(operation.definition["tags"]) == 1
        assert operation.definition["summary"]
        assert operation.definition["description"]
        assert "default" not in operation.responses
        assert list(operation.responses) == sorted(operation.responses)

    def test_every_answer_carries_a_request_id(self) -> None:
        for operation in OPERATIONS:
            for response in operation.responses.values():
                assert "X-Request-Id" in response["headers"]

    def test_no_component_is_written_in_vain(self) -> None:
        text = DOCUMENT.yaml_bytes.decode()
        unused = [
            f"{kind}/{name}"
            for kind, components in DOCUMENT.root["components"].items()
            for name in components
            if kind != "securitySchemes"
            and f"'#/components/{kind}/{name}'" not in text
            and "x-status" not in DOCUMENT.root["components"][kind][name]
        ]
        assert unused == []


class TestHandlers:
    def test_operations_and_handlers_are_the_same_set(self) -> None:
        rooms = {tag["x-room"] for tag in DOCUMENT.root["tags"]}
        handlers = {
            (room, name)
            for room in rooms
            for name, function in vars(import_module(f"monitoring.{room}.handlers")).items()
            if inspect.iscoroutinefunction(function)
            and function.__module__ == f"monitoring.{room}.handlers"
            and not name.startswith("_")
        }
        assert handlers == {(operation.room, operation.operation_id) for operation in OPERATIONS}


class TestErrors:
    def test_code_raises_exactly_the_errors_the_document_names(self) -> None:
        assert names_raised_in_code() == set(CATALOGUE.templates)

    def test_a_sentence_is_typed_in_the_document_alone(self) -> None:
        sentences = {
            text
            for template in CATALOGUE.templates.values()
            for text in template.body.values()
            if isinstance(text, str)
        }
        codes = {"invalid_request", "invalid_client", "invalid_scope", "unsupported_grant_type"}
        typed_again = [
            (path.name, sentence)
            for path, source in SOURCES.items()
            for sentence in sentences - codes
            if f'"{sentence}' in source
        ]
        assert typed_again == []

    @pytest.mark.parametrize(("name", "example", "schema"), error_examples())
    def test_an_error_example_is_what_its_schema_allows(self, name: str, example: Node, schema: Node) -> None:
        del name
        VALIDATION.response_check(schema)(example["value"])

    @pytest.mark.parametrize(("name", "example", "schema"), error_examples())
    def test_an_error_example_is_its_sentence_filled_in(self, name: str, example: Node, schema: Node) -> None:
        del schema
        if "x-sentence" not in example:
            assert not any("{" in str(text) for text in example["value"].values()), name
            return
        pattern = re.sub(r"\\\{\w+\\\}", ".+", re.escape(example["x-sentence"]))
        sentence = example["value"].get("error_description") or example["value"]["error"]
        assert re.fullmatch(pattern, sentence), name

    def test_every_validation_keyword_in_use_has_words(self) -> None:
        templates = DOCUMENT.root["x-problem-templates"]
        assert templates.keys() >= OWN_KEYWORDS
        in_use = {keyword for keyword in templates if f"{keyword}:" in DOCUMENT.yaml_bytes.decode()}
        assert templates.keys() - OWN_KEYWORDS <= in_use
