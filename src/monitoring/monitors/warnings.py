"""Decides which warnings about a monitor to announce: that it is degraded, or its certificate expires soon.

Has no side effects.
"""

from __future__ import annotations

from datetime import timedelta
from typing import NamedTuple

from monitoring.monitors.health import Outcome

# A certificate's expiry is announced once at each of these numbers of days before the expiry.
CERTIFICATE_DAYS = (1, 7, 14, 30)


class Warnings(NamedTuple):
    """The announced warnings about a monitor.

    `certificate_told_days` is the smallest of CERTIFICATE_DAYS that the current certificate has reached, or
    None. `is_degradation_told` means that the monitor was announced as degraded. `degradation_streak` counts
    consecutive checks whose outcome contradicts `is_degradation_told`.
    """

    certificate_told_days: int | None = None
    is_degradation_told: bool = False
    degradation_streak: int = 0


def weigh_degradation(
    warnings: Warnings, outcome: Outcome, *, failure_threshold: int, recovery_threshold: int
) -> Warnings:
    """Return the warnings, updated with the outcome of a check.

    Degradation begins after `failure_threshold` consecutive degraded checks, and ends after
    `recovery_threshold` consecutive checks that are up. A failed check resets the count of these checks,
    because failures are reported as incidents. A check with an unknown outcome changes nothing.
    """
    if outcome == Outcome.UNKNOWN:
        return warnings
    if outcome == Outcome.DOWN:
        return warnings._replace(degradation_streak=0)
    if (outcome == Outcome.DEGRADED) == warnings.is_degradation_told:
        return warnings._replace(degradation_streak=0)
    streak = warnings.degradation_streak + 1
    if streak < (recovery_threshold if warnings.is_degradation_told else failure_threshold):
        return warnings._replace(degradation_streak=streak)
    return warnings._replace(is_degradation_told=not warnings.is_degradation_told, degradation_streak=0)


def weigh_certificate(warnings: Warnings, time_left: timedelta | None) -> Warnings:
    """Return the warnings with the smallest of CERTIFICATE_DAYS that a certificate has reached.

    This number is None if the certificate is valid for longer than all of CERTIFICATE_DAYS. If `time_left` is
    None, for example because the server did not respond, nothing changes.
    """
    if time_left is None:
        return warnings
    days_left = time_left / timedelta(days=1)
    reached = next((days for days in CERTIFICATE_DAYS if days_left <= days), None)
    return warnings._replace(certificate_told_days=reached)


def is_certificate_to_tell(before: Warnings, after: Warnings) -> bool:
    """Return whether to announce a certificate's expiry.

    The certificate must have reached at least one of CERTIFICATE_DAYS. The smallest number reached must be
    smaller than the number announced last, unless no number has been announced. A renewed certificate has
    more days left, so its expiry is not announced.
    """
    told, reached = before.certificate_told_days, after.certificate_told_days
    return reached is not None and (told is None or reached < told)
