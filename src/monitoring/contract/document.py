"""The OpenAPI document: loaded once, used by the code, and published without internal keywords."""

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeAlias

import orjson

from monitoring.contract.openapi_30 import derive_openapi_30
from monitoring.contract.publishing import publish

JSON = "application/json"
Json: TypeAlias = Any  # any JSON value, because a precise type would need a cast at every step
Node = Mapping[str, Json]

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")


class DocumentError(Exception):
    """The document contains an error, so it cannot be served. The message names the reason."""


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of the document. References in `parameters` and `responses` are resolved."""

    operation_id: str
    method: str
    path: str
    room: str
    definition: Node
    parameters: tuple[Node, ...]
    responses: Mapping[str, Node]


class Document:
    """An OpenAPI 3.1 document. `yaml_bytes` is its source, and `root` is the parsed content."""

    def __init__(self, yaml_bytes: bytes) -> None:
        self.yaml_bytes = yaml_bytes
        self.root: Node = _read_yaml(yaml_bytes)
        self.operations: Mapping[str, Operation] = self._index_operations()

    @cached_property
    def published_yaml(self) -> bytes:
        """The published document as YAML."""
        import yaml  # noqa: PLC0415 - a worker writes none

        dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
        published = publish(self.root)
        written = yaml.dump(
            published, Dumper=dumper, default_flow_style=None, sort_keys=False, allow_unicode=True, width=120
        )
        return str(written).encode()

    @cached_property
    def published_json(self) -> bytes:
        """The published document as JSON."""
        return orjson.dumps(publish(self.root))

    @cached_property
    def published_openapi_30(self) -> bytes:
        """The published document converted to OpenAPI 3.0, as JSON."""
        return orjson.dumps(derive_openapi_30(publish(self.root)))

    def follow(self, node: Node) -> Node:
        """Resolve a node's `$ref`, if it has one.

        Keywords beside `$ref` override those of the target (JSON Schema 2020-12, 8.2.3.1).
        """
        while "$ref" in node:
            target: Json = self.root
            for step in node["$ref"].removeprefix("#/").split("/"):
                target = target[step.replace("~1", "/").replace("~0", "~")]
            beside = {keyword: value for keyword, value in node.items() if keyword != "$ref"}
            node = {**target, **beside} if beside else target
        return node

    def allowed_methods(self, path: str) -> list[str]:
        """Return the methods of all operations whose path template matches `path`. GET includes HEAD."""
        methods = {
            operation.method
            for operation in self.operations.values()
            if _path_pattern(operation.path).fullmatch(path)
        }
        return sorted(method.upper() for method in methods | ({"head"} if "get" in methods else set()))

    def _index_operations(self) -> Mapping[str, Operation]:
        operations: dict[str, Operation] = {}
        for operation in self._read_operations():
            # With a duplicate id, Connexion would apply one operation's security to the other.
            if operation.operation_id in operations:
                raise DocumentError(f"operationId {operation.operation_id} is given twice")
            operations[operation.operation_id] = operation
        return operations

    def _read_operations(self) -> Iterator[Operation]:
        rooms = {tag["name"]: tag["x-room"] for tag in self.root["tags"]}
        for path, path_item in self.root["paths"].items():
            for method, definition in path_item.items():
                if method in METHODS:
                    yield Operation(
                        operation_id=definition["operationId"],
                        method=method,
                        path=path,
                        room=rooms[definition["tags"][0]],
                        definition=definition,
                        parameters=self._parameters(path_item, definition),
                        responses={
                            status: self.follow(response)
                            for status, response in definition["responses"].items()
                        },
                    )

    def _parameters(self, path_item: Node, definition: Node) -> tuple[Node, ...]:
        declared = [*path_item.get("parameters", ()), *definition.get("parameters", ())]
        followed = [self.follow(parameter) for parameter in declared]
        return tuple({(parameter["in"], parameter["name"]): parameter for parameter in followed}.values())


def load_document(path: Path | None = None) -> Document:
    """Load the document at `path`, or the published document `openapi.yaml` if `path` is None."""
    return Document((path or _published_path("openapi.yaml")).read_bytes())


@cache
def published_document() -> Document:
    """Return the served document. It is read once per process and never changed."""
    return load_document()


@cache
def read_published(name: str) -> bytes:
    """Return a file that is published beside the document. It is read once per process."""
    return _published_path(name).read_bytes()


def _published_path(name: str) -> Path:
    installed = Path(str(files("monitoring"))) / name
    return installed if installed.exists() else Path(__file__).parents[3] / name


def _read_yaml(yaml_bytes: bytes) -> Json:
    """Parse YAML into JSON types. An unquoted date stays text."""
    import yaml  # noqa: PLC0415 - a worker reads none

    class JsonCompatibleLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        yaml_implicit_resolvers = {  # noqa: RUF012 - PyYAML's own class attribute
            first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
            for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
        }

    return _with_text_keys(yaml.load(yaml_bytes, JsonCompatibleLoader))  # noqa: S506 - a SafeLoader


def _with_text_keys(node: Json) -> Json:
    """Convert all keys to interned strings, because YAML reads an unquoted status code as a number."""
    if isinstance(node, dict):
        return {sys.intern(str(key)): _with_text_keys(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_with_text_keys(item) for item in node]
    return sys.intern(node) if isinstance(node, str) else node


def _path_pattern(template: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\{[^}]+\\}", "[^/]+", re.escape(template)))
