"""Writes what an importer found as a file, and says what could not be carried over."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from monitoring.as_code.exporting import choose_key
from monitoring.as_code.files import write_file
from monitoring.as_code.importers.drafts import Draft
from monitoring.as_code.kinds import MONITORS, defaults_of
from monitoring.contract.document import published_document
from monitoring.contract.problems import Problem
from monitoring.contract.validation import rules_of


class Imported(NamedTuple):
    """A file, and a sentence for each thing that it lacks."""

    text: str
    losses: list[str]


def write_drafts(drafts: Iterable[Draft]) -> Imported:
    """Write drafts under keys from their names. What the API would refuse is left out and named."""
    rows: dict[str, dict[str, Any]] = {}
    losses: list[str] = []
    check = rules_of(published_document()).request_check(
        {"$ref": f"#/components/schemas/{MONITORS.schema}"}, ""
    )
    for draft in drafts:
        if draft.fields is None:
            losses += [f"{draft.name}: left out: {each}" for each in draft.lost]
            continue
        try:
            check(draft.fields)
        except Problem as problem:
            losses.append(f"{draft.name}: left out: {problem.values['field']}: {problem.values['problem']}")
            continue
        key = choose_key(draft.name, rows)
        rows[key] = _without_defaults(key, draft)
        losses += [f"{key}: not carried over: {each}" for each in draft.lost]
    return Imported(write_file({MONITORS.section: rows}), losses)


def _without_defaults(key: str, draft: Draft) -> dict[str, Any]:
    fields = draft.fields or {}
    defaults = {**defaults_of(MONITORS, fields), "name": key}
    row = {name: value for name, value in fields.items() if value != defaults.get(name)}
    return {**row, "note": f"Not carried over: {'; '.join(draft.lost)}"} if draft.lost else row
