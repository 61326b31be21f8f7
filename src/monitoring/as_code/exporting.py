"""Writes a team's resources to a file. It contains no defaults or secrets, and has keys in place of ids."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from monitoring.as_code.client import Client
from monitoring.as_code.files import escape, variable, write_file
from monitoring.as_code.kinds import CHANNELS, KINDS, MONITORS, WINDOWS, Kind, defaults_of, secrets_of
from monitoring.backends.encryption import MASK
from monitoring.contract.configurations import field_names, member_of

_NOT_OF_KEYS = re.compile(r"[^a-z0-9]+")
_MAX_SLUG_CHARACTERS = 60


def export(client: Client) -> str:
    """Return the text of a file with all of the team's resources.

    For a resource without a key, the file contains its id, and a key that is derived from its name.
    """
    sections: dict[str, dict[str, dict[str, Any]]] = {}
    keys_of_monitors: dict[str, str] = {}
    for kind in KINDS:
        rows = [row for row in client.list(kind) if row.get("state") != "ended"]
        keys = _choose_keys(rows)
        if kind is MONITORS:
            keys_of_monitors = keys
        sections[kind.section] = {
            keys[row["id"]]: _write_row(kind, keys[row["id"]], row, keys_of_monitors)
            for row in sorted(rows, key=lambda row: keys[row["id"]])
        }
    return write_file(sections)


def choose_key(name: str, taken: Collection[str]) -> str:
    """Return a key that is derived from `name` and is not in `taken`."""
    slug = _NOT_OF_KEYS.sub("-", name.casefold()).strip("-")[:_MAX_SLUG_CHARACTERS] or "unnamed"
    key, number = slug, 2
    while key in taken:
        key, number = f"{slug}-{number}", number + 1
    return key


def _choose_keys(rows: Collection[Mapping[str, Any]]) -> dict[str, str]:
    keys = {row["id"]: row["key"] for row in rows if row["key"]}
    taken = set(keys.values())
    for row in sorted((row for row in rows if not row["key"]), key=lambda row: row["id"]):
        keys[row["id"]] = choose_key(row["name"], taken)
        taken.add(keys[row["id"]])
    return keys


def _write_row(
    kind: Kind, key: str, row: Mapping[str, Any], keys_of_monitors: Mapping[str, str]
) -> dict[str, Any]:
    schema = member_of("NotificationChannelCreate", row["type"]) if kind is CHANNELS else kind.schema
    defaults = defaults_of(kind, row)
    written: dict[str, Any] = {} if row["key"] else {"id": row["id"]}
    for name in field_names(schema):
        value = _write_field(kind, key, row, name, defaults.get(name))
        if value not in (None, {}, []) and value != defaults.get(name) and (name, value) != ("name", key):
            written[name] = value
    if row.get("type") == "heartbeat":
        written.pop("url", None)
    if kind is CHANNELS and "routing" in written:
        _name_monitors(written["routing"], keys_of_monitors)
    if kind is WINDOWS:
        _name_monitors(written, keys_of_monitors)
    return written


def _write_field(kind: Kind, key: str, row: Mapping[str, Any], name: str, default: Any) -> Any:  # noqa: ANN401 - JSON
    """Return a field's value without secrets. Omit members of an object that are equal in `default`."""
    value = row.get(name)
    if value is None:
        return None
    if name in secrets_of(kind, row):
        return _name_secret(kind, key, name, value)
    if name == "request_headers":
        return {each: _header(key, each, text) for each, text in value.items()}
    if name == "contract":
        return _write_contract(key, value)
    if isinstance(value, dict) and isinstance(default, dict):
        return {each: escape(inner) for each, inner in value.items() if inner != default.get(each)}
    return escape(value)


def _name_monitors(holder: dict[str, Any], keys: Mapping[str, str]) -> None:
    """Replace `monitor_ids` in `holder` with `monitor_keys`, leaving out deleted monitors."""
    if ids := holder.pop("monitor_ids", None):
        holder["monitor_keys"] = [keys[each] for each in ids if each in keys]


def _write_contract(key: str, contract: Mapping[str, Any]) -> dict[str, Any]:
    own = {name: value for name, value in contract.items() if name in field_names("ContractCreate")}
    shown = {name: escape(value) for name, value in own.items() if value is not None}
    if shown.get("document_authorization"):
        shown["document_authorization"] = variable("monitor", key, "document_authorization")
    return shown


def _header(key: str, name: str, value: str) -> str:
    return variable("monitor", key, name) if value == MASK else str(escape(value))


def _name_secret(kind: Kind, key: str, name: str, value: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, list):  # the headers of a custom channel
        return [{**each, "value": variable(kind.words, key, each["name"])} for each in value]
    return variable(kind.words, key, name)
