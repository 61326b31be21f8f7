"""Imports from UptimeRobot: saved responses to `POST /v2/getMonitors` (`http_request_details=true`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from monitoring.as_code.importers.drafts import PINGS, Draft, read_mapping, without_login

_HTTP, _KEYWORD, _PING, _PORT, _HEARTBEAT = range(1, 6)
_PORTS = {1: 80, 2: 443, 3: 21, 4: 25, 5: 110, 6: 143}  # the port of each `sub_type`
_METHODS = {1: "HEAD", 2: "GET", 3: "POST", 4: "PUT", 5: "PATCH", 6: "DELETE", 7: "OPTIONS"}
_PAUSED = 0
_IF_IT_EXISTS = 1
_LOST = {"alert_contacts": "its alert contacts", "mwindows": "its maintenance windows"}
_LOST_OF_HTTP = {
    "custom_http_statuses": "its custom HTTP statuses",
    "post_value": "the body of its requests",
    "keyword_case_type": "the case-insensitive comparison with its keyword",
}
# Fields that are not reported as lost, because the importer reads them, or because they only report a status.
_KNOWN = {
    *("id", "friendly_name", "url", "type", "sub_type", "port", "interval", "timeout", "status"),
    *("create_datetime", "keyword_type", "keyword_value", "http_method", "http_username"),
    *("http_password", "http_auth_type", "post_type", "post_content_type", "custom_http_headers"),
    *("is_group_main", "logs", "response_times", "all_time_uptime_ratio"),
    *("all_time_uptime_durations", "average_response_time", "ssl"),
}


def read(files: Sequence[bytes]) -> Iterator[Draft]:
    """Yield the monitors of every page."""
    pages = [read_mapping(file, "monitors") for file in files]
    monitors = [monitor for page in pages for monitor in page["monitors"]]
    yield from map(_draft, monitors)
    total = max((page.get("pagination", {}).get("total", 0) for page in pages), default=0)
    if total > len(monitors):
        yield Draft("UptimeRobot", lost=[f"{total - len(monitors)} monitors on other pages of the response"])


def _draft(monitor: Mapping[str, Any]) -> Draft:
    draft = Draft(str(monitor.get("friendly_name") or without_login(monitor["url"])))
    kind, fields = monitor["type"], draft.fields
    if kind in {_HTTP, _KEYWORD}:
        _read_http(monitor, draft)
    elif kind == _PING:
        fields |= {"type": "ping", "url": f"ping://{monitor['url']}"}
    elif kind == _PORT:
        port = monitor.get("port") or _PORTS.get(monitor.get("sub_type") or 0)
        fields |= {"type": "tcp", "url": f"tcp://{monitor['url']}:{port}"}
    elif kind == _HEARTBEAT:
        fields |= {"type": "heartbeat", "heartbeat": {"period_seconds": max(monitor["interval"], 30)}}
        draft.lost.append(PINGS)
    else:
        return Draft(draft.name, lost=[f"monitors of type {kind} are not supported"])
    if kind != _HEARTBEAT:
        draft.set_times(monitor.get("interval") or 300, monitor.get("timeout"))
    if monitor.get("status") == _PAUSED:
        fields["paused"] = True
    draft.lose(monitor, _LOST)
    draft.lose_others(monitor, _KNOWN | _LOST.keys() | _LOST_OF_HTTP.keys())
    return draft


def _read_http(monitor: Mapping[str, Any], draft: Draft) -> None:
    headers = monitor.get("custom_http_headers") or {}
    draft.set_request(monitor["url"], headers, has_login=bool(monitor.get("http_username")))
    fields = draft.fields
    fields["method"] = _METHODS.get(monitor.get("http_method") or 2, "GET")
    if monitor["type"] == _KEYWORD:
        alerts_if_it_exists = monitor.get("keyword_type") == _IF_IT_EXISTS
        fields["forbidden_keyword" if alerts_if_it_exists else "required_keyword"] = monitor["keyword_value"]
        fields["method"] = "GET" if fields["method"] == "HEAD" else fields["method"]
    draft.lose(monitor, _LOST_OF_HTTP)
