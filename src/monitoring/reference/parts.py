"""The content of the reference page, extracted from the API document in the order of the page."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from monitoring.contract.catalogue import FIRST_ERROR_STATUS
from monitoring.contract.document import JSON, Document, Node, Operation
from monitoring.reference.samples import Sample, write_samples
from monitoring.reference.schemas import Field, Shape, describe_schema


@dataclass(frozen=True, slots=True)
class Example:
    """A named example of a body. `text` is the body's content."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Body:
    """The description of a request or response body."""

    media_types: tuple[str, ...]
    description: str
    shape: Shape
    examples: tuple[Example, ...]


@dataclass(frozen=True, slots=True)
class Error:
    """An API error: its message, an example if the message is a template, and when the error occurs.

    `code` is the error code if this is an OAuth error; empty for other errors.
    """

    name: str
    status: str
    sentence: str
    example: str
    when: str
    code: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A success response. `links` describes the operations that can follow, by operationId."""

    status: str
    description: str
    headers: Mapping[str, str]
    bodies: tuple[Body, ...]
    links: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Chapter:
    """The part of the reference about one operation."""

    operation: Operation
    summary: str
    credentials: tuple[str, ...]
    scope: str
    parameters: tuple[tuple[str, tuple[Field, ...]], ...]
    bodies: tuple[Body, ...]
    answers: tuple[Answer, ...]
    errors: tuple[Error, ...]
    samples: tuple[Sample, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A tag, with the reference documentation for its operations."""

    name: str
    description: str
    chapters: tuple[Chapter, ...]


def read_parts(document: Document) -> list[Part]:
    """Return the operations by tag. Tags without operations, such as those of webhooks, are left out."""
    parts = [
        Part(
            tag["name"],
            tag.get("description", ""),
            tuple(
                _chapter(document, operation)
                for operation in document.operations.values()
                if operation.definition["tags"][0] == tag["name"]
            ),
        )
        for tag in document.root["tags"]
    ]
    return [part for part in parts if part.chapters]


def read_all_errors(document: Document, parts: list[Part]) -> list[Error]:
    """Return all distinct errors ordered by status, including those that belong to no operation."""
    found = {error.name: error for part in parts for chapter in part.chapters for error in chapter.errors}
    for response in document.root["components"].get("responses", {}).values():
        if "x-status" in response:
            found |= {error.name: error for error in _errors(document, str(response["x-status"]), response)}
    return sorted(found.values(), key=lambda error: error.status)


def read_schemas(document: Document) -> list[Field]:
    """Return a description of each named schema in the document."""
    schemas = document.root["components"].get("schemas", {})
    return [
        Field(
            name,
            is_required=False,
            description=schema.get("description", ""),
            shape=describe_schema(document, schema, frozenset()),
        )
        for name, schema in schemas.items()
    ]


def _chapter(document: Document, operation: Operation) -> Chapter:
    definition = operation.definition
    secured = definition.get("security", document.root.get("security", []))
    failing = {status for status in operation.responses if int(status) >= FIRST_ERROR_STATUS}
    return Chapter(
        operation=operation,
        summary=definition.get("summary", operation.operation_id),
        credentials=tuple(
            " and ".join(_credential(document, name) for name in alternative) for alternative in secured
        ),
        scope=definition.get("x-required-scope", ""),
        parameters=tuple(_parameters(document, operation)),
        bodies=tuple(_bodies(document, document.follow(definition.get("requestBody", {})))),
        answers=tuple(
            _answer(document, status, response)
            for status, response in operation.responses.items()
            if status not in failing
        ),
        errors=tuple(
            error
            for status, response in operation.responses.items()
            if status in failing
            for error in _errors(document, status, response)
        ),
        samples=write_samples(document, operation),
    )


def _credential(document: Document, name: str) -> str:
    scheme = document.root["components"]["securitySchemes"][name]
    if scheme["type"] == "http":
        return f"Authorization: {scheme['scheme'].capitalize()}"
    written: str = scheme["name"]
    return written


def _parameters(document: Document, operation: Operation) -> Iterator[tuple[str, tuple[Field, ...]]]:
    for place, title in (("path", "In the path"), ("query", "In the query"), ("header", "In the headers")):
        if here := [item for item in operation.parameters if item["in"] == place]:
            yield (
                title,
                tuple(
                    Field(
                        item["name"],
                        is_required=item.get("required", False),
                        description=item.get("description", ""),
                        shape=describe_schema(document, item["schema"]),
                    )
                    for item in here
                ),
            )


def _bodies(document: Document, node: Node) -> Iterator[Body]:
    for media_type, content in node.get("content", {}).items():
        yield Body(
            (media_type, *content.get("x-also-as", ())),
            node.get("description", ""),
            describe_schema(document, content.get("schema", {})),
            tuple(
                Example(name.replace("_", " "), _text(document.follow(example)["value"]))
                for name, example in content.get("examples", {}).items()
            ),
        )


def _answer(document: Document, status: str, response: Node) -> Answer:
    headers = {name: document.follow(header) for name, header in response.get("headers", {}).items()}
    links = [document.follow(link) for link in response.get("links", {}).values()]
    return Answer(
        status,
        response.get("description", ""),
        {name: header.get("description", "") for name, header in headers.items()},
        tuple(_bodies(document, response)),
        {link["operationId"]: link.get("description", "") for link in links},
    )


def _errors(document: Document, status: str, response: Node) -> Iterator[Error]:
    examples = response.get("content", {}).get(JSON, {}).get("examples", {})
    # If a response has several errors, the response's description does not say when each of them occurs.
    described = response.get("description", "") if len(examples) == 1 else ""
    for name, reference in examples.items():
        example = document.follow(reference)
        body = example["value"]
        written = body.get("error_description", body["error"])
        yield Error(
            name,
            status,
            sentence=example.get("x-sentence", written),
            example=written if "x-sentence" in example else "",
            when=example.get("summary", described),
            code=body["error"] if "error_description" in body else "",
        )


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
