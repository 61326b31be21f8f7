"""Imports from Better Stack: pages of `GET /api/v2/monitors` and `/api/v2/heartbeats`, one file per page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from monitoring.as_code.importers.drafts import PINGS, Draft, read_mapping, without_login

_HTTP = {"status", "expected_status_code", "keyword", "keyword_absence"}
_LOST = {
    "policy_id": "its escalation policy",
    "regions": "its regions",
    "monitor_group_id": "its group",
    "heartbeat_group_id": "its group",
    "maintenance_from": "its maintenance window",
    "confirmation_period": "its confirmation period",
    "recovery_period": "its recovery period",
    "remember_cookies": "its cookies",
    "proxy_host": "its proxy",
}
# Fields that are not reported as lost, because the importer reads them, because they only report a status, or
# because they belong to a setting that is itself reported as lost.
_KNOWN = {
    *("url", "name", "pronounceable_name", "monitor_type", "check_frequency", "request_timeout"),
    *("port", "period", "grace", "http_method", "request_headers", "request_body"),
    *("required_keyword", "expected_status_codes", "follow_redirects", "verify_ssl"),
    *("ssl_expiration", "domain_expiration", "auth_username", "auth_password", "paused"),
    *("paused_at", "status", "last_checked_at", "created_at", "updated_at", "team_name"),
    *("sort_index", "checks_version", "maintenance_to", "maintenance_days", "maintenance_timezone"),
    *("proxy_port"),
}
_PORTS = {"smtp": 25, "pop": 110, "imap": 143}


def read(files: Sequence[bytes]) -> Iterator[Draft]:
    """Yield the monitors and heartbeats of every page."""
    pages = [read_mapping(file, "data") for file in files]
    for page in pages:
        for each in page["data"]:
            read_one = _draft_heartbeat if each["type"] == "heartbeat" else _draft
            yield read_one(each["attributes"])
    links = [page.get("pagination") or {} for page in pages]
    if sum(bool(each.get("next")) for each in links) > sum(bool(each.get("prev")) for each in links):
        yield Draft("Better Stack", lost=["the entries on the next page of a response"])


def _draft_heartbeat(heartbeat: Mapping[str, Any]) -> Draft:
    name = heartbeat.get("name") or "Heartbeat"
    schedule = {
        "period_seconds": max(heartbeat["period"], 30),
        "grace_seconds": max(heartbeat.get("grace") or 0, 10),
    }
    draft = Draft(name, {"type": "heartbeat", "heartbeat": schedule}, [PINGS])
    if _is_paused(heartbeat):
        draft.fields["paused"] = True
    draft.lose(heartbeat, _LOST)
    draft.lose_others(heartbeat, _KNOWN | _LOST.keys())
    return draft


def _draft(monitor: Mapping[str, Any]) -> Draft:
    kind, url = monitor["monitor_type"], str(monitor["url"])
    draft = Draft(str(monitor.get("pronounceable_name") or without_login(url)))
    fields = draft.fields
    timeout = monitor.get("request_timeout")
    if kind in _HTTP:
        _read_http(monitor, draft)
    elif kind == "ping":
        fields |= {"type": "ping", "url": f"ping://{url}"}
        timeout = timeout / 1000 if timeout else None  # from milliseconds; only HTTP timeouts are in seconds
    elif kind == "tcp" or kind in _PORTS:
        fields |= {"type": "tcp", "url": f"tcp://{url}:{monitor.get('port') or _PORTS.get(kind)}"}
        timeout = timeout / 1000 if timeout else None
        if kind == "tcp" and monitor.get("required_keyword"):
            fields["tcp"] = {"expect": monitor["required_keyword"]}
    else:
        return Draft(draft.name, lost=[f"monitors of type {kind} are not supported"])
    draft.set_times(monitor.get("check_frequency") or 180, timeout)
    if _is_paused(monitor):
        fields["paused"] = True
    draft.lose(monitor, _LOST)
    draft.lose_others(monitor, _KNOWN | _LOST.keys())
    return draft


def _is_paused(each: Mapping[str, Any]) -> bool:
    return bool(each.get("paused") or each.get("paused_at"))


def _read_http(monitor: Mapping[str, Any], draft: Draft) -> None:
    headers = {each["name"]: each["value"] for each in monitor.get("request_headers") or ()}
    draft.set_request(str(monitor["url"]), headers, has_login=bool(monitor.get("auth_username")))
    fields = draft.fields
    fields["method"] = str(monitor.get("http_method") or "get").upper()
    if monitor.get("request_body"):
        fields["request_body"] = monitor["request_body"]
    if monitor["monitor_type"] == "expected_status_code" and monitor.get("expected_status_codes"):
        fields["expected_status_codes"] = [str(code) for code in monitor["expected_status_codes"]]
    if monitor["monitor_type"] == "keyword":
        fields["required_keyword"] = monitor["required_keyword"]
    if monitor["monitor_type"] == "keyword_absence":
        fields["forbidden_keyword"] = monitor["required_keyword"]
    fields["follow_redirects"] = monitor.get("follow_redirects", True)
    fields["verify_tls"] = monitor.get("verify_ssl", True)
    if monitor.get("ssl_expiration"):  # -1 means no warning
        fields["tls_expiry_warning_days"] = min(max(monitor["ssl_expiration"], 0), 90)
    if (monitor.get("domain_expiration") or -1) > 0:
        draft.lost.append("its warning before the domain expires")
