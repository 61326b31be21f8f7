"""Tests that the document is consistent with itself and the code, without duplicate or unused parts."""

from __future__ import annotations

import ast
import inspect
import re
import tomllib
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml
from connexion.spec import Specification
from openapi_spec_validator import validate

from breaking_changes import LOADER
from monitoring.contract.bodies import RequestBody
from monitoring.contract.catalogue import Catalogue
from monitoring.contract.document import Json, Node, Operation, load_document
from monitoring.contract.parameters import Parameters
from monitoring.contract.responses import Responses
from monitoring.contract.schemas import types_of, without_null
from monitoring.contract.validation import Validation
from monitoring.web.connexion_bridge import make_skeleton
from test_examples import find_broken_promises

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
SOURCES = {path: path.read_text() for path in sorted((ROOT / "src").rglob("*.py"))}
DOCUMENT = load_document()
CATALOGUE = Catalogue(DOCUMENT)
OPERATIONS = list(DOCUMENT.operations.values())
SCHEMAS = DOCUMENT.root["components"]["schemas"]

# Schema keywords that restrict a value.
BOUNDS = {
    *("type", "format", "enum", "pattern", "minimum", "maximum", "minLength", "maxLength"),
    *("minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties"),
}

# Reasons beside those of JSON Schema that a document has words for; `default` stands in for any it lacks.
OWN_KEYWORDS = {"default", "nestedTooDeeply", "numberTooLarge", "repeated", "unreadable"}

# Operations with a header that is optional, because some publishers cannot send a header of the operator's
# choice.
OF_PUBLISHERS = ["webhookSecret", "ghostSignature", "outrankToken"]
CREDENTIALS: tuple[list[str], ...] = (
    [],
    ["bearerAuth"],
    ["webhookSecret"],
    ["webhookSecret", "bearerAuth"],
    OF_PUBLISHERS,
)

# Operation ids. They are method names in every generated SDK, so changing an id breaks every SDK.
FROZEN_OPERATION_IDS = [
    "get_entrance",
    "get_oauth_metadata",
    "get_jwks",
    "issue_token",
    "introspect_token",
    "revoke_token",
    "list_monitors",
    "create_monitor",
    "put_monitor_by_key",
    "get_monitor",
    "update_monitor",
    "delete_monitor",
    "mute_monitor",
    "unmute_monitor",
    "check_monitor_now",
    "list_checks",
    "get_uptime",
    "get_response_times",
    "list_pings",
    "renew_ping_url",
    "ping_success",
    "report_success",
    "ping_start",
    "report_start",
    "ping_fail",
    "report_fail",
    "ping_log",
    "report_log",
    "ping_exit_code",
    "report_exit_code",
    "list_incidents",
    "get_incident",
    "acknowledge_incident",
    "list_incident_notes",
    "create_incident_note",
    "create_sandbox_incident",
    "reset_sandbox",
    "list_maintenance_windows",
    "create_maintenance_window",
    "put_maintenance_window_by_key",
    "get_maintenance_window",
    "update_maintenance_window",
    "delete_maintenance_window",
    "end_maintenance_window",
    "list_notification_channels",
    "create_notification_channel",
    "put_notification_channel_by_key",
    "get_notification_channel",
    "update_notification_channel",
    "delete_notification_channel",
    "test_notification_channel",
    "examine_notification_channel",
    "list_notification_deliveries",
    "redeliver_notification",
    "deliver_article",
    "list_articles",
    "get_article",
    "delete_article",
    "get_article_translation",
    "list_translation_segments",
    "correct_translation_segment",
    "get_health",
    "get_readiness",
    "get_document_yaml",
    "get_document_json",
    "get_derived_document",
    "get_fuzzing_configuration",
    "get_workflows",
    "get_docs",
    "get_guide",
]


