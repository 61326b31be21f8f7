"""Simulates the web of sandboxes in this process: the hosts of `scripted_hosts`. It uses no network.

It replaces only name servers and sockets, so probes run the same code as with real servers.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from http import HTTPStatus
from ipaddress import ip_address

import orjson

from monitoring.outbound.addresses import Address, read_networks
from monitoring.outbound.certificates import EXPIRED, Expiry, explain
from monitoring.outbound.connections import Connection, Destination, Reader
from monitoring.outbound.dialer import Dialer
from monitoring.outbound.failures import ExchangeFailed, FailureCode, blocked, broken_off
from monitoring.outbound.scripted_hosts import Door, Part, Proof, find_part
from monitoring.outbound.stopwatch import Phase, Stopwatch
from monitoring.outbound.targets import Endpoint

UNKNOWN_HOST = "In a sandbox, only the hosts of its script exist, such as up.test"

# Reserved for documentation (RFC 5737, RFC 3849).
_ADDRESSES = (ip_address("192.0.2.1"), ip_address("2001:db8::1"))
_NETWORKS = read_networks(("192.0.2.0/24", "2001:db8::/32"))
_PRIVATE = (ip_address("10.0.0.1"),)

_PING_MS = 20.0
_HUGE_BYTES = 2 * 1024 * 1024

# From OpenSSL's x509_vfy.h
_VERIFY_CODES = {Proof.EXPIRED: EXPIRED, Proof.UNTRUSTED: 19, Proof.OF_ANOTHER_HOST: 62}

_DOCUMENT_PATH = b"/openapi.json"
_SCHEMA = {"type": "object", "required": ["says"], "properties": {"says": {"enum": ["kept"]}}}
_PROMISE = {"description": "The word.", "content": {"application/json": {"schema": _SCHEMA}}}
_DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "A host of the sandbox", "version": "1"},
    "paths": {"/word": {"get": {"operationId": "say", "responses": {"200": _PROMISE}}}},
}

_RECORDS = {
    "A": "192.0.2.1",
    "AAAA": "2001:db8::1",
    "CAA": '0 issue "authority.test"',
    "CNAME": "up.test.",
    "MX": "10 mail.test.",
    "NS": "ns.test.",
    "PTR": "up.test.",
    "SOA": "ns.test. hostmaster.test. 1 7200 900 1209600 86400",
    "SRV": "10 5 443 up.test.",
}


def _now() -> datetime:
    return datetime.now(UTC)


@asynccontextmanager
async def open_scripted_dialer(now: Callable[[], datetime] = _now) -> AsyncIterator[Dialer]:
    """Open a dialer to the simulated hosts. `now` returns the time that determines their behaviour."""
    dialer = Dialer(_ScriptedNames(now), _ScriptedHosts(now), _NETWORKS)
    try:
        yield dialer
    finally:
        await dialer.close()


class _ScriptedNames:
    """Resolves the names of simulated hosts only."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now

    async def resolve(self, host: str) -> list[Address]:
        """Return a host's addresses."""
        return list(_PRIVATE if self._find(host).is_private else _ADDRESSES)

    async def find_records(self, host: str, record_type: str, server: Endpoint | None) -> list[bytes]:
        """Return a name's records, which do not depend on the name server."""
        from monitoring.outbound.name_questions import read_record  # noqa: PLC0415 - it takes 9 MiB

        del server
        part = self._find(host)
        await _keep_waiting(part)
        record = {**_RECORDS, "TXT": part.says}[record_type]
        if part.is_private and record_type == "A":
            record = str(_PRIVATE[0])
        return [read_record(record_type, record)]

    def _find(self, host: str) -> Part:
        part = find_part(host, self._now())
        if part is None:
            raise ExchangeFailed(FailureCode.DNS_FAILURE, UNKNOWN_HOST)
        if not part.is_known:
            raise ExchangeFailed(FailureCode.DNS_FAILURE, "The host's name does not exist")
        return part


