"""What the probe finds out about real servers: how much of an answer it reads, and how."""

from __future__ import annotations

import gzip
import ssl
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
import trustme

from monitoring.checks.probes.http import HttpProbe
from monitoring.monitors.health import Outcome
from monitoring.outbound.dialer import open_dialer
from outbound.name_server import name_server
from outbound.scripted_servers import answer, forever, redirect, scripted_server, then_silence

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from monitoring.checks.probes.protocol import Finding
    from monitoring.outbound.dialer import Dialer
    from outbound.scripted_servers import Script, ScriptedServer

pytestmark = pytest.mark.anyio

HOST = "shop.example"
MIB = 1_048_576
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
EVENTS = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"

gzipped = partial(gzip.compress, mtime=0)  # the same in every process, since ids of tests are made of it

ROW = {
    "method": "GET",
    "request_headers": "{}",
    "encrypted_headers": None,
    "request_body": None,
    "timeout_seconds": 30,
    "follow_redirects": True,
    "verify_tls": True,
    "expected_status_codes": '["2xx"]',
    "required_keyword": None,
    "forbidden_keyword": None,
    "assertions": "[]",
    "certificate_authority": None,
    "client_certificate": None,
    "contract": None,
    "tls_expiry_warning_days": 14,
    "slow_threshold_ms": None,
}


async def ask(dialer: Dialer, url: str, **given: Any) -> Finding:
    return await HttpProbe.read({**ROW, "url": url, **given}).ask(dialer)


def sum_up(finding: Finding) -> str:
    """Name the error, or else the outcome."""
    return finding.error or finding.outcome


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
async def server() -> AsyncIterator[ScriptedServer]:
    async with scripted_server() as running:
        yield running


@pytest.fixture
async def dialer() -> AsyncIterator[Dialer]:
    async with open_dialer(allowed_networks=("127.0.0.1/32",)) as opened:
        yield opened


