"""The public names of six of the SDKs, read from their generated code, and the document's names for them.

`python sdks/names.py` prints the table of docs/guides/generate-an-sdk.md.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import yaml

from building import BUILD, DOCUMENT
from generators import JAVA_PACKAGE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

PYTHON = BUILD / "python" / "monitoring_client"
OPENAPI_FETCH = BUILD / "openapi-fetch" / "monitoring.ts"
HEY_API = BUILD / "hey-api" / "monitoring"
JAVA = BUILD / "java" / "monitoring" / "src" / "main" / "java" / JAVA_PACKAGE.replace(".", "/")
GO = BUILD / "go" / "monitoring"
RUBY = BUILD / "ruby" / "monitoring" / "lib" / "monitoring"


@dataclass(frozen=True)
class Names:
    """The names that users of the SDK see, without those of the generator's runtime."""

    types: set[str]
    methods: set[str]
    untyped_fields: set[tuple[str, str]]  # type and field, for fields of any type


@cache
def document() -> dict[str, Any]:
    """Load the document."""
    loaded: dict[str, Any] = yaml.safe_load(DOCUMENT.read_text())
    return loaded


def schema_names() -> set[str]:
    return set(document()["components"]["schemas"])


def operations() -> dict[str, str]:
    """Return every operationId with its tag, in the document's order."""
    return _tags("paths")


def of_text() -> set[str]:
    """Return the operations whose body is plain text, which openapi-python-client leaves out."""
    bodies = document()["components"]["requestBodies"]
    return {
        operation["operationId"]
        for path in document()["paths"].values()
        for operation in path.values()
        if isinstance(operation, dict)
        for body in [operation.get("requestBody", {})]
        if "text/plain" in bodies.get(body.get("$ref", "").rpartition("/")[2], body).get("content", {})
    }


def receptions() -> dict[str, str]:
    """Return the same of what the service sends, for which most generators make a method too."""
    return _tags("webhooks")


def _tags(part: str) -> dict[str, str]:
    return {
        operation["operationId"]: operation["tags"][0]
        for path in document()[part].values()
        for operation in path.values()
        if isinstance(operation, dict)
    }


def fields_of_anything() -> set[tuple[str, str]]:
    """Return the fields for which the document itself allows anything, or any object."""
    return {
        (name, field)
        for name, schema in document()["components"]["schemas"].items()
        for field, definition in schema.get("properties", {}).items()
        if _is_anything(definition)
    }


def conditional_fields() -> set[tuple[str, str]]:
    """Return those that may be null or an object with conditions: anything, for openapi-generator."""
    schemas = document()["components"]["schemas"]
    return {
        (name, field)
        for name, schema in schemas.items()
        for field, definition in schema.get("properties", {}).items()
        for way in definition.get("anyOf", ())
        if "if" in schemas.get(way.get("$ref", "").rpartition("/")[2], {})
    }


def _answers_without_a_body() -> set[tuple[str, str]]:
    """Return them as hey-api names their types, of which it knows nothing unless the status is 204."""
    return {
        (f"{pascal(operation['operationId'])}Responses", status)
        for path in document()["paths"].values()
        for operation in path.values()
        if isinstance(operation, dict)
        for status, answer in operation["responses"].items()
        if "$ref" not in answer and "content" not in answer
    }