class _ScriptedHosts:
    """Connects to simulated hosts."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now

    async def open(
        self,
        destination: Destination,
        new_reader: Callable[[], Reader],
        deadline: float,
        stopwatch: Stopwatch,
    ) -> Connection[Reader]:
        """Connect and perform any TLS handshake, as the host's `Part` prescribes.

        A slow host delays the connection. With HTTP, it delays its response instead.
        """
        del deadline
        part, is_http = self._find(destination.host), bool(destination.tls.protocols)
        stopwatch.enter(Phase.CONNECTING)
        if not is_http or part.door is Door.SILENT:
            await _keep_waiting(part)
        if part.door is Door.SHUT:
            raise ExchangeFailed(FailureCode.CONNECTION_REFUSED, "The connection was refused")
        stopwatch.leave()
        reader = new_reader()
        transport = _ScriptedTransport(reader, part, is_http=is_http)
        if destination.tls_host is None:
            return Connection(transport, reader)
        stopwatch.enter(Phase.SECURING)
        if part.door is Door.LEAVING:
            message = "The connection was closed during the TLS handshake"
            raise ExchangeFailed(FailureCode.TLS_INVALID, message)
        expiry = Expiry(part.certificate_expires_at(self._now()), is_of_authority=False)
        if destination.verify_tls:
            _verify(part, expiry)
        stopwatch.leave()
        named = "another.test" if part.proof is Proof.OF_ANOTHER_HOST else destination.tls_host
        return Connection(transport, reader, expiry, (_make_certificate(named, expiry.at),))

    async def ping(self, endpoint: Endpoint, addresses: Sequence[Address], deadline: float) -> float:
        """Return the round-trip time in milliseconds that the host's `Part` prescribes."""
        del addresses, deadline
        part = self._find(endpoint.host)
        if part.door is Door.SHUT:
            raise broken_off("The host cannot be reached")
        await _keep_waiting(part)
        return part.delay_ms or _PING_MS

    def _find(self, host: str) -> Part:
        part = find_part(host, self._now())
        if part is None:  # the host is an IP address
            raise blocked()
        return part


class _ScriptedTransport(asyncio.Transport):
    """A connection to a simulated host. The first write triggers the host's response."""

    def __init__(self, reader: asyncio.BaseProtocol, part: Part, *, is_http: bool) -> None:
        super().__init__()
        self._reader = reader
        self._part = part
        self._is_http = is_http
        self._answering: asyncio.TimerHandle | None = None
        reader.connection_made(self)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Schedule the host's response, once."""
        if self._answering is None:
            delay_seconds = self._part.delay_ms / 1000 if self._is_http else 0
            loop = asyncio.get_running_loop()
            self._answering = loop.call_later(delay_seconds, self._answer, bytes(data))

    def abort(self) -> None:
        """Cancel a pending response."""
        if self._answering:
            self._answering.cancel()

    def _answer(self, asked: bytes) -> None:
        assert isinstance(self._reader, asyncio.Protocol)  # noqa: S101 - all readers are of this kind
        if self._part.door is not Door.LEAVING:
            self._reader.data_received(_write(self._part, asked) if self._is_http else _line(self._part))
        self._reader.connection_lost(None)


async def _keep_waiting(part: Part) -> None:
    """Wait for the host's delay, or forever if the host is silent. The caller sets a timeout."""
    if part.door is Door.SILENT:
        await asyncio.Event().wait()
    await asyncio.sleep(part.delay_ms / 1000)


def _verify(part: Part, expiry: Expiry) -> None:
    if part.proof is Proof.NOTHING:
        return
    error = ssl.SSLCertVerificationError()
    error.verify_code = _VERIFY_CODES[part.proof]
    is_over = part.proof is Proof.EXPIRED
    message = explain(error, expiry if is_over else None)
    raise ExchangeFailed(FailureCode.TLS_INVALID, message, expiry.at if is_over else None)


def _line(part: Part) -> bytes:
    return f"{part.says}\r\n".encode()


def _write(part: Part, asked: bytes) -> bytes:
    """Return an HTTP response (RFC 9112 §4). Its body is the host's document, or JSON with `part.says`."""
    if part.is_garbled:
        return _line(part)
    is_document = part.has_document and asked.split(b" ", 2)[1] == _DOCUMENT_PATH
    said = _DOCUMENT if is_document else {"says": part.says}
    body = orjson.dumps(said) + b" " * (_HUGE_BYTES if part.is_huge else 0)
    head = [f"HTTP/1.1 {part.status} {_phrase(part.status)}", "Content-Type: application/json"]
    if part.location:
        head.append(f"Location: {part.location}")
    if part.status != HTTPStatus.NO_CONTENT:
        head.append(f"Content-Length: {len(body)}")
    written = "\r\n".join([*head, "", ""]).encode()
    is_bare = asked.startswith(b"HEAD ") or part.status in (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED)
    return written if is_bare else written + body


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:  # an unregistered status
        return ""


@lru_cache(maxsize=64)
def _make_certificate(host: str, expires_at: datetime) -> bytes:
    """Return a DER certificate that covers `host`. Of the certificate, only the names are read."""
    from cryptography import x509  # noqa: PLC0415 - few monitors check certificates
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415
    from cryptography.hazmat.primitives.serialization import Encoding  # noqa: PLC0415

    key, nobody = Ed25519PrivateKey.generate(), x509.Name([])
    builder = x509.CertificateBuilder(nobody, nobody, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(expires_at - timedelta(days=90)).not_valid_after(expires_at)
    names = x509.SubjectAlternativeName([x509.DNSName(host)])
    return builder.add_extension(names, critical=False).sign(key, None).public_bytes(Encoding.DER)
