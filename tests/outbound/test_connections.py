"""TCP and TLS: which address is used, and which certificates are accepted."""

from __future__ import annotations

import asyncio
import gc
import socket
import ssl
import struct
import subprocess
import warnings
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

import pytest
import trustme

from debian_programs import find_program
from monitoring.outbound import connections
from monitoring.outbound.connections import MAX_ADDRESSES_TRIED, choose
from monitoring.outbound.failures import FailureCode
from outbound.asking import ask, code_of, open_http_client, open_sockets, until
from outbound.scripted_servers import answer, impolite_server, redirect, scripted_server
from real_servers import find_free_port, wait_for_port

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

    from monitoring.outbound.client import HttpClient
    from outbound.name_server import NameServer
    from outbound.scripted_servers import ScriptedServer

pytestmark = pytest.mark.anyio

HOST = "shop.example"
LATER = datetime.now(UTC).replace(microsecond=0) + timedelta(days=9)


@contextmanager
def black_hole(host: str, port: int = 0) -> Iterator[int]:
    """Listen with a full queue, so that whoever connects hears nothing."""
    with socket.socket() as listener:
        listener.bind((host, port))
        listener.listen(0)
        address = listener.getsockname()
        fillers = [socket.socket() for _ in range(8)]
        try:
            for filler in fillers:
                filler.setblocking(False)  # noqa: FBT003
                filler.connect_ex(address)
            yield address[1]
        finally:
            for filler in fillers:
                filler.close()


def reset(writer: asyncio.StreamWriter) -> None:
    """Close with RST instead of FIN."""
    accepted = writer.get_extra_info("socket")
    accepted.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


class TestAddress:
    async def test_where_nothing_listens_refuses_the_connection(self, client: HttpClient) -> None:
        exchange = await ask(client, "http://127.0.0.2:1/")
        assert code_of(exchange) == FailureCode.CONNECTION_REFUSED
        assert exchange.timings.connect_ms is None
        assert exchange.timings.total_ms is not None

    async def test_that_swallows_everything_is_a_timeout(self, client: HttpClient) -> None:
        with black_hole("127.0.0.2") as port:
            exchange = await ask(client, f"http://127.0.0.2:{port}/", timeout_seconds=0.15)
        assert code_of(exchange) == FailureCode.TIMEOUT
        assert exchange.failure
        assert exchange.failure.message == "No answer within 0.15 seconds (while connecting)"

    async def test_that_cannot_be_reached_is_a_failed_connection(self) -> None:
        async with open_http_client(allowed_networks=("255.255.255.255/32",)) as client:
            assert code_of(await ask(client, "http://255.255.255.255/")) == FailureCode.CONNECTION_FAILED

    @pytest.mark.parametrize("addresses", [["127.0.0.3", "127.0.0.2"], ["127.0.0.2", "127.0.0.3"]])
    async def test_that_refuses_is_followed_by_the_next(
        self, client: HttpClient, names: NameServer, server: ScriptedServer, addresses: list[str]
    ) -> None:
        names.know(HOST, addresses)
        assert (await ask(client, f"http://{HOST}:{server.port}/")).status_code == 200

    @pytest.mark.parametrize("addresses", [["127.0.0.3", "127.0.0.2"], ["127.0.0.2", "127.0.0.3"]])
    async def test_that_swallows_everything_does_not_hide_the_next(
        self, client: HttpClient, names: NameServer, server: ScriptedServer, addresses: list[str]
    ) -> None:
        names.know(HOST, addresses)
        with black_hole("127.0.0.3", server.port):
            exchange = await ask(client, f"http://{HOST}:{server.port}/", timeout_seconds=1)
        assert exchange.status_code == 200

    async def test_of_several_that_all_refuse_is_refused(self, client: HttpClient, names: NameServer) -> None:
        names.know(HOST, ["127.0.0.2", "127.0.0.3"])
        assert code_of(await ask(client, f"http://{HOST}:1/")) == FailureCode.CONNECTION_REFUSED

    @pytest.mark.parametrize(
        ("place", "is_reached"), [(MAX_ADDRESSES_TRIED, True), (MAX_ADDRESSES_TRIED + 1, False)]
    )
    async def test_after_the_first_few_is_not_tried(
        self, names: NameServer, server: ScriptedServer, *, place: int, is_reached: bool
    ) -> None:
        others = [f"127.0.1.{number}" for number in range(1, 9)]
        names.know(HOST, [*others[: place - 1], server.host, *others[place - 1 :]])
        async with open_http_client(
            allowed_networks=("127.0.0.0/8",), dns_servers=(names.address,)
        ) as client:
            exchange = await ask(client, f"http://{HOST}:{server.port}/")
        assert (exchange.status_code == 200) == is_reached
        assert server.connections == is_reached

    async def test_may_be_of_ipv6(self) -> None:
        async with (
            scripted_server("::1") as server,
            open_http_client(allowed_networks=("::1/128",)) as client,
        ):
            exchange = await ask(client, f"http://[0:0::1]:{server.port}/")
            assert exchange.status_code == 200
            assert f"Host: [::1]:{server.port}".encode() in server.requests[0]


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
async def tls_client(authority: trustme.CA, names: NameServer, tmp_path: Path) -> AsyncIterator[HttpClient]:
    """Open a client that believes one authority."""
    ca_file = tmp_path / "authorities.pem"
    authority.cert_pem.write_to_path(ca_file)
    names.know(HOST, ["127.0.0.2"])
    async with open_http_client(
        allowed_networks=("127.0.0.2/32",), dns_servers=(names.address,), ca_file=str(ca_file)
    ) as client:
        yield client