class TestBodyWithoutEnd:
    """The server says nothing after these, or never stops, and closes no connection."""

    @pytest.mark.parametrize(
        "script",
        [
            then_silence(EVENTS),
            then_silence(EVENTS, b"data: 1\n\n"),
            then_silence(b"HTTP/1.1 200 OK\r\nContent-Length: 4000000000\r\n\r\n", bytes(2000)),
            then_silence(CHUNKED, b"5\r\nhello\r\n"),
            forever(b"HTTP/1.1 200 OK\r\nContent-Type: audio/mpeg\r\n\r\n", bytes(4096)),
            forever(CHUNKED, b"1;" + b"x" * 60_000 + b"\r\na\r\n"),
            then_silence(b"HTTP/1.0 200 OK\r\n\r\n", b"<html>"),
            then_silence(b"HTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\n"),
            then_silence(b"HTTP/1.1 103 Early Hints\r\n\r\n", EVENTS),
            then_silence(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", gzipped(b"page")[:12]),
        ],
        ids=[
            *("silent stream", "stream", "large file", "chunks", "radio", "framing", "old", "no content"),
            *("interim", "compressed"),
        ],
    )
    @pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
    async def test_is_up_by_its_status_if_there_is_no_keyword(
        self, server: ScriptedServer, dialer: Dialer, script: Script, method: str
    ) -> None:
        server.scripts["/"] = script
        finding = await ask(dialer, server.url + "/", method=method)
        assert (finding.outcome, finding.error) == (Outcome.UP, None)
        assert finding.timings.total_ms is not None

    @pytest.mark.parametrize("keyword", [None, "welcome"])
    async def test_is_down_by_its_status_with_and_without_a_keyword(
        self, server: ScriptedServer, dialer: Dialer, keyword: str | None
    ) -> None:
        server.scripts["/"] = then_silence(b"HTTP/1.1 503 Away\r\nContent-Encoding: br\r\n\r\n", b"Sorry")
        finding = await ask(dialer, server.url + "/", required_keyword=keyword)
        assert (sum_up(finding), finding.status_code) == ("unexpected_status", 503)
        assert finding.answer

    @pytest.mark.parametrize("keyword", [None, "ok"])
    async def test_of_a_redirect_does_not_keep_from_following_it(
        self, server: ScriptedServer, dialer: Dialer, keyword: str | None
    ) -> None:
        server.scripts["/"] = then_silence(
            b"HTTP/1.1 302 Found\r\nLocation: /next\r\nContent-Length: 9\r\n\r\n", b"on"
        )
        assert sum_up(await ask(dialer, server.url + "/", required_keyword=keyword)) == "up"
        not_followed = {"follow_redirects": False, "expected_status_codes": '["302"]'}
        assert sum_up(await ask(dialer, server.url + "/", **not_followed)) == "up"

    @pytest.mark.parametrize(
        "begin",
        [EVENTS, b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n", HTML + bytes(1024)],
        ids=["stream", "page", "undeclared page"],
    )
    async def test_is_read_until_its_keyword_is_found(
        self, server: ScriptedServer, dialer: Dialer, begin: bytes
    ) -> None:
        server.scripts["/"] = then_silence(begin, b"data: hea", b"lthy\n\n")
        assert sum_up(await ask(dialer, server.url + "/", required_keyword="healthy")) == "up"
        down = await ask(dialer, server.url + "/", forbidden_keyword="healthy")
        assert sum_up(down) == "keyword_forbidden"

    async def test_that_keeps_back_what_is_looked_for_is_a_timeout(
        self, server: ScriptedServer, dialer: Dialer
    ) -> None:
        server.scripts["/"] = then_silence(EVENTS, b"data: 1\n\n")
        for keyword in ({"required_keyword": "healthy"}, {"forbidden_keyword": "failed"}):
            finding = await ask(dialer, server.url + "/", timeout_seconds=0.2, **keyword)
            assert finding.error == "timeout"


class TestLargePage:
    PAGE = b"<p>all systems operational" + b" " * MIB

    @pytest.fixture(
        params=[
            answer(body=PAGE),
            b"HTTP/1.1 200 OK\r\n\r\n" + PAGE,
            CHUNKED + b"%x\r\n%b\r\n0\r\n\r\n" % (len(PAGE), PAGE),
            answer("200 OK", "Content-Encoding: gzip", body=gzipped(PAGE * 3)),
            answer("200 OK", "Content-Encoding: gzip", body=gzipped(PAGE[:9]) + gzipped(PAGE[9:])),
        ],
        ids=["length", "until the end", "chunks", "gzip", "gzip in members"],
    )
    def url(self, request: pytest.FixtureRequest, server: ScriptedServer) -> str:
        server.scripts["/"] = request.param
        return f"{server.url}/"

    async def test_is_judged_by_the_keywords_at_its_beginning(self, dialer: Dialer, url: str) -> None:
        assert sum_up(await ask(dialer, url, required_keyword="operational")) == "up"
        down = await ask(dialer, url, forbidden_keyword="operational")
        assert down.message == 'The answer contains "operational"'
        both = {"required_keyword": "not there", "forbidden_keyword": "operational"}
        assert sum_up(await ask(dialer, url, **both)) == "keyword_forbidden"

    async def test_is_too_large_to_say_what_it_does_not_contain(self, dialer: Dialer, url: str) -> None:
        for keywords in (
            {"required_keyword": "sold out"},
            {"forbidden_keyword": "sold out"},
            {"required_keyword": "operational", "forbidden_keyword": "sold out"},
        ):
            finding = await ask(dialer, url, **keywords)
            assert (sum_up(finding), finding.status_code) == ("response_too_large", 200)
            assert finding.message == (
                'The answer is larger than 1,048,576 bytes, and the first of them do not contain "sold out"'
            )

    async def test_may_have_its_keyword_in_the_last_byte_that_is_read(
        self, server: ScriptedServer, dialer: Dialer
    ) -> None:
        server.scripts["/"] = answer(body=b" " * (MIB - 3) + b"end" + b"!")
        assert sum_up(await ask(dialer, server.url + "/", required_keyword="end")) == "up"
        finding = await ask(dialer, server.url + "/", required_keyword="end!")
        assert sum_up(finding) == "response_too_large"


class TestBrokenBody:
    BROKEN = (
        b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nall is well",
        CHUNKED + b"b\r\nall is well",
        CHUNKED + b"b\r\nall is well\r\nzz\r\n",
        answer("200 OK", "Content-Encoding: br", body=b"all is well"),
    )

    @pytest.mark.parametrize("script", BROKEN)
    async def test_is_up_by_its_status_if_there_is_no_keyword(
        self, server: ScriptedServer, dialer: Dialer, script: bytes
    ) -> None:
        server.scripts["/"] = script
        assert sum_up(await ask(dialer, server.url + "/")) == "up"

    @pytest.mark.parametrize("script", BROKEN)
    async def test_is_no_page_without_the_keyword(
        self, server: ScriptedServer, dialer: Dialer, script: bytes
    ) -> None:
        server.scripts["/"] = script
        finding = await ask(dialer, server.url + "/", forbidden_keyword="failed")
        assert finding.error in {"connection_failed", "invalid_response"}


class TestPageInAnyEncoding:
    @pytest.mark.parametrize(
        ("content_type", "encoding", "keyword"),
        [
            ("text/html; charset=windows-1250", "cp1250", "Zażółć"),
            ("text/html;charset=ISO-8859-2", "iso-8859-2", "łódź"),
            ('text/plain; charset="latin1"', "cp1252", "5 €"),
            ("text/html; charset=euc-kr", "cp949", "재고 있음"),
            ("application/json; charset=utf-16le", "utf-16-le", '"status":"grün"'),
            ("text/html; charset=Big5", "big5", "有貨"),
        ],
    )
    @pytest.mark.parametrize("is_compressed", [False, True])
    async def test_is_searched_in_its_own(  # noqa: PLR0913 - the page
        self,
        server: ScriptedServer,
        dialer: Dialer,
        content_type: str,
        encoding: str,
        keyword: str,
        *,
        is_compressed: bool,
    ) -> None:
        body = f"<p>{keyword}</p>".encode(encoding)
        headers = [f"Content-Type: {content_type}"]
        if is_compressed:
            body, headers = gzipped(body), [*headers, "Content-Encoding: gzip"]
        server.scripts["/"] = answer("200 OK", *headers, body=body)
        assert sum_up(await ask(dialer, server.url + "/", required_keyword=keyword)) == "up"
        assert sum_up(await ask(dialer, server.url + "/", forbidden_keyword=keyword)) == "keyword_forbidden"
        assert (
            sum_up(await ask(dialer, server.url + "/", required_keyword=keyword + "?")) == "keyword_missing"
        )


@asynccontextmanager
async def serving_tls(certificate: trustme.LeafCert) -> AsyncIterator[tuple[ScriptedServer, ssl.SSLContext]]:
    """Serve, also to those who resume a session although the certificate was exchanged."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    async with scripted_server(tls=context) as server:
        yield server, context


class TestCertificate:
    @pytest.fixture
    async def dialer(self, authority: trustme.CA, tmp_path: Path) -> AsyncIterator[Dialer]:
        authority.cert_pem.write_to_path(tmp_path / "authorities.pem")
        async with name_server() as names:
            names.know(HOST, ["127.0.0.1"])
            async with open_dialer(
                allowed_networks=("127.0.0.1/32",),
                dns_servers=(names.address,),
                ca_file=str(tmp_path / "authorities.pem"),
            ) as opened:
                yield opened

    @pytest.mark.parametrize("host", [HOST, "127.0.0.1"])
    async def test_that_names_its_host_in_the_common_name_alone_is_refused(
        self, authority: trustme.CA, dialer: Dialer, host: str
    ) -> None:
        for certificate, error in (
            (authority.issue_cert(common_name=host), "tls_invalid"),
            (authority.issue_cert("ana@shop.example", common_name=host), "tls_invalid"),
            (authority.issue_cert(host, common_name="other.example"), None),
        ):
            async with serving_tls(certificate) as (server, _):
                finding = await ask(dialer, f"https://{host}:{server.port}/")
            assert finding.error == error
            assert finding.message == ("The certificate is for another host" if error else None)

    @pytest.mark.parametrize(("days", "error"), [(3, "tls_expiring"), (30, None)])
    async def test_of_an_authority_that_ends_first_is_the_one_that_is_warned_of(
        self,
        authority: trustme.CA,
        dialer: Dialer,
        monkeypatch: pytest.MonkeyPatch,
        days: int,
        error: str | None,
    ) -> None:
        ends_at = datetime.now(UTC).replace(microsecond=0) + timedelta(days=days, minutes=5)
        monkeypatch.setattr(trustme, "DEFAULT_EXPIRY", ends_at)
        intermediate = authority.create_child_ca()
        certificate = intermediate.issue_cert(HOST, not_after=ends_at + timedelta(days=300))
        async with serving_tls(certificate) as (server, _):
            finding = await ask(dialer, f"https://{HOST}:{server.port}/")
        assert (finding.error, finding.certificate_expires_at) == (error, ends_at)
        if error:
            assert finding.message == "An authority's certificate in the chain expires in 3 days"

    async def test_of_the_authority_that_we_trust_counts_as_well(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ends_at = datetime.now(UTC).replace(microsecond=0) + timedelta(days=5, minutes=5)
        monkeypatch.setattr(trustme, "DEFAULT_EXPIRY", ends_at)
        authority = trustme.CA()
        authority.cert_pem.write_to_path(tmp_path / "own.pem")
        certificate = authority.issue_cert("127.0.0.1", not_after=ends_at + timedelta(days=300))
        async with (
            serving_tls(certificate) as (server, _),
            open_dialer(allowed_networks=("127.0.0.1/32",), ca_file=str(tmp_path / "own.pem")) as dialer,
        ):
            finding = await ask(dialer, f"{server.url}/")
        assert (finding.error, finding.certificate_expires_at) == ("tls_expiring", ends_at)

    async def test_of_an_authority_that_has_expired_is_named_with_its_day(
        self, authority: trustme.CA, dialer: Dialer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        expired_at = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
        monkeypatch.setattr(trustme, "DEFAULT_EXPIRY", expired_at)
        intermediate = authority.create_child_ca()
        certificate = intermediate.issue_cert(HOST, not_after=datetime.now(UTC) + timedelta(days=300))
        async with serving_tls(certificate) as (server, _):
            finding = await ask(dialer, f"https://{HOST}:{server.port}/")
        assert finding.message == "An authority's certificate in the chain expired on 2026-01-02"
        assert finding.certificate_expires_at == expired_at

    async def test_behind_a_redirect_is_named_if_it_ends_first(
        self, authority: trustme.CA, dialer: Dialer
    ) -> None:
        soon = datetime.now(UTC) + timedelta(days=2, minutes=5)
        async with (
            serving_tls(authority.issue_cert(HOST)) as (first, _),
            serving_tls(authority.issue_cert(HOST, not_after=soon)) as (second, _),
        ):
            first.scripts["/"] = redirect(f"https://{HOST}:{second.port}/")
            finding = await ask(dialer, f"https://{HOST}:{first.port}/")
        assert finding.message == "The certificate expires in 2 days"

    @pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
    async def test_that_is_exchanged_is_seen_at_the_next_check_though_the_server_would_resume(
        self, authority: trustme.CA, dialer: Dialer, version: ssl.TLSVersion
    ) -> None:
        ago = datetime(2026, 1, 2, tzinfo=UTC)
        async with serving_tls(authority.issue_cert(HOST)) as (server, context):
            context.maximum_version = version
            for certificate, message in (
                (authority.issue_cert(HOST), None),
                (authority.issue_cert(HOST, not_before=ago, not_after=ago), "The certificate expired on"),
                (authority.issue_cert(HOST), None),
                (authority.issue_cert("other.example"), "The certificate is for another host"),
                (authority.issue_cert(HOST), None),
                (trustme.CA().issue_cert(HOST), "The certificate's authority is not known"),
            ):
                certificate.configure_cert(context)
                finding = await ask(dialer, f"https://{HOST}:{server.port}/")
                assert (finding.message or "").startswith(message or "")
                assert bool(finding.message) == bool(message)
            assert context.session_stats()["hits"] == 0
