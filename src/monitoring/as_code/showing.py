"""Writes a plan for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import orjson

from monitoring.as_code.plans import Plan

_MAX_VALUE_CHARACTERS = 60


def show_plan(plan: Plan) -> Iterator[str]:
    """Return the lines of a plan: `+` is created, `~` changed and `-` deleted."""
    for step in plan.changes:
        yield f"{step.sign} {step.kind.words} {step.key}"
        for difference in step.differences:
            yield f"    {difference.field}: {_write(difference.old)} → {_write(difference.new)}"
    counts = Counter(step.sign for step in plan.steps)
    yield (
        f"Plan: {counts['+']} to create, {counts['~']} to change, {counts['-']} to delete,"
        f" {plan.unchanged} unchanged."
    )
    if counts["="]:
        yield f"The service compares the secrets of {counts['=']} more when the file is applied."
    if plan.left_over:
        yield f"Not in the file, and kept without --prune: {', '.join(plan.left_over)}"


def _write(value: Any) -> str:  # noqa: ANN401 - JSON
    text = orjson.dumps(value).decode()
    return text if len(text) <= _MAX_VALUE_CHARACTERS else f"{text[: _MAX_VALUE_CHARACTERS - 1]}…"
