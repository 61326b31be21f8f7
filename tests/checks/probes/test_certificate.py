"""What the probe for certificates finds out, from OpenSSL, Postfix, Dovecot, PostgreSQL and scripts."""

from __future__ import annotations

import asyncio
import os
import shutil
import ssl
import subprocess
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
import trustme

from checks.probes.probed import ask
from debian_programs import find_program
from monitoring.monitors.health import Outcome
from monitoring.outbound.certificates import covers
from monitoring.outbound.dialer import open_dialer
from notifications.postfix import Postfix
from outbound.asking import open_sockets, until
from outbound.name_server import name_server
from real_servers import PostgresServer, find_free_port, running_cluster, wait_for_port

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from monitoring.checks.probes.protocol import Finding
    from monitoring.outbound.dialer import Dialer

pytestmark = pytest.mark.anyio

HOST = "mail.example"
SILENCE = b"(silence)"


@pytest.fixture(params=[False, True], ids=["asyncio", "uvloop"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, bool]]:
    return "asyncio", {"use_uvloop": request.param}


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
async def dialer(authority: trustme.CA, tmp_path: Path) -> AsyncIterator[Dialer]:
    """Open a dialer that trusts one authority and knows one host, at 127.0.0.2."""
    file = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(file)
    async with name_server() as names:
        names.know(HOST, ["127.0.0.2"])
        async with open_dialer(
            allowed_networks=("127.0.0.0/8",), dns_servers=(names.address,), ca_file=str(file)
        ) as opened:
            yield opened


async def look(dialer: Dialer, port: int, host: str = HOST, **given: Any) -> Finding:
    settings = {name: given.pop(name) for name in ("starttls", "names") if name in given}
    return await ask(dialer, type="certificate", url=f"tls://{host}:{port}", certificate=settings, **given)


