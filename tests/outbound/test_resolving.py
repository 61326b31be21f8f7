"""Resolving names: what they resolve to, when, and that addresses are judged before any connection."""

from __future__ import annotations

import asyncio
import errno
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from monitoring.outbound.failures import FailureCode
from monitoring.outbound.resolving import Resolver
from outbound.asking import ask, code_of, is_blocked, no_descriptor_left, open_http_client, until
from outbound.scripted_servers import redirect

if TYPE_CHECKING:
    from monitoring.outbound.client import HttpClient
    from outbound.name_server import NameServer
    from outbound.scripted_servers import ScriptedServer

pytestmark = pytest.mark.anyio

A = 1
SYSTEM = re.findall(r"^nameserver\s+(\S+)", Path("/etc/resolv.conf").read_text(), re.MULTILINE)


class TestName:
    async def test_is_sent_as_it_is_while_its_address_is_connected_to(
        self, client: HttpClient, names: NameServer, server: ScriptedServer
    ) -> None:
        names.know("shop.example", [server.host])
        exchange = await ask(client, f"http://Shop.example:{server.port}/")
        assert exchange.status_code == 200
        assert exchange.timings.dns_ms is not None
        assert f"\r\nHost: shop.example:{server.port}\r\n".encode() in server.requests[0]

    async def test_is_resolved_once_and_what_was_judged_is_connected_to(
        self, client: HttpClient, names: NameServer, server: ScriptedServer
    ) -> None:
        names.know("rebinding.example", [server.host], ["127.0.0.1"])
        url = f"http://rebinding.example:{server.port}/"
        assert (await ask(client, url)).status_code == 200
        assert names.questions["rebinding.example", A] == 1
        assert is_blocked(await ask(client, url))

    async def test_is_asked_for_as_it_is_whatever_domains_this_network_searches(
        self, monkeypatch: pytest.MonkeyPatch, names: NameServer
    ) -> None:
        monkeypatch.setenv("LOCALDOMAIN", "corp.example")
        monkeypatch.setenv("RES_OPTIONS", "ndots:5")
        names.know("www.shop.example.corp.example", ["127.0.0.1"])
        async with open_http_client(dns_servers=(names.address,)) as client:
            for host in ("www.shop.example", "intranet"):
                assert code_of(await ask(client, f"http://{host}/")) == FailureCode.DNS_FAILURE
        assert {name for name, _ in names.questions} == {"www.shop.example", "intranet"}

    async def test_is_judged_anew_at_each_hop(
        self, client: HttpClient, names: NameServer, server: ScriptedServer, forbidden_server: ScriptedServer
    ) -> None:
        names.know("rebinding.example", [server.host], [forbidden_server.host])
        server.scripts["/"] = redirect(f"http://rebinding.example:{forbidden_server.port}/")
        url = f"http://rebinding.example:{server.port}/"
        assert is_blocked(await ask(client, url, follow_redirects=True))
        assert names.questions["rebinding.example", A] == 2
        assert forbidden_server.connections == 0

    @pytest.mark.parametrize(
        "private", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:10.0.0.1"]
    )
    @pytest.mark.parametrize("is_first", [True, False])
    async def test_with_one_refused_address_is_refused(
        self, client: HttpClient, names: NameServer, server: ScriptedServer, *, private: str, is_first: bool
    ) -> None:
        mixed = [private, server.host] if is_first else [server.host, private]
        names.know("mixed.example", mixed)
        assert is_blocked(await ask(client, f"http://mixed.example:{server.port}/"))
        assert server.connections == 0

    async def test_of_this_machine_is_refused(
        self, client: HttpClient, forbidden_server: ScriptedServer
    ) -> None:
        for host in ("localhost", "LOCALHOST.", "sub.localhost"):
            exchange = await ask(client, f"http://{host}:{forbidden_server.port}/")
            assert is_blocked(exchange) or code_of(exchange) == FailureCode.DNS_FAILURE
        assert is_blocked(await ask(client, f"http://localhost:{forbidden_server.port}/"))
        assert forbidden_server.connections == 0

    async def test_that_does_not_exist_is_a_failure_of_dns(self, client: HttpClient) -> None:
        exchange = await ask(client, "http://nowhere.example/")
        assert code_of(exchange) == FailureCode.DNS_FAILURE
        assert exchange.failure
        assert exchange.failure.message == "The host's name does not exist"
        assert exchange.timings.total_ms is not None

    async def test_without_address_is_a_failure_of_dns(self, client: HttpClient, names: NameServer) -> None:
        names.know("empty.example")
        exchange = await ask(client, "http://empty.example/")
        assert code_of(exchange) == FailureCode.DNS_FAILURE
        assert exchange.failure
        assert exchange.failure.message == "The host's name has no address"

    async def test_that_the_name_server_fails_at_is_a_failure_of_dns(
        self, client: HttpClient, names: NameServer
    ) -> None:
        names.broken.add("broken.example")
        assert code_of(await ask(client, "http://broken.example/")) == FailureCode.DNS_FAILURE

    async def test_that_nobody_answers_for_is_a_timeout(self, client: HttpClient, names: NameServer) -> None:
        names.answers["silent.example"] = None
        exchange = await ask(client, "http://silent.example/", timeout_seconds=0.2)
        assert code_of(exchange) == FailureCode.TIMEOUT
        assert exchange.failure
        assert exchange.failure.message == "No answer within 0.2 seconds (while resolving the name)"

    async def test_of_many_addresses_is_refused_for_the_last_of_them(
        self, client: HttpClient, names: NameServer, server: ScriptedServer
    ) -> None:
        names.know("mixed.example", [server.host] * 19 + ["127.0.0.1"])
        assert is_blocked(await ask(client, f"http://mixed.example:{server.port}/"))
        assert server.connections == 0


