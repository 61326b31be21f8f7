"""Follows links of the document: evaluates runtime expressions (OpenAPI 3.0.4 §4.8.20.3)."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from promises import DOCUMENT, OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from monitoring.contract.document import Node, Operation
    from promises import Answer

_EMBEDDED = re.compile(r"\{(\$[^}]+)\}")


@dataclass(frozen=True, slots=True)
class Link:
    """A link, with its name and the operation and status of the response that contains it."""

    source: Operation
    status: int
    name: str
    definition: Node

    @property
    def target(self) -> Operation:
        """The operation that the link leads to."""
        return OPERATIONS[self.definition["operationId"]]

    def __str__(self) -> str:
        return f"{self.source.operation_id} {self.status} {self.name}"


@dataclass(frozen=True, slots=True)
class Exchange:
    """The parts of a request that links can refer to, and the response to the request."""

    url: str
    method: str
    path_values: Mapping[str, str]
    body: Any
    answer: Answer


def all_links() -> list[Link]:
    """Return every link in the document."""
    return [
        Link(operation, int(status), name, DOCUMENT.follow(link))
        for operation in OPERATIONS.values()
        for status, response in operation.responses.items()
        for name, link in response.get("links", {}).items()
    ]


def link_of(source: Operation, target: str) -> Link:
    """Return the link from an operation's successful response to another operation."""
    return next(link for link in all_links() if link.source == source and link.target.operation_id == target)


def way_to(link: Link) -> list[Link]:
    """Return the shortest chain of links that ends with `link` and begins at an operation without ids."""
    ways = deque([[link]])
    while ways:
        way = ways.popleft()
        if not needs_an_id(way[0].source):
            return way
        ways.extend([before, *way] for before in all_links() if before.target == way[0].source)
        ways = deque(longer for longer in ways if len(longer) <= len(OPERATIONS))
    raise LookupError(f"no link leads to where {link} begins")


def needs_an_id(operation: Operation) -> bool:
    """Return whether an operation takes an id."""
    return any(parameter["in"] == "path" for parameter in operation.parameters)


def resolve(link: Link, exchange: Exchange) -> dict[str, str]:
    """Evaluate a link's parameters.

    Raises LookupError for a parameter that the link's target does not have.
    """
    known = {parameter["name"] for parameter in link.target.parameters}
    given = {name: evaluate(value, exchange) for name, value in link.definition["parameters"].items()}
    if unknown := given.keys() - known:
        raise LookupError(f"{link}: {link.target.operation_id} has no {', '.join(unknown)}")
    return {name: str(value) for name, value in given.items()}


def evaluate(expression: Any, exchange: Exchange) -> Any:
    """Evaluate a runtime expression, or a text that contains some in braces.

    Return other values unchanged.
    """
    if not isinstance(expression, str):
        return expression
    if expression.startswith("$"):
        return _evaluate(expression, exchange)
    return _EMBEDDED.sub(lambda found: str(_evaluate(found[1], exchange)), expression)


def first_success(operation: Operation) -> int:
    """Return an operation's lowest success status."""
    return min(int(status) for status in operation.responses if int(status) < 300)


def examples_of_body(operation: Operation) -> Iterator[tuple[str, Any]]:
    """Yield every documented example of a request body, with its media type."""
    content = operation.definition.get("requestBody", {}).get("content", {})
    for media_type, media in content.items():
        for example in media["examples"].values():
            yield media_type, DOCUMENT.follow(example)["value"]


def _evaluate(expression: str, exchange: Exchange) -> Any:
    source, _, pointer = expression.partition("#")
    match source.split(".", 2):
        case ["$url" | "$method" | "$statusCode" as fact]:
            return {
                "$url": exchange.url,
                "$method": exchange.method,
                "$statusCode": exchange.answer.status,
            }[fact]
        case ["$request", "path", name]:
            return exchange.path_values[name]
        case ["$request", "body"]:
            return _point(exchange.body, pointer)
        case ["$response", "header", name]:
            return exchange.answer.headers[name.lower()]
        case ["$response", "body"]:
            return _point(exchange.answer.json, pointer)
    raise LookupError(f"{expression} is no runtime expression that these journeys know")


def _point(value: Any, pointer: str) -> Any:
    """Follow a JSON pointer (RFC 6901). An empty pointer returns the complete value."""
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        value = value[int(name) if isinstance(value, list) else name]
    return value