@asynccontextmanager
async def tls_server(certificate: trustme.LeafCert) -> AsyncIterator[ScriptedServer]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    async with scripted_server("127.0.0.2", tls=context) as server:
        server.url = f"https://{HOST}:{server.port}"
        yield server


class TestCertificate:
    async def test_that_is_good_is_believed_and_its_end_is_told(
        self, authority: trustme.CA, tls_client: HttpClient
    ) -> None:
        async with tls_server(authority.issue_cert(HOST, not_after=LATER)) as server:
            exchange = await ask(tls_client, server.url)
        assert (exchange.status_code, exchange.body) == (200, b"ok")
        assert exchange.tls_expires_at == LATER
        timings = exchange.timings
        assert timings.dns_ms is not None
        assert timings.connect_ms is not None
        assert timings.tls_ms is not None
        assert timings.first_byte_ms is not None
        assert timings.total_ms is not None
        assert timings.dns_ms + timings.connect_ms + timings.tls_ms + timings.first_byte_ms < timings.total_ms

    async def test_may_be_that_of_an_address(self, authority: trustme.CA, tls_client: HttpClient) -> None:
        async with tls_server(authority.issue_cert("127.0.0.2")) as server:
            assert (await ask(tls_client, f"https://127.0.0.2:{server.port}/")).status_code == 200

    async def test_is_asked_for_by_the_name_without_its_last_dot(
        self, authority: trustme.CA, tls_client: HttpClient
    ) -> None:
        asked_for: list[str] = []
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert(HOST).configure_cert(context)
        context.sni_callback = lambda _object, name, _context: asked_for.append(name)
        async with scripted_server("127.0.0.2", tls=context) as server:
            assert (await ask(tls_client, f"https://{HOST}.:{server.port}/")).status_code == 200
        assert asked_for == [HOST]

    async def test_that_expired_is_refused_with_its_day(
        self, authority: trustme.CA, tls_client: HttpClient, own_log: pytest.LogCaptureFixture
    ) -> None:
        expired_at = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
        not_before = expired_at - timedelta(days=1)
        certificate = authority.issue_cert(HOST, not_before=not_before, not_after=expired_at)
        before = open_sockets()
        async with tls_server(certificate) as server:
            exchange = await ask(tls_client, server.url)
        assert code_of(exchange) == FailureCode.TLS_INVALID
        assert exchange.failure
        assert exchange.failure.message == "The certificate expired on 2026-01-02"
        assert exchange.tls_expires_at == expired_at
        assert not server.requests
        await until(lambda: open_sockets() <= before)
        gc.collect()
        assert not own_log.records, "an exception that nobody asked for is logged when it is forgotten"

    async def test_that_is_for_another_host_is_refused(
        self, authority: trustme.CA, tls_client: HttpClient
    ) -> None:
        async with tls_server(authority.issue_cert("other.example")) as server:
            exchange = await ask(tls_client, server.url)
        assert code_of(exchange) == FailureCode.TLS_INVALID
        assert exchange.failure
        assert exchange.failure.message == "The certificate is for another host"
        assert not server.requests

    async def test_of_a_stranger_s_authority_is_refused(self, tls_client: HttpClient) -> None:
        async with tls_server(trustme.CA().issue_cert(HOST)) as server:
            exchange = await ask(tls_client, server.url)
        assert code_of(exchange) == FailureCode.TLS_INVALID
        assert exchange.failure
        assert exchange.failure.message.startswith("The certificate's authority is not known")
        assert not server.requests

    async def test_that_is_self_signed_is_refused(self, tls_client: HttpClient, tmp_path: Path) -> None:
        own = trustme.CA()
        (tmp_path / "own.pem").write_bytes(own.private_key_pem.bytes() + own.cert_pem.bytes())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tmp_path / "own.pem")
        async with scripted_server("127.0.0.2", tls=context) as server:
            exchange = await ask(tls_client, f"https://{HOST}:{server.port}/")
        assert code_of(exchange) == FailureCode.TLS_INVALID
        assert exchange.failure
        assert exchange.failure.message == "The certificate is self-signed"

    async def test_of_any_kind_is_taken_where_none_is_verified(self, tls_client: HttpClient) -> None:
        async with tls_server(trustme.CA().issue_cert("other.example", not_after=LATER)) as server:
            exchange = await ask(tls_client, server.url, verify_tls=False)
        assert exchange.status_code == 200
        assert exchange.tls_expires_at == LATER

    async def test_of_a_private_authority_is_not_believed_by_default(
        self, authority: trustme.CA, names: NameServer
    ) -> None:
        names.know(HOST, ["127.0.0.2"])
        async with (
            tls_server(authority.issue_cert(HOST)) as server,
            open_http_client(allowed_networks=("127.0.0.2/32",), dns_servers=(names.address,)) as client,
        ):
            assert code_of(await ask(client, server.url)) == FailureCode.TLS_INVALID

    @pytest.mark.parametrize("is_first_shorter", [True, False])
    async def test_whose_end_is_told_is_the_first_to_end_of_all_hops(
        self, authority: trustme.CA, tls_client: HttpClient, *, is_first_shorter: bool
    ) -> None:
        ends = (
            [LATER, LATER + timedelta(days=30)] if is_first_shorter else [LATER + timedelta(days=30), LATER]
        )
        async with (
            tls_server(authority.issue_cert(HOST, not_after=ends[0])) as first,
            tls_server(authority.issue_cert(HOST, not_after=ends[1])) as second,
            scripted_server("127.0.0.2") as plain,
        ):
            first.scripts["/"] = redirect(f"{second.url}/next")
            second.scripts["/next"] = redirect(f"{plain.url}/end")
            exchange = await ask(tls_client, f"{first.url}/", follow_redirects=True)
        assert (exchange.status_code, len(plain.requests)) == (200, 1)
        assert exchange.tls_expires_at == LATER