class TestResolverThatCannotAsk:
    async def test_for_want_of_sockets_says_nothing_about_the_name(
        self, client: HttpClient, names: NameServer, server: ScriptedServer
    ) -> None:
        names.know("shop.example", [server.host])
        with no_descriptor_left(), pytest.raises(OSError, match="Too many open files") as raised:
            await ask(client, f"http://shop.example:{server.port}/")
        assert raised.value.errno == errno.EMFILE
        assert (await ask(client, f"http://shop.example:{server.port}/")).status_code == 200

    async def test_since_it_was_closed_says_nothing_about_the_name(self, names: NameServer) -> None:
        names.answers["silent.example"] = None
        async with Resolver((names.address,)) as resolver:
            resolving = asyncio.ensure_future(resolver.resolve("silent.example"))
            await until(lambda: bool(names.questions))
        with pytest.raises(OSError, match="canceled") as raised:
            await resolving
        assert raised.value.errno == errno.ECANCELED

    async def test_because_nothing_listens_there_fails_as_dns(self) -> None:
        async with open_http_client(dns_servers=("127.0.0.1:1",)) as client:
            assert code_of(await ask(client, "http://shop.example/")) == FailureCode.DNS_FAILURE


class TestNameServers:
    @pytest.mark.parametrize(
        ("written", "host", "port"),
        [
            ("10.0.0.53", "10.0.0.53", 53),
            ("10.0.0.53:5353", "10.0.0.53", 5353),
            ("fd00::53", "fd00::53", 53),
            ("[fd00::53]", "fd00::53", 53),
            ("[fd00::53]:5353", "fd00::53", 5353),
        ],
    )
    async def test_are_those_of_the_settings(self, written: str, host: str, port: int) -> None:
        async with Resolver((written,)) as resolver:
            assert [(each.host, each.port) for each in resolver.name_servers] == [(host, port)]

    async def test_are_the_systems_by_default(self) -> None:
        async with Resolver() as resolver:
            assert {each.host for each in resolver.name_servers} >= set(SYSTEM[:1])
            assert {each.port for each in resolver.name_servers} == {53}
