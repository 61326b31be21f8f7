"""Converts floats such as 1.0, which JSON Schema accepts as integers, to int for handlers."""

from collections.abc import Callable

from monitoring.contract.document import Document, Json, Node
from monitoring.contract.schemas import types_of, without_null

Convert = Callable[[Json], Json]


def integers_of(schema: Node, document: Document) -> Convert:
    """Return a function that converts 1.0 to 1 wherever the schema requires an integer.

    It follows `properties`, `items`, `allOf`, and `anyOf` with null. Validated objects are changed in place.
    Values that no schema describes stay unchanged.
    """
    return _converter(schema, document, ()) or _unchanged


def _converter(schema: Node, document: Document, ancestors: tuple[int, ...]) -> Convert | None:
    schema = document.follow(without_null(document.follow(schema)))
    if id(schema) in ancestors:  # a recursive schema
        return None
    ancestors = (*ancestors, id(schema))
    if "integer" in types_of(schema):
        return _integer_of
    steps = [
        *(_converter(part, document, ancestors) for part in schema.get("allOf", ())),
        _items_converter(schema, document, ancestors),
        _properties_converter(schema, document, ancestors),
    ]
    return _in_turn([step for step in steps if step])


def _items_converter(schema: Node, document: Document, ancestors: tuple[int, ...]) -> Convert | None:
    convert = _converter(schema["items"], document, ancestors) if "items" in schema else None
    if convert is None:
        return None
    return lambda value: [convert(item) for item in value] if isinstance(value, list) else value


def _properties_converter(schema: Node, document: Document, ancestors: tuple[int, ...]) -> Convert | None:
    found = {
        name: _converter(part, document, ancestors) for name, part in schema.get("properties", {}).items()
    }
    integers = {name for name, convert in found.items() if convert is _integer_of}
    converters = {name: convert for name, convert in found.items() if convert and name not in integers}
    if not integers and not converters:
        return None

    def convert_properties(value: Json) -> Json:
        if not isinstance(value, dict):
            return value
        if float in map(type, value.values()):  # most objects have no float
            for name in integers & value.keys():
                value[name] = _integer_of(value[name])
        for name, convert in converters.items():
            if name in value:
                value[name] = convert(value[name])
        return value

    return convert_properties


def _in_turn(converters: list[Convert]) -> Convert | None:
    def convert(value: Json) -> Json:
        for converter in converters:
            value = converter(value)
        return value

    return (converters[0] if len(converters) == 1 else convert) if converters else None


def _integer_of(value: Json) -> Json:
    return int(value) if isinstance(value, float) else value


def _unchanged(value: Json) -> Json:
    return value
