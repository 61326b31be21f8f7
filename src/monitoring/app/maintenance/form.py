"""Converts maintenance window forms to API requests and back. The API document's schema validates them.

Has no side effects.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from monitoring.app.form_fields import (
    WHOLE_FORM,
    check_of,
    document_rules,
    name_entry,
    quote_labels,
    read_tags,
    refuse,
    sentences_of,
)
from monitoring.app.formatting import capitalize
from monitoring.app.maintenance.labels import LABELS
from monitoring.app.sentences import REFUSALS
from monitoring.contract.catalogue import Catalogue
from monitoring.contract.document import Json
from monitoring.contract.problems import Problem
from monitoring.contract.timestamps import write_timestamp
from monitoring.contract.validation import Check
from monitoring.monitors.maintenance.models import MaintenanceWindow

Texts = dict[str, str]

_TEXTS = ("name", "starts_at", "duration_seconds", "ends_at", "recurrence", "time_zone", "tags")
_FORMATS = ("%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S")  # values of a browser's datetime-local field
_INTEGER = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class Typed:
    """A form's submitted values: the texts of its fields, and the ticked monitors' ids."""

    texts: Texts
    monitor_ids: Sequence[str]


def echo_form(form: Mapping[str, str], monitor_ids: Sequence[str]) -> Typed:
    """Return the submitted values, valid or not."""
    return Typed({name: form.get(name, "").strip() for name in _TEXTS}, list(dict.fromkeys(monitor_ids)))


def write_new_form(time_zone: str, monitor_ids: Sequence[str]) -> Typed:
    """Return the values of a new form: maintenance for half an hour, starting now."""
    texts = dict.fromkeys(_TEXTS, "") | {"duration_seconds": "1800", "time_zone": time_zone}
    return Typed(texts, monitor_ids)


def write_form(window: MaintenanceWindow) -> Typed:
    """Return the values of a saved window's form, with its start in the window's time zone."""
    local = window.starts_at.astimezone(ZoneInfo(window.time_zone))
    texts = {
        "name": window.name,
        "starts_at": f"{local:%Y-%m-%dT%H:%M}",
        "duration_seconds": str(window.duration_seconds),
        "ends_at": "",
        "recurrence": window.recurrence or "",
        "time_zone": window.time_zone,
        "tags": ", ".join(window.tags),
    }
    return Typed(texts, window.monitor_ids)


def read_form(typed: Typed, now: datetime, saved: MaintenanceWindow | None = None) -> dict[str, Json]:
    """Convert a form to a MaintenanceWindowCreate.

    A `saved` window keeps its exact start, to the microsecond, unless the form changes its start or time
    zone. Raises Problem for the first invalid field, with the problems of the other fields in `others`.
    """
    texts = typed.texts
    problems: list[Problem] = []
    zone = _read_zone(texts["time_zone"] or "UTC", problems)
    given: dict[str, Json] = {
        "recurrence": texts["recurrence"] or None,
        "time_zone": texts["time_zone"] or "UTC",
        "tags": read_tags(texts["tags"]),
        "monitor_ids": list(typed.monitor_ids),
    }
    if texts["name"]:
        given["name"] = texts["name"]
    starts_at, ends_at = (_read_moment(texts[name], zone) for name in ("starts_at", "ends_at"))
    if saved and _keeps_beginning(texts, saved):
        starts_at = saved.starts_at
    if starts_at:
        given["starts_at"] = write_timestamp(starts_at) if isinstance(starts_at, datetime) else starts_at
    if isinstance(ends_at, datetime) and not isinstance(starts_at, str):
        given["duration_seconds"] = int((ends_at - (starts_at or now)).total_seconds())
    else:
        seconds = texts["duration_seconds"]
        given["duration_seconds"] = int(seconds) if _INTEGER.fullmatch(seconds) else seconds
        if isinstance(ends_at, str):
            problems.append(document_rules().sentences.invalid_field("ends_at", "pattern"))
    try:
        judge()(given)
    except Problem as problem:
        problems += (problem, *problem.others)
    refuse(problems)
    return given


def patch_from(given: Mapping[str, Json]) -> dict[str, Json]:
    """Return a merge patch that sets all fields of a window. A missing name or start becomes null."""
    return {"name": None, "starts_at": None, **given}


def place_problem(problem: Problem, catalogue: Catalogue, typed: Typed) -> Texts:
    """Return the messages for a problem and its `others`, by field in form order."""

    def place(each: Problem, sentence: str) -> tuple[str, str]:
        path, _, words = sentence.partition(": ")
        name, _, entry = path.partition(".")
        if name not in LABELS:
            return WHOLE_FORM, sentence
        if name in ("starts_at", "ends_at") and each.name == "invalid_field":
            return name, REFUSALS["moment_unreadable"]
        if name == "duration_seconds" and typed.texts["ends_at"]:
            return "ends_at", REFUSALS["maintenance_length"]
        words = quote_labels(words, LABELS)
        if entry and name == "tags":
            return name, name_entry(typed.texts["tags"], int(entry), words)
        return name, capitalize(words)

    placed = sentences_of(problem, catalogue, place)
    return {name: placed[name] for name in (WHOLE_FORM, *LABELS) if name in placed}


@cache
def judge() -> Check:
    """Return the form's schema validator. It is compiled once, at startup."""
    return check_of("MaintenanceWindowCreate")


@cache
def list_time_zones() -> list[str]:
    """Return the time zones to suggest: UTC, and the zones that are named after a region and a city."""
    regions = ("Africa/", "America/", "Antarctica/", "Asia/", "Atlantic/", "Australia/", "Europe/", "Indian/")
    return ["UTC", *sorted(each for each in available_timezones() if each.startswith((*regions, "Pacific/")))]


def _read_zone(name: str, problems: list[Problem]) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        problems.append(Problem("time_zone_unknown"))
        return ZoneInfo("UTC")


def _read_moment(text: str, zone: ZoneInfo) -> datetime | str | None:
    """Parse a local time; None if empty. Any other text is returned unchanged, for the schema to reject."""
    for form in _FORMATS if text else ():
        try:
            return datetime.strptime(text, form).replace(tzinfo=zone).astimezone(UTC)
        except (ValueError, OverflowError):
            continue
    return text or None


def _keeps_beginning(texts: Mapping[str, str], saved: MaintenanceWindow) -> bool:
    before = write_form(saved).texts
    return all(texts[name] == before[name] for name in ("starts_at", "time_zone"))
