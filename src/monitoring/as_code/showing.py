"""Renders a plan for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from monitoring.as_code.files import change_texts
from monitoring.as_code.plans import Plan

_MAX_VALUE_CHARACTERS = 60


def show_plan(plan: Plan) -> Iterator[str]:
    """Yield the lines of a plan. `+` marks a resource to create, `~` one to change, and `-` one to delete.

    The names of variables are shown instead of their values, because many people can read CI logs.
    """
    for step in plan.changes:
        yield f"{step.sign} {step.kind.words} {step.key}"
        variables = step.wanted.variables if step.wanted else {}
        for difference in step.differences:
            old, new = (_write(each, variables) for each in (difference.old, difference.new))
            yield f"    {difference.field}: {old} → {new}"
    counts = Counter(step.sign for step in plan.steps)
    yield (
        f"Plan: {counts['+']} to create, {counts['~']} to change, {counts['-']} to delete,"
        f" {plan.unchanged} unchanged."
    )
    if counts["="]:
        yield (
            "May also change, because the service compares secrets only when the file is applied:"
            f" {counts['=']}."
        )
    if plan.left_over:
        yield f"Not in the file, and kept without --prune: {', '.join(plan.left_over)}"


def _write(value: Any, variables: Mapping[str, str]) -> str:  # noqa: ANN401 - JSON
    text = orjson.dumps(change_texts(value, lambda each: _name_variables(each, variables))).decode()
    return text if len(text) <= _MAX_VALUE_CHARACTERS else f"{text[: _MAX_VALUE_CHARACTERS - 1]}…"


def _name_variables(text: str, variables: Mapping[str, str]) -> str:
    """Replace values of variables in a text with references to these variables, longest value first."""
    for name, value in sorted(variables.items(), key=lambda each: -len(each[1])):
        text = text.replace(value, f"${{{name}}}") if value else text
    return text
