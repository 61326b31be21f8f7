"""What an importer finds: monitors as the file has them, and what it cannot carry over."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson
import yaml

_UNIT_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_DURATION = re.compile(r"([0-9.]+)(ms|[smhdw])")
_NOT_OF_TAGS = re.compile(r"[^a-z0-9_-]+")
_MAX_TAGS = 10
_MAX_TAG_CHARACTERS = 40


class UnreadableImportError(Exception):
    """The file is none of this program, or of a version that is not known here."""


@dataclass(slots=True)
class Draft:
    """One monitor. Without fields, nothing of it can be carried over."""

    name: str
    fields: dict[str, Any] | None
    lost: list[str] = field(default_factory=list)
    """What cannot be carried over, each in a few words."""

    def set_between(self, name: str, value: float, least: int, most: int) -> None:
        """Set a number, moved into the bounds that it has here."""
        bounded = min(max(round(value), least), most)
        if bounded != value:
            self.lost.append(f"{name} is {bounded} instead of {value:g}")
        assert self.fields is not None  # noqa: S101 - it has bounds, so it has fields
        self.fields[name] = bounded

    def set_times(self, interval_seconds: float, timeout_seconds: float | None = None) -> None:
        """Set how often and how long a check may take."""
        self.set_between("interval_seconds", interval_seconds, 30, 86400)
        if timeout_seconds:
            self.set_between("timeout_seconds", timeout_seconds, 1, 60)


def read_mapping(text: bytes, needed: str) -> Mapping[str, Any]:
    """Read JSON or YAML that has a field. Raises `UnreadableImportError`."""
    try:
        read = orjson.loads(text) if text.lstrip()[:1] in (b"{", b"[") else yaml.safe_load(text)
    except (orjson.JSONDecodeError, yaml.YAMLError, UnicodeDecodeError) as error:
        raise UnreadableImportError(f"The file cannot be read: {error}") from None
    if not isinstance(read, dict) or needed not in read:
        raise UnreadableImportError(f"The file has no {needed}: it is another one, or of another version")
    return read


def seconds_of(text: object) -> float:
    """Read a duration such as `1m30s`, or a number of seconds. Raises `UnreadableImportError`."""
    if isinstance(text, int | float):
        return float(text)
    parts = _DURATION.findall(str(text))
    if not parts:
        raise UnreadableImportError(f"{text} is no duration")
    return sum(float(number) * _UNIT_SECONDS[unit] for number, unit in parts)


def write_tags(names: Iterator[str]) -> list[str]:
    """Write labels as tags, each once."""
    tags = (_NOT_OF_TAGS.sub("-", name.lower()).strip("-_")[:_MAX_TAG_CHARACTERS] for name in names)
    return list(dict.fromkeys(tag for tag in tags if tag))[:_MAX_TAGS]


def variable(*words: str) -> str:
    """Return a variable for a secret, which no file has."""
    return f"${{{re.sub(r'[^A-Z0-9]+', '_', '_'.join(words).upper()).strip('_')}}}"
