"""Finds schema changes that reject formerly valid requests, or allow new values in responses.

Both are the same question, asked in opposite directions: does the narrow schema allow only values that the
wide schema allows, too? If this cannot be decided, as for two patterns, the change is reported. There are two
exceptions: a removed field is breaking in both directions, and a new field in a response is never breaking.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from math import inf
from typing import TYPE_CHECKING, TypeVar

from places import Json, Place, quote

if TYPE_CHECKING:
    from collections.abc import Iterator

T = TypeVar("T")

TYPES = {"array", "boolean", "integer", "null", "number", "object", "string"}
LOWER_BOUNDS = {"minimum": -inf, "minLength": 0, "minItems": 0, "minProperties": 0}
UPPER_BOUNDS = ("maximum", "maxLength", "maxItems", "maxProperties")
INCOMPARABLE = ("pattern", "multipleOf")
UNJUDGED = ("not", "if", "discriminator", "readOnly", "writeOnly")
BRANCHES = ("then", "else")
NUMBER_FORMATS = {"int32": 2**31, "int64": 2**63}
SILENT = ("description", "title", "example", "examples", "deprecated", "externalDocs", "default", "nullable")
NULL = {"type": "null"}


class Way(Enum):
    """The direction in which values are sent, and the consequence of a breaking change."""

    INPUT = "what was accepted may be refused"
    OUTPUT = "answers may hold what they did not"

    def order(self, former: T, present: T) -> tuple[T, T]:
        """Return the two schemas in order: first the one whose values the other schema must accept."""
        return (former, present) if self is Way.INPUT else (present, former)


@dataclass(frozen=True)
class Shape:
    """A schema merged with its `allOf`: each keyword with the place where it is written.

    If an `anyOf` contains null and one other alternative, the shape has the keyword `nullable` instead, as in
    OpenAPI 3.0.
    """

    pointer: str
    words: dict[str, Place]
    properties: dict[str, Place]
    required: frozenset[str]

    def __getitem__(self, keyword: str) -> Json:
        return self.words[keyword].value if keyword in self.words else None

    def joined_with(self, other: Shape) -> Shape:
        """Return a shape that requires both.

        Outer annotations take precedence, and null is allowed if either allows it.

        Conditions are not evaluated, so the conditions of both are kept.
        """
        twice = self.words.keys() & other.words.keys() - set(SILENT)
        words = {**other.words, **self.words}
        for keyword in [word for word in twice if self[word] != other[word] and not word.startswith("x-")]:
            if keyword not in ("if", *BRANCHES):
                raise NotImplementedError(f"{self.words[keyword].pointer} is said again at {other.pointer}")
            words[keyword] = replace(self.words[keyword], value=[self[keyword], other[keyword]])
        if other["nullable"] is True:
            words["nullable"] = other.words["nullable"]
        properties = {**other.properties, **self.properties}
        return Shape(self.pointer, words, properties, self.required | other.required)

    def or_null(self, place: Place) -> Shape:
        """Return this shape with null allowed, as written at `place`."""
        return replace(self, words={**self.words, "nullable": replace(place, value=True)})


def find_schema_changes(
    former: Place, present: Place, way: Way, above: frozenset[tuple[str, str]] = frozenset()
) -> Iterator[str]:
    """Yield a sentence for every breaking change, with the JSON pointer of its place."""
    pair = (former.pointer, present.pointer)
    if pair in above:  # a recursive schema
        return
    above |= {pair}
    formers, presents = _options(former), _options(present)
    if len(formers) == len(presents) == 1:
        yield from _compare(formers[0], presents[0], way, above)
        return
    wide, narrow = way.order(formers, presents)
    for option in wide:
        if not any(_takes(taker, option, way, above) for taker in narrow):
            yield f"{option.pointer}: no option of the other document takes all of it: {way.value}"


def _takes(narrow: Shape, wide: Shape, way: Way, above: frozenset[tuple[str, str]]) -> bool:
    if _are_told_apart(narrow, wide):
        return False
    former, present = way.order(wide, narrow)
    return next(_compare(former, present, way, above), None) is None


def _are_told_apart(narrow: Shape, wide: Shape) -> bool:
    """Return whether a constant distinguishes two options, as in a union with a discriminator.

    This is a fast shortcut.
    """
    for name in narrow.properties.keys() & wide.properties.keys():
        constants = [shape.properties[name].value.get("const") for shape in (narrow, wide)]
        if None not in constants and constants[0] != constants[1]:
            return True
    return False


def _options(schema: Place) -> list[Shape]:
    """Return a schema's alternatives, or only the schema itself if it has neither `anyOf` nor `oneOf`."""
    shape = _shape(schema)
    for combiner in ("anyOf", "oneOf"):
        if combiner in shape.words:
            ways = shape.words.pop(combiner).items()
            nulls = [way for way in ways if way.value == NULL]
            options = [one.joined_with(shape) for way in ways if way not in nulls for one in _options(way)]
            return [option.or_null(nulls[0]) for option in options] if nulls else options
    return [shape]


def _shape(schema: Place) -> Shape:
    words = schema.children()
    members = words.pop("allOf", schema / "allOf").items()
    properties = words.pop("properties", schema / "properties").children()
    required = frozenset(words.pop("required", schema / "required").value or ())
    shape = Shape(schema.pointer, words, properties, required)
    for member in members:
        shape = shape.joined_with(_shape(member))
    return shape


