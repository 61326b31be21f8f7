"""Writes an importer's monitors to a file, and reports the settings that could not be carried over."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from monitoring.as_code.exporting import choose_key
from monitoring.as_code.files import escape, variable, write_file
from monitoring.as_code.importers.drafts import Draft
from monitoring.as_code.kinds import MONITORS, check_of, defaults_of
from monitoring.contract.problems import Problem

_MAX_NAME_CHARACTERS = 100


class Imported(NamedTuple):
    """The text of a file, and a sentence for each setting or monitor that could not be carried over."""

    text: str
    losses: list[str]


def write_drafts(drafts: Iterable[Draft]) -> Imported:
    """Write drafts as a file. Each draft's key is derived from its name.

    Drafts that the API would reject are reported.
    """
    rows: dict[str, dict[str, Any]] = {}
    losses: list[str] = []
    for draft in drafts:
        if not draft.fields:
            losses += [f"{draft.name}: left out: {each}" for each in draft.lost]
            continue
        key = choose_key(draft.name, rows)
        written = draft.fields if draft.names_variables else escape(draft.fields)
        fields = {"name": draft.name[:_MAX_NAME_CHARACTERS], **written}
        for header in draft.credentials:
            fields.setdefault("request_headers", {})[header] = variable(MONITORS.name, key, header)
        try:
            check_of(MONITORS.schema)(fields)
        except Problem as problem:
            losses.append(f"{draft.name}: left out: {problem.values['field']}: {problem.values['problem']}")
            continue
        rows[key] = _write_row(key, fields, draft.lost)
        losses += [f"{key}: not carried over: {each}" for each in draft.lost]
    return Imported(write_file({MONITORS.section: rows}), losses)


def _write_row(key: str, fields: dict[str, Any], lost: list[str]) -> dict[str, Any]:
    defaults = {**defaults_of(MONITORS, fields), "name": key}
    row = {name: value for name, value in fields.items() if value != defaults.get(name)}
    return {**row, "note": f"Not carried over: {'; '.join(lost)}"} if lost else row
