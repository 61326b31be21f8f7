"""Applies defaults, merge patches and rules that no schema can express to a monitor's configuration.

Has no side effects.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from monitoring.auth.names import name_after_host
from monitoring.backends.encryption import MASK
from monitoring.contract import configurations
from monitoring.contract.document import Json, published_document
from monitoring.contract.problems import Problem
from monitoring.monitors.assertions import check_assertions
from monitoring.monitors.configuration import Configuration, complete_settings
from monitoring.monitors.heartbeats.schedules import judge_schedule
from monitoring.monitors.models import HEARTBEAT
from monitoring.monitors.settings_rules import demand_readable
from monitoring.outbound.tls_settings import TlsSettings, is_readable

if TYPE_CHECKING:
    from monitoring.contract.validation import Check

MAX_REQUEST_HEADERS = 20


def complete(given: Mapping[str, Json], defaults: Mapping[str, Json]) -> Configuration:
    """Return `given` with defaults for the fields that a client left out.

    The default name is the URL's host, or "Heartbeat". Raises Problem for invalid values that the schema
    allows.
    """
    _check_readable(given)
    completed = configurations.complete(_with_address(_with_headers_once(given)), defaults, _default_name)
    return _judged(_with_settings(completed))


def change(
    configuration: Mapping[str, Json], patch: Mapping[str, Json], defaults: Mapping[str, Json]
) -> Configuration:
    """Return `configuration` as changed by a merge patch. The case of request header names is ignored.

    A credential for which the patch contains the mask keeps its value. Raises Problem if the patch
    contradicts the monitor's configuration, or contains an invalid value.
    """
    patch = _with_one_schedule(_unmasked(_with_headers_once(patch), configuration))
    headers = _without_other_spellings(configuration["request_headers"], patch.get("request_headers") or {})
    before = {**configuration, "request_headers": headers}
    if patch.get("contract"):
        before["contract"] = None  # the patch already contains the complete contract
    after = _with_settings(configurations.change(before, patch, defaults, _default_name))
    if after["type"] != before["type"]:
        raise Problem("monitor_type_kept", type=before["type"])
    if len(after["request_headers"]) > MAX_REQUEST_HEADERS:
        raise Problem("request_headers_too_many")
    _check_together(before, after)
    _check_readable(patch)
    return _judged(after)


def replace(
    configuration: Mapping[str, Json], given: Mapping[str, Json], defaults: Mapping[str, Json]
) -> Configuration:
    """Return the configuration that replaces `configuration`: `given`, completed with defaults by `complete`.

    If `given` omits the client certificate, the stored certificate is kept, because no response shows it.
    Raises Problem as `complete` does, and if the type changes.
    """
    after = complete({"client_certificate": configuration["client_certificate"], **given}, defaults)
    if after["type"] != configuration["type"]:
        raise Problem("monitor_type_kept", type=configuration["type"])
    return after


def status_after(status: str, *, paused: bool) -> str:
    """Return a monitor's status after `paused` is set. Resuming makes the status `pending`."""
    if paused:
        return "paused"
    return "pending" if status == "paused" else status


def is_checked_otherwise(before: Configuration, after: Configuration) -> bool:
    """Return whether a change affects what checks request or expect, or their schedule."""
    return any(before[name] != after[name] for name in before.keys() - {"name", "tags", "paused"})


def _with_settings(configuration: Configuration) -> Configuration:
    """Fill in the type's settings that a client left out."""
    name = configuration["type"]
    settings = complete_settings(name, configuration.get(name, {}))
    return {**configuration, name: settings} if settings else configuration


def _with_address(given: Mapping[str, Json]) -> Mapping[str, Json]:
    """Add the placeholder URL to a heartbeat that has no URL."""
    return {"url": "heartbeat://job", **given} if given.get("type") == HEARTBEAT else given


def _default_name(configuration: Configuration) -> str:
    return "Heartbeat" if configuration["type"] == HEARTBEAT else name_after_host(configuration)


def _with_one_schedule(patch: Mapping[str, Json]) -> Mapping[str, Json]:
    """Extend the patch, so that a new period removes the cron expression, and vice versa."""
    settings = patch.get(HEARTBEAT) or {}
    for one, other in (("cron", "period_seconds"), ("period_seconds", "cron")):
        if settings.get(one) is not None and other not in settings:
            return {**patch, HEARTBEAT: {**settings, other: None}}
    return patch


def _judged(configuration: Configuration) -> Configuration:
    """Return `configuration` unchanged. Raises Problem for invalid settings that no schema can reject."""
    demand_readable(configuration)
    if configuration["type"] == HEARTBEAT:
        judge_schedule(configuration[HEARTBEAT])
    return configuration


def _with_headers_once(fields: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the fields without duplicate headers, which are headers whose names differ only in case.

    Among duplicates, the last header that is not null is kept.
    """
    if not (headers := fields.get("request_headers")):
        return fields
    last = {name.lower(): name for name, value in headers.items() if value is not None}
    kept = {name: value for name, value in headers.items() if last.get(name.lower(), name) == name}
    return {**fields, "request_headers": kept}


def _without_other_spellings(headers: Mapping[str, str], patch: Mapping[str, str | None]) -> dict[str, str]:
    """Return the headers, except those whose names differ only in case from a name in the patch."""
    patched = {name.lower() for name in patch}
    return {name: value for name, value in headers.items() if name in patch or name.lower() not in patched}


def _unmasked(patch: Mapping[str, Json], configuration: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the patch with each mask replaced by the monitor's credential.

    Raises Problem if the monitor has no credential for a mask.
    """
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


def _check_together(before: Configuration, after: Configuration) -> None:
    """Raise Problem if a change breaks the OpenAPI document's rules about combinations of fields.

    If `before` already breaks these rules, the change is accepted. An earlier release may have stored such a
    configuration.
    """
    problem = _find_contradiction(after)
    if problem and not _find_contradiction(before):
        values = problem.values
        raise Problem("monitor_contradicted", field=values["field"], problem=values["problem"])


def _find_contradiction(configuration: Configuration) -> Problem | None:
    try:
        _check_of_fields_together()(configuration)
    except Problem as problem:
        return problem
    return None


@cache
def _check_of_fields_together() -> Check:
    from monitoring.contract.validation import rules_of  # noqa: PLC0415 - only needed to change monitors

    document = published_document()
    schema = document.root["components"]["schemas"]["MonitorCreate"]
    rules = {keyword: schema[keyword] for keyword in ("if", "then", "else")}
    return rules_of(document).request_check(rules, "body")


def _check_readable(fields: Mapping[str, Json]) -> None:
    """Raise Problem for invalid assertions and certificates, which no schema can reject."""
    check_assertions(fields.get("assertions") or ())
    authority, certificate = fields.get("certificate_authority"), fields.get("client_certificate")
    if authority is not None and not is_readable(TlsSettings(certificate_authority=authority)):
        raise Problem("certificate_authority_unreadable")
    if certificate is not None and not is_readable(TlsSettings(client_certificate=certificate)):
        raise Problem("client_certificate_unreadable")