def names_raised_in_code() -> set[str]:
    """Return the error names in `Problem("name")`, in tables of problems, and in renamings by operations."""
    raised = {name for source in SOURCES.values() for name in _named_problems(ast.parse(source))}
    renamed = {
        name for operation in OPERATIONS for name in operation.definition.get("x-problem-names", {}).values()
    }
    everywhere = {"malformed_form"}  # only the token endpoint accepts a form, and it renames this error
    return (raised - everywhere) | renamed


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


def fields_written_three_times() -> list[tuple[str, str]]:
    """Return the fields of each resource with the schemas `Thing`, `ThingCreate` and `ThingUpdate`."""
    kinds = [name for name in SCHEMAS if {f"{name}Create", f"{name}Update"} <= SCHEMAS.keys()]
    kinds = [name for name in kinds if "oneOf" not in SCHEMAS[name]]  # each member is such a schema itself
    fields = [(kind, field) for kind in kinds for field in SCHEMAS[f"{kind}Create"]["properties"]]
    return [each for each in fields if each != ("Contract", "document")]  # which no response contains


def is_filled_in(example: Node) -> bool:
    """Return whether an error example's sentence has a value for each placeholder, and no other change."""
    if "x-sentence" not in example:
        return not any("{" in str(text) for text in example["value"].values())
    pattern = re.sub(r"\\\{\w+\\\}", ".+", re.escape(example["x-sentence"]))
    sentence = example["value"].get("error_description") or example["value"]["error"]
    return re.fullmatch(pattern, sentence) is not None


def bounds_of(schema: Node) -> dict[str, Json]:
    """Return what a schema requires of a value.

    Whether null is allowed is left out, because it differs between requests and responses.
    """
    followed = dict(DOCUMENT.follow(without_null(DOCUMENT.follow(schema))))
    for part in followed.get("allOf", ()):
        followed = {**DOCUMENT.follow(part), **followed}
    within = {
        word: bounds_of(followed[word])
        for word in ("items", "additionalProperties")
        if isinstance(followed.get(word), dict)
    }
    bounds = {word: bound for word, bound in followed.items() if word in BOUNDS} | within
    return {**bounds, "type": set(types_of(followed)) - {"null"}}


