"""Finds reasons why a monitor is degraded although its server responds. They apply to several monitor types.

Has no side effects.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple, TypeAlias

from monitoring.checks.probes.protocol import Objection
from monitoring.monitors.health import Outcome
from monitoring.outbound.stopwatch import Timings

# An outcome, an error code and a message.
Judgement: TypeAlias = "tuple[Outcome, str | None, str | None]"

UP: Judgement = (Outcome.UP, None, None)


class Thresholds(NamedTuple):
    """The monitor's fields of the same names. A value of 0 days or None disables the threshold."""

    tls_expiry_warning_days: int
    slow_threshold_ms: int | None

    def find_shortcoming(
        self, timings: Timings, expires_at: datetime | None, certificate: str | None, now: datetime
    ) -> Judgement | None:
        """Return why a successful call counts as degraded, or None.

        The reason is a certificate that expires soon, or a slow response. `expires_at` is the earliest expiry
        of a certificate, and `certificate` is that certificate's `Expiry.subject`.
        """
        warning = timedelta(days=self.tls_expiry_warning_days)
        if expires_at and warning and expires_at - now <= warning:
            message = _tell_expiry(certificate or "The certificate", expires_at, now)
            return Outcome.DEGRADED, Objection.TLS_EXPIRING, message
        total_ms, threshold_ms = timings.total_ms, self.slow_threshold_ms
        # The time is rounded before the comparison, because the message shows it rounded. Otherwise a message
        # could say "1,000 ms, slower than 1,000 ms".
        if total_ms is not None and threshold_ms is not None and round(total_ms) > threshold_ms:
            message = f"Answered in {round(total_ms):,} ms, slower than {threshold_ms:,} ms"
            return Outcome.DEGRADED, Objection.SLOW, message
        return None


def _tell_expiry(subject: str, expires_at: datetime, now: datetime) -> str:
    if expires_at <= now:
        return f"{subject} expired on {expires_at:%Y-%m-%d}"
    whole_days = (expires_at - now).days
    if whole_days == 0:
        return f"{subject} expires in less than a day"
    return f"{subject} expires in {whole_days} {'day' if whole_days == 1 else 'days'}"