@contextmanager
def lingering_after_connect(
    monkeypatch: pytest.MonkeyPatch, is_enough: Callable[[asyncio.Transport, Any], bool]
) -> Iterator[None]:
    """Let what the server does at once come before what we do next."""
    connect = connections._connect  # noqa: SLF001 - nothing else comes between the two steps

    async def connect_and_linger(*given: Any) -> tuple[asyncio.Transport, asyncio.Protocol]:
        transport, reader = await connect(*given)
        await until(lambda: is_enough(transport, reader))
        return transport, reader

    with monkeypatch.context() as patched:
        patched.setattr(connections, "_connect", connect_and_linger)
        yield


class TestConnectionThatIsResetAtOnce:
    @pytest.mark.parametrize(
        ("scheme", "code"),
        [("http", FailureCode.CONNECTION_FAILED), ("https", FailureCode.TLS_INVALID)],
    )
    async def test_is_a_failure_like_one_that_is_reset_later(
        self, client: HttpClient, monkeypatch: pytest.MonkeyPatch, scheme: str, code: FailureCode
    ) -> None:
        before = open_sockets()
        async with impolite_server(reset) as port:
            with lingering_after_connect(monkeypatch, lambda transport, _: transport.is_closing()):
                exchange = await ask(client, f"{scheme}://127.0.0.2:{port}/")
        assert code_of(exchange) == code
        await until(lambda: open_sockets() <= before)


