"""What the probe for pings finds out, in a network of its own where the kernel allows them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from checks.probes.probed import ask
from debian_programs import find_program
from monitoring.monitors.health import Outcome
from monitoring.outbound.dialer import open_dialer

HERE = Path(__file__).parents[2]

# Makes a check, and returns its outcome, error, message and milliseconds.
Ping: TypeAlias = Callable[..., list[Any]]

# What is sent to 192.0.2.0/24 is lost. No way leads to other addresses.
NETWORK = """
ip link set lo up
ip route add 192.0.2.0/24 dev lo
echo "{groups}" > /proc/sys/net/ipv4/ping_group_range
exec "$@"
"""
EVERY_GROUP, NO_GROUP = "0 2147483647", "1 0"

UNANSWERED, UNREACHABLE = "192.0.2.1", "198.51.100.1"

LOOPS = [pytest.param("asyncio", marks=pytest.mark.night("a checker runs on uvloop")), "uvloop"]

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="only root may make a network"),
    pytest.mark.programs("unshare", "ip"),
]


@contextmanager
def checking(loop: str = "asyncio", groups: str = EVERY_GROUP) -> Iterator[Ping]:
    """Start a process that makes checks in a network of its own."""
    process = subprocess.Popen(
        [
            *(find_program("unshare"), "--net", "sh", "-euc", NETWORK.format(groups=groups), "sh"),
            *(sys.executable, "-m", "outbound.pinging", loop),
        ],
        cwd=HERE,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )

    def ping(
        host: str, *addresses: str, ip_version: int | None = None, timeout_seconds: int = 4
    ) -> list[Any]:
        check = {"host": host, "addresses": addresses, "ip_version": ip_version}
        print(json.dumps({**check, "timeout_seconds": timeout_seconds}), file=process.stdin, flush=True)
        assert process.stdout
        found: list[Any] = json.loads(process.stdout.readline())
        return found

    with process:
        yield ping


@pytest.fixture(scope="module", params=LOOPS)
def ping(request: pytest.FixtureRequest) -> Iterator[Ping]:
    with checking(request.param) as ping:
        yield ping


class TestHost:
    @pytest.mark.parametrize("host", ["127.0.0.1", "[::1]"])
    def test_that_answers_is_up_in_the_time_of_the_round_trip(self, ping: Ping, host: str) -> None:
        outcome, error, message, total_ms = ping(host)
        assert (outcome, error, message) == ("up", None, None)
        assert total_ms > 0

    @pytest.mark.parametrize("others", [[UNANSWERED], [UNREACHABLE], ["127.0.0.1"]])
    def test_may_have_an_address_that_does_not_answer(self, ping: Ping, others: list[str]) -> None:
        assert ping("host.example", *others, "127.0.0.1")[:2] == ["up", None]
        assert ping("host.example", "127.0.0.1", *others)[:2] == ["up", None]

    def test_that_does_not_answer_is_a_timeout(self, ping: Ping) -> None:
        found = ping(UNANSWERED, timeout_seconds=1)
        assert found[:3] == ["down", "timeout", "No answer within 1 second (while waiting for the answer)"]

    @pytest.mark.parametrize(("ip_version", "outcome"), [(4, "down"), (6, "up")])
    def test_is_asked_by_the_version_that_the_monitor_names(
        self, ping: Ping, ip_version: int, outcome: str
    ) -> None:
        assert ping("host.example", UNANSWERED, "::1", ip_version=ip_version)[0] == outcome

    def test_without_an_address_of_that_version_is_down(self, ping: Ping) -> None:
        found = ping("host.example", "127.0.0.1", ip_version=6)
        assert found[:3] == ["down", "dns_failure", "The host has no address of IPv6"]

    def test_that_no_way_leads_to_is_a_failed_connection(self, ping: Ping) -> None:
        assert ping(UNREACHABLE)[:3] == ["down", "connection_failed", "The host cannot be reached"]


class TestPingThatIsNotAllowed:
    """The server is not to blame, so the time is unknown."""

    def test_by_the_kernel_is_not_judged(self) -> None:
        with checking(groups=NO_GROUP) as ping:
            found = ping("127.0.0.1")
        assert found[:3] == ["unknown", None, "The service is not allowed to send pings"]

    @pytest.mark.anyio
    async def test_by_the_operator_is_not_judged(self) -> None:
        async with open_dialer(allowed_networks=("127.0.0.0/8",), may_ping=False) as dialer:
            finding = await ask(dialer, type="ping", url="ping://127.0.0.1")
        assert (finding.outcome, finding.message) == (
            Outcome.UNKNOWN,
            "The service is not allowed to send pings",
        )
