"""Better Stack: what `GET /api/v2/monitors` and `/api/v2/heartbeats` answer, each page saved as a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from monitoring.as_code.importers.drafts import Draft, read_mapping, variable

_HTTP = {"status", "expected_status_code", "keyword", "keyword_absence"}
_PORTS = {"smtp": 25, "pop": 110, "imap": 143}


def read(files: Sequence[bytes]) -> Iterator[Draft]:
    """Read the monitors and heartbeats of each page."""
    for file in files:
        for each in read_mapping(file, "data")["data"]:
            read_one = _draft_heartbeat if each["type"] == "heartbeat" else _draft
            yield read_one(each["attributes"])


def _draft_heartbeat(heartbeat: Mapping[str, Any]) -> Draft:
    name = heartbeat.get("name") or "Heartbeat"
    schedule = {
        "period_seconds": max(heartbeat["period"], 30),
        "grace_seconds": max(heartbeat.get("grace") or 0, 10),
    }
    fields = {"name": name, "type": "heartbeat", "heartbeat": schedule}
    return Draft(name, fields, ["the address of the pings, which is another one here"])


def _draft(monitor: Mapping[str, Any]) -> Draft:
    name = str(monitor.get("pronounceable_name") or monitor["url"])
    kind, url = monitor["monitor_type"], str(monitor["url"])
    draft = Draft(name, {"name": name})
    fields: dict[str, Any] = draft.fields or {}
    timeout = monitor.get("request_timeout")
    if kind in _HTTP:
        fields["url"] = url
        _read_http(monitor, draft, fields)
    elif kind == "ping":
        fields |= {"type": "ping", "url": f"ping://{url}"}
        timeout = timeout / 1000 if timeout else None  # only HTTP's is in seconds
    elif kind == "tcp" or kind in _PORTS:
        fields |= {"type": "tcp", "url": f"tcp://{url}:{monitor.get('port') or _PORTS.get(kind)}"}
        timeout = timeout / 1000 if timeout else None
        if kind == "tcp" and monitor.get("required_keyword"):
            fields["tcp"] = {"expect": monitor["required_keyword"]}
    else:
        return Draft(name, None, [f"monitors of type {kind} are not known here"])
    draft.set_times(monitor.get("check_frequency") or 180, timeout)
    if monitor.get("paused"):
        fields["paused"] = True
    draft.lost += [
        f"its {word}"
        for word, theirs in (
            ("escalation policy", "policy_id"),
            ("regions", "regions"),
            ("group", "monitor_group_id"),
        )
        if monitor.get(theirs)
    ]
    return draft


def _read_http(monitor: Mapping[str, Any], draft: Draft, fields: dict[str, Any]) -> None:
    fields["method"] = str(monitor.get("http_method") or "get").upper()
    if monitor.get("request_body"):
        fields["request_body"] = monitor["request_body"]
    headers = {
        each["name"]: variable("monitor", draft.name, each["name"])
        if each["name"].lower() in {"authorization", "cookie"}
        else str(each["value"])
        for each in monitor.get("request_headers") or ()
    }
    if monitor.get("auth_username"):
        headers["Authorization"] = variable("monitor", draft.name, "authorization")
        draft.lost.append(
            "the credential: its variable is the whole Authorization, such as Basic dXNlcjpwYXNz"
        )
    if headers:
        fields["request_headers"] = headers
    if monitor["monitor_type"] == "expected_status_code" and monitor.get("expected_status_codes"):
        fields["expected_status_codes"] = [str(code) for code in monitor["expected_status_codes"]]
    if monitor["monitor_type"] == "keyword":
        fields["required_keyword"] = monitor["required_keyword"]
    if monitor["monitor_type"] == "keyword_absence":
        fields["forbidden_keyword"] = monitor["required_keyword"]
    fields["follow_redirects"] = monitor.get("follow_redirects", True)
    fields["verify_tls"] = monitor.get("verify_ssl", True)
    if monitor.get("ssl_expiration"):
        fields["tls_expiry_warning_days"] = min(monitor["ssl_expiration"], 90)