def _is_anything(schema: dict[str, Any]) -> bool:
    if "$ref" in schema:
        return _is_anything(document()["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    if "allOf" in schema:
        return all(_is_anything(part) for part in schema["allOf"])
    if "anyOf" in schema:
        return all(_is_anything(way) for way in schema["anyOf"] if way != {"type": "null"})
    types = schema.get("type", [])
    kinds = {types} if isinstance(types, str) else {*types} - {"null"}
    if kinds == {"array"}:
        return _is_anything(schema["items"])
    says_nothing = not kinds or (kinds == {"object"} and "properties" not in schema)
    return says_nothing and not isinstance(schema.get("additionalProperties"), dict)


def pascal(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


def camel(name: str) -> str:
    return pascal(name)[:1].lower() + pascal(name)[1:]


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def python() -> Names:
    listed = (PYTHON / "models" / "__init__.py").read_text().partition("__all__")[2]
    fields = _fields(PYTHON.glob("models/*.py"), r"^class (\w+)[:(]", r"^    (\w+): .*\bAny\b")
    return Names(
        types=set(re.findall(r'"(\w+)"', listed)),
        methods={path.stem for path in PYTHON.glob("api/*/*.py") if path.stem != "__init__"},
        untyped_fields=set(fields),
    )


def openapi_fetch() -> Names:
    text = OPENAPI_FETCH.read_text()
    schemas = re.search(r"^    schemas: \{\n(.*?)^    \};", text, re.MULTILINE | re.DOTALL)
    assert schemas
    methods = text.partition("export interface operations")[2]
    lines = schemas[1].splitlines()
    return Names(
        types=set(re.findall(r"^        (\w+):", schemas[1], re.MULTILINE)),
        methods=set(re.findall(r"^    (\w+): \{\n        parameters: ", methods, re.MULTILINE)),
        untyped_fields=set(
            _walk(lines, r"^        (\w+):", r"^            (\w+)\??: .*(?:unknown|never|any\b)")
        ),
    )


def hey_api() -> Names:
    index = (HEY_API / "index.ts").read_text()
    fields = _fields([HEY_API / "types.gen.ts"], r"^export type (\w+) =", r"^    (\w+)\??: .*\bunknown\b")
    values, types = (re.findall(r"\w+", match) for match in re.findall(r"export (?:type )?\{(.*?)\}", index))
    return Names(
        types={*types, "Options"},
        methods={name for name in values if name not in {"type", "Options"}},
        untyped_fields=set(fields) - _answers_without_a_body(),
    )


def java() -> Names:
    apis = [*JAVA.glob("api/*.java")]
    methods = re.findall(r"^  public (?!class)[\w<>]+ (\w+)\(", _read(apis), re.MULTILINE)
    untyped = r"^  private [^=;]*\bObject\b[^=;]* (\w+)[ ;]"
    fields = _fields(JAVA.glob("model/*.java"), r"^public (?:class|enum) (\w+)", untyped)
    return Names(
        types={path.stem for path in [*apis, *JAVA.glob("model/*.java")]} - {"AbstractOpenApiSchema"},
        methods={method.removesuffix("WithHttpInfo") for method in methods} - {"downloadFileFromResponse"},
        untyped_fields={(name, snake(field)) for name, field in fields},
    )


def go() -> Names:
    apis, models = _read(GO.glob("api_*.go")), [*GO.glob("model_*.go")]
    types = re.findall(r"^type ([A-Z]\w*) ", apis + _read(models), re.MULTILINE)
    methods = re.findall(r"^func \(a \*\w+APIService\) (\w+)\(", apis, re.MULTILINE)
    fields = _fields(models, r"^type ([A-Z]\w*) struct", r'^\t\w+ .*interface\{\} `json:"(\w+)')
    return Names(
        types={re.sub(r"^Nullable(?=[A-Z])", "", name) for name in types},
        methods={method.removesuffix("Execute") for method in methods},
        untyped_fields=set(fields),
    )


def ruby() -> Names:
    methods = re.findall(r"^    def (\w+)\(", _read(RUBY.glob("api/*.rb")), re.MULTILINE)
    sources = _read([*RUBY.glob("api/*.rb"), *RUBY.glob("models/*.rb")])
    fields = _fields(RUBY.glob("models/*.rb"), r"^  class (\w+)", r"^        :'(\w+)' => :'.*Object.*'")
    return Names(
        types=set(re.findall(r"^  (?:class|module) (\w+)", sources, re.MULTILINE)),
        methods={method.removesuffix("_with_http_info") for method in methods} - {"initialize"},
        untyped_fields=set(fields),
    )


def _fields(paths: Iterable[Path], type_pattern: str, field_pattern: str) -> Iterator[tuple[str, str]]:
    return _walk(_read(paths).splitlines(), type_pattern, field_pattern)


def _walk(lines: Iterable[str], type_pattern: str, field_pattern: str) -> Iterator[tuple[str, str]]:
    """Yield the fields that match, each with the type that last began before it."""
    current = ""
    for line in lines:
        if begun := re.search(type_pattern, line):
            current = begun[1]
        field = re.search(field_pattern, line)
        if field and snake(field[1]) != "additional_properties":  # objects that the document leaves open
            yield current, field[1]


def _read(paths: Iterable[Path]) -> str:
    return "\n".join(path.read_text() for path in paths)


def write_table() -> str:
    """Write a table of how each operation is called in each language."""
    head = "| operation, and in Python | hey-api | Java | Go | Ruby |"
    rows = [
        [name, camel(name), f"{tag}Api.{camel(name)}", f"{tag}API.{pascal(name)}", f"{tag}Api#{name}"]
        for name, tag in operations().items()
    ]
    return "\n".join([head, "|---|---|---|---|---|", *(f"| `{'` | `'.join(row)}` |" for row in rows)])


if __name__ == "__main__":
    print(write_table())
