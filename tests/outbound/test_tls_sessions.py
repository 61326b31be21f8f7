"""Resumed TLS sessions: they spare verifying the same certificates again, and hide nothing for long."""

from __future__ import annotations

import ssl
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
import trustme

from monitoring.outbound import tls_sessions
from monitoring.outbound.failures import FailureCode
from monitoring.outbound.tls_sessions import MAX_AGE, Resumption, TlsSessions
from outbound.asking import ask, code_of, open_http_client
from outbound.scripted_servers import answer, scripted_server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from monitoring.outbound.client import HttpClient
    from outbound.name_server import NameServer
    from outbound.scripted_servers import ScriptedServer

pytestmark = pytest.mark.anyio

HOST = "shop.example"
ALICES = Resumption("Alice's monitor")
SECOND = timedelta(seconds=1)
AGES_AGO = datetime(2020, 1, 1, tzinfo=UTC)
ANSWER_WITHOUT_END = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok"


class Clock:
    """Tells the sessions' age, but not OpenSSL, which has its own clock."""

    def __init__(self) -> None:
        self.now = datetime.now(UTC)

    def __call__(self) -> datetime:
        return self.now


class TlsServer:
    """A server that resumes whatever it can, also after its certificate was exchanged."""

    def __init__(self, server: ScriptedServer, context: ssl.SSLContext) -> None:
        self.server = server
        self.context = context
        self.url = f"https://{HOST}:{server.port}/"

    @property
    def resumed_count(self) -> int:
        return self.context.session_stats()["hits"]


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def client(
    authority: trustme.CA, names: NameServer, clock: Clock, tmp_path: Path
) -> AsyncIterator[HttpClient]:
    ca_file = tmp_path / "authorities.pem"
    authority.cert_pem.write_to_path(ca_file)
    names.know(HOST, ["127.0.0.2"])
    async with open_http_client(
        allowed_networks=("127.0.0.2/31",),
        dns_servers=(names.address,),
        ca_file=str(ca_file),
        tls_sessions=TlsSessions(clock),
    ) as opened:
        yield opened


@asynccontextmanager
async def serving(certificate: trustme.LeafCert, host: str = "127.0.0.2") -> AsyncIterator[TlsServer]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    async with scripted_server(host, tls=context) as server:
        yield TlsServer(server, context)


@pytest.fixture
async def server(authority: trustme.CA) -> AsyncIterator[TlsServer]:
    async with serving(authority.issue_cert(HOST, "127.0.0.2")) as running:
        yield running


async def is_resumed(client: HttpClient, server: TlsServer, given: Resumption | None = ALICES) -> bool:
    before = server.resumed_count
    exchange = await ask(client, server.url, tls_resumption=given)
    assert (exchange.status_code, exchange.body) == (200, b"ok")
    return server.resumed_count > before


