"""Checks a monitor's assertions against rules that their schema cannot express. Has no side effects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from monitoring.contract.document import Json
from monitoring.contract.problems import Problem
from monitoring.monitors.json_paths import CostlyPathError, UnreadablePathError, read_path
from monitoring.monitors.patterns import UnreadablePatternError, read_pattern

# Comparisons whose value is a regular expression.
BY_PATTERN = frozenset({"matches", "not_matches"})

# Sources that need a response body, which the response to a HEAD request does not have.
OF_BODY = frozenset({"json", "body"})


def check_assertions(assertions: Sequence[Mapping[str, Json]]) -> None:
    """Validate all paths and patterns in assertions. Raises Problem for the first invalid assertion."""
    for number, assertion in enumerate(assertions):
        if assertion["source"] == "json":
            _check_path(number, assertion["path"])
        if assertion["comparison"] in BY_PATTERN:
            _check_pattern(number, assertion["value"])


def _check_path(number: int, path: str) -> None:
    try:
        read_path(path)
    except UnreadablePathError as error:
        raise Problem("assertion_path_unreadable", number=number, position=error.position) from None
    except CostlyPathError:
        raise Problem("assertion_path_costly", number=number) from None


def _check_pattern(number: int, pattern: str) -> None:
    try:
        read_pattern(pattern)
    except UnreadablePatternError as error:
        raise Problem("assertion_pattern_unreadable", number=number, reason=error.reason) from None
