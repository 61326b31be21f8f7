"""What `TcpProbe` finds out about real servers."""

from __future__ import annotations

import asyncio
import ssl
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
import trustme

from checks.probes.probed import ask
from monitoring.monitors.health import Outcome
from monitoring.outbound.dialer import open_dialer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from monitoring.checks.probes.protocol import Finding
    from monitoring.outbound.dialer import Dialer

    Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def talking_server(talk: Talk, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """Talk like this on every connection; yields the port on 127.0.0.1. What it raises fails the test."""
    failures: list[BaseException] = []

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await talk(reader, writer)
        except ConnectionError:
            pass
        except Exception as failure:  # noqa: BLE001 - told below
            failures.append(failure)
        finally:
            writer.transport.abort()

    server = await asyncio.start_server(take, "127.0.0.1", 0, ssl=tls)
    async with server:
        yield server.sockets[0].getsockname()[1]
    assert not failures


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
async def dialer(authority: trustme.CA, tmp_path: Path) -> AsyncIterator[Dialer]:
    file = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(file)
    async with open_dialer(allowed_networks=("127.0.0.0/8",), ca_file=str(file)) as opened:
        yield opened


def serving(authority: trustme.CA, host: str = "127.0.0.1", **given: Any) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(host, **given).configure_cert(context)
    return context


async def ask_port(dialer: Dialer, port: int, settings: dict[str, Any], **given: Any) -> Finding:
    return await ask(dialer, type="tcp", url=f"tcp://127.0.0.1:{port}", tcp=settings, **given)


async def wait_for_the_end(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
    await reader.read()


async def answer_ping(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer as Redis does."""
    assert await reader.readexactly(6) == b"PING\r\n"
    writer.write(b"+PONG\r\n")
    await writer.drain()
    await reader.read()


def saying(*pieces: bytes, stays: bool = True) -> Talk:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
        if stays:
            await reader.read()
        else:
            writer.close()
            await writer.wait_closed()

    return talk


class TestConnection:
    async def test_that_can_be_opened_is_up(self, dialer: Dialer) -> None:
        async with talking_server(wait_for_the_end) as port:
            finding = await ask_port(dialer, port, {})
        assert (finding.outcome, finding.error, finding.status_code) == (Outcome.UP, None, None)
        assert finding.timings.connect_ms is not None
        assert finding.timings.first_byte_ms is None

    async def test_that_is_refused_is_down(self, dialer: Dialer) -> None:
        finding = await ask_port(dialer, 1, {})
        assert (finding.outcome, finding.error) == (Outcome.DOWN, "connection_refused")

    async def test_that_takes_longer_than_the_threshold_is_degraded(self, dialer: Dialer) -> None:
        async def answer_late(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await asyncio.sleep(0.01)
            await answer_ping(reader, writer)

        async with talking_server(answer_late) as port:
            finding = await ask_port(
                dialer, port, {"send": "PING\r\n", "expect": "+PONG"}, slow_threshold_ms=1
            )
        assert (finding.outcome, finding.error) == (Outcome.DEGRADED, "slow")


class TestExpectedText:
    async def test_that_comes_is_up(self, dialer: Dialer) -> None:
        async with talking_server(answer_ping) as port:
            finding = await ask_port(dialer, port, {"send": "PING\r\n", "expect": "+PONG"})
        assert finding.outcome == Outcome.UP
        assert finding.timings.first_byte_ms is not None

    @pytest.mark.parametrize("expected", ["220 ready", "220 mail", "é 🙂"])
    async def test_is_found_across_pieces(self, dialer: Dialer, expected: str) -> None:
        said = expected.encode()
        pieces = [b"x" * 1000, *(said[index : index + 1] for index in range(len(said))), b"y"]
        async with talking_server(saying(*pieces)) as port:
            finding = await ask_port(dialer, port, {"expect": expected})
        assert finding.outcome == Outcome.UP

    @pytest.mark.parametrize(
        "talk",
        [saying(b"421 busy\r\n", stays=False), saying(b"x" * 100_000)],
        ids=["closed", "too much"],
    )
    async def test_that_does_not_come_is_down_and_quoted(self, dialer: Dialer, talk: Talk) -> None:
        async with talking_server(talk) as port:
            finding = await ask_port(dialer, port, {"expect": "220 ready"})
        assert (finding.outcome, finding.error) == (Outcome.DOWN, "keyword_missing")
        assert finding.message == 'The server did not send "220 ready"'

    async def test_behind_64_kib_is_not_looked_for(self, dialer: Dialer) -> None:
        async with talking_server(saying(b"x" * 65_536, b"x" * 65_536, b"220")) as port:
            finding = await ask_port(dialer, port, {"expect": "220"})
        assert finding.error == "keyword_missing"

    async def test_is_waited_for_no_longer_than_the_timeout(self, dialer: Dialer) -> None:
        async with talking_server(wait_for_the_end) as port:
            finding = await ask_port(dialer, port, {"expect": "220"}, timeout_seconds=1)
        assert finding.error == "timeout"
        assert finding.message == "No answer within 1 second (while waiting for the answer)"

    async def test_of_a_server_that_closes_at_once_is_a_failed_connection(self, dialer: Dialer) -> None:
        async with talking_server(saying(stays=False)) as port:
            finding = await ask_port(dialer, port, {"expect": "220"})
        assert (finding.error, finding.message) == (
            "connection_failed",
            "The connection was closed before an answer",
        )


class TestTls:
    async def test_secures_what_is_sent_and_heard(self, dialer: Dialer, authority: trustme.CA) -> None:
        async with talking_server(answer_ping, serving(authority)) as port:
            finding = await ask_port(dialer, port, {"tls": True, "send": "PING\r\n", "expect": "+PONG"})
        assert (finding.outcome, finding.error) == (Outcome.UP, None)
        assert finding.certificate_expires_at
        assert finding.timings.tls_ms is not None

    @pytest.mark.parametrize("settings", [{}, {"expect": "220"}], ids=["says nothing", "listens"])
    async def test_ends_the_handshake_though_nothing_is_sent(
        self, dialer: Dialer, authority: trustme.CA, settings: dict[str, Any]
    ) -> None:
        is_shaken = asyncio.Event()

        async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            is_shaken.set()  # asyncio's server calls this once the handshake is done
            writer.write(b"220 ready\r\n")
            await reader.read()

        async with talking_server(greet, serving(authority)) as port:
            finding = await ask_port(dialer, port, {"tls": True, **settings})
            async with asyncio.timeout(30):
                await is_shaken.wait()
        assert finding.outcome == Outcome.UP

    @pytest.mark.parametrize(
        ("verify_tls", "expected"), [(True, (Outcome.DOWN, "tls_invalid")), (False, (Outcome.UP, None))]
    )
    async def test_minds_another_hosts_certificate_unless_told_not_to(
        self,
        dialer: Dialer,
        authority: trustme.CA,
        verify_tls: bool,  # noqa: FBT001
        expected: tuple[Outcome, str | None],
    ) -> None:
        async with talking_server(wait_for_the_end, serving(authority, "other.example")) as port:
            finding = await ask_port(dialer, port, {"tls": True}, verify_tls=verify_tls)
        assert (finding.outcome, finding.error) == expected

    async def test_is_degraded_if_the_certificate_expires_soon(
        self, dialer: Dialer, authority: trustme.CA
    ) -> None:
        soon = serving(authority, not_after=datetime.now(UTC) + timedelta(days=3, hours=1))
        async with talking_server(wait_for_the_end, soon) as port:
            finding = await ask_port(dialer, port, {"tls": True})
            silent = await ask_port(dialer, port, {"tls": True}, tls_expiry_warning_days=0)
        assert (finding.outcome, finding.message) == (Outcome.DEGRADED, "The certificate expires in 3 days")
        assert silent.outcome == Outcome.UP

    async def test_offers_no_protocol_that_it_does_not_speak(
        self, dialer: Dialer, authority: trustme.CA
    ) -> None:
        """A server of another protocol may refuse a client that offers HTTP (RFC 7301 §3.2)."""
        strict = serving(authority)
        strict.set_alpn_protocols(["postgresql"])
        chosen: list[str | None] = []

        async def note(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            chosen.append(writer.get_extra_info("ssl_object").selected_alpn_protocol())
            writer.write(b"R")
            await reader.read()

        async with talking_server(note, strict) as port:
            finding = await ask_port(dialer, port, {"tls": True, "expect": "R"})
        assert finding.outcome == Outcome.UP
        assert chosen == [None]

    async def test_is_missed_on_a_port_without_it(self, dialer: Dialer) -> None:
        async with talking_server(saying(b"220 ready\r\n")) as port:
            finding = await ask_port(dialer, port, {"tls": True})
        assert (finding.outcome, finding.error) == (Outcome.DOWN, "tls_invalid")
