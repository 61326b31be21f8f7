"""The probe that queries a name server for a name's records, and compares them with the expected records."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from monitoring.checks.probes.degradations import UP, Judgement, Thresholds
from monitoring.checks.probes.keywords import quote_keyword
from monitoring.checks.probes.protocol import Finding, Objection, read_host_of, read_settings
from monitoring.monitors.health import Outcome
from monitoring.outbound.failures import ExchangeFailed, blocked
from monitoring.outbound.stopwatch import Timings
from monitoring.outbound.targets import Endpoint

if TYPE_CHECKING:  # at run time, these imports would load a library
    from monitoring.outbound.dialer import Call, Dialer

# Every name server listens on this port. Users cannot choose another port, because they could then use this
# service to probe any other service.
PORT = 53


@dataclass(frozen=True)
class DnsProbe:
    """Sends one query. The monitor is up if the response has records and matches the expected records."""

    columns: ClassVar[tuple[str, ...]] = ("url", "settings", "timeout_seconds", "slow_threshold_ms")

    name: Endpoint | None
    resolver: Endpoint | None
    expectation: Expectation
    timeout_seconds: int
    thresholds: Thresholds

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Self:
        """Read the probe from a monitor's row."""
        settings = read_settings("dns", row)
        name, resolver = read_host_of(row["url"]), None
        if written := settings["resolver"]:
            resolver = _read_resolver(written)
            name = name if resolver else None
        return cls(
            name=name,
            resolver=resolver,
            expectation=Expectation(settings["record_type"], tuple(settings["expected"]), settings["match"]),
            timeout_seconds=row["timeout_seconds"],
            thresholds=Thresholds(0, row["slow_threshold_ms"]),
        )

    @property
    def endpoint(self) -> Endpoint | None:
        """The name server in the monitor's settings, or else the name that the probe queries.

        In the latter case, the query goes to the operator's name server, but the check counts against the
        per-host limit of the name being looked up.
        """
        return self.resolver or self.name

    async def ask(self, dialer: Dialer) -> Finding:
        """Send the query and evaluate the response. Raises OSError if this machine has no sockets left."""
        try:
            records, timings = await dialer.call(self._talk, self.timeout_seconds)
        except ExchangeFailed as failed:
            return Finding.of_failure(failed)
        judgement = (
            judge(records, self.expectation)
            or self.thresholds.find_shortcoming(timings, None, None, datetime.now(UTC))
            or UP
        )
        return Finding(*judgement, timings=timings)

    async def _talk(self, call: Call) -> tuple[list[bytes], Timings]:
        if self.name is None:
            raise blocked()
        records = await call.find_records(self.name.host, self.expectation.record_type, self.resolver)
        return records, call.stopwatch.timings()


class Expectation(NamedTuple):
    """The records that a monitor expects. The fields are the monitor's settings of the same names."""

    record_type: str
    expected: tuple[str, ...]
    match: str


def judge(records: Collection[bytes], expectation: Expectation) -> Judgement | None:
    """Return why a response's records do not meet the expectation, or None. Has no side effects.

    The message quotes nothing from the response.
    """
    from monitoring.outbound.name_questions import read_record  # noqa: PLC0415 - it takes 9 MiB

    record_type, expected, match = expectation
    if not expected:
        return None
    canonical = {written: read_record(record_type, written) for written in expected}
    missing = [written for written, record in canonical.items() if record not in records]
    if match == "any" and len(missing) < len(canonical):
        return None
    if match == "any" and len(missing) > 1:
        message = f"None of the expected {record_type} records is there"
    elif missing:
        message = f"There is no {record_type} record {quote_keyword(missing[0])}"
    elif match == "exactly" and set(records) - set(canonical.values()):
        message = f"There are {record_type} records that are not expected"
    else:
        return None
    return Outcome.DOWN, Objection.UNEXPECTED_RECORDS, message


def _read_resolver(written: str) -> Endpoint | None:
    try:
        address = ip_address(written)
    except ValueError:
        return None
    return Endpoint(str(address), PORT, address)
