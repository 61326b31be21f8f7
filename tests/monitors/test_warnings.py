from __future__ import annotations

from datetime import timedelta

import pytest

from monitoring.monitors.health import Outcome
from monitoring.monitors.warnings import (
    Warnings,
    is_certificate_to_tell,
    weigh_certificate,
    weigh_degradation,
)

UP, DEGRADED, DOWN, UNKNOWN = Outcome.UP, Outcome.DEGRADED, Outcome.DOWN, Outcome.UNKNOWN


def tell(*outcomes: Outcome) -> list[bool]:
    """Say after each check if degradation is told. It takes 2 checks to begin, and 3 to end."""
    warnings, told = Warnings(), []
    for outcome in outcomes:
        warnings = weigh_degradation(warnings, outcome, failure_threshold=2, recovery_threshold=3)
        told.append(warnings.is_degradation_told)
    return told


@pytest.mark.parametrize(
    ("outcomes", "told"),
    [
        ([DEGRADED, DEGRADED], [False, True]),
        ([DEGRADED, UP, DEGRADED, UP, DEGRADED], [False] * 5),
        ([DEGRADED, UNKNOWN, DEGRADED], [False, False, True]),
        ([DEGRADED, DOWN, DEGRADED], [False] * 3),
        ([DEGRADED, DEGRADED, UP, UP, UP], [False, True, True, True, False]),
        ([DEGRADED, DEGRADED, UP, UP, DEGRADED, UP, UP], [False] + [True] * 6),
        ([DEGRADED, DEGRADED, DOWN, UP, UP, UP], [False, True, True, True, True, False]),
    ],
)
def test_degradation_is_told_when_as_many_checks_agree_as_the_threshold_says(
    outcomes: list[Outcome], told: list[bool]
) -> None:
    assert tell(*outcomes) == told


@pytest.mark.parametrize(
    ("days_left", "told"),
    [
        ([31, 30, 29, 14, 13, 7, 6, 1, 0.5, -1], [30, 14, 7, 1]),
        ([20, 10, 89, 30], [30, 14, 30]),
        ([5, None, 5, 4], [7]),
        ([0.5], [1]),
        ([6, 12, 6], [7, 7]),
    ],
)
def test_a_certificate_is_told_once_at_each_number_of_days(
    days_left: list[float | None], told: list[int]
) -> None:
    """A certificate with more time than before was renewed."""
    warnings, found = Warnings(), []
    for days in days_left:
        after = weigh_certificate(warnings, None if days is None else timedelta(days=days))
        if is_certificate_to_tell(warnings, after):
            found.append(after.certificate_told_days)
        warnings = after
    assert found == told
