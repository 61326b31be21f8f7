"""No type of monitor reaches inside: one table of forms, tried with every type, redirect and document."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from checks.probes.probed import ask, probe_of
from monitoring.checks.probes.protocol import Finding
from monitoring.checks.probes.registry import PROBES
from monitoring.monitors.contracts.fetching import UnfetchedDocumentError, fetch_rules
from monitoring.monitors.health import Outcome
from monitoring.outbound.dialer import open_dialer
from outbound.name_server import name_server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from monitoring.outbound.dialer import Dialer
    from outbound.name_server import NameServer

pytestmark = pytest.mark.anyio

# The address of each type (`TcpUrl`). A new type is a line here.
ADDRESSES = {
    "http": "http://{host}:{port}/",
    "tcp": "tcp://{host}:{port}",
    "dns": "dns://{host}",
    "certificate": "tls://{host}:{port}",
    "ping": "ping://{host}",
}

THAT_CONNECT_TO_NOTHING = {"heartbeat"}

# The document refuses some of these, and probes refuse them all the same: a row may be older than a rule.
FORBIDDEN_HOSTS = [
    *("127.0.0.1", "127.1", "0x7f.1", "0x7f000001", "2130706433", "0177.0.0.1", "017700000001"),
    *("0", "0.0.0.0", "localhost", "LOCALHOST.", "127.0.0.1.", "%31%32%37.0.0.1"),  # noqa: S104 - refused
    *("①②⑦.⓪.⓪.①", "127。0。0。1", "127.0.0.1\n", "a@127.0.0.1", "127.0.0.1#@example.com"),
    *("[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]"),
    *("[2002:7f00:1::]", "[2001:0:0:0:0:0:80ff:fffe]", "[fe80::1]", "[fe80::1%25lo]", "[fc00::1]"),
    *("10.0.0.1", "172.16.0.1", "192.168.0.1", "100.64.0.1", "169.254.169.254", "[fd00:ec2::254]"),
    *("168.63.129.16", "224.0.0.1", "255.255.255.255", "192.0.2.1"),
]

BLOCKED = Finding(Outcome.DOWN, "blocked_address", "The address is not one that may be reached from here")


class Trap:
    """A server on every loopback address, which nothing may connect to."""

    port = 0
    connections = 0

    async def take(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        writer.close()


@pytest.fixture
async def trap() -> AsyncIterator[Trap]:
    trap = Trap()
    server = await asyncio.start_server(trap.take, "0.0.0.0", 0)  # noqa: S104 - a trap
    trap.port = server.sockets[0].getsockname()[1]
    async with server:
        yield trap
    assert trap.connections == 0


@pytest.fixture
async def names() -> AsyncIterator[NameServer]:
    async with name_server() as running:
        yield running


@pytest.fixture
async def dialer(names: NameServer) -> AsyncIterator[Dialer]:
    names.know("localhost", ["127.0.0.1"])
    async with open_dialer(dns_servers=(names.address,)) as opened:
        yield opened


def aim(monitor_type: str, host: str, port: int) -> dict[str, Any]:
    """Return a monitor whose checks would go to a host. Those of `dns` go to a name server."""
    if monitor_type == "dns":
        return {"type": "dns", "url": "dns://example.com", "dns": {"resolver": host.strip("[]")}}
    return {"type": monitor_type, "url": ADDRESSES[monitor_type].format(host=host, port=port)}


def test_every_type_that_connects_is_tried() -> None:
    assert {*ADDRESSES, *THAT_CONNECT_TO_NOTHING} == PROBES.keys()


@pytest.mark.parametrize("host", FORBIDDEN_HOSTS)
@pytest.mark.parametrize("monitor_type", ADDRESSES)
async def test_a_forbidden_host_is_blocked_in_whatever_form(
    dialer: Dialer, trap: Trap, monitor_type: str, host: str
) -> None:
    # Without timings, there is nothing to learn from.
    assert await ask(dialer, name="Inside", **aim(monitor_type, host, trap.port)) == BLOCKED


@pytest.mark.parametrize("host", FORBIDDEN_HOSTS)
async def test_a_redirect_to_a_forbidden_host_is_not_followed(
    names: NameServer, trap: Trap, host: str
) -> None:
    async def redirect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        location = f"http://{host}:{trap.port}/".replace("\n", "").encode()
        writer.write(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: " + location + b"\r\n\r\n")
        writer.close()

    names.know("localhost", ["127.0.0.1"])
    async with (
        await asyncio.start_server(redirect, "127.0.0.2", 0) as server,
        open_dialer(allowed_networks=("127.0.0.2/32",), dns_servers=(names.address,)) as dialer,
    ):
        port = server.sockets[0].getsockname()[1]
        finding = await ask(dialer, url=f"http://127.0.0.2:{port}/", follow_redirects=True)
    assert finding.outcome == Outcome.DOWN
    assert finding.error in ("blocked_address", "invalid_response")  # as credentials and zones are


@pytest.mark.parametrize("host", FORBIDDEN_HOSTS)
async def test_the_document_of_a_contract_is_not_fetched_from_a_forbidden_host(
    dialer: Dialer, trap: Trap, host: str
) -> None:
    with pytest.raises(UnfetchedDocumentError) as refused:
        await fetch_rules(dialer, f"http://{host}:{trap.port}/openapi.json", None, "get_order")
    assert refused.value.reason == BLOCKED.message


@pytest.mark.parametrize(
    "addresses", [["127.0.0.1"], ["192.0.2.1", "127.0.0.1"], ["::1"], ["::ffff:10.0.0.1"], ["fd00:ec2::254"]]
)
@pytest.mark.parametrize("monitor_type", ADDRESSES)
async def test_a_name_with_one_forbidden_address_is_blocked(
    dialer: Dialer, trap: Trap, names: NameServer, monitor_type: str, addresses: list[str]
) -> None:
    names.know("inside.example", addresses)
    assert await ask(dialer, **aim(monitor_type, "inside.example", trap.port)) == BLOCKED


@pytest.mark.parametrize("monitor_type", ADDRESSES)
def test_a_probe_names_its_host_in_one_spelling(monitor_type: str) -> None:
    """`CHECKS_PER_HOST` goes by it."""
    spellings = ["db.example.com", "DB.Example.COM", "%64b.example.com", "\uff44\uff42.example.com"]
    urls = [ADDRESSES[monitor_type].format(host=host, port=9000) for host in spellings]
    endpoints = [probe_of(name="DB", type=monitor_type, url=url).endpoint for url in urls]
    assert {each.host for each in endpoints if each} == {"db.example.com"}
    assert len(set(endpoints)) == 1
