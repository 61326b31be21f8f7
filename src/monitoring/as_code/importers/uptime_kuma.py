"""Uptime Kuma: the backup of 1.x (JSON), and the database of 1.x and 2.x (SQLite)."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from monitoring.as_code.importers.drafts import (
    Draft,
    UnreadableImportError,
    read_mapping,
    variable,
    write_tags,
)
from monitoring.as_code.importers.queries import read_kuma

_SQLITE = b"SQLite format 3\0"
_HTTP = {"http", "keyword", "json-query"}
_OTHERS = {"port", "ping", "dns", "push"}
# The database's names of what the backup spells otherwise.
_NAMES = {
    "accepted_statuscodes_json": "accepted_statuscodes",
    "ignore_tls": "ignoreTls",
    "upside_down": "upsideDown",
    "retry_interval": "retryInterval",
    "invert_keyword": "invertKeyword",
    "json_path": "jsonPath",
    "expected_value": "expectedValue",
    "proxy_id": "proxyId",
}


def read(files: Sequence[bytes]) -> Iterator[Draft]:
    """Read the monitors. Channels stay behind: their secrets are for people to move."""
    [file] = files
    if file.startswith(_SQLITE):
        monitors = _read_database(file)
    else:
        backup = read_mapping(file, "monitorList")
        if not str(backup.get("version", "1.")).startswith("1."):
            raise UnreadableImportError(
                f"Backups of version {backup['version']} are not known here, only 1.x"
            )
        monitors = backup["monitorList"]
    return map(_draft, monitors)


def _read_database(file: bytes) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kuma.db")
        path.write_bytes(file)
        try:
            monitors, tags = read_kuma(path)
        except sqlite3.DatabaseError as error:
            raise UnreadableImportError(f"This is no database of Uptime Kuma: {error}") from None
    for monitor in monitors:
        for theirs, name in _NAMES.items():
            monitor[name] = monitor.pop(theirs, None)
        monitor["tags"] = [{"name": name} for monitor_id, name in tags if monitor_id == monitor["id"]]
    return monitors


def _draft(monitor: Mapping[str, Any]) -> Draft:
    name, kind = str(monitor["name"]), str(monitor["type"])
    if monitor.get("upsideDown"):
        return Draft(name, None, ["what is upside down: down means up"])
    if kind not in _HTTP | _OTHERS:
        return Draft(name, None, [f"monitors of type {kind} are not known here"])
    draft = Draft(name, {"name": name})
    fields: dict[str, Any] = draft.fields or {}
    if kind in _HTTP:
        fields["url"] = monitor["url"]
        _read_http(monitor, draft, fields)
    else:
        _read_other(monitor, draft, fields)
    if kind != "push":
        draft.set_times(monitor["interval"], monitor.get("timeout"))
        draft.set_between("failure_threshold", (monitor.get("maxretries") or 0) + 1, 1, 10)
        if monitor.get("maxretries"):
            draft.set_between("retry_interval_seconds", monitor.get("retryInterval") or 60, 5, 3600)
    if monitor.get("active") in (0, False):
        fields["paused"] = True
    if tags := write_tags(str(tag["name"]) for tag in monitor.get("tags") or ()):
        fields["tags"] = tags
    if monitor.get("proxyId"):
        draft.lost.append("the proxy")
    return draft


def _read_other(monitor: Mapping[str, Any], draft: Draft, fields: dict[str, Any]) -> None:
    host = monitor.get("hostname")
    match monitor["type"]:
        case "port":
            fields |= {"type": "tcp", "url": f"tcp://{host}:{monitor.get('port')}"}
        case "ping":
            fields |= {"type": "ping", "url": f"ping://{host}"}
        case "dns":
            fields |= {"type": "dns", "url": f"dns://{host}"}
            fields["dns"] = {"record_type": monitor.get("dns_resolve_type") or "A"}
            draft.lost.append(f"the name server {monitor.get('dns_resolve_server')}")
        case "push":
            schedule = {"period_seconds": max(int(monitor["interval"]), 30)}
            fields |= {"type": "heartbeat", "heartbeat": schedule}
            draft.lost.append("the address of the pings, which is another one here")


def _read_http(monitor: Mapping[str, Any], draft: Draft, fields: dict[str, Any]) -> None:
    fields["method"] = monitor.get("method") or "GET"
    if monitor.get("body"):
        fields["request_body"] = monitor["body"]
    headers = _read_json(monitor.get("headers"), {})
    secret = {each for each in headers if each.lower() in {"authorization", "cookie", "x-api-key"}}
    if headers:
        fields["request_headers"] = {
            each: variable("monitor", draft.name, each) if each in secret else str(value)
            for each, value in headers.items()
        }
    if monitor.get("basic_auth_user") or monitor.get("authMethod") or monitor.get("auth_method"):
        fields["request_headers"] = {
            **fields.get("request_headers", {}),
            "Authorization": variable("monitor", draft.name, "authorization"),
        }
        draft.lost.append(
            "the credential: its variable is the whole Authorization, such as Basic dXNlcjpwYXNz"
        )
    codes = _read_json(monitor.get("accepted_statuscodes"), ["200-299"])
    fields["expected_status_codes"] = ["2xx" if code == "200-299" else str(code) for code in codes]
    fields["follow_redirects"] = monitor.get("maxredirects") != 0
    fields["verify_tls"] = not monitor.get("ignoreTls")
    if monitor["type"] == "keyword" and monitor.get("keyword"):
        fields["forbidden_keyword" if monitor.get("invertKeyword") else "required_keyword"] = monitor[
            "keyword"
        ]
    if monitor["type"] == "json-query":
        draft.lost.append(f"the JSON query {monitor.get('jsonPath')}, which is no JSONPath (RFC 9535)")


def _read_json(value: Any, default: Any) -> Any:  # noqa: ANN401 - JSON, perhaps as text
    if isinstance(value, str):
        try:
            return orjson.loads(value)
        except orjson.JSONDecodeError:
            return default
    return value or default
