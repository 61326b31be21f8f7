"""Imports monitors from the configuration of Gatus (YAML)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import orjson

from monitoring.as_code.importers.drafts import Draft, read_mapping, seconds_of, write_tags

_CONDITION = re.compile(r"\s*(\[\w+\]\S*|\w+\(\S+\))\s*(==|!=|<=|>=|<|>)\s*(.+?)\s*")
_CODES = re.compile(r"[0-9]+|any\([0-9, ]+\)")
_PATTERN = re.compile(r"pat\(\*([^*]+)\*\)")
_OF_CONNECTIONS = {"[CONNECTED]": "true", "[DNS_RCODE]": "NOERROR"}
_VARIABLE = re.compile(rb"\$(\$(?!\{)|[A-Za-z_]\w*)")
_KNOWN = {
    *("name", "group", "enabled", "url", "method", "body", "headers", "graphql", "dns", "interval"),
    *("client", "conditions", "alerts", "ui"),
}
_TYPES = {"tcp": "tcp", "tls": "tcp", "icmp": "ping"}


def read(files: Sequence[bytes]) -> Iterator[Draft]:
    """Yield the endpoints. Alerting settings are left out, as their secrets must be transferred manually."""
    [file] = files
    configuration = read_mapping(_VARIABLE.sub(_rename, file), "endpoints")
    yield from map(_draft, configuration["endpoints"])
    for endpoint in configuration.get("external-endpoints") or ():
        period = seconds_of((endpoint.get("heartbeat") or {}).get("interval", "24h"))
        lost = ["the token: the job must send pings to the monitor's ping URL instead"]
        heartbeat = {"period_seconds": max(round(period), 30)}
        yield Draft(str(endpoint["name"]), {"type": "heartbeat", "heartbeat": heartbeat}, lost)


def _rename(variable: re.Match[bytes]) -> bytes:
    """Rewrite `$NAME` as `${NAME}`, which is the syntax in monitoring files, and `$$` as `$`."""
    name = variable[1]
    return b"$" if name == b"$" else b"${%s}" % name


def _draft(endpoint: Mapping[str, Any]) -> Draft:
    draft = Draft(str(endpoint["name"]), names_variables=True)
    fields = draft.fields
    client = endpoint.get("client") or {}
    if not _read_address(endpoint, client, draft):
        scheme = urlsplit(str(endpoint["url"])).scheme
        return Draft(draft.name, lost=[f"URLs with the scheme {scheme} are not supported"])
    timeout = seconds_of(client["timeout"]) if "timeout" in client else None
    draft.set_times(seconds_of(endpoint.get("interval", "60s")), timeout)
    for condition in endpoint.get("conditions") or ():
        if not _read_condition(str(condition), fields):
            draft.lost.append(f"the condition {condition}")
    if endpoint.get("enabled") is False:
        fields["paused"] = True
    if endpoint.get("group"):
        fields["tags"] = write_tags([endpoint["group"]])
    draft.lose(endpoint, {"alerts": "its alerts"})
    draft.lose_others(endpoint, _KNOWN)
    draft.lose_others(client, {"timeout", "insecure", "ignore-redirect"})
    return draft


def _read_address(endpoint: Mapping[str, Any], client: Mapping[str, Any], draft: Draft) -> bool:
    """Set a draft's type and URL from an endpoint. Return whether this service supports the URL."""
    fields = draft.fields
    parts = urlsplit(str(endpoint["url"]))
    if dns := endpoint.get("dns"):
        fields |= {"type": "dns", "url": f"dns://{dns['query-name'].rstrip('.')}"}
        fields["dns"] = {"record_type": dns["query-type"]}
        draft.lost.append(f"the name server {endpoint['url']}")
    elif parts.scheme in {"http", "https"}:
        _read_http(endpoint, client, draft)
    elif parts.scheme in _TYPES:
        kind = _TYPES[parts.scheme]
        fields |= {"type": kind, "url": f"{kind}://{parts.netloc}"}
        if parts.scheme == "tls":
            fields["tcp"] = {"tls": True}
    elif parts.scheme == "starttls":
        fields |= {"type": "certificate", "url": f"tls://{parts.netloc}", "certificate": {"starttls": "smtp"}}
    else:
        return False
    return True


def _read_http(endpoint: Mapping[str, Any], client: Mapping[str, Any], draft: Draft) -> None:
    is_graphql = endpoint.get("graphql")
    own = {"Content-Type": "application/json"} if is_graphql else {}
    draft.set_request(endpoint["url"], {**own, **(endpoint.get("headers") or {})})
    fields = draft.fields
    fields["method"] = endpoint.get("method", "POST" if is_graphql else "GET")
    if body := endpoint.get("body"):
        fields["request_body"] = orjson.dumps({"query": body}).decode() if is_graphql else body
    fields["verify_tls"] = not client.get("insecure")
    fields["follow_redirects"] = not client.get("ignore-redirect")


def _read_condition(condition: str, fields: dict[str, Any]) -> bool:
    """Set the fields that are equivalent to a condition. Return False if there are no such fields."""
    match = _CONDITION.fullmatch(condition)
    if match is None:
        return False
    what, comparison, value = match.groups()
    if (what, comparison) == ("[STATUS]", "==") and (codes := _CODES.fullmatch(value)):
        fields["expected_status_codes"] = re.findall("[0-9]+", codes[0])
    elif (what, comparison) == ("[STATUS]", "<") and value in {"300", "400", "500"}:
        fields["expected_status_codes"] = [f"{each}xx" for each in range(2, int(value[0]))]
    elif what == "[RESPONSE_TIME]" and comparison in {"<", "<="} and value.isdigit():
        fields["slow_threshold_ms"] = min(max(int(value), 1), 60000)
    elif what == "[CERTIFICATE_EXPIRATION]" and comparison == ">":
        fields["tls_expiry_warning_days"] = min(round(seconds_of(value) / 86400) or 1, 90)
    elif what == "[BODY]" and comparison == "==" and (pattern := _PATTERN.fullmatch(value)):
        fields["required_keyword"] = pattern[1]
    elif what.startswith("[BODY].") and comparison in {"==", "!="} and "(" not in value:
        kind = "equals" if comparison == "==" else "not_equals"
        path = f"$.{what.removeprefix('[BODY].')}"
        fields.setdefault("assertions", []).append(
            {"source": "json", "path": path, "comparison": kind, "value": _value_of(value)}
        )
    else:
        return comparison == "==" and _OF_CONNECTIONS.get(what) == value
    return True


def _value_of(text: str) -> str | float | bool:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    return value if isinstance(value, int | float) else text
