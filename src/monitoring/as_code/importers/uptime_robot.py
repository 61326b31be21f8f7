"""UptimeRobot: what `POST /v2/getMonitors` answers with `http_request_details=true`, saved as a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from monitoring.as_code.importers.drafts import Draft, read_mapping, variable

_HTTP, _KEYWORD, _PING, _PORT, _HEARTBEAT = range(1, 6)
_PORTS = {1: 80, 2: 443, 3: 21, 4: 25, 5: 110, 6: 143}  # by sub_type
_METHODS = {1: "HEAD", 2: "GET", 3: "POST", 4: "PUT", 5: "PATCH", 6: "DELETE", 7: "OPTIONS"}
_PAUSED = 0
_IF_IT_EXISTS = 1


def read(files: Sequence[bytes]) -> Iterator[Draft]:
    """Read the monitors of each page."""
    for file in files:
        yield from map(_draft, read_mapping(file, "monitors")["monitors"])


def _draft(monitor: Mapping[str, Any]) -> Draft:
    name = str(monitor.get("friendly_name") or monitor["url"])
    kind = monitor["type"]
    draft = Draft(name, {"name": name})
    fields: dict[str, Any] = draft.fields or {}
    if kind in {_HTTP, _KEYWORD}:
        fields["url"] = monitor["url"]
        fields["method"] = _METHODS.get(monitor.get("http_method") or 2, "GET")
        _read_http(monitor, draft, fields)
    elif kind == _PING:
        fields |= {"type": "ping", "url": f"ping://{monitor['url']}"}
    elif kind == _PORT:
        port = monitor.get("port") or _PORTS.get(monitor.get("sub_type") or 0)
        fields |= {"type": "tcp", "url": f"tcp://{monitor['url']}:{port}"}
    elif kind == _HEARTBEAT:
        fields |= {"type": "heartbeat", "heartbeat": {"period_seconds": max(monitor["interval"], 30)}}
        draft.lost.append("the address of the pings, which is another one here")
    else:
        return Draft(name, None, [f"monitors of type {kind} are not known here"])
    if kind != _HEARTBEAT:
        draft.set_times(monitor.get("interval") or 300, monitor.get("timeout"))
    if monitor.get("status") == _PAUSED:
        fields["paused"] = True
    draft.lost += [
        f"its {word}"
        for word, theirs in (("alert contacts", "alert_contacts"), ("maintenance windows", "mwindows"))
        if monitor.get(theirs)
    ]
    return draft


def _read_http(monitor: Mapping[str, Any], draft: Draft, fields: dict[str, Any]) -> None:
    headers = {
        each: variable("monitor", draft.name, each)
        if each.lower() in {"authorization", "cookie"}
        else str(value)
        for each, value in (monitor.get("custom_http_headers") or {}).items()
    }
    if monitor.get("http_username"):
        headers["Authorization"] = variable("monitor", draft.name, "authorization")
        draft.lost.append(
            "the credential: its variable is the whole Authorization, such as Basic dXNlcjpwYXNz"
        )
    if headers:
        fields["request_headers"] = headers
    if monitor["type"] == _KEYWORD:
        alerts_if_it_exists = monitor.get("keyword_type") == _IF_IT_EXISTS
        fields["forbidden_keyword" if alerts_if_it_exists else "required_keyword"] = monitor["keyword_value"]
        fields["method"] = "GET" if fields["method"] == "HEAD" else fields["method"]
    if monitor.get("custom_http_statuses"):
        draft.lost.append("its custom HTTP statuses")