class TestSession:
    async def test_is_resumed_until_its_certificates_were_verified_too_long_ago(
        self, client: HttpClient, server: TlsServer, clock: Clock
    ) -> None:
        first = await ask(client, server.url, tls_resumption=ALICES)
        clock.now += MAX_AGE - SECOND
        second = await ask(client, server.url, tls_resumption=ALICES)
        assert server.resumed_count == 1
        assert first.tls_expires_at == second.tls_expires_at is not None
        assert second.timings.tls_ms is not None
        clock.now += SECOND
        assert not await is_resumed(client, server), "its age must count from the full handshake"
        assert await is_resumed(client, server)
        clock.now -= MAX_AGE
        assert not await is_resumed(client, server), "a clock that was set back must not prolong it"

    async def test_is_resumed_by_its_owner_alone(self, client: HttpClient, server: TlsServer) -> None:
        assert not await is_resumed(client, server)
        assert not await is_resumed(client, server, Resumption("Bob's monitor"))
        assert not await is_resumed(client, server, None)
        assert await is_resumed(client, server)

    async def test_is_resumed_only_for_the_same_name_address_and_verification(
        self, client: HttpClient, server: TlsServer, names: NameServer
    ) -> None:
        await ask(client, server.url, tls_resumption=ALICES)
        await ask(client, f"https://127.0.0.2:{server.server.port}/", tls_resumption=ALICES)
        for _ in range(2):
            await ask(client, server.url, tls_resumption=ALICES, verify_tls=False)
        other = "store.example"
        names.know(other, ["127.0.0.2"])
        exchange = await ask(client, f"https://{other}:{server.server.port}/", tls_resumption=ALICES)
        assert exchange.failure
        assert exchange.failure.message == "The certificate is for another host"
        async with scripted_server("127.0.0.3", server.server.port, server.context) as elsewhere:
            names.know(HOST, ["127.0.0.3"])
            await ask(client, server.url, tls_resumption=ALICES)
        assert (elsewhere.connections, server.resumed_count) == (1, 0)

    async def test_is_not_resumed_before_tls_1_3(self, client: HttpClient, server: TlsServer) -> None:
        server.context.maximum_version = ssl.TLSVersion.TLSv1_2
        assert not await is_resumed(client, server)
        assert not await is_resumed(client, server)

    async def test_is_forgotten_after_a_failure(self, client: HttpClient, server: TlsServer) -> None:
        await ask(client, server.url, tls_resumption=ALICES)
        server.server.scripts["/"] = ANSWER_WITHOUT_END
        assert code_of(await ask(client, server.url, tls_resumption=ALICES)) == FailureCode.CONNECTION_FAILED
        server.server.scripts["/"] = answer(body=b"ok")
        assert not await is_resumed(client, server)

    async def test_that_a_server_cannot_bear_is_no_failure(
        self, client: HttpClient, server: TlsServer
    ) -> None:
        shown: list[str] = []

        def refuse_the_second(_: object, name: str, __: object) -> int | None:
            shown.append(name)
            return ssl.ALERT_DESCRIPTION_INTERNAL_ERROR if len(shown) == 2 else None

        server.context.sni_callback = refuse_the_second
        for _ in range(2):
            assert (await ask(client, server.url, tls_resumption=ALICES)).status_code == 200
        assert len(shown) == 3

    async def test_of_more_owners_than_there_is_room_for_is_not_kept(
        self, client: HttpClient, server: TlsServer, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(tls_sessions, "MAX_SESSIONS", 1)
        bobs = Resumption("Bob's monitor")
        for owner in (ALICES, bobs):
            assert not await is_resumed(client, server, owner)
        assert await is_resumed(client, server)
        assert not await is_resumed(client, server, bobs)
        clock.now += MAX_AGE
        assert not await is_resumed(client, server, bobs)
        assert await is_resumed(client, server, bobs)


class TestCertificate:
    @pytest.mark.parametrize("expiring", ["the server's own", "its authority's"])
    async def test_is_judged_by_the_clock_at_each_handshake(
        self,
        client: HttpClient,
        authority: trustme.CA,
        clock: Clock,
        monkeypatch: pytest.MonkeyPatch,
        expiring: str,
    ) -> None:
        expires_at = clock.now.replace(microsecond=0) + timedelta(days=30)
        if expiring == "the server's own":
            certificate = authority.issue_cert(HOST, not_after=expires_at)
        else:
            monkeypatch.setattr(trustme, "DEFAULT_EXPIRY", expires_at)
            certificate = authority.create_child_ca().issue_cert(HOST, not_after=expires_at + MAX_AGE)
        clock.now = expires_at - MAX_AGE / 2
        async with serving(certificate) as server:
            assert not await is_resumed(client, server)
            clock.now = expires_at - SECOND
            assert await is_resumed(client, server)
            clock.now = expires_at
            assert not await is_resumed(client, server)

    async def test_that_expires_soon_is_seen_at_each_handshake(
        self, client: HttpClient, authority: trustme.CA, clock: Clock
    ) -> None:
        warned_of = Resumption("Alice's monitor", timedelta(days=14))
        old, new = (clock.now.replace(microsecond=0) + timedelta(days=days) for days in (14, 90))
        async with serving(authority.issue_cert(HOST, not_after=old)) as server:
            for _ in range(2):
                assert not await is_resumed(client, server, warned_of)
            authority.issue_cert(HOST, not_after=new).configure_cert(server.context)
            assert (await ask(client, server.url, tls_resumption=warned_of)).tls_expires_at == new
            assert await is_resumed(client, server, warned_of)

    @pytest.mark.parametrize(
        ("issue", "message"),
        [
            (
                lambda authority: authority.issue_cert(
                    HOST, not_before=AGES_AGO, not_after=AGES_AGO + SECOND
                ),
                "The certificate expired on 2020-01-01",
            ),
            (lambda authority: authority.issue_cert("other.example"), "The certificate is for another host"),
            (lambda _: trustme.CA().issue_cert(HOST), "The certificate's authority is not known"),
        ],
        ids=["expired", "of another host", "of another authority"],
    )
    async def test_that_is_exchanged_is_noticed_in_time_though_the_server_goes_on_resuming(
        self,
        client: HttpClient,
        authority: trustme.CA,
        clock: Clock,
        issue: Callable[[trustme.CA], trustme.LeafCert],
        message: str,
    ) -> None:
        async with serving(authority.issue_cert(HOST)) as server:
            await ask(client, server.url, tls_resumption=ALICES)
            issue(authority).configure_cert(server.context)
            clock.now += MAX_AGE - SECOND
            assert await is_resumed(client, server), "or this test shows nothing"
            clock.now += SECOND
            for _ in range(2):
                failed = await ask(client, server.url, tls_resumption=ALICES)
                assert code_of(failed) == FailureCode.TLS_INVALID
                assert failed.failure
                assert failed.failure.message.startswith(message)