class TestHandshake:
    async def test_is_made_anew_for_each_request(self, authority: trustme.CA, tls_client: HttpClient) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert(HOST).configure_cert(context)
        async with scripted_server("127.0.0.2", tls=context) as server:
            for _ in range(3):
                await ask(tls_client, f"https://{HOST}:{server.port}/")
        assert context.session_stats()["hits"] == 0
        assert context.session_stats()["accept_good"] == 3

    async def test_with_who_answers_in_plain_text_says_so(self, client: HttpClient) -> None:
        plain = answer("400 Bad Request", body=b"plain HTTP request sent to HTTPS port")
        async with impolite_server(lambda writer: writer.write(plain)) as port:
            exchange = await ask(client, f"https://127.0.0.2:{port}/")
        assert code_of(exchange) == FailureCode.TLS_INVALID
        assert exchange.failure
        assert exchange.failure.message == "The server does not speak TLS on this port"

    async def test_with_who_speaks_first_says_so(
        self, client: HttpClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = open_sockets()
        async with impolite_server(lambda writer: writer.write(b"220 mail.example ESMTP\r\n")) as port:
            with lingering_after_connect(monkeypatch, lambda _, channel: channel.has_heard):
                exchange = await ask(client, f"https://127.0.0.2:{port}/")
            await until(lambda: open_sockets() <= before)
        assert code_of(exchange) == FailureCode.TLS_INVALID
        assert exchange.failure
        assert exchange.failure.message == "The server does not speak TLS on this port"

    async def test_with_who_hangs_up_fails(self, client: HttpClient) -> None:
        async with impolite_server(lambda writer: writer.transport.abort()) as port:
            exchange = await ask(client, f"https://127.0.0.2:{port}/")
        assert code_of(exchange) == FailureCode.TLS_INVALID

    async def test_with_who_says_nothing_is_a_timeout_and_leaves_nothing_open(
        self, client: HttpClient
    ) -> None:
        before = open_sockets()
        async with impolite_server(lambda _: None) as port:
            exchange = await ask(client, f"https://127.0.0.2:{port}/", timeout_seconds=0.15)
            await until(lambda: open_sockets() <= before)
        assert code_of(exchange) == FailureCode.TIMEOUT
        assert exchange.failure
        assert exchange.failure.message == "No answer within 0.15 seconds (during the TLS handshake)"

    async def test_without_a_safe_version_in_common_fails(
        self, authority: trustme.CA, tls_client: HttpClient
    ) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert(HOST).configure_cert(context)
        with pytest.warns(DeprecationWarning, match="TLSv1_1"):
            context.maximum_version = ssl.TLSVersion.TLSv1_1
        context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
        async with scripted_server("127.0.0.2", tls=context) as server:
            exchange = await ask(tls_client, f"https://{HOST}:{server.port}/")
        assert code_of(exchange) == FailureCode.TLS_INVALID

    @pytest.mark.parametrize("suite", ["AES128-SHA", "AES256-GCM-SHA384", "ECDHE-RSA-AES256-SHA"])
    @pytest.mark.parametrize("verify_tls", [True, False])
    async def test_succeeds_with_the_old_suites_that_browsers_offer(
        self, authority: trustme.CA, tls_client: HttpClient, suite: str, *, verify_tls: bool
    ) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert(HOST, key_type=trustme.KeyType.RSA).configure_cert(context)
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        context.set_ciphers(suite)
        async with scripted_server("127.0.0.2", tls=context) as server:
            exchange = await ask(tls_client, f"https://{HOST}:{server.port}/", verify_tls=verify_tls)
        assert exchange.status_code == 200

    @pytest.mark.parametrize(
        ("version", "suite"),
        [
            ("TLSv1_2", "CAMELLIA128-SHA"),
            ("TLSv1_2", "AECDH-AES128-SHA"),
            ("TLSv1_1", "ALL"),
            ("TLSv1", "ALL"),
        ],
    )
    async def test_succeeds_with_whatever_protects_a_little_where_nothing_is_verified(
        self, authority: trustme.CA, tls_client: HttpClient, version: str, suite: str
    ) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert(HOST, key_type=trustme.KeyType.RSA).configure_cert(context)
        context.set_ciphers(f"{suite}:@SECLEVEL=0")
        with warnings.catch_warnings(action="ignore"):
            context.minimum_version = context.maximum_version = ssl.TLSVersion[version]
        async with scripted_server("127.0.0.2", tls=context) as server:
            url = f"https://{HOST}:{server.port}/"
            assert (await ask(tls_client, url, verify_tls=False)).status_code == 200
            assert code_of(await ask(tls_client, url)) == FailureCode.TLS_INVALID

    async def test_succeeds_with_a_server_from_before_secure_renegotiation(
        self, authority: trustme.CA, tls_client: HttpClient, tmp_path: Path
    ) -> None:
        chain, port = tmp_path / "chain.pem", find_free_port()
        authority.issue_cert(HOST).private_key_and_cert_chain_pem.write_to_path(chain)
        server = await asyncio.create_subprocess_exec(
            *(find_program("gnutls-serv"), "--http", f"--port={port}"),
            *(f"--x509certfile={chain}", f"--x509keyfile={chain}"),
            "--priority=NORMAL:-VERS-ALL:+VERS-TLS1.2:%DISABLE_SAFE_RENEGOTIATION",
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            await asyncio.to_thread(wait_for_port, port)
            for verify_tls in (True, False):
                exchange = await ask(tls_client, f"https://{HOST}:{port}/", verify_tls=verify_tls)
                assert exchange.status_code == 200
        finally:
            server.kill()
            await server.wait()

    async def test_that_demands_our_certificate_fails_with_a_sentence(
        self, authority: trustme.CA, tls_client: HttpClient
    ) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert(HOST).configure_cert(context)
        authority.configure_trust(context)
        context.verify_mode = ssl.CERT_REQUIRED

        def refuse() -> None:
            # A blocking socket, for asyncio's servers close without the alert.
            connection, _ = listener.accept()
            with context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False) as refused:
                refused.settimeout(10)
                with pytest.raises(ssl.SSLError):
                    refused.do_handshake()
                while socket.socket.recv(refused, 4096):
                    pass

        with socket.create_server(("127.0.0.2", 0)) as listener:
            port = listener.getsockname()[1]
            _, exchange = await asyncio.gather(
                asyncio.to_thread(refuse), ask(tls_client, f"https://{HOST}:{port}/")
            )
        assert code_of(exchange) == FailureCode.TLS_INVALID
        assert exchange.failure
        assert exchange.failure.message == "The server demands a certificate of its clients"


class TestChoice:
    def test_takes_the_families_in_turn_so_that_one_that_does_not_work_hides_no_other(self) -> None:
        sixes = [ip_address(f"2001:db8::{number}") for number in range(1, 6)]
        four = ip_address("192.0.2.1")
        assert choose([*sixes, four]) == [sixes[0], four, sixes[1], sixes[2]]