def _compare(former: Shape, present: Shape, way: Way, above: frozenset[tuple[str, str]]) -> Iterator[str]:
    wide, narrow = way.order(former, present)
    refused_types = _types(wide) - _types(narrow)
    if refused_types:
        yield _tell(former, present, "type", way)
    if refused_types - {"null"}:
        return  # any further difference follows from this change
    for keyword in _narrowed_keywords(wide, narrow):
        yield _tell(former, present, keyword, way)
    if way is Way.INPUT and former["default"] != present["default"] and "default" in former.words:
        yield _tell(former, present, "default", "what is left out means something else")
    if "items" in former.words or "items" in present.words:
        yield from find_schema_changes(_branch(former, "items"), _branch(present, "items"), way, above)
    # Otherwise, the change is reported elsewhere. With several conditions, no branch is compared.
    if former["if"] == present["if"] and not isinstance(former["if"], list):
        for branch in [word for word in BRANCHES if word in former.words.keys() | present.words.keys()]:
            yield from find_schema_changes(_branch(former, branch), _branch(present, branch), way, above)
    yield from _compare_properties(former, present, way, above)


def _types(shape: Shape) -> set[str]:
    written = shape["type"]
    if written is None:
        return TYPES
    types = {written} if isinstance(written, str) else set(written)
    whole_numbers = {"integer"} if "number" in types else set()
    return types | whole_numbers | ({"null"} if shape["nullable"] is True else set())


def _narrowed_keywords(wide: Shape, narrow: Shape) -> Iterator[str]:
    yield from (word for word in LOWER_BOUNDS if _lower_bound(narrow, word) > _lower_bound(wide, word))
    yield from (word for word in UPPER_BOUNDS if _upper_bound(narrow, word) < _upper_bound(wide, word))
    yield from (word for word in INCOMPARABLE if narrow[word] not in (None, wide[word]))
    yield from (word for word in UNJUDGED if narrow[word] != wide[word])
    yield from (word for word in BRANCHES if isinstance(narrow[word], list) and narrow[word] != wide[word])
    if narrow["uniqueItems"] is True and wide["uniqueItems"] is not True:
        yield "uniqueItems"
    if narrow["format"] not in (None, wide["format"], *NUMBER_FORMATS):
        yield "format"
    if (taken := _values(narrow)) is not None:
        offered = _values(wide)
        if offered is None or any(value not in taken for value in offered):
            yield "enum"


def _values(shape: Shape) -> list[Json] | None:
    return [shape["const"]] if "const" in shape.words else shape["enum"]


def _lower_bound(shape: Shape, keyword: str) -> tuple[float, bool]:
    """Return a lower bound that can be compared: a larger bound is narrower."""
    implied = (
        -NUMBER_FORMATS.get(str(shape["format"]), inf) if keyword == "minimum" else LOWER_BOUNDS[keyword]
    )
    value = implied if shape[keyword] is None else shape[keyword]
    exclusive = shape["exclusiveMinimum"] if keyword == "minimum" else None
    return max((value, exclusive is True), (_number(exclusive, -inf), True))


def _upper_bound(shape: Shape, keyword: str) -> tuple[float, bool]:
    """Return an upper bound that can be compared: a smaller bound is narrower."""
    implied = NUMBER_FORMATS.get(str(shape["format"]), inf) - 1 if keyword == "maximum" else inf
    value = implied if shape[keyword] is None else shape[keyword]
    exclusive = shape["exclusiveMaximum"] if keyword == "maximum" else None
    return min((value, exclusive is not True), (_number(exclusive, inf), False))


def _number(bound: Json, otherwise: float) -> float:
    """Return an exclusive bound as in JSON Schema 2020-12, or `otherwise` for the flag of OpenAPI 3.0."""
    return otherwise if bound is None or isinstance(bound, bool) else bound


def _branch(shape: Shape, keyword: str) -> Place:
    """Return a subschema, or the schema that allows every value if the keyword is missing."""
    return shape.words.get(keyword, Place({}, f"{shape.pointer}/{keyword}", {}))


def _compare_properties(
    former: Shape, present: Shape, way: Way, above: frozenset[tuple[str, str]]
) -> Iterator[str]:
    wide, narrow = way.order(former, present)
    for name in sorted(narrow.required - wide.required):
        if name in present.properties or name not in former.properties:
            said = "is required now" if way is Way.INPUT else "may be missing now"
            yield f"{present.pointer}/required: {name} {said}"
    for name, place in former.properties.items():
        if name in present.properties:
            yield from find_schema_changes(place, present.properties[name], way, above)
        else:
            yield f"{place.pointer}: is gone"
    others = _other_properties(former)
    if others.value is False:
        return
    for name in sorted(present.properties.keys() - former.properties.keys()):
        yield from find_schema_changes(others, present.properties[name], way, above)
    if _other_properties(present).value is False:
        if way is Way.INPUT:
            yield _tell(former, present, "additionalProperties", way)
    elif "additionalProperties" in former.words.keys() | present.words.keys():
        yield from find_schema_changes(others, _other_properties(present), way, above)


def _other_properties(shape: Shape) -> Place:
    return _branch(shape, "additionalProperties")


def _tell(former: Shape, present: Shape, keyword: str, cost: Way | str) -> str:
    written = present.words.get(keyword) or former.words.get(keyword)
    pointer = written.pointer if written else f"{present.pointer}/{keyword}"
    cost = cost.value if isinstance(cost, Way) else cost
    return f"{pointer}: was {quote(former[keyword])}, is {quote(present[keyword])}: {cost}"
