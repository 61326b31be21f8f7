"""The probe that opens a TCP connection, sends the monitor's text, and waits for the expected text."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from monitoring.checks.probes.degradations import UP, Judgement, Thresholds
from monitoring.checks.probes.keywords import quote_keyword
from monitoring.checks.probes.protocol import Finding, Objection, read_endpoint_of, read_settings
from monitoring.monitors.health import Outcome
from monitoring.outbound.certificates import Expiry
from monitoring.outbound.failures import ExchangeFailed, blocked, broken_off
from monitoring.outbound.stopwatch import Phase, Timings
from monitoring.outbound.targets import Endpoint

if TYPE_CHECKING:  # at run time, these imports would load a library
    from monitoring.outbound.dialer import Call, Dialer

MAX_HEARD_BYTES = 65_536


@dataclass(frozen=True)
class TcpProbe:
    """Opens a connection.

    The monitor is up if the connection succeeds and, if `expect` is not None, the text `expect` is received.
    """

    columns: ClassVar[tuple[str, ...]] = (
        *("url", "settings", "timeout_seconds", "verify_tls", "tls_expiry_warning_days", "slow_threshold_ms"),
    )

    endpoint: Endpoint | None
    tls: bool
    send: str | None
    expect: str | None
    timeout_seconds: int
    verify_tls: bool
    thresholds: Thresholds

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Self:
        """Read the probe from a monitor's row."""
        settings = read_settings("tcp", row)
        return cls(
            endpoint=read_endpoint_of(row["url"]),
            tls=settings["tls"],
            send=settings["send"],
            expect=settings["expect"],
            timeout_seconds=row["timeout_seconds"],
            verify_tls=bool(row["verify_tls"]),
            thresholds=Thresholds(row["tls_expiry_warning_days"], row["slow_threshold_ms"]),
        )

    async def ask(self, dialer: Dialer) -> Finding:
        """Connect and evaluate what is received. Raises OSError when this machine has no sockets left."""
        try:
            talk = await dialer.call(self._talk, self.timeout_seconds)
        except ExchangeFailed as failed:
            return Finding.of_failure(failed)
        expires_at, subject = (talk.expiry.at, talk.expiry.subject) if talk.expiry else (None, None)
        if self.expect and not talk.is_expected_heard:
            message = f"The server did not send {quote_keyword(self.expect)}"
            judgement: Judgement = (Outcome.DOWN, Objection.KEYWORD_MISSING, message)
        else:
            now = datetime.now(UTC)
            judgement = self.thresholds.find_shortcoming(talk.timings, expires_at, subject, now) or UP
        return Finding(*judgement, timings=talk.timings, certificate_expires_at=expires_at)

    async def _talk(self, call: Call) -> _Talk:
        if self.endpoint is None:
            raise blocked()
        expected = self.expect.encode() if self.expect else b""
        connection = await call.connect(
            self.endpoint,
            lambda: _Listener(expected, call.stopwatch.begin_reading),
            tls_host=self.endpoint.host.removesuffix(".") if self.tls else None,
            verify_tls=self.verify_tls,
        )
        try:
            # With TLS, the first write completes the handshake, even if it is empty.
            connection.transport.write((self.send or "").encode())
            if expected:
                call.stopwatch.enter(Phase.WAITING)
            is_heard = await connection.reader.is_heard
            return _Talk(is_heard, connection.tls_expiry, call.stopwatch.timings())
        finally:
            connection.transport.abort()


class _Talk(NamedTuple):
    is_expected_heard: bool
    expiry: Expiry | None
    timings: Timings


class _Listener(asyncio.Protocol):
    """Reads until the expected bytes arrive, the limit is exceeded, or the connection is closed."""

    def __init__(self, expected: bytes, on_first_byte: Callable[[], None]) -> None:
        self._expected = expected
        self._on_first_byte = on_first_byte
        self._heard_bytes = 0
        self._end = b""  # the end of what was received, because the expected bytes may have started there
        self.is_heard: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        if not expected:
            self.is_heard.set_result(True)

    def data_received(self, data: bytes) -> None:
        if self.is_heard.done():
            return
        if not self._heard_bytes:
            self._on_first_byte()
        self._heard_bytes += len(data)
        heard = self._end + data
        if self._expected in heard:
            self.is_heard.set_result(True)
        elif self._heard_bytes > MAX_HEARD_BYTES:
            self.is_heard.set_result(False)
        self._end = heard[-len(self._expected) :]

    def connection_lost(self, _: Exception | None) -> None:
        if self.is_heard.done():
            return
        if self._heard_bytes:
            self.is_heard.set_result(False)
        else:
            self.is_heard.set_exception(broken_off("The connection was closed before an answer"))
