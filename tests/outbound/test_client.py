"""The result of a request, whatever the other side does."""

from __future__ import annotations

import asyncio
import gc
import gzip
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import pytest

from monitoring.outbound.answers import MAX_HEAD_BYTES, AnswerReader
from monitoring.outbound.exchanges import OutboundRequest
from monitoring.outbound.failures import FailureCode
from outbound.asking import ask, code_of, is_blocked, open_http_client, open_sockets, until
from outbound.scripted_servers import (
    answer,
    dripping,
    forever,
    redirect,
    scripted_server,
    silence,
    then_silence,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from monitoring.outbound.client import HttpClient
    from outbound.name_server import NameServer
    from outbound.scripted_servers import Script, ScriptedServer

gzipped = partial(gzip.compress, mtime=0)  # the same in every process, since ids of tests are made of it
pytestmark = pytest.mark.anyio

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
MIB = 1_048_576


class TestMemory:
    @pytest.mark.parametrize("reads_body", [True, False])
    async def test_keeps_nothing_of_an_answer_without_waiting_for_the_garbage_collector(
        self, client: HttpClient, server: ScriptedServer, *, reads_body: bool
    ) -> None:
        server.scripts["/"] = answer(body=b"x" * MIB)
        gc.collect()
        gc.disable()
        try:
            assert (await ask(client, f"{server.url}/", reads_body=reads_body)).failure is None
            await until(lambda: not any(isinstance(each, AnswerReader) for each in gc.get_objects()))
        finally:
            gc.enable()


class TestAnswer:
    @pytest.mark.parametrize(
        ("script", "status_code", "body"),
        [
            (answer(body=b"hello"), 200, b"hello"),
            (answer("503 Service Unavailable", body=b"away"), 503, b"away"),
            (b"HTTP/1.1 204 No Content\r\n\r\n", 204, b""),
            (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", 304, b""),
            (b"HTTP/1.1 200\r\nContent-Length: 1\r\n\r\na", 200, b"a"),
            (b"HTTP/1.1 999 What\r\nContent-Length: 0\r\n\r\n", 999, b""),
            (b"HTTP/1.0 200 OK\r\n\r\nuntil the end", 200, b"until the end"),
            (b"HTTP/1.1 200 OK\r\n\r\nuntil the end", 200, b"until the end"),
            (b"HTTP/1.1 200 OK\nContent-Length: 2\n\nlf", 200, b"lf"),
            (b"http/1.1  200 OK\r\nX A : b\r\nContent-Length : 2, 2\r\n\r\nok", 200, b"ok"),
            (b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nuntil the end", 200, b"until the end"),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nuntil the end", 200, b"until the end"),
            (b"HTTP/1.1 200 OK\r\nX-Last: without an empty line\r\n", 200, b""),
            (CHUNKED.replace(b"\r", b"") + b"2\nok\n0\n\n", 200, b"ok"),
            (CHUNKED + b"2;x=y\r\nab\r\n1\r\nc\r\n0\r\nTrailer: yes\r\n\r\n", 200, b"abc"),
            (
                b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n" + answer(body=b"x"),
                200,
                b"x",
            ),
            (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n!", 101, b""),
            (answer(body=b"one") + answer("500 Two", body=b"two"), 200, b"one"),
            (answer("200 OK", "Upgrade: h2,h2c", "Connection: Upgrade", body=b"Apache"), 200, b"Apache"),
            (answer("200 OK", "X-Folded: one", " two", body=b"x"), 200, b"x"),
            (answer("200 OK", "Content-Encoding: gzip", body=gzipped(b"packed")), 200, b"packed"),
            (
                answer(
                    "200 OK",
                    "Content-Encoding: gzip",
                    "Content-Encoding: identity",
                    body=gzipped(b"packed ") + gzipped(b"twice"),
                ),
                200,
                b"packed twice",
            ),
        ],
    )
    async def test_is_read_however_it_is_framed(
        self, client: HttpClient, server: ScriptedServer, script: bytes, status_code: int, body: bytes
    ) -> None:
        server.scripts["/"] = script
        exchange = await ask(client, f"{server.url}/")
        assert (exchange.failure, exchange.status_code, exchange.body) == (None, status_code, body)

    async def test_to_head_ends_with_its_headers(self, client: HttpClient, server: ScriptedServer) -> None:
        server.scripts["/"] = then_silence(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        exchange = await ask(client, f"{server.url}/", method="HEAD")
        assert (exchange.status_code, exchange.body) == (200, b"")

    async def test_ends_where_it_says_and_not_with_its_connection(
        self, client: HttpClient, server: ScriptedServer
    ) -> None:
        server.scripts["/"] = then_silence(answer(body=b"enough"))
        assert (await ask(client, f"{server.url}/")).body == b"enough"

    async def test_has_timings_of_each_phase_that_there_was(
        self, client: HttpClient, server: ScriptedServer
    ) -> None:
        timings = (await ask(client, f"{server.url}/")).timings
        assert timings.dns_ms is None
        assert timings.tls_ms is None
        assert timings.connect_ms is not None
        assert timings.first_byte_ms is not None
        assert timings.total_ms is not None
        assert 0 < timings.connect_ms + timings.first_byte_ms < timings.total_ms

    async def test_is_not_mixed_with_the_interim_one_before_it(
        self, client: HttpClient, server: ScriptedServer
    ) -> None:
        interim = b"HTTP/1.1 103 Early\r\nContent-Encoding: gzip\r\nLocation: /next\r\n\r\n"
        server.scripts["/"] = interim + answer("302 Found", body=b"plain")
        exchange = await ask(client, f"{server.url}/", follow_redirects=True)
        assert (exchange.status_code, exchange.body) == (302, b"plain")

    async def test_ends_with_its_head_if_nobody_reads_its_body(
        self, client: HttpClient, server: ScriptedServer
    ) -> None:
        server.scripts["/"] = then_silence(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", b"hello")
        exchange = await ask(client, f"{server.url}/", reads_body=False)
        assert (exchange.status_code, exchange.body) == (200, b"")
        await until(lambda: not server.open_connections)

    async def test_without_its_body_is_an_answer_even_if_that_is_broken(
        self, client: HttpClient, server: ScriptedServer
    ) -> None:
        server.scripts["/"] = answer("200 OK", "Content-Encoding: gzip", body=b"no gzip")
        exchange = await ask(client, f"{server.url}/", reads_body=False)
        assert (exchange.status_code, exchange.body) == (200, b"")

    @pytest.mark.parametrize(
        "script",
        [
            b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n",
            b"220 mail.example ESMTP\r\n",
            b"\x15\x03\x01\x00\x02\x02\x16",
            b"<html>hello</html>",
            b"HTTP/1.1 abc OK\r\n\r\n",
            b"HTTP/1.1 099 Low\r\nContent-Length: 0\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nok",
            CHUNKED + b"zz\r\n",
        ],
    )
    async def test_that_is_not_http_is_invalid(
        self, client: HttpClient, server: ScriptedServer, script: bytes
    ) -> None:
        server.scripts["/"] = script
        assert code_of(await ask(client, f"{server.url}/")) == FailureCode.INVALID_RESPONSE

    @pytest.mark.parametrize(
        "script",
        [
            b"",
            b"HTTP/1.1 200 OK\r\nContent-",
            b"HTTP/1.1 100 Continue\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfive",
            CHUNKED + b"5\r\nfive",
        ],
    )
    async def test_that_breaks_off_is_a_failed_connection(
        self, client: HttpClient, server: ScriptedServer, script: bytes
    ) -> None:
        server.scripts["/"] = script
        assert code_of(await ask(client, f"{server.url}/")) == FailureCode.CONNECTION_FAILED

    async def test_in_broken_gzip_is_invalid(self, client: HttpClient, server: ScriptedServer) -> None:
        server.scripts["/"] = answer("200 OK", "Content-Encoding: gzip", body=gzipped(b"a" * 99)[:-8])
        assert code_of(await ask(client, f"{server.url}/")) == FailureCode.INVALID_RESPONSE


class TestCap:
    @pytest.mark.parametrize(
        "script",
        [
            answer(body=bytes(MIB + 1)),
            forever(b"HTTP/1.1 200 OK\r\n\r\n", bytes(65536)),
            forever(
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                b"10000\r\n" + bytes(65536) + b"\r\n",
            ),
            answer("200 OK", "Content-Encoding: gzip", body=gzipped(bytes(20 * MIB))),
        ],
        ids=["length", "endless", "endless chunks", "bomb"],
    )
    async def test_of_the_body_cuts_it(
        self, client: HttpClient, server: ScriptedServer, script: Script
    ) -> None:
        server.scripts["/"] = script
        exchange = await ask(client, f"{server.url}/")
        assert (exchange.status_code, exchange.body, exchange.is_cut) == (200, bytes(MIB), True)
        await until(lambda: not server.open_connections)

    async def test_of_the_body_is_one_mebibyte(self, client: HttpClient, server: ScriptedServer) -> None:
        server.scripts["/"] = answer(body=bytes(MIB))
        server.scripts["/packed"] = answer("200 OK", "Content-Encoding: gzip", body=gzipped(bytes(MIB)))
        for path in ("/", "/packed"):
            exchange = await ask(client, server.url + path)
            assert (len(exchange.body), exchange.is_cut) == (MIB, False)

    @pytest.mark.parametrize("reads_body", [True, False])
    @pytest.mark.parametrize(
        "script",
        [
            forever(b"HTTP/1.1 200 OK\r\n", b"X-Endless: " + b"yes" * 100 + b"\r\n"),
            forever(b"HTTP/1.1 200 OK\r\nX-Endless: ", b"yes" * 1000),
            forever(b"HTTP/1.1 200 ", b"O" * 1000),
            forever(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100),
            b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * MAX_HEAD_BYTES + b"\r\nContent-Length: 0\r\n\r\n",
        ],
        ids=["headers", "value", "reason", "interim", "one too long"],
    )
    async def test_of_the_head_holds_for_each_part_of_it(
        self, client: HttpClient, server: ScriptedServer, script: Script, *, reads_body: bool
    ) -> None:
        server.scripts["/"] = script
        exchange = await ask(client, f"{server.url}/", reads_body=reads_body)
        assert code_of(exchange) == FailureCode.INVALID_RESPONSE
        assert exchange.failure
        assert exchange.failure.message == "The answer's headers are larger than 262,144 bytes"

    async def test_of_a_chunk_s_line_ends_an_answer(self, client: HttpClient, server: ScriptedServer) -> None:
        server.scripts["/"] = forever(CHUNKED + b"1;", b"extension" * 100)
        assert code_of(await ask(client, f"{server.url}/")) == FailureCode.INVALID_RESPONSE
        await until(lambda: not server.open_connections)

    async def test_is_not_needed_for_trailers_which_nobody_reads(
        self, client: HttpClient, server: ScriptedServer
    ) -> None:
        server.scripts["/"] = forever(CHUNKED + b"1\r\na\r\n0\r\n", b"T: t\r\n" * 100)
        assert (await ask(client, f"{server.url}/")).body == b"a"
        await until(lambda: not server.open_connections)

    async def test_of_all_that_comes_ends_an_answer_that_is_hardly_anything_but_framing(
        self, client: HttpClient, server: ScriptedServer
    ) -> None:
        server.scripts["/"] = forever(CHUNKED, b"1;" + b"x" * 16_000 + b"\r\na\r\n")
        exchange = await ask(client, f"{server.url}/")
        assert code_of(exchange) == FailureCode.INVALID_RESPONSE
        assert exchange.failure
        assert exchange.failure.message == "The answer is larger than 8,388,608 bytes with its framing"
        await until(lambda: not server.open_connections)

    async def test_of_all_that_comes_leaves_room_for_a_whole_body_in_the_smallest_chunks(
        self, client: HttpClient, server: ScriptedServer
    ) -> None:
        server.scripts["/"] = CHUNKED + b"1\r\na\r\n" * MIB + b"0\r\n\r\n"
        assert (await ask(client, f"{server.url}/", timeout_seconds=60)).body == b"a" * MIB

    async def test_of_what_is_no_body_leaves_room_for_large_headers(
        self, client: HttpClient, server: ScriptedServer
    ) -> None:
        server.scripts["/"] = answer("200 OK", f"X-Long: {'x' * 260_000}", body=b"ok")
        assert (await ask(client, f"{server.url}/")).body == b"ok"

    async def test_of_time_covers_everything_and_the_sentence_tells_where_it_went(
        self, client: HttpClient, server: ScriptedServer
    ) -> None:
        server.scripts = {
            "/silent": silence,
            "/head": dripping(b"HTTP/1.1 200 OK\r\n", b"X-Slow: yes\r\n"),
            "/body": dripping(b"HTTP/1.1 200 OK\r\n\r\n", b"x"),
        }
        for path, phase in {
            "/silent": "while waiting for the answer",
            "/head": "while reading the answer",
            "/body": "while reading the answer",
        }.items():
            exchange = await ask(client, server.url + path, timeout_seconds=0.15)
            assert code_of(exchange) == FailureCode.TIMEOUT
            assert exchange.failure
            assert exchange.failure.message == f"No answer within 0.15 seconds ({phase})"
            assert exchange.timings.connect_ms is not None
            assert exchange.timings.total_ms is not None

    async def test_of_time_is_not_renewed_by_redirects(
        self, client: HttpClient, server: ScriptedServer
    ) -> None:
        async def slowly() -> AsyncIterator[bytes]:
            await asyncio.sleep(0.1)
            yield redirect("/")

        server.scripts["/"] = slowly
        exchange = await ask(client, f"{server.url}/", timeout_seconds=0.35, follow_redirects=True)
        assert code_of(exchange) == FailureCode.TIMEOUT


class TestRedirect:
    async def test_is_the_answer_unless_it_is_to_be_followed(
        self, client: HttpClient, server: ScriptedServer
    ) -> None:
        server.scripts["/"] = redirect("/next")
        assert (await ask(client, f"{server.url}/")).status_code == 302
        assert (await ask(client, f"{server.url}/", follow_redirects=True)).status_code == 200

    async def test_is_followed_ten_times_and_no_more(
        self, client: HttpClient, server: ScriptedServer
    ) -> None:
        server.scripts = {f"/{left}": redirect(f"/{left - 1}") for left in range(1, 12)}
        assert (await ask(client, f"{server.url}/10", follow_redirects=True)).status_code == 200
        exchange = await ask(client, f"{server.url}/11", follow_redirects=True)
        assert code_of(exchange) == FailureCode.TOO_MANY_REDIRECTS
        assert len(server.requests) == 11 + 11

    async def test_that_leads_to_itself_ends(self, client: HttpClient, server: ScriptedServer) -> None:
        server.scripts["/"] = redirect("/")
        exchange = await ask(client, f"{server.url}/", follow_redirects=True)
        assert code_of(exchange) == FailureCode.TOO_MANY_REDIRECTS

    async def test_without_location_is_the_answer(self, client: HttpClient, server: ScriptedServer) -> None:
        server.scripts["/"] = answer("302 Found", body=b"nowhere")
        exchange = await ask(client, f"{server.url}/", follow_redirects=True)
        assert (exchange.status_code, exchange.body) == (302, b"nowhere")

    async def test_adds_the_timings_of_its_hops_up(
        self, client: HttpClient, names: NameServer, server: ScriptedServer
    ) -> None:
        names.know("shop.example", [server.host])
        server.scripts["/"] = redirect(f"{server.url}/next")
        url = f"http://shop.example:{server.port}/"
        timings = (await ask(client, url, follow_redirects=True)).timings
        assert timings.dns_ms is not None  # the last hop has no name
        assert timings.connect_ms is not None
        assert timings.first_byte_ms is not None
        assert timings.total_ms is not None
        assert timings.dns_ms + timings.connect_ms + timings.first_byte_ms < timings.total_ms

    async def test_is_followed_whatever_its_body_is(self, client: HttpClient, server: ScriptedServer) -> None:
        head = b"HTTP/1.1 302 Found\r\nLocation: /next\r\nContent-Encoding: br\r\n\r\n"
        server.scripts["/"] = forever(head, bytes(65536))
        assert (await ask(client, f"{server.url}/", follow_redirects=True)).status_code == 200

    async def test_to_another_origin_gets_no_body_and_no_header_that_may_be_a_secret(
        self, client: HttpClient, server: ScriptedServer
    ) -> None:
        async with scripted_server("127.0.0.3") as other:
            server.scripts["/"] = redirect(f"{other.url}/back", "307 Temporary Redirect")
            other.scripts["/back"] = redirect(f"{server.url}/end", "307 Temporary Redirect")
            headers = {"X-Key": "secret", "User-Agent": "mine"}
            exchange = await ask(
                client, f"{server.url}/", method="POST", headers=headers, body=b"words", follow_redirects=True
            )
        assert exchange.status_code == 200
        first, last = server.requests
        assert b"X-Key: secret" in first
        assert first.endswith(b"\r\n\r\nwords")
        for request in (other.requests[0], last):
            assert request.startswith(b"POST ")
            assert b"secret" not in request
            assert b"User-Agent: mine\r\n" in request
            assert request.endswith(b"\r\n\r\n")

    async def test_with_another_method_forgets_the_body(
        self, client: HttpClient, server: ScriptedServer
    ) -> None:
        server.scripts["/"] = redirect("/next", "303 See Other")
        await ask(client, f"{server.url}/", method="POST", body=b"words", follow_redirects=True)
        assert server.requests[1].startswith(b"GET /next ")
        assert b"Content-Length" not in server.requests[1]

    @pytest.mark.parametrize(
        "location",
        [
            "http://127.0.0.1:{port}/",
            "http://127.1:{port}/",
            "http://0x7f000001:{port}/",
            "http://2130706433:{port}/",
            "http://017700000001:{port}/",
            "http://127.0.0.1.:{port}/",
            "http://%31%32%37.0.0.1:{port}/",
            "http://\uff11\uff12\uff17.0.0.1:{port}/",
            "http://[::ffff:127.0.0.1]:{port}/",
            "http://[::ffff:7f00:1]:{port}/",
            "http://[::1]:{port}/",
            "http://[::]:{port}/",
            "http://0.0.0.0:{port}/",
            "http://0:{port}/",
            "http://localhost:{port}/",
            "//127.0.0.1:{port}/",
            "https://127.0.0.1:{port}/",
            "http://169.254.169.254/latest/meta-data/",
            "http://[fd00:ec2::254]/latest/meta-data/",
            "http://10.0.0.1/",
        ],
    )
    async def test_to_a_refused_address_is_blocked_in_whatever_form(
        self, client: HttpClient, server: ScriptedServer, forbidden_server: ScriptedServer, location: str
    ) -> None:
        target = location.format(port=forbidden_server.port)
        server.scripts["/"] = f"HTTP/1.1 302 Found\r\nLocation: {target}\r\n\r\n".encode()
        assert is_blocked(await ask(client, f"{server.url}/", follow_redirects=True))
        if not target.startswith("//"):
            assert is_blocked(await ask(client, target))
        assert forbidden_server.connections == 0

    @pytest.mark.parametrize(
        "location",
        [
            "ftp://127.0.0.2/",
            "file:///etc/passwd",
            "javascript:1",
            "http://user:word@127.0.0.2/",
            "http://a b/",
        ],
    )
    async def test_to_what_is_no_plain_url_is_an_invalid_answer(
        self, client: HttpClient, server: ScriptedServer, location: str
    ) -> None:
        server.scripts["/"] = redirect(location)
        exchange = await ask(client, f"{server.url}/", follow_redirects=True)
        assert code_of(exchange) == FailureCode.INVALID_RESPONSE


class TestRefusedAddress:
    async def test_reads_the_same_whether_or_not_something_listens_there(
        self, client: HttpClient, forbidden_server: ScriptedServer
    ) -> None:
        listening = await ask(client, f"{forbidden_server.url}/")
        closed = await ask(client, "http://127.0.0.1:1/")
        private = await ask(client, "https://10.255.255.1/")
        no_url = await ask(client, "ftp://127.0.0.2/")
        assert is_blocked(listening)
        assert listening == closed == private == no_url
        assert forbidden_server.connections == 0


class TestEnvironment:
    async def test_of_proxies_and_netrc_changes_nothing(
        self,
        monkeypatch: pytest.MonkeyPatch,
        tmp_path: Path,
        server: ScriptedServer,
        forbidden_server: ScriptedServer,
    ) -> None:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, forbidden_server.url)
        (tmp_path / ".netrc").write_text(f"machine {server.host} login alice password secret\n")
        (tmp_path / ".netrc").chmod(0o600)
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
        server.scripts["/"] = redirect("/next")
        async with open_http_client(allowed_networks=("127.0.0.0/8",)) as client:
            exchange = await ask(client, f"{server.url}/", follow_redirects=True)
        assert exchange.status_code == 200
        assert forbidden_server.connections == 0
        assert len(server.requests) == 2
        for request in server.requests:
            assert b"Authorization" not in request


class TestCookie:
    async def test_comes_back_to_its_site_within_one_check(
        self, client: HttpClient, server: ScriptedServer
    ) -> None:
        async with scripted_server("127.0.0.3") as other:
            server.scripts = {
                "/": answer(
                    "302 Found", "Set-Cookie: a=1; Path=/", "set-cookie: b=2", f"Location: {other.url}/x"
                ),
                "/back": answer("302 Found", "Set-Cookie: a=; Max-Age=0; Path=/", "Location: /end"),
            }
            other.scripts["/x"] = answer("302 Found", "Set-Cookie: c=3", f"Location: {server.url}/back")
            headers = {"Cookie": "mine=secret"}
            for _ in range(2):
                exchange = await ask(client, f"{server.url}/", headers=headers, follow_redirects=True)
                assert exchange.status_code == 200
        cookies = [
            [line for line in request.decode().splitlines() if line.startswith("Cookie:")]
            for request in (*server.requests, *other.requests)
        ]
        once = [["Cookie: mine=secret"], ["Cookie: a=1; b=2"], ["Cookie: b=2"]]
        assert cookies == [*once, *once, [], []]

    async def test_joins_those_that_the_caller_sends(
        self, client: HttpClient, server: ScriptedServer
    ) -> None:
        server.scripts["/"] = answer("302 Found", "Set-Cookie: a=new", "Location: /next")
        headers = {"cookie": "a=old; mine=secret"}
        await ask(client, f"{server.url}/", headers=headers, follow_redirects=True)
        assert b"Cookie: mine=secret; a=new\r\n" in server.requests[1]

    async def test_without_which_a_site_redirects_to_itself_lets_it_end(
        self, client: HttpClient, server: ScriptedServer
    ) -> None:
        async def gate() -> AsyncIterator[bytes]:
            is_back = b"Cookie: a=1" in server.requests[-1]
            yield answer() if is_back else answer("302 Found", "Set-Cookie: a=1", "Location: /")

        server.scripts["/"] = gate
        assert (await ask(client, f"{server.url}/", follow_redirects=True)).status_code == 200


class TestManyAtOnce:
    async def test_a_thousand_are_answered_each_on_a_connection_of_its_own(
        self, client: HttpClient, server: ScriptedServer
    ) -> None:
        server.scripts = {f"/{number}": answer(body=b"%d" % number) for number in range(1000)}
        before = open_sockets()
        exchanges = await asyncio.gather(
            *(ask(client, f"{server.url}/{number}", timeout_seconds=60) for number in range(1000))
        )
        assert [exchange.body for exchange in exchanges] == [b"%d" % number for number in range(1000)]
        assert server.connections == 1000
        await until(lambda: open_sockets() <= before)

    async def test_wait_for_a_connection_to_spare_and_their_time_does_not_run_meanwhile(
        self, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("monitoring.outbound.dialer.MAX_CONNECTIONS", 2)
        server.scripts["/silent"] = silence
        async with open_http_client(allowed_networks=("127.0.0.2/32",)) as client:
            exchanges = await asyncio.gather(
                *(ask(client, f"{server.url}/silent", timeout_seconds=0.6) for _ in range(4)),
                ask(client, f"{server.url}/", timeout_seconds=1),
            )
        assert [code_of(exchange) for exchange in exchanges[:4]] == [FailureCode.TIMEOUT] * 4
        assert exchanges[4].status_code == 200


class TestCancelling:
    @pytest.mark.parametrize("path", ["/silent", "/head", "/body"])
    async def test_frees_the_connection(self, client: HttpClient, server: ScriptedServer, path: str) -> None:
        server.scripts = {
            "/silent": silence,
            "/head": then_silence(b"HTTP/1.1 200 OK\r\nX-"),
            "/body": then_silence(b"HTTP/1.1 200 OK\r\n\r\nbody"),
        }
        before = open_sockets()
        sending = asyncio.ensure_future(ask(client, server.url + path))
        await until(lambda: bool(server.requests))
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        await until(lambda: open_sockets() <= before)

    async def test_happens_to_what_is_under_way_when_the_client_is_closed(
        self, server: ScriptedServer
    ) -> None:
        server.scripts["/"] = silence
        before = open_sockets()
        async with open_http_client(allowed_networks=("127.0.0.2/32",)) as client:
            sending = [asyncio.ensure_future(ask(client, f"{server.url}/")) for _ in range(20)]
            await until(lambda: len(server.requests) == 20)
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*sending)
        assert all(task.cancelled() for task in sending)
        await until(lambda: open_sockets() <= before)


class TestRequestThatCannotBeWritten:
    async def test_is_the_caller_s_mistake(self, client: HttpClient, server: ScriptedServer) -> None:
        request = OutboundRequest(
            method="GET", url=f"{server.url}/", headers={"X": "a\r\nb"}, timeout_seconds=10
        )
        with pytest.raises(ValueError, match="not a header"):
            await client.send(request)
        assert server.connections == 0
