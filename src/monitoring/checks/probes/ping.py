"""The probe that sends ICMP echo requests to a host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar, Self

from monitoring.checks.probes.degradations import UP, Thresholds
from monitoring.checks.probes.protocol import Finding, read_host_of, read_settings
from monitoring.monitors.health import Outcome
from monitoring.outbound.failures import ExchangeFailed, blocked
from monitoring.outbound.stopwatch import Timings
from monitoring.outbound.targets import Endpoint

if TYPE_CHECKING:  # at run time, these imports would load a library
    from monitoring.outbound.dialer import Call, Dialer


@dataclass(frozen=True)
class PingProbe:
    """Sends an echo request every second until a reply arrives. The round-trip time is the response time."""

    columns: ClassVar[tuple[str, ...]] = ("url", "settings", "timeout_seconds", "slow_threshold_ms")

    endpoint: Endpoint | None
    ip_version: int | None
    timeout_seconds: int
    thresholds: Thresholds

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Self:
        """Read the probe from a monitor's row."""
        return cls(
            endpoint=read_host_of(row["url"]),
            ip_version=read_settings("ping", row)["ip_version"],
            timeout_seconds=row["timeout_seconds"],
            thresholds=Thresholds(0, row["slow_threshold_ms"]),
        )

    async def ask(self, dialer: Dialer) -> Finding:
        """Ping and evaluate the response time. Raises OSError when this machine has no sockets left."""
        try:
            timings = await dialer.call(self._talk, self.timeout_seconds)
        except ExchangeFailed as failed:
            return Finding.of_failure(failed)
        except PermissionError:
            return Finding(Outcome.UNKNOWN, message="The service is not allowed to send pings")
        judgement = self.thresholds.find_shortcoming(timings, None, None, datetime.now(UTC)) or UP
        return Finding(*judgement, timings=timings)

    async def _talk(self, call: Call) -> Timings:
        if self.endpoint is None:
            raise blocked()
        round_trip_ms = await call.ping(self.endpoint, self.ip_version)
        return call.stopwatch.timings()._replace(total_ms=round_trip_ms)
