from __future__ import annotations

import json

import pytest

from monitoring.agents.input_schemas import argument_parameters, body_schema
from monitoring.agents.server import describe_tools
from monitoring.agents.tools import PURPOSES
from monitoring.contract.document import published_document

DOCUMENT = published_document()
TOOLS = {tool.name: tool for tool in describe_tools(DOCUMENT)}
MOST_TOOLS = 30
MOST_BYTES = 40_960


def test_a_model_can_read_all_tools() -> None:
    written = json.dumps([tool.model_dump(by_alias=True, exclude_none=True) for tool in TOOLS.values()])
    assert len(TOOLS) <= MOST_TOOLS
    assert len(written.encode()) <= MOST_BYTES


@pytest.mark.parametrize("name", PURPOSES)
def test_a_tool_is_an_operation_with_a_scope(name: str) -> None:
    assert DOCUMENT.operations[name].definition["x-required-scope"] in ("monitors:read", "monitors:write")


@pytest.mark.parametrize("name", PURPOSES)
def test_what_only_reads_is_marked_and_what_deletes_is_too(name: str) -> None:
    method, hints = DOCUMENT.operations[name].method, TOOLS[name].annotations
    assert hints
    assert hints.read_only_hint == (method == "get")
    assert not (hints.read_only_hint and hints.destructive_hint)
    assert hints.idempotent_hint == (method in ("get", "put", "patch", "delete"))
    if name.startswith(("delete_", "update_", "mute_")):
        assert hints.destructive_hint


@pytest.mark.parametrize("name", PURPOSES)
def test_no_field_of_a_body_hides_a_parameter(name: str) -> None:
    operation = DOCUMENT.operations[name]
    parameters = {parameter["name"] for parameter in argument_parameters(operation)}
    kinds = [DOCUMENT.follow(body_schema(operation, DOCUMENT) or {})]
    kinds += [DOCUMENT.follow(each) for each in kinds[0].get("oneOf", ())]
    assert not parameters & {field for kind in kinds for field in kind.get("properties", ())}


def test_the_types_of_channels_are_one_object() -> None:
    fields = TOOLS["create_notification_channel"].input_schema["properties"]
    assert len(fields["type"]["enum"]) == 13
    assert fields["bot_token"]["description"].startswith("For telegram: ")
    assert "url" in fields


def test_a_monitor_can_have_each_type_and_its_settings() -> None:
    schema = TOOLS["create_monitor"].input_schema
    assert schema["properties"]["type"]["enum"] == ["http", "tcp", "dns", "certificate", "ping", "heartbeat"]
    assert schema["properties"]["tcp"]["properties"]["tls"] == {
        "type": "boolean",
        "default": False,
        "description": "Whether the connection is secured by TLS first.",
    }
    assert schema["required"] == []


def test_what_may_be_null_says_so() -> None:
    described = TOOLS["create_monitor"].input_schema["properties"]
    assert described["slow_threshold_ms"]["type"] == ["integer", "null"]
    assert described["contract"]["type"] == ["object", "null"]
    assert None in TOOLS["update_monitor"].input_schema["properties"]["method"]["enum"]


def test_an_update_lists_the_fields_that_the_creation_describes() -> None:
    updated = TOOLS["update_monitor"].input_schema["properties"]
    created = TOOLS["create_monitor"].input_schema["properties"]
    assert updated.keys() == created.keys() | {"monitor_id", "key"}  # only PUT by key creates with a key
    assert not any("description" in field for field in updated.values())
