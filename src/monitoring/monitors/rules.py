"""Rules for a monitor's configuration beyond its schema, with defaults and merge patches. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from monitoring.auth.names import name_after_host
from monitoring.backends.encryption import MASK
from monitoring.contract import configurations
from monitoring.contract.document import Json
from monitoring.contract.problems import Problem
from monitoring.monitors.assertions import OF_BODY, check_assertions
from monitoring.monitors.configuration import Configuration
from monitoring.outbound.tls_settings import TlsSettings, is_readable

MAX_REQUEST_HEADERS = 20


def complete(given: Mapping[str, Json], defaults: Mapping[str, Json]) -> Configuration:
    """Fill in what a client left out; the default of the name is the URL's host.

    Raises Problem for what the schema allows and nobody can read.
    """
    _check_readable(given)
    return configurations.complete(_with_headers_once(given), defaults, name_after_host)


def change(
    configuration: Mapping[str, Json], patch: Mapping[str, Json], defaults: Mapping[str, Json]
) -> Configuration:
    """Apply a merge patch, as `configurations.change` does. Names of request headers match in any case.

    A credential that the patch masks keeps its value. Raises Problem if the patch contradicts the monitor's
    configuration, or has what nobody can read.
    """
    patch = _unmasked(_with_headers_once(patch), configuration)
    headers = _without_other_spellings(configuration["request_headers"], patch.get("request_headers") or {})
    before = {**configuration, "request_headers": headers}
    if patch.get("contract"):
        before["contract"] = None  # the patch has it as a whole
    after = configurations.change(before, patch, defaults, name_after_host)
    if len(after["request_headers"]) > MAX_REQUEST_HEADERS:
        raise Problem("request_headers_too_many")
    _check_against_method(after)
    _check_readable(patch)
    return after


def status_after(status: str, *, paused: bool) -> str:
    """Return the status after `paused` is set. Resuming resets it; otherwise it stays."""
    if paused:
        return "paused"
    return "pending" if status == "paused" else status


def is_checked_otherwise(before: Configuration, after: Configuration) -> bool:
    """Return whether a change affects what checks request or expect, or their schedule."""
    return any(before[name] != after[name] for name in before.keys() - {"name", "tags", "paused"})


def _with_headers_once(fields: Mapping[str, Json]) -> Mapping[str, Json]:
    """Of request headers whose names differ only in case, keep the last that is not null."""
    if not (headers := fields.get("request_headers")):
        return fields
    last = {name.lower(): name for name, value in headers.items() if value is not None}
    kept = {name: value for name, value in headers.items() if last.get(name.lower(), name) == name}
    return {**fields, "request_headers": kept}


def _without_other_spellings(headers: Mapping[str, str], patch: Mapping[str, str | None]) -> dict[str, str]:
    """Leave out headers that the patch spells in another case: the patch's spelling wins."""
    patched = {name.lower() for name in patch}
    return {name: value for name, value in headers.items() if name in patch or name.lower() not in patched}


def _unmasked(patch: Mapping[str, Json], configuration: Mapping[str, Json]) -> Mapping[str, Json]:
    """Replace masks with the monitor's values."""
    if patch.get("client_certificate") == MASK:
        if configuration["client_certificate"] is None:
            raise Problem("client_certificate_masked")
        patch = {**patch, "client_certificate": configuration["client_certificate"]}
    if MASK not in (patched := patch.get("request_headers") or {}).values():
        return patch
    kept = {name.lower(): value for name, value in configuration["request_headers"].items()}
    for name, value in patched.items():
        if value == MASK and name.lower() not in kept:
            raise Problem("request_header_masked", name=name)
    unmasked = {name: kept[name.lower()] if value == MASK else value for name, value in patched.items()}
    return {**patch, "request_headers": unmasked}


def _check_against_method(configuration: Configuration) -> None:
    method = configuration["method"]
    if method in ("GET", "HEAD") and configuration["request_body"] is not None:
        raise Problem("request_body_without_content")
    for field in ("required_keyword", "forbidden_keyword"):
        if method == "HEAD" and configuration[field] is not None:
            raise Problem("keyword_without_body", field=field)
    for number, assertion in enumerate(configuration["assertions"]):
        if method == "HEAD" and assertion["source"] in OF_BODY:
            raise Problem("assertion_without_body", number=number)


def _check_readable(fields: Mapping[str, Json]) -> None:
    """Refuse what no schema can tell from what is right."""
    check_assertions(fields.get("assertions") or ())
    if not is_readable(TlsSettings(certificate_authority=fields.get("certificate_authority"))):
        raise Problem("certificate_authority_unreadable")
    if not is_readable(TlsSettings(client_certificate=fields.get("client_certificate"))):
        raise Problem("client_certificate_unreadable")
