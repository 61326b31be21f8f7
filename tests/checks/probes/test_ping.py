"""What the probe for pings finds out, in a network of its own where the kernel allows them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from checks.probes.probed import ask
from debian_programs import find_program
from monitoring.monitors.health import Outcome
from monitoring.outbound.dialer import open_dialer

HERE = Path(__file__).parents[2]

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


def ping(
    host: str,
    *addresses: str,
    ip_version: int = 0,
    timeout_seconds: int = 4,
    loop: str = "asyncio",
    groups: str = EVERY_GROUP,
) -> list[Any]:
    """Make a check in a network of its own."""
    done = subprocess.run(
        [
            *(find_program("unshare"), "--net", "sh", "-euc", NETWORK.format(groups=groups), "sh"),
            *(sys.executable, "-m", "outbound.ping_once", loop),
            *(host, str(ip_version), str(timeout_seconds), *addresses),
        ],
        cwd=HERE,
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    found: list[Any] = json.loads(done.stdout)
    return found


class TestHost:
    @pytest.mark.parametrize("loop", LOOPS)
    @pytest.mark.parametrize("host", ["127.0.0.1", "[::1]"])
    def test_that_answers_is_up_in_the_time_of_the_round_trip(self, host: str, loop: str) -> None:
        outcome, error, message, total_ms = ping(host, loop=loop)
        assert (outcome, error, message) == ("up", None, None)
        assert total_ms > 0

    @pytest.mark.parametrize("others", [[UNANSWERED], [UNREACHABLE], ["127.0.0.1"]])
    def test_may_have_an_address_that_does_not_answer(self, others: list[str]) -> None:
        assert ping("host.example", *others, "127.0.0.1")[:2] == ["up", None]
        assert ping("host.example", "127.0.0.1", *others)[:2] == ["up", None]

    @pytest.mark.parametrize("loop", LOOPS)
    def test_that_does_not_answer_is_a_timeout(self, loop: str) -> None:
        found = ping(UNANSWERED, timeout_seconds=1, loop=loop)
        assert found[:3] == ["down", "timeout", "No answer within 1 second (while waiting for the answer)"]

    @pytest.mark.parametrize(("ip_version", "outcome"), [(4, "down"), (6, "up")])
    def test_is_asked_by_the_version_that_the_monitor_names(self, ip_version: int, outcome: str) -> None:
        assert ping("host.example", UNANSWERED, "::1", ip_version=ip_version)[0] == outcome

    def test_without_an_address_of_that_version_is_down(self) -> None:
        found = ping("host.example", "127.0.0.1", ip_version=6)
        assert found[:3] == ["down", "dns_failure", "The host has no address of IPv6"]

    def test_that_no_way_leads_to_is_a_failed_connection(self) -> None:
        assert ping(UNREACHABLE)[:3] == ["down", "connection_failed", "The host cannot be reached"]


class TestPingThatIsNotAllowed:
    """The server is not to blame, so the time is unknown."""

    def test_by_the_kernel_is_not_judged(self) -> None:
        found = ping("127.0.0.1", groups=NO_GROUP)
        assert found[:3] == ["unknown", None, "The service is not allowed to send pings"]

    @pytest.mark.anyio
    async def test_by_the_operator_is_not_judged(self) -> None:
        async with open_dialer(allowed_networks=("127.0.0.0/8",), may_ping=False) as dialer:
            finding = await ask(dialer, type="ping", url="ping://127.0.0.1")
        assert (finding.outcome, finding.message) == (
            Outcome.UNKNOWN,
            "The service is not allowed to send pings",
        )
