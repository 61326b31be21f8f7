"""Tests that the published document is the one that is served, and that everything it shows is true."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

import promises
from breaking_changes import find_breaking_changes
from monitoring.contract.document import METHODS, load_document
from monitoring.contract.publishing import publish, without_notes
from promises import DOCUMENT, OPERATIONS
from running_service import WEBHOOK_SECRET

if TYPE_CHECKING:
    from cast import Player
    from monitoring.contract.document import Operation
    from running_service import RunningService

# Operations that require no credentials. A new one must be added here, to confirm that it is public on
# purpose.
OPEN_TO_ALL = {
    "get_oauth_metadata",
    "get_jwks",
    "issue_token",
    "introspect_token",
    "revoke_token",
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
    "get_entrance",
    "get_health",
    "get_readiness",
    "get_document_yaml",
    "get_document_json",
    "get_derived_document",
    "get_fuzzing_configuration",
    "get_workflows",
    "get_docs",
    "get_guide",
}

# The maximum size of the document as JSON per operation. It was 260 KB for 52 operations, and a little was
# added for the conditions of many types.
BYTES_AN_OPERATION = 5_300
# The number of long patterns: URLs of five monitor types and of channels, publishers' keywords, and forbidden
# headers (docs/decisions/0032).
LONG_PATTERNS = 9

TAKES_ANYTHING = {"$ref": "#/components/requestBodies/JobOutput"}


def operations_with(method: str) -> list[Operation]:
    return [operation for operation in OPERATIONS.values() if operation.method == method]


def statuses_of_what_it_takes(operation: Operation) -> set[str]:
    """Return the error statuses that follow from an operation's parameters, bodies and credentials."""
    taken = {parameter["name"] for parameter in operation.parameters}
    statuses_by_reason = {
        ("400", "500"): True,
        ("401", "429"): bool(operation.definition["security"]),
        ("403",): "x-required-scope" in operation.definition,
        ("404",): any("x-absent" in parameter for parameter in operation.parameters),
        ("412",): "If-Match" in taken,
        ("413", "415"): operation.definition.get("requestBody", TAKES_ANYTHING) != TAKES_ANYTHING,
        ("422",): "Idempotency-Key" in taken,
    }
    return {status for statuses, applies in statuses_by_reason.items() if applies for status in statuses}


class TestExamples:
    def test_there_is_one_wherever_a_body_is_json(self) -> None:
        without = [
            f"{operation.operation_id} {status}"
            for operation in OPERATIONS.values()
            for status, response in operation.responses.items()
            for media_type, media in response.get("content", {}).items()
            if media_type == promises.JSON and "examples" not in media
        ]
        # The document itself is the example of these responses.
        assert without == ["get_document_json 200", "get_derived_document 200"]


class TestWhoMayCall:
    def test_only_these_operations_are_open_to_all(self) -> None:
        names = {name for name, operation in OPERATIONS.items() if not operation.definition["security"]}
        assert names == OPEN_TO_ALL

    def test_whoever_may_only_read_can_change_nothing(self) -> None:
        scopes = {
            operation.operation_id: operation.definition.get("x-required-scope")
            for operation in OPERATIONS.values()
            if {"bearerAuth": []} in operation.definition["security"]
        }
        assert scopes == {
            name: f"{'articles' if OPERATIONS[name].room == 'articles' else 'monitors'}:{access}"
            for name in scopes
            for access in ["read" if OPERATIONS[name].method == "get" else "write"]
        }


class TestStatuses:
    def test_what_an_operation_takes_decides_what_it_may_answer(self) -> None:
        missing = {
            operation.operation_id: statuses_of_what_it_takes(operation) - operation.responses.keys()
            for operation in OPERATIONS.values()
        }
        told = [f"{name}: {statuses}" for name, statuses in missing.items() if statuses]
        assert told == []


def keywords_in(node: Any) -> set[str]:
    """Return every object key in a value, at any depth."""
    if isinstance(node, list):
        return {keyword for item in node for keyword in keywords_in(item)}
    if not isinstance(node, dict):
        return set()
    return {*node, *(keyword for value in node.values() for keyword in keywords_in(value))}


def patterns_in(node: Any) -> list[str]:
    """Return every pattern in a value, at any depth, including duplicates."""
    if isinstance(node, list):
        return [pattern for item in node for pattern in patterns_in(item)]
    if not isinstance(node, dict):
        return []
    own = [node["pattern"]] if isinstance(node.get("pattern"), str) else []
    return own + [pattern for value in node.values() for pattern in patterns_in(value)]


