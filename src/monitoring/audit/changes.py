"""Finds changed fields, with their old and new values as human-readable text. Has no side effects."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, NamedTuple

import orjson

from monitoring.contract.timestamps import write_timestamp

MAX_VALUE_CHARACTERS = 200
MAX_CHANGES = 50


class Change(NamedTuple):
    """A changed field. Names of nested fields are joined by dots: `routing.tags`."""

    field: str
    old: str
    new: str


def find_changes(
    before: Mapping[str, Any], after: Mapping[str, Any], *, renewed: Collection[str] = ()
) -> list[Change]:
    """Return the first `MAX_CHANGES` differences between two configurations, in which secrets are masked.

    `renewed` names the changed secret fields. A comparison cannot find them, because all masks are equal.
    """
    old, new = flatten(before), flatten(after)
    changed = [name for name in old | new if name in renewed or old.get(name) != new.get(name)]
    return [Change(name, write_value(old.get(name)), write_value(new.get(name))) for name in changed][
        :MAX_CHANGES
    ]


def find_changed_fields(before: Mapping[str, Any], after: Mapping[str, Any]) -> set[str]:
    """Return the names of the fields that differ. Names of nested fields are joined by dots."""
    old, new = flatten(before), flatten(after)
    return {name for name in old | new if old.get(name) != new.get(name)}


def flatten(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """Return all fields of a configuration. The names of nested fields are joined by dots."""
    flat: dict[str, Any] = {}
    for name, value in configuration.items():
        if isinstance(value, dict):
            flat |= {f"{name}.{part}": of_part for part, of_part in flatten(value).items()}
        else:
            flat[name] = value
    return flat


def write_value(value: Any) -> str:  # noqa: ANN401 - a field may have any type
    """Render a value as human-readable text, cut to 200 characters. None gives an empty text."""
    text = _write(value)
    return text if len(text) <= MAX_VALUE_CHARACTERS else f"{text[: MAX_VALUE_CHARACTERS - 1]}…"


def _write(value: Any) -> str:  # noqa: ANN401
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return write_timestamp(value)
    if isinstance(value, list) and not any(isinstance(each, (dict, list)) for each in value):
        return ", ".join(map(_write, value))
    return orjson.dumps(value).decode() if isinstance(value, list) else str(value)
