"""Imports from Uptime Kuma: reads a backup of 1.x (JSON), or a database of 1.x or 2.x (SQLite)."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from monitoring.as_code.importers.drafts import (
    PINGS,
    Draft,
    UnreadableImportError,
    read_mapping,
    write_tags,
)
from monitoring.as_code.importers.queries import read_kuma

_SQLITE = b"SQLite format 3\0"
_HTTP = {"http", "keyword", "json-query"}
_OTHERS = {"port", "ping", "dns", "push"}
# Maps the names of fields in the database to their names in the backup, if the two names differ.
_NAMES = {
    "accepted_statuscodes_json": "accepted_statuscodes",
    "ignore_tls": "ignoreTls",
    "upside_down": "upsideDown",
    "retry_interval": "retryInterval",
    "invert_keyword": "invertKeyword",
    "json_path": "jsonPath",
    "expected_value": "expectedValue",
    "proxy_id": "proxyId",
    "auth_method": "authMethod",
    "http_body_encoding": "httpBodyEncoding",
    "resend_interval": "resendInterval",
    "cache_bust": "cacheBust",
    "ip_family": "ipFamily",
}
_LOST = {
    "proxyId": "the proxy",
    "parent": "its group",
    "description": "its description",
    "notificationIDList": "its notifications",
    "resendInterval": "its repeated notifications",
    "cacheBust": "its cache busting",
    "ipFamily": "its IP version",
}
_LOGINS_BY_HEADER = ("basic", "bearer")
_BODIES = {
    "form": "application/x-www-form-urlencoded",
    "xml": "text/xml; charset=utf-8",
}


def read(files: Sequence[bytes]) -> Iterator[Draft]:
    """Return the monitors. Channels are left out, as their secrets must be transferred manually."""
    [file] = files
    if file.startswith(_SQLITE):
        monitors = _read_database(file)
    else:
        backup = read_mapping(file, "monitorList")
        if not str(backup.get("version", "1.")).startswith("1."):
            raise UnreadableImportError(
                f"Backups of version {backup['version']} are not supported, only those of 1.x"
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
            raise UnreadableImportError(f"This is not a database of Uptime Kuma: {error}") from None
    for monitor in monitors:
        for theirs, name in _NAMES.items():
            monitor[name] = monitor.pop(theirs, None)
        monitor["tags"] = [{"name": name} for monitor_id, name in tags if monitor_id == monitor["id"]]
    return monitors


def _draft(monitor: Mapping[str, Any]) -> Draft:
    name, kind = str(monitor["name"]), str(monitor["type"])
    if monitor.get("upsideDown"):
        return Draft(name, lost=["it is in upside-down mode, in which a failed check means up"])
    if kind not in _HTTP | _OTHERS:
        return Draft(name, lost=[f"monitors of type {kind} are not supported"])
    draft = Draft(name)
    fields = draft.fields
    if kind in _HTTP:
        _read_http(monitor, draft)
    else:
        _read_other(monitor, draft)
    if kind != "push":
        draft.set_times(monitor["interval"], monitor.get("timeout"))
        draft.set_between("failure_threshold", (monitor.get("maxretries") or 0) + 1, 1, 10)
        if monitor.get("maxretries"):
            draft.set_between("retry_interval_seconds", monitor.get("retryInterval") or 60, 5, 3600)
    if monitor.get("active") in (0, False):
        fields["paused"] = True
    if tags := write_tags(tag["name"] for tag in monitor.get("tags") or ()):
        fields["tags"] = tags
    draft.lose(monitor, _LOST)
    return draft


def _read_other(monitor: Mapping[str, Any], draft: Draft) -> None:
    host, fields = monitor.get("hostname"), draft.fields
    match monitor["type"]:
        case "port":
            fields |= {"type": "tcp", "url": f"tcp://{host}:{monitor.get('port')}"}
        case "ping":
            fields |= {"type": "ping", "url": f"ping://{host}"}
        case "dns":
            fields |= {"type": "dns", "url": f"dns://{host}"}
            fields["dns"] = {"record_type": monitor.get("dns_resolve_type") or "A"}
            if monitor.get("dns_resolve_server"):
                draft.lost.append(f"the name server {monitor['dns_resolve_server']}")
        case "push":
            schedule = {"period_seconds": max(int(monitor["interval"]), 30)}
            fields |= {"type": "heartbeat", "heartbeat": schedule}
            draft.lost.append(PINGS)


def _read_http(monitor: Mapping[str, Any], draft: Draft) -> None:
    headers, fields = _read_json(monitor.get("headers"), {}), draft.fields
    if monitor.get("body"):
        fields["request_body"] = monitor["body"]
        content_type = _BODIES.get(str(monitor.get("httpBodyEncoding")), "application/json")
        headers = {"Content-Type": content_type, **headers}
    login = monitor.get("authMethod") or ("basic" if monitor.get("basic_auth_user") else None)
    draft.set_request(monitor["url"], headers, has_login=login in _LOGINS_BY_HEADER)
    if login and login not in _LOGINS_BY_HEADER:
        draft.lost.append(f"the login by {login}")
    fields["method"] = monitor.get("method") or "GET"
    codes = _read_json(monitor.get("accepted_statuscodes"), ["200-299"])
    fields["expected_status_codes"] = ["2xx" if code == "200-299" else str(code) for code in codes]
    fields["follow_redirects"] = monitor.get("maxredirects") != 0
    fields["verify_tls"] = not monitor.get("ignoreTls")
    if monitor["type"] == "keyword" and monitor.get("keyword"):
        fields["forbidden_keyword" if monitor.get("invertKeyword") else "required_keyword"] = monitor[
            "keyword"
        ]
    if monitor["type"] == "json-query":
        draft.lost.append(f"the JSON query {monitor.get('jsonPath')}, which is not a JSONPath (RFC 9535)")


def _read_json(value: Any, default: Any) -> Any:  # noqa: ANN401 - JSON, perhaps as text
    if isinstance(value, str):
        try:
            return orjson.loads(value)
        except orjson.JSONDecodeError:
            return default
    return value or default
