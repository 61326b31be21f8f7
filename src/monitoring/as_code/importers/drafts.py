"""An importer's results: monitors in the file format, and the settings that could not be carried over."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson
import yaml

from monitoring.as_code.kinds import check_of
from monitoring.contract.problems import Problem
from monitoring.monitors.credentials import find_credentials

_UNIT_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_DURATION = re.compile(r"([0-9.]+)(ms|[smhdw])")
_NOT_OF_TAGS = re.compile(r"[^a-z0-9_-]+")
_LOGIN_OF_ADDRESS = re.compile(r"(?<=://)[^/?#]*@")
_MAX_TAGS = 10
_MAX_TAG_CHARACTERS = 40
_LOGIN = (
    "the login: its variable must contain the value of the header Authorization, such as Basic dXNlcjpwYXNz"
)
PINGS = "the ping URL: the job must send its pings to the monitor's new ping URL"


class UnreadableImportError(Exception):
    """A file is not from the expected program, or is from an unsupported version of that program."""


@dataclass(slots=True)
class Draft:
    """A monitor to import, or one that cannot be imported, in which case `fields` is empty."""

    name: str
    fields: dict[str, Any] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)
    """The settings that cannot be imported, each described in a few words."""
    credentials: list[str] = field(default_factory=list)
    """The request headers whose values are secrets. The file names a variable for each."""
    names_variables: bool = False
    """Whether `${NAME}` in the texts stands for an environment variable, as it does in our own files."""

    def lose(self, theirs: Mapping[str, Any], words: Mapping[str, str]) -> None:
        """Report another program's settings that are set but cannot be carried over.

        `theirs` are the settings. `words` maps each unsupported setting's name to the text to report.
        """
        self.lost += [word for name, word in words.items() if theirs.get(name)]

    def lose_others(self, theirs: Mapping[str, Any], known: Collection[str]) -> None:
        """Report each of another program's settings (`theirs`) that is set and is not in `known`."""
        self.lost += [f"the setting {name}" for name, value in theirs.items() if value and name not in known]

    def set_request(self, url: str, headers: Mapping[str, Any], *, has_login: bool = False) -> None:
        """Set the URL and headers of requests.

        Credentials in the URL are replaced with the header Authorization. So are credentials that the other
        program stores elsewhere (`has_login`).
        """
        self.fields["url"] = without_login(url)
        texts = {name: str(value) for name, value in headers.items()}
        refused = [name for name, text in texts.items() if not _is_header(name, text)]
        self.lost += [f"the header {name}" for name in refused]
        if has_login or self.fields["url"] != url:
            refused += [name for name in texts if name.lower() == "authorization"]
            self.credentials.append("Authorization")
            self.lost.append(_LOGIN)
        kept = {name: text for name, text in texts.items() if name not in refused}
        secret = find_credentials(kept)
        self.credentials += secret
        if plain := {name: text for name, text in kept.items() if name not in secret}:
            self.fields["request_headers"] = plain

    def set_between(self, name: str, value: float, least: int, most: int) -> None:
        """Set a numeric field, clamped to this service's bounds. Report a value that was changed."""
        bounded = min(max(round(value), least), most)
        if bounded != value:
            self.lost.append(f"{name} is {bounded} instead of {value:g}")
        self.fields[name] = bounded

    def set_times(self, interval_seconds: float, timeout_seconds: float | None = None) -> None:
        """Set the check interval, and the timeout if it is given."""
        self.set_between("interval_seconds", interval_seconds, 30, 86400)
        if timeout_seconds:
            self.set_between("timeout_seconds", timeout_seconds, 1, 60)


def read_mapping(text: bytes, needed: str) -> Mapping[str, Any]:
    """Parse JSON or YAML that has the field `needed`. Raises `UnreadableImportError`."""
    try:
        read = orjson.loads(text) if text.lstrip()[:1] in (b"{", b"[") else yaml.safe_load(text)
    except (orjson.JSONDecodeError, yaml.YAMLError, UnicodeDecodeError) as error:
        raise UnreadableImportError(f"The file cannot be read: {error}") from None
    if not isinstance(read, dict) or needed not in read:
        raise UnreadableImportError(
            f"The file has no {needed}: it is a different file, or its version is not supported"
        )
    return read


def without_login(url: str) -> str:
    """Return a URL without its user name and password, because URLs are not stored as secrets."""
    return _LOGIN_OF_ADDRESS.sub("", url)


def seconds_of(text: object) -> float:
    """Parse a duration such as `1m30s`, or a number of seconds. Raises `UnreadableImportError`."""
    if isinstance(text, int | float):
        return float(text)
    parts = _DURATION.findall(str(text))
    if not parts:
        raise UnreadableImportError(f"{text} is not a duration")
    return sum(float(number) * _UNIT_SECONDS[unit] for number, unit in parts)


def write_tags(names: Iterable[object]) -> list[str]:
    """Convert labels to tags, without duplicates."""
    tags = (_NOT_OF_TAGS.sub("-", str(name).lower()).strip("-_")[:_MAX_TAG_CHARACTERS] for name in names)
    return list(dict.fromkeys(tag for tag in tags if tag))[:_MAX_TAGS]


def _is_header(name: str, text: str) -> bool:
    try:
        check_of("RequestHeaders")({name: text})
    except Problem:
        return False
    return True
