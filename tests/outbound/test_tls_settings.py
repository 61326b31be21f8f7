"""Own authorities and client certificates, with servers that ask for them."""

from __future__ import annotations

import asyncio
import ssl
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
import trustme

from debian_programs import find_program
from monitoring.outbound.tls_settings import TlsSettings
from outbound.asking import ask
from outbound.scripted_servers import redirect, scripted_server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from monitoring.outbound.client import HttpClient
    from outbound.scripted_servers import ScriptedServer

pytestmark = pytest.mark.anyio

HOST = "127.0.0.2"


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def clients() -> trustme.CA:
    """Sign client certificates."""
    return trustme.CA()


@asynccontextmanager
async def serving(
    certificate: trustme.LeafCert, clients: trustme.CA | None = None, version: ssl.TLSVersion | None = None
) -> AsyncIterator[ScriptedServer]:
    """Serve, to those alone who show a certificate that `clients` signed."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    if clients:
        clients.configure_trust(context)
        context.verify_mode = ssl.CERT_REQUIRED
    if version:
        context.maximum_version = version
    async with scripted_server(HOST, tls=context) as server:
        yield server


def pem_of(certificate: trustme.CA) -> str:
    return certificate.cert_pem.bytes().decode()


def shown_by(clients: trustme.CA) -> str:
    return clients.issue_cert("ana@shop.example").private_key_and_cert_chain_pem.bytes().decode()


def settings(authority: trustme.CA, clients: trustme.CA | None = None) -> TlsSettings:
    return TlsSettings(pem_of(authority), shown_by(clients) if clients else None)


async def sum_up(client: HttpClient, url: str, **given: Any) -> int | str | None:
    exchange = await ask(client, url, **given)
    return exchange.failure.message if exchange.failure else exchange.status_code


class TestAuthority:
    async def test_of_its_own_is_trusted_by_one_request_and_not_by_the_next(
        self, client: HttpClient, authority: trustme.CA
    ) -> None:
        async with serving(authority.issue_cert(HOST)) as server:
            assert await sum_up(client, server.url, tls=settings(authority)) == 200
            assert "authority" in str(await sum_up(client, server.url))

    async def test_replaces_all_others(self, client: HttpClient, authority: trustme.CA) -> None:
        async with serving(authority.issue_cert(HOST)) as server:
            assert "authority" in str(await sum_up(client, server.url, tls=settings(trustme.CA())))

    async def test_may_be_the_one_that_signed_the_server_although_another_signed_it(
        self, client: HttpClient, authority: trustme.CA
    ) -> None:
        intermediate = authority.create_child_ca()
        async with serving(intermediate.issue_cert(HOST)) as server:
            assert await sum_up(client, server.url, tls=settings(intermediate)) == 200

    async def test_does_not_make_up_for_another_host(self, client: HttpClient, authority: trustme.CA) -> None:
        async with serving(authority.issue_cert("shop.example")) as server:
            message = await sum_up(client, server.url, tls=settings(authority))
            assert message == "The certificate is for another host"


@pytest.mark.programs("openssl")
@pytest.mark.parametrize("version", ["tls1_2", "tls1_3"])
async def test_a_client_certificate_that_the_server_does_not_trust_is_named(
    client: HttpClient, authority: trustme.CA, clients: trustme.CA, version: str, tmp_path: Path
) -> None:
    """Asyncio's servers close the connection without saying why."""
    authority.issue_cert(HOST).private_key_and_cert_chain_pem.write_to_path(tmp_path / "server.pem")
    clients.cert_pem.write_to_path(tmp_path / "clients.pem")
    asking = f"s_server -{version} -accept {HOST}:0 -cert server.pem -CAfile clients.pem -Verify 1"
    server = await asyncio.create_subprocess_exec(
        *(find_program("openssl"), *asking.split(), "-verify_return_error", "-www"),
        cwd=tmp_path,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        assert server.stdout
        async for line in server.stdout:
            if line.startswith(b"ACCEPT "):
                port = int(line.rpartition(b":")[2])
                break
        url = f"https://{HOST}:{port}/"
        assert await sum_up(client, url, tls=settings(authority, clients)) == 200
        message = await sum_up(client, url, tls=settings(authority, trustme.CA()))
        assert message == "The server does not accept the certificate that was shown to it"
    finally:
        server.kill()
        await server.wait()


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
class TestClientCertificate:
    async def test_opens_a_server_that_asks_for_one(
        self, client: HttpClient, authority: trustme.CA, clients: trustme.CA, version: ssl.TLSVersion
    ) -> None:
        async with serving(authority.issue_cert(HOST), clients, version) as server:
            assert await sum_up(client, server.url, tls=settings(authority, clients)) == 200
            unverified = TlsSettings(client_certificate=shown_by(clients))
            assert await sum_up(client, server.url, tls=unverified, verify_tls=False) == 200
            assert isinstance(await sum_up(client, server.url, tls=settings(authority)), str)

    async def test_is_not_shown_to_another_origin(
        self, client: HttpClient, authority: trustme.CA, clients: trustme.CA, version: ssl.TLSVersion
    ) -> None:
        certificate = authority.issue_cert(HOST)
        async with (
            serving(certificate, clients, version) as first,
            serving(certificate, clients, version) as second,
        ):
            first.scripts["/same"] = redirect("/")
            first.scripts["/other"] = redirect(f"{second.url}/")
            given = {"tls": settings(authority, clients), "follow_redirects": True}
            assert await sum_up(client, f"{first.url}/same", **given) == 200
            assert isinstance(await sum_up(client, f"{first.url}/other", **given), str)
            assert second.requests == []
