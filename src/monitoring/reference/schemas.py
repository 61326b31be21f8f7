"""Human-readable descriptions of schemas: types, bounds and fields."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import orjson

from monitoring.contract.document import Document, Json, Node
from monitoring.contract.schemas import types_of, without_null

# For each pair of bounds: the JSON Schema keywords of the lower and the upper bound, and their unit.
BOUNDS = (
    ("minLength", "maxLength", "character"),
    ("minimum", "maximum", ""),
    ("minItems", "maxItems", "entry"),
    ("minProperties", "maxProperties", "entry"),
)
PLURALS = {"character": "characters", "entry": "entries"}


@dataclass(frozen=True, slots=True)
class Word:
    """A part of a type's description. `schema` is the name of the schema that it links to, if any."""

    text: str
    schema: str = ""


@dataclass(frozen=True, slots=True)
class Shape:
    """A value's type and constraints. `fields` are those of an object, or of the objects in an array."""

    words: tuple[Word, ...]
    facts: tuple[str, ...]
    choices: tuple[str, ...]
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Field:
    """A property or a parameter."""

    name: str
    is_required: bool
    description: str
    shape: Shape


def describe_schema(document: Document, schema: Node, seen: frozenset[str] = frozenset()) -> Shape:
    """Describe a schema in words. To end recursion, the fields of schemas named in `seen` are left out."""
    whole = _merge(document, schema)
    item = _merge(document, whole["items"]) if "items" in whole else whole
    names = {word.schema for word in _words(document, schema) if word.schema}
    fields = () if names & seen else tuple(_fields(document, item, seen | names))
    facts = [*_facts(whole), *(f"each {fact}" for fact in _facts(item) if item is not whole)]
    return Shape(_words(document, schema), tuple(facts), tuple(map(_literal, item.get("enum", ()))), fields)


def _merge(document: Document, schema: Node) -> Node:
    """Return a schema merged with the schemas in its `$ref`, `allOf` and nullable `anyOf`.

    If keywords conflict, the schema's own keywords take precedence.
    """
    schema = document.follow(schema)
    inner: dict[str, Json] = {}
    for part in _parts(schema):
        inner |= _merge(document, part)
    return {**inner, **schema}


def _parts(schema: Node) -> list[Node]:
    other = without_null(schema)
    return [*schema.get("allOf", ()), *([] if other is schema else [other])]


def _fields(document: Document, schema: Node, seen: frozenset[str]) -> Iterator[Field]:
    for name, part in schema.get("properties", {}).items():
        yield Field(
            name,
            is_required=name in schema.get("required", ()),
            description=_merge(document, part).get("description", ""),
            shape=describe_schema(document, part, seen),
        )


def _words(document: Document, schema: Node) -> tuple[Word, ...]:
    whole = _merge(document, schema)
    reference = schema.get("$ref") or next((part.get("$ref") for part in _parts(schema)), None)
    name = reference.rpartition("/")[2] if reference else ""
    extra = whole.get("additionalProperties")
    kinds = [kind for kind in types_of(whole) if kind != "null"]
    if choices := whole.get("anyOf") or whole.get("oneOf"):
        ways = [_words(document, way) for way in choices]
        return tuple(word for way in ways for word in (Word(" or "), *way))[1:]
    if kinds == ["array"]:
        words = [Word("array of "), *_words(document, whole["items"])]
    elif isinstance(extra, dict) and not whole.get("properties"):
        words = [Word("object of "), *_words(document, extra)]
    elif kinds == ["object"]:
        words = [Word(name or "object", name)]
    else:
        words = [Word(" or ".join(kinds) or "anything", name)]
    return (*words, Word(" or null")) if "null" in types_of(whole) and kinds else tuple(words)


def _facts(schema: Node) -> Iterator[str]:
    if "string" in types_of(schema) and "format" in schema:
        yield schema["format"]
    problem = schema.get("x-problem", "")
    says_all = problem.startswith("must")
    if says_all:
        yield problem
    for lower, upper, unit in BOUNDS:
        bound = _bound(schema.get(lower), schema.get(upper), unit)
        if bound and not (says_all and "Length" in lower):
            yield bound
    if "pattern" in schema and not says_all:
        yield f"matches {schema['pattern']}"
    if schema.get("uniqueItems"):
        yield "none twice"
    if "default" in schema:
        yield f"default {_literal(schema['default'])}"


def _bound(lower: int | None, upper: int | None, unit: str) -> str:
    last = lower if upper is None else upper
    if last is None:
        return ""
    words = "at least " if upper is None else "at most " if lower is None else f"{lower} to "
    return f"{words}{last} {unit if last == 1 else PLURALS.get(unit, '')}".strip()


def _literal(value: Json) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()
