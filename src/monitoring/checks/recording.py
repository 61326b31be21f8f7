"""Writes what a check found as a result, within the bounds of the document. Pure."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from monitoring.checks.probes.protocol import Finding
from monitoring.history.results import CheckResult

MAX_MESSAGE_CHARACTERS = 255
MAX_MS = 86_400_000


def record(monitor_id: UUID, checked_at: datetime, finding: Finding) -> CheckResult:
    """Return the result of a check."""
    timings = finding.timings
    return CheckResult(
        monitor_id=monitor_id,
        checked_at=checked_at,
        outcome=str(finding.outcome),
        status_code=finding.status_code,
        response_time_ms=_in_whole_ms(timings.total_ms),
        dns_ms=_in_whole_ms(timings.dns_ms),
        connect_ms=_in_whole_ms(timings.connect_ms),
        tls_ms=_in_whole_ms(timings.tls_ms),
        first_byte_ms=_in_whole_ms(timings.first_byte_ms),
        error=None if finding.error is None else str(finding.error),
        error_message=_shorten(finding.message),
    )


def _in_whole_ms(ms: float | None) -> int | None:
    return None if ms is None else min(max(round(ms), 0), MAX_MS)


def _shorten(message: str | None) -> str | None:
    """Fit a sentence into its column. PostgreSQL refuses NUL, which another library's message may contain."""
    return None if message is None else message.replace("\0", "")[:MAX_MESSAGE_CHARACTERS]
