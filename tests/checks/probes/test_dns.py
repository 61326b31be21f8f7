"""What the probe for DNS finds out, from Debian's BIND and from servers that misbehave."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from checks.probes.probed import ask, probe_of
from monitoring.checks.probes import dns as dns_probe
from monitoring.monitors.health import Outcome
from monitoring.outbound.dialer import open_dialer
from outbound.bind import KEY, running_bind
from outbound.name_server import name_server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from monitoring.checks.probes.protocol import Finding
    from monitoring.outbound.dialer import Dialer

pytestmark = pytest.mark.anyio

BLOCKED = "The address is not one that may be reached from here"


@pytest.fixture(params=[False, True], ids=["asyncio", "uvloop"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, bool]]:
    return "asyncio", {"use_uvloop": request.param}


@pytest.fixture(scope="module")
def bind(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with running_bind(tmp_path_factory.mktemp("bind")) as port:
        yield port


@pytest.fixture
async def dialer(bind: int) -> AsyncIterator[Dialer]:
    """Open a dialer whose name server is BIND. It may reach loopback, and no other private network."""
    async with open_dialer(
        allowed_networks=("127.0.0.0/8", "192.0.2.0/24", "2001:db8::/32"), dns_servers=(f"127.0.0.1:{bind}",)
    ) as opened:
        yield opened


async def ask_for(dialer: Dialer, name: str, record_type: str, *expected: str, **given: Any) -> Finding:
    settings = {"record_type": record_type, "expected": list(expected), **given}
    return await ask(dialer, type="dns", url=f"dns://{name}", dns=settings)


class TestRecords:
    @pytest.mark.parametrize(
        ("name", "record_type", "expected"),
        [
            ("acme.example", "A", "192.0.2.10"),
            ("ACME.example.", "A", "192.0.2.11"),
            ("acme.example", "AAAA", "2001:DB8:0::10"),
            ("acme.example", "MX", "10 mail.acme.example"),
            ("acme.example", "MX", "10 MAIL.acme.example."),
            ("acme.example", "NS", "ns2.hosting.example"),
            ("acme.example", "CAA", '0 issue "letsencrypt.org"'),
            ("acme.example", "SOA", "ns1.acme.example hostmaster.acme.example 2026112001 3600 600 86400 60"),
            ("acme.example", "TXT", "v=spf1 include:_spf.hosting.example -all"),
            ("acme.example", "TXT", '"v=spf1 include:_spf.hosting.example -all"'),
            ("key._domainkey.acme.example", "TXT", f"v=DKIM1; k=rsa; p={KEY}{KEY}"),
            ("_sip._tcp.acme.example", "SRV", "0 5 5060 sip.acme.example"),
            ("www.acme.example", "CNAME", "acme.example"),
            ("www.acme.example", "A", "192.0.2.10"),
            ("192.0.2.10", "PTR", "www.acme.example"),
            ("10.2.0.192.in-addr.arpa", "PTR", "www.acme.example"),
            ("many.acme.example", "TXT", f"039 {'x' * 200}"),  # by TCP
        ],
    )
    async def test_are_compared_by_what_they_mean(
        self, dialer: Dialer, name: str, record_type: str, expected: str
    ) -> None:
        finding = await ask_for(dialer, name, record_type, expected)
        assert (finding.outcome, finding.message) == (Outcome.UP, None)
        assert finding.timings.dns_ms is not None
        assert finding.timings.total_ms is not None

    async def test_of_any_kind_are_up_if_none_is_expected(self, dialer: Dialer) -> None:
        assert (await ask_for(dialer, "acme.example", "MX")).outcome == Outcome.UP

    @pytest.mark.parametrize(
        ("match", "expected", "message"),
        [
            ("any", ["192.0.2.10", "192.0.2.99"], None),
            ("any", ["192.0.2.98", "192.0.2.99"], "None of the expected A records is there"),
            ("any", ["192.0.2.99"], 'There is no A record "192.0.2.99"'),
            ("all", ["192.0.2.10"], None),
            ("all", ["192.0.2.10", "192.0.2.99"], 'There is no A record "192.0.2.99"'),
            ("exactly", ["192.0.2.11", "192.0.2.10"], None),
            ("exactly", ["192.0.2.10"], "There are A records that are not expected"),
            ("exactly", ["192.0.2.10", "192.0.2.99"], 'There is no A record "192.0.2.99"'),
        ],
    )
    async def test_are_matched_as_the_monitor_says(
        self, dialer: Dialer, match: str, expected: list[str], message: str | None
    ) -> None:
        finding = await ask_for(dialer, "acme.example", "A", *expected, match=match)
        assert finding.message == message
        assert finding.error == ("unexpected_records" if message else None)
        assert finding.outcome == (Outcome.DOWN if message else Outcome.UP)

    async def test_that_are_expected_and_long_are_shortened_in_the_message(self, dialer: Dialer) -> None:
        finding = await ask_for(dialer, "acme.example", "TXT", "x" * 1000)
        assert finding.message
        assert len(finding.message) < 200


class TestNoRecords:
    @pytest.mark.parametrize(
        ("name", "record_type", "message"),
        [
            ("nowhere.acme.example", "A", "The name does not exist (NXDOMAIN)"),
            ("away.acme.example", "A", "The name does not exist (NXDOMAIN)"),
            ("www.broken.example", "A", "The name server could not find an answer (SERVFAIL)"),
            ("else.example", "A", "The name server refuses to answer (REFUSED)"),
            ("ns1.acme.example", "MX", "The name has no MX records"),
        ],
    )
    async def test_is_a_failure_of_dns_in_its_own_words(
        self, dialer: Dialer, name: str, record_type: str, message: str
    ) -> None:
        finding = await ask_for(
            dialer, name, record_type, "192.0.2.1" if record_type == "A" else "1 a.example"
        )
        assert (finding.outcome, finding.error) == (Outcome.DOWN, "dns_failure")
        assert finding.message == message

    async def test_for_want_of_an_answer_is_a_timeout(self) -> None:
        async with name_server() as names:
            names.answers["acme.example"] = None
            async with open_dialer(dns_servers=(names.address,)) as dialer:
                finding = await ask(dialer, type="dns", url="dns://acme.example", timeout_seconds=1)
        assert finding.error == "timeout"
        assert finding.message == "No answer within 1 second (while resolving the name)"

    @pytest.mark.parametrize("answer", [b"", b"\0", b"\x80\0" + b"\xff" * 600])
    async def test_in_an_answer_that_is_none_is_an_invalid_response(self, answer: bytes) -> None:
        async with raw_name_server(answer) as address, open_dialer(dns_servers=(address,)) as dialer:
            finding = await ask(dialer, type="dns", url="dns://acme.example")
        assert finding.error == "invalid_response"
        assert finding.message == "The name server's answer cannot be understood"

    async def test_behind_a_truncated_answer_without_tcp_is_a_failed_connection(self) -> None:
        async with (
            raw_name_server(b"", is_truncated=True) as address,
            open_dialer(dns_servers=(address,)) as dialer,
        ):
            finding = await ask(dialer, type="dns", url="dns://acme.example")
        assert (finding.error, finding.message) == (
            "connection_failed",
            "The name server cannot be reached",
        )


class TestResolver:
    @pytest.fixture(autouse=True)
    def port_of_bind(self, bind: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(dns_probe, "PORT", bind)

    async def test_of_the_user_is_asked_instead_of_the_operators(self) -> None:
        async with (
            name_server() as names,
            open_dialer(allowed_networks=("127.0.0.1/32",), dns_servers=(names.address,)) as dialer,
        ):
            finding = await ask_for(dialer, "acme.example", "A", "192.0.2.10", resolver="127.0.0.1")
            assert (finding.outcome, finding.message) == (Outcome.UP, None)
            assert not names.questions

    @pytest.mark.parametrize(
        "resolver", ["127.0.0.1", "::1", "::ffff:127.0.0.1", "10.0.0.53", "169.254.169.253"]
    )
    async def test_in_a_private_network_is_not_asked(self, resolver: str) -> None:
        async with open_dialer() as dialer:
            finding = await ask_for(dialer, "acme.example", "A", resolver=resolver)
        assert (finding.error, finding.message) == ("blocked_address", BLOCKED)

    async def test_of_the_user_may_know_private_addresses(self) -> None:
        async with open_dialer(allowed_networks=("127.0.0.1/32",)) as dialer:
            finding = await ask_for(dialer, "inside.acme.example", "A", "10.1.2.3", resolver="127.0.0.1")
        assert (finding.outcome, finding.message) == (Outcome.UP, None)

    async def test_of_the_operator_tells_nothing_of_private_addresses(self, dialer: Dialer) -> None:
        finding = await ask_for(dialer, "inside.acme.example", "A", "10.1.2.3")
        assert (finding.error, finding.message) == ("blocked_address", BLOCKED)

    def test_is_the_host_whose_checks_are_counted(self) -> None:
        theirs = probe_of(type="dns", url="dns://acme.example", dns={"resolver": "9.9.9.9"}).endpoint
        ours = probe_of(type="dns", url="dns://acme.example").endpoint
        assert theirs
        assert ours
        assert (theirs.host, ours.host) == ("9.9.9.9", "acme.example")


@asynccontextmanager
async def raw_name_server(answer: bytes, *, is_truncated: bool = False) -> AsyncIterator[str]:
    """Answer every question with these bytes, or say that the answer is too long for a datagram."""

    class Server(asyncio.DatagramProtocol):
        def connection_made(self, transport: asyncio.DatagramTransport) -> None:  # type: ignore[override]
            self.transport = transport

        def datagram_received(self, query: bytes, sender: tuple[str, int]) -> None:
            truncated = query[:2] + b"\x87\x80" + query[4:]
            self.transport.sendto(truncated if is_truncated else query[:2] + answer, sender)

    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(Server, local_addr=("127.0.0.1", 0))
    try:
        yield "{}:{}".format(*transport.get_extra_info("sockname"))
    finally:
        transport.close()