def without_examples_of_schemas(node: Any) -> Any:
    """Return a copy of a document without the lists of examples in its schemas."""
    if isinstance(node, list):
        return [without_examples_of_schemas(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        keyword: without_examples_of_schemas(value)
        for keyword, value in node.items()
        if not (keyword == "examples" and isinstance(value, list))
    }


class TestServedDocument:
    def test_it_is_this_one_without_our_notes(self, service: RunningService) -> None:
        served = yaml.safe_load(promises.ask(service, "GET", "/openapi.yaml").body)
        assert served == publish(DOCUMENT.root)
        assert not {keyword for keyword in keywords_in(served) if keyword.startswith("x-")}

    def test_it_says_the_same_as_json(self, service: RunningService) -> None:
        assert promises.ask(service, "GET", "/openapi.json").json == publish(DOCUMENT.root)

    def test_it_lacks_nothing_else_but_headers_that_the_description_tells_of(self) -> None:
        told = [
            name for name, header in DOCUMENT.root["components"]["headers"].items() if "x-told-once" in header
        ]
        whole = without_examples_of_schemas(without_notes(DOCUMENT.root))
        changes = find_breaking_changes(whole, publish(DOCUMENT.root))
        assert {change.rpartition("/")[2] for change in changes} == {f"{name}: is gone" for name in told}
        for name in told:
            assert f"`{name.removesuffix('-If-Counted')}" in DOCUMENT.root["info"]["description"]

    def test_it_is_lean(self) -> None:
        """Parts that are used in several places are components (docs/decisions/0077)."""
        assert len(DOCUMENT.published_json) <= BYTES_AN_OPERATION * len(OPERATIONS)
        long = [pattern for pattern in patterns_in(publish(DOCUMENT.root)) if len(pattern) > 200]
        assert len(long) <= LONG_PATTERNS

    def test_the_value_of_a_discriminator_is_an_enum_as_well(self) -> None:
        schemas = publish(DOCUMENT.root)["components"]["schemas"]
        for kind, reference in schemas["NotificationChannelCreate"]["discriminator"]["mapping"].items():
            chosen = schemas[reference.rpartition("/")[2]]["properties"]["type"]
            assert (chosen["const"], chosen["enum"]) == (kind, [kind])

    def test_the_workflows_beside_it_are_these_byte_for_byte(self, service: RunningService) -> None:
        written = promises.PUBLISHED.with_name("arazzo.yaml").read_bytes()
        assert promises.ask(service, "GET", "/arazzo.yaml").body == written

    def test_the_package_carries_it(self) -> None:
        assert load_document().yaml_bytes == DOCUMENT.yaml_bytes


class TestMethods:
    @pytest.mark.parametrize(
        "operation", operations_with("get"), ids=lambda operation: operation.operation_id
    )
    def test_head_is_get_without_its_body(
        self, service: RunningService, alice: Player, site: Player, operation: Operation
    ) -> None:
        player = site if operation.room == "articles" else alice
        credentials = (
            f"Authorization: {player.headers['Authorization']}",
            f"X-Webhook-Secret: {WEBHOOK_SECRET}",
        )
        target = operation.path.format_map(promises.EXAMPLE_IDS)
        read = promises.ask(service, "GET", target, *credentials)
        head = promises.ask(service, "HEAD", target, *credentials)
        promises.judge(read, operation.responses)
        promises.judge(head, operation.responses)
        assert read.status in (200, 404)  # the examples' monitor and article do not exist
        assert (head.status, head.body) == (read.status, b"")
        assert without_the_moment(head.headers) == without_the_moment(read.headers)

    @pytest.mark.parametrize("path", DOCUMENT.root["paths"])
    def test_every_other_method_is_told_all_known_ones(self, service: RunningService, path: str) -> None:
        known = promises.known_methods(path)
        for method in {method.upper() for method in METHODS} - {*known, "TRACE"}:
            answer = promises.ask(service, method, path.replace("{", "").replace("}", ""))
            promises.judge(answer, {"405": DOCUMENT.root["components"]["responses"]["MethodNotAllowed"]})
            assert answer.headers["allow"] == ", ".join(known)

    @pytest.mark.parametrize("path", ["/openapi.json", "/openapi.yaml", "/arazzo.yaml", "/schemathesis.toml"])
    def test_a_browser_may_add_headers_where_any_page_may_read(
        self, service: RunningService, path: str
    ) -> None:
        asks = ("Origin: https://editor.example.com", "Access-Control-Request-Method: GET")
        answer = promises.ask(service, "OPTIONS", path, *asks, "Access-Control-Request-Headers: x-tool")
        assert (answer.status, answer.body) == (204, b"")
        assert answer.headers["access-control-allow-origin"] == "*"
        assert answer.headers["access-control-allow-methods"] == "GET, HEAD"
        assert answer.headers["access-control-allow-headers"] == "*"

    def test_a_browser_may_read_nothing_else(self, service: RunningService) -> None:
        asks = ("Origin: https://editor.example.com", "Access-Control-Request-Method: GET")
        answer = promises.ask(service, "OPTIONS", "/api/monitors", *asks)
        assert answer.status == 405
        assert not [name for name in answer.headers if name.startswith("access-control")]


def without_the_moment(headers: dict[str, str]) -> str:
    """Return headers as text, without those that change with every request."""
    moved = {"date", "ratelimit"}
    return json.dumps({name: value for name, value in headers.items() if name not in moved}, sort_keys=True)
