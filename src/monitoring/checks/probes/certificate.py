"""The probe that checks a server's certificate, whatever protocol the server speaks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from monitoring.checks.probes.degradations import UP, Judgement, Thresholds
from monitoring.checks.probes.keywords import quote_keyword
from monitoring.checks.probes.protocol import Finding, read_endpoint_of, read_settings
from monitoring.monitors.health import Outcome
from monitoring.outbound.certificates import Expiry, covers, read_names
from monitoring.outbound.failures import ExchangeFailed, FailureCode, blocked
from monitoring.outbound.listening import Listener
from monitoring.outbound.starttls import STARTTLS
from monitoring.outbound.stopwatch import Timings
from monitoring.outbound.targets import Endpoint

if TYPE_CHECKING:  # at run time, these imports would load a library
    from monitoring.outbound.dialer import Call, Dialer


@dataclass(frozen=True)
class CertificateProbe:
    """Performs a TLS handshake and disconnects.

    The monitor is up if the server's certificate chain is trusted, and the certificate covers the host and
    `names`.
    """

    columns: ClassVar[tuple[str, ...]] = (
        *("url", "settings", "timeout_seconds", "verify_tls", "tls_expiry_warning_days", "slow_threshold_ms"),
    )

    endpoint: Endpoint | None
    starttls: str | None
    names: tuple[str, ...]
    timeout_seconds: int
    verify_tls: bool
    thresholds: Thresholds

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Self:
        """Read the probe from a monitor's row."""
        settings = read_settings("certificate", row)
        return cls(
            endpoint=read_endpoint_of(row["url"]),
            starttls=settings["starttls"],
            names=tuple(settings["names"]),
            timeout_seconds=row["timeout_seconds"],
            verify_tls=bool(row["verify_tls"]),
            thresholds=Thresholds(row["tls_expiry_warning_days"], row["slow_threshold_ms"]),
        )

    async def ask(self, dialer: Dialer) -> Finding:
        """Fetch and evaluate the certificate. Raises OSError when this machine has no sockets left."""
        try:
            shown = await dialer.call(self._talk, self.timeout_seconds)
        except ExchangeFailed as failed:
            return Finding.of_failure(failed)
        expires_at, subject = (shown.expiry.at, shown.expiry.subject) if shown.expiry else (None, None)
        judgement = (
            _find_missing_name(shown.names, self.names)
            or self.thresholds.find_shortcoming(shown.timings, expires_at, subject, datetime.now(UTC))
            or UP
        )
        return Finding(*judgement, timings=shown.timings, certificate_expires_at=expires_at)

    async def _talk(self, call: Call) -> _Shown:
        if self.endpoint is None:
            raise blocked()
        connection = await call.connect(
            self.endpoint,
            Listener,
            tls_host=self.endpoint.host.removesuffix("."),
            verify_tls=self.verify_tls,
            ask_for_tls=STARTTLS[self.starttls] if self.starttls else None,
        )
        connection.transport.write(b"")  # completes the handshake, so that the server does not log a failure
        connection.transport.abort()
        names = read_names(connection.chain[0]) if self.names else []
        return _Shown(names, connection.tls_expiry, call.stopwatch.timings())


class _Shown(NamedTuple):
    names: list[str]
    expiry: Expiry | None
    timings: Timings


def _find_missing_name(names: list[str], wanted: tuple[str, ...]) -> Judgement | None:
    for name in wanted:
        if not any(covers(each, name) for each in names):
            return Outcome.DOWN, FailureCode.TLS_INVALID, f"The certificate is not for {quote_keyword(name)}"
    return None
