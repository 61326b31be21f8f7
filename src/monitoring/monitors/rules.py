"""What a monitor's configuration must be beyond its schema, and how a client's words become one. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from monitoring.contract.problems import Problem
from monitoring.outbound.hosts import host_of, is_host

if TYPE_CHECKING:
    from collections.abc import Mapping

    from monitoring.contract.document import Json
    from monitoring.monitors.configuration import Configuration

MAX_NAME_CHARACTERS = 100
MAX_REQUEST_HEADERS = 20

HEADER_NAME = re.compile(r"[A-Za-z0-9-]{1,64}")

# Hop-by-hop and framing headers (RFC 9110 §7.6.1, RFC 9112 §6), those that steer a proxy or another host, and
# what the answer may be encoded in.
RESERVED_HEADERS = {
    "accept-encoding",
    "connection",
    "content-length",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
}


def complete(given: Mapping[str, Json], defaults: Mapping[str, Json]) -> Configuration:
    """Fill in what was left out; the name becomes the URL's host, cut where it is too long."""
    return {"name": host_of(given["url"])[:MAX_NAME_CHARACTERS], **defaults, **given}


def change(
    configuration: Mapping[str, Json], patch: Mapping[str, Json], defaults: Mapping[str, Json]
) -> Configuration:
    """Apply a merge patch. What null removes gets its default again; request headers match in any case."""
    headers = _without_other_spellings(configuration["request_headers"], patch.get("request_headers") or {})
    return complete(merge({**configuration, "request_headers": headers}, patch), defaults)


def merge(target: Json, patch: Json) -> Json:
    """Merge as RFC 7396 §2 says, into a new value."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = merge(merged.get(name), value)
    return merged


def check(configuration: Configuration) -> None:
    """Refuse what no single field's schema can see. Raises Problem for the first rule broken."""
    if not is_host(host_of(configuration["url"])):
        raise Problem("url_host_invalid")
    _check_request_headers(configuration["request_headers"])
    _check_against_method(configuration)
    if any(_is_reversed(pattern) for pattern in configuration["expected_status_codes"]):
        raise Problem("status_range_reversed")
    if configuration["timeout_seconds"] >= configuration["interval_seconds"]:
        raise Problem("timeout_not_below_interval")


def status_after(status: str, *, paused: bool) -> str:
    """Return the status once `paused` says so: resuming starts anew, everything else goes on as it was."""
    if paused:
        return "paused"
    return "pending" if status == "paused" else status


def is_checked_otherwise(before: Configuration, after: Configuration) -> bool:
    """Say whether checks ask, expect or come otherwise than before."""
    return any(before[name] != after[name] for name in before.keys() - {"name", "tags", "paused"})


def _without_other_spellings(headers: Mapping[str, str], patch: Mapping[str, str | None]) -> dict[str, str]:
    """Leave out the headers that a patch names in another case: its spelling wins."""
    patched = {name.lower() for name in patch}
    return {name: value for name, value in headers.items() if name in patch or name.lower() not in patched}


def _check_request_headers(headers: Mapping[str, str]) -> None:
    if len(headers) > MAX_REQUEST_HEADERS:
        raise Problem("request_headers_too_many")
    names_before: set[str] = set()
    for name in headers:
        if not HEADER_NAME.fullmatch(name):
            raise Problem("request_header_name_invalid")
        if name.lower() in RESERVED_HEADERS:
            raise Problem("request_header_reserved", name=name)
        if name.lower() in names_before:
            raise Problem("request_header_repeated", name=name)
        names_before.add(name.lower())


def _check_against_method(configuration: Configuration) -> None:
    method = configuration["method"]
    if method in ("GET", "HEAD") and configuration["request_body"] is not None:
        raise Problem("request_body_without_content")
    for field in ("required_keyword", "forbidden_keyword"):
        if method == "HEAD" and configuration[field] is not None:
            raise Problem("keyword_without_body", field=field)


def _is_reversed(pattern: str) -> bool:
    low, _, high = pattern.partition("-")
    return bool(high) and low > high