def error_examples() -> list[tuple[str, Node, Node]]:
    """Return every error example with the schema of its response."""
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
    def test_it_is_a_valid_openapi_3_1_document(self) -> None:
        validate(dict(DOCUMENT.root))
        assert DOCUMENT.root["openapi"].startswith("3.1.")

    def test_what_connexion_is_told_of_it_is_valid(self) -> None:
        assert Specification.load(make_skeleton(DOCUMENT, "monitoring")).version == (3, 0, 4)

    def test_requests_and_answers_have_schemas_of_their_own(self) -> None:
        """No code here evaluates `readOnly` and `writeOnly`, and many tools ignore these keywords as well."""
        assert "readOnly:" not in DOCUMENT.yaml_bytes.decode()
        assert "writeOnly:" not in DOCUMENT.yaml_bytes.decode()

    def test_answers_may_grow(self) -> None:
        """Only requests forbid unknown fields.

        A new field in a response must not break clients that validate responses.
        """
        closed = {
            name
            for name, schema in DOCUMENT.root["components"]["schemas"].items()
            if schema.get("additionalProperties") is False
        }
        assert closed == {
            "MonitorCreate",
            "AssertionCreate",
            "ContractCreate",
            "ContractUpdate",
            "IncidentNoteCreate",
            "SandboxIncidentCreate",
            "NotificationRoutingCreate",
            "NotificationRoutingUpdate",
            "QuietHoursCreate",
            "MonitorUpdate",
            "TcpSettingsInput",
            "DnsSettingsInput",
            "CertificateSettingsInput",
            "PingSettingsInput",
            "HeartbeatSettingsInput",
            "MuteRequest",
            "MaintenanceWindowCreate",
            "MaintenanceWindowUpdate",
            "SegmentCorrection",
            "CustomHeader",
            *(
                member.rpartition("/")[2]
                for union in ("NotificationChannelCreate", "NotificationChannelUpdate")
                for member in SCHEMAS[union]["discriminator"]["mapping"].values()
            ),
        }

    def test_every_key_is_text_to_readers_of_yaml_1_1(self) -> None:
        """Readers of YAML 1.1 parse unquoted `off`, `y` and `n` as booleans. PyYAML does so for `off`."""
        nodes = [yaml.load((ROOT / "openapi.yaml").read_bytes(), LOADER)]  # noqa: S506 - a SafeLoader
        for node in nodes:
            nodes += node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
        assert {
            key for node in nodes if isinstance(node, dict) for key in node if not isinstance(key, str)
        } == set()

    def test_readers_in_java_take_its_aliases(self) -> None:
        """SnakeYAML refuses documents with more than 50 aliases of objects or arrays."""
        anchored: dict[str | None, yaml.Event] = {}
        aliases: list[yaml.Event] = []
        for event in yaml.parse(DOCUMENT.yaml_bytes, LOADER):
            if isinstance(event, yaml.AliasEvent):
                aliases.append(anchored[event.anchor])
            elif anchor := getattr(event, "anchor", None):
                anchored[anchor] = event
        assert len([event for event in aliases if not isinstance(event, yaml.ScalarEvent)]) <= 50

    def test_it_has_the_version_of_the_package(self) -> None:
        project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        workflows = yaml.load((ROOT / "arazzo.yaml").read_text(), LOADER)  # noqa: S506 - a SafeLoader
        assert DOCUMENT.root["info"]["version"] == workflows["info"]["version"] == project["version"]

    def test_operation_ids_are_frozen(self) -> None:
        assert [operation.operation_id for operation in OPERATIONS] == FROZEN_OPERATION_IDS

    @pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.operation_id)
    def test_every_operation_says_who_may_call_it(self, operation: Operation) -> None:
        security = operation.definition["security"]
        names = [name for alternative in security for name in alternative]
        assert security == [{name: []} for name in names]
        assert names in CREDENTIALS
        assert ("x-required-scope" in operation.definition) == ("bearerAuth" in names)

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

    def test_what_stands_beside_a_reference_goes_before_its_like_in_the_target(self) -> None:
        field = SCHEMAS["ArticleSubmission"]["properties"]["event"]
        assert DOCUMENT.follow(field) == SCHEMAS["PublisherStatus"] | {
            "description": field["description"],
            "examples": field["examples"],
        }


class TestBounds:
    """Tests of the bounds on what a client may send to create or change a resource, and of the responses."""

    @pytest.mark.parametrize(("kind", "field"), fields_written_three_times())
    def test_a_field_has_the_same_bounds_in_all_three_schemas(self, kind: str, field: str) -> None:
        created, changed, told = (
            bounds_of(SCHEMAS[name]["properties"][field]) for name in (f"{kind}Create", f"{kind}Update", kind)
        )
        assert created == changed
        assert told in (created, {word: bound for word, bound in created.items() if word != "pattern"})


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

    def test_every_schema_that_requests_and_answers_are_held_to_compiles(self) -> None:
        """A schema is compiled only when it is first needed, so starting a process reveals no error in it."""
        validation = Validation(DOCUMENT)
        for operation in OPERATIONS:
            for part in (Parameters, RequestBody, Responses):
                part(operation, DOCUMENT, validation)
        rules = validation.rules.values()
        assert len([rule.validator for rule in rules]) > len(OPERATIONS)

    def test_every_error_example_is_what_its_schema_allows(self) -> None:
        rows = [(name, example["value"], schema) for name, example, schema in error_examples()]
        assert find_broken_promises(rows) == {}

    def test_every_error_example_is_its_sentence_filled_in(self) -> None:
        assert [name for name, example, _ in error_examples() if not is_filled_in(example)] == []

    def test_every_validation_keyword_in_use_has_words(self) -> None:
        templates = DOCUMENT.root["x-problem-templates"]
        assert templates.keys() >= OWN_KEYWORDS
        in_use = {keyword for keyword in templates if f"{keyword}:" in DOCUMENT.yaml_bytes.decode()}
        assert templates.keys() - OWN_KEYWORDS <= in_use