@contextmanager
def openssl_server(certificate: trustme.LeafCert, folder: Path) -> Iterator[int]:
    """Run `openssl s_server` with a certificate."""
    chain = folder / "chain.pem"
    certificate.private_key_and_cert_chain_pem.write_to_path(str(chain))
    port = find_free_port()
    process = subprocess.Popen(
        [
            *(find_program("openssl"), "s_server", "-quiet", "-accept", f"{port}"),
            *("-cert", str(chain), "-cert_chain", str(chain), "-alpn", "imap"),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for_port(port)
        yield port
    finally:
        process.kill()
        process.communicate()


class TestServerThatBeginsWithTls:
    async def test_is_up_with_the_day_on_which_its_certificate_expires(
        self, dialer: Dialer, authority: trustme.CA, tmp_path: Path
    ) -> None:
        expires_at = datetime.now(UTC).replace(microsecond=0) + timedelta(days=60)
        with openssl_server(authority.issue_cert(HOST, not_after=expires_at), tmp_path) as port:
            finding = await look(dialer, port)
        assert (finding.outcome, finding.message) == (Outcome.UP, None)
        assert finding.certificate_expires_at == expires_at
        assert finding.timings.tls_ms is not None
        assert finding.timings.total_ms is not None

    async def test_is_degraded_if_its_certificate_expires_soon(
        self, dialer: Dialer, authority: trustme.CA, tmp_path: Path
    ) -> None:
        soon = datetime.now(UTC) + timedelta(days=20, hours=1)
        with openssl_server(authority.issue_cert(HOST, not_after=soon), tmp_path) as port:
            early = await look(dialer, port, tls_expiry_warning_days=30)
            late = await look(dialer, port, tls_expiry_warning_days=7)
        assert (early.outcome, early.error) == (Outcome.DEGRADED, "tls_expiring")
        assert early.message == "The certificate expires in 20 days"
        assert late.outcome == Outcome.UP

    async def test_is_down_with_the_day_on_which_its_certificate_expired(
        self, dialer: Dialer, authority: trustme.CA, tmp_path: Path
    ) -> None:
        expired_at = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
        expired = authority.issue_cert(HOST, not_before=expired_at - timedelta(days=9), not_after=expired_at)
        with openssl_server(expired, tmp_path) as port:
            finding = await look(dialer, port)
            unverified = await look(dialer, port, verify_tls=False)
        assert (finding.outcome, finding.error) == (Outcome.DOWN, "tls_invalid")
        assert finding.message == "The certificate expired on 2026-01-02"
        assert finding.certificate_expires_at == expired_at
        assert (unverified.outcome, unverified.message) == (Outcome.DEGRADED, finding.message)

    async def test_is_down_if_its_certificate_is_for_another_host(
        self, dialer: Dialer, authority: trustme.CA, tmp_path: Path
    ) -> None:
        with openssl_server(authority.issue_cert("other.example"), tmp_path) as port:
            finding = await look(dialer, port)
        assert finding.message == "The certificate is for another host"

    async def test_is_down_if_nobody_trusts_its_authority(self, dialer: Dialer, tmp_path: Path) -> None:
        with openssl_server(trustme.CA().issue_cert(HOST), tmp_path) as port:
            finding = await look(dialer, port)
            unverified = await look(dialer, port, verify_tls=False)
        assert finding.message
        assert finding.message.startswith("The certificate's authority is not known")
        assert unverified.outcome == Outcome.UP

    @pytest.mark.parametrize("verify_tls", [True, False])
    async def test_is_down_if_its_certificate_lacks_a_name(
        self,
        dialer: Dialer,
        authority: trustme.CA,
        tmp_path: Path,
        verify_tls: bool,  # noqa: FBT001
    ) -> None:
        certificate = authority.issue_cert(HOST, "*.shop.example", common_name="www.example")
        with openssl_server(certificate, tmp_path) as port:
            covered = await look(dialer, port, names=[HOST, "A.shop.example"], verify_tls=verify_tls)
            lacking = await look(dialer, port, names=[HOST, "www.example"], verify_tls=verify_tls)
        assert (covered.outcome, covered.message) == (Outcome.UP, None)
        assert (lacking.outcome, lacking.error) == (Outcome.DOWN, "tls_invalid")
        assert lacking.message == 'The certificate is not for "www.example"'

    async def test_is_missed_where_nothing_listens_or_another_protocol_is_spoken(
        self, dialer: Dialer
    ) -> None:
        assert (await look(dialer, 1)).error == "connection_refused"
        async with talking([b"220 mail.example ESMTP\r\n"]) as port:
            finding = await look(dialer, port)
        assert (finding.error, finding.message) == (
            "tls_invalid",
            "The server does not speak TLS on this port",
        )


class TlsPostgres(PostgresServer):
    """A cluster whose connections can be encrypted."""

    certificate: trustme.LeafCert

    def initialise(self) -> None:
        super().initialise()
        pem = self.folder / "cluster" / "server.pem"
        self.certificate.private_key_and_cert_chain_pem.write_to_path(str(pem))
        pem.chmod(0o600)
        if os.geteuid() == 0:
            shutil.chown(pem, "postgres")
        with (self.folder / "cluster" / "postgresql.conf").open("a") as configuration:
            configuration.write("ssl = on\nssl_cert_file = 'server.pem'\nssl_key_file = 'server.pem'\n")


DOVECOT = """
base_dir = {folder}/run
log_path = {folder}/log
protocols = imap
listen = 127.0.0.1
ssl = required
ssl_cert = <{folder}/chain.pem
ssl_key = <{folder}/chain.pem
passdb {{
  driver = static
}}
service imap-login {{
  inet_listener imap {{
    port = {port}
  }}
  inet_listener imaps {{
    port = 0
  }}
}}
"""


@contextmanager
def dovecot(certificate: trustme.LeafCert) -> Iterator[int]:
    """Run Dovecot with a certificate. Only root may; its programs may not enter a folder of pytest's."""
    port = find_free_port()
    with TemporaryDirectory(prefix="dovecot-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        certificate.private_key_and_cert_chain_pem.write_to_path(str(folder / "chain.pem"))
        (folder / "dovecot.conf").write_text(DOVECOT.format(folder=folder, port=port))
        process = subprocess.Popen([find_program("dovecot"), "-F", "-c", folder / "dovecot.conf"])
        try:
            wait_for_port(port)
            yield port
        finally:
            process.terminate()
            process.wait()


class TestStarttls:
    @pytest.mark.skipif(os.geteuid() != 0, reason="only root may start Postfix")
    @pytest.mark.programs("postfix")
    async def test_is_asked_of_postfix(self) -> None:
        with Postfix() as postfix:
            async with open_dialer(allowed_networks=("127.0.0.0/8",), ca_file=str(postfix.ca_file)) as dialer:
                finding = await look(dialer, postfix.port, "127.0.0.1", starttls="smtp")
        assert (finding.outcome, finding.message) == (Outcome.UP, None)
        assert finding.certificate_expires_at

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root may start Dovecot")
    @pytest.mark.programs("dovecot")
    async def test_is_asked_of_dovecot(self, dialer: Dialer, authority: trustme.CA) -> None:
        with dovecot(authority.issue_cert("127.0.0.1")) as port:
            finding = await look(dialer, port, "127.0.0.1", starttls="imap")
        assert (finding.outcome, finding.message) == (Outcome.UP, None)
        assert finding.certificate_expires_at

    async def test_is_asked_of_postgresql(
        self, dialer: Dialer, authority: trustme.CA, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(TlsPostgres, "certificate", authority.issue_cert("127.0.0.1"), raising=False)
        with running_cluster(TlsPostgres) as server:
            finding = await look(dialer, server.port, "127.0.0.1", starttls="postgresql")
        assert (finding.outcome, finding.message) == (Outcome.UP, None)
        assert finding.certificate_expires_at

    @pytest.mark.parametrize(
        ("protocol", "says"),
        [
            (
                "smtp",
                [b"220-wel\r\n220 come\r\n", b"250-hi\r\n250-SIZE 9\r\n250 starttls\r\n", b"220 go\r\n"],
            ),
            ("imap", [b"* OK [CAPABILITY IMAP4rev1 STARTTLS] ready\r\n", b"* NOOP\r\na OK begin\r\n"]),
            ("postgresql", [b"", b"S"]),
        ],
    )
    async def test_leads_to_the_handshake_and_finds_what_expired(
        self, dialer: Dialer, authority: trustme.CA, protocol: str, says: list[bytes]
    ) -> None:
        ago = datetime(2026, 1, 2, tzinfo=UTC)
        for certificate, message in (
            (authority.issue_cert(HOST), None),
            (
                authority.issue_cert(HOST, not_before=ago, not_after=ago),
                "The certificate expired on 2026-01-02",
            ),
        ):
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            certificate.configure_cert(tls)
            async with talking(says, tls) as port:
                finding = await look(dialer, port, starttls=protocol)
            assert finding.message == message

    @pytest.mark.parametrize(
        ("protocol", "says", "error", "message"),
        [
            ("smtp", [b"220 x\r\n", b"250-hi\r\n250 SIZE\r\n"], "tls_invalid", "does not offer STARTTLS"),
            ("smtp", [b"220 x\r\n", b"250 STARTTLS\r\n", b"454 no\r\n"], "tls_invalid", "does not offer"),
            ("smtp", [b"220 x\r\n", b"502 what?\r\n"], "invalid_response", "is not ready to speak SMTP"),
            ("smtp", [b"554 no\r\n"], "invalid_response", "is not ready to speak SMTP"),
            ("smtp", [b"SSH-2.0-OpenSSH\r\n"], "invalid_response", "The answer is not SMTP"),
            ("smtp", [b"220-x\r\n" * 200], "invalid_response", "The answer is not SMTP"),
            ("smtp", [b"x" * 9000], "invalid_response", "The answer is not SMTP"),
            ("smtp", [b"220 x\r\n", b""], "connection_failed", "closed before an answer came"),
            ("imap", [b"* OK ready\r\n", b"a BAD what?\r\n"], "tls_invalid", "does not offer STARTTLS"),
            ("imap", [b"* BYE busy\r\n"], "invalid_response", "is not ready to speak IMAP"),
            ("imap", [b"* OK x\r\n", b"* x\r\n" * 200], "invalid_response", "The answer is not IMAP"),
            ("postgresql", [b"", b"N"], "tls_invalid", "does not offer STARTTLS"),
            ("postgresql", [b"", b"E"], "invalid_response", "The answer is not PostgreSQL"),
            ("postgresql", [b"", b""], "connection_failed", "closed before an answer came"),
            # An attacker's command, which would be executed under TLS
            ("postgresql", [b"", b"Sx"], "invalid_response", "did not wait for the TLS handshake"),
            (
                "imap",
                [b"* OK x\r\n", b"a OK go\r\na OK more\r\n"],
                "invalid_response",
                "did not wait for the TLS handshake",
            ),
        ],
    )
    async def test_that_leads_nowhere_says_why_and_leaves_nothing_open(
        self, dialer: Dialer, protocol: str, says: list[bytes], error: str, message: str
    ) -> None:
        before = open_sockets()
        async with talking(says) as port:
            finding = await look(dialer, port, starttls=protocol)
            await until(lambda: open_sockets() <= before)
        assert (finding.outcome, finding.error) == (Outcome.DOWN, error)
        assert finding.message
        assert message in finding.message

    async def test_of_a_server_that_says_nothing_is_a_timeout(self, dialer: Dialer) -> None:
        async with talking([SILENCE]) as port:
            finding = await look(dialer, port, starttls="imap", timeout_seconds=1)
        assert finding.message == "No answer within 1 second (while waiting for the answer)"


class TestNames:
    @pytest.mark.parametrize(
        ("name", "host", "is_covered"),
        [
            ("mail.example", "MAIL.example", True),
            ("*.example", "mail.example", True),
            ("*.mail.example", "a.mail.example", True),
            ("*.mail.example", "a.b.mail.example", False),
            ("*.mail.example", "mail.example", False),
            ("m*.example", "mail.example", False),
            ("*", "example", False),
            ("mail.example", "other.example", False),
        ],
    )
    def test_cover_hosts_as_browsers_see_it(self, name: str, host: str, *, is_covered: bool) -> None:
        assert covers(name, host) == is_covered


@asynccontextmanager
async def talking(says: list[bytes], tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """Say these one after the other, the first at once and each other after something was heard.

    Afterwards shake hands if there is a context, and hang up otherwise; yields the port on 127.0.0.2.
    """
    transports = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        transport = writer.transport
        transports.append(transport)
        first, *others = says
        if first == SILENCE:
            return
        writer.write(first)
        for answer in others:
            if not await reader.read(4096):
                break
            writer.write(answer)
        if tls:
            with suppress(OSError):  # a client that has seen enough, or does not trust the certificate
                # The writer's own method fails after the handshake with a client that leaves at once.
                await asyncio.get_running_loop().start_tls(
                    transport, transport.get_protocol(), tls, server_side=True
                )
        transport.close()

    server = await asyncio.start_server(talk, "127.0.0.2", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for transport in transports:
            transport.abort()
