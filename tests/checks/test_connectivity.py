from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

import pytest

from checks.watched_site import watched_site
from monitoring.checks import connectivity as connectivity_module
from monitoring.checks.connectivity import HOLDING_SECONDS, Connectivity, is_about_the_network
from monitoring.checks.probes.protocol import Objection
from monitoring.outbound.exchanges import Exchange
from monitoring.outbound.failures import Failure, FailureCode
from outbound.asking import open_http_client

if TYPE_CHECKING:
    from monitoring.outbound.exchanges import OutboundRequest

pytestmark = pytest.mark.anyio

ANSWER = Exchange(status_code=200)
NO_ANSWER = Exchange(failure=Failure(FailureCode.TIMEOUT, "No answer within 5 seconds"))
REFERENCES = ("https://one.example.com/", "https://two.example.com/")


class Network:
    """References on a network that works or does not, and a clock that moves when told."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.reachable = set(REFERENCES)
        self.asked: list[str] = []
        self.asking = asyncio.Event()
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def send(self, request: OutboundRequest) -> Exchange:
        self.asked.append(request.url)
        self.asking.set()
        await self.may_answer.wait()
        return ANSWER if request.url in self.reachable else NO_ANSWER

    def open_sight(self, *references: str) -> Connectivity:
        return Connectivity(self.send, references or REFERENCES, clock=lambda: self.now)


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> Network:
    monkeypatch.setattr(connectivity_module, "DISTANCE_SECONDS", 0.0)  # this clock does not move by itself
    return Network()


class TestIsBlind:
    async def test_never_without_references(self, network: Network) -> None:
        connectivity = Connectivity(network.send, (), clock=lambda: network.now)
        assert not await connectivity.is_blind(network.now)
        assert network.asked == []

    async def test_not_while_one_reference_answers(self, network: Network) -> None:
        network.reachable = {REFERENCES[1]}
        assert not await network.open_sight().is_blind(network.now)

    async def test_when_no_reference_answers(self, network: Network) -> None:
        network.reachable = set()
        assert await network.open_sight().is_blind(network.now)
        assert sorted(network.asked) == sorted(REFERENCES)

    async def test_when_there_is_no_socket_left_to_ask_with(self, network: Network) -> None:
        async def fail(_: OutboundRequest) -> Exchange:
            raise OSError("too many open files")

        assert await Connectivity(fail, REFERENCES, clock=lambda: network.now).is_blind(network.now)

    async def test_does_not_wait_for_a_slow_reference_when_another_has_answered(
        self, network: Network
    ) -> None:
        async def send(request: OutboundRequest) -> Exchange:
            if request.url == REFERENCES[0]:
                await asyncio.Event().wait()
            return ANSWER

        assert not await Connectivity(send, REFERENCES, clock=lambda: network.now).is_blind(network.now)


class TestAsking:
    async def test_checks_that_fail_together_share_one_answer(self, network: Network) -> None:
        connectivity = network.open_sight(REFERENCES[0])
        network.may_answer.clear()
        network.reachable = set()
        asking = [asyncio.create_task(connectivity.is_blind(network.now)) for _ in range(50)]
        await network.asking.wait()
        network.may_answer.set()
        assert await asyncio.gather(*asking) == [True] * 50
        assert len(network.asked) == 1

    async def test_an_answer_holds_for_checks_that_were_under_way_when_it_was_asked_for(
        self, network: Network
    ) -> None:
        connectivity = network.open_sight(REFERENCES[0])
        began_at = network.now - 10
        assert not await connectivity.is_blind(began_at)
        network.now += HOLDING_SECONDS
        assert not await connectivity.is_blind(began_at)
        assert len(network.asked) == 1

    async def test_an_answer_holds_no_longer_than_some_seconds(self, network: Network) -> None:
        connectivity = network.open_sight(REFERENCES[0])
        began_at = network.now - 10
        assert not await connectivity.is_blind(began_at)
        network.reachable = set()
        network.now += HOLDING_SECONDS + 0.1
        assert await connectivity.is_blind(began_at)

    async def test_an_answer_from_before_the_check_began_says_nothing(self, network: Network) -> None:
        connectivity = network.open_sight(REFERENCES[0])
        assert not await connectivity.is_blind(network.now)
        network.reachable = set()
        network.now += 0.1
        assert await connectivity.is_blind(network.now)

    async def test_a_check_during_which_we_were_blind_proves_nothing_though_we_see_again(
        self, network: Network
    ) -> None:
        connectivity = network.open_sight(REFERENCES[0])
        network.reachable = set()
        long_ago = network.now - 60
        assert await connectivity.is_blind(network.now)
        network.reachable = set(REFERENCES)
        network.now += HOLDING_SECONDS + 1
        assert await connectivity.is_blind(long_ago)
        assert not await connectivity.is_blind(network.now)


class TestLog:
    async def test_says_when_blindness_begins_and_ends_and_nothing_in_between(
        self, network: Network, own_log: pytest.LogCaptureFixture
    ) -> None:
        own_log.set_level(logging.INFO, "monitoring.checks.connectivity")
        connectivity = network.open_sight()
        for reachable in (True, False, False, True, True):
            network.reachable = set(REFERENCES) if reachable else set()
            network.now += 1
            assert await connectivity.is_blind(network.now) is not reachable
        began, ended = own_log.messages
        assert "This machine is offline" in began
        assert "Over" in ended

    async def test_says_that_blindness_has_ended_though_no_check_fails(
        self, network: Network, monkeypatch: pytest.MonkeyPatch, own_log: pytest.LogCaptureFixture
    ) -> None:
        own_log.set_level(logging.INFO, "monitoring.checks.connectivity")
        monkeypatch.setattr(connectivity_module, "HOLDING_SECONDS", 0.01)
        connectivity = network.open_sight()
        network.reachable = set()
        assert await connectivity.is_blind(network.now)
        network.reachable = set(REFERENCES)
        looking = asyncio.create_task(connectivity.look_for_the_end())
        async with asyncio.timeout(30):
            while len(own_log.messages) < 2:  # noqa: ASYNC110 - a log has no event
                await asyncio.sleep(0.01)
        looking.cancel()
        assert "Over" in own_log.messages[1]


class TestCodesAboutTheNetwork:
    @pytest.mark.parametrize(
        "code",
        [
            *("dns_failure", "connection_refused", "connection_failed", "timeout", "tls_invalid"),
            "blocked_address",
        ],
    )
    def test_are_those_our_own_connection_can_bring_about(self, code: str) -> None:
        assert is_about_the_network(code)

    @pytest.mark.parametrize(
        "code",
        ["invalid_response", "too_many_redirects", "response_too_large", *Objection],
    )
    def test_are_none_that_need_an_answer(self, code: str) -> None:
        assert not is_about_the_network(code)


class TestReferences:
    async def test_any_answer_means_that_we_see_and_no_answer_that_we_are_blind(self) -> None:
        async with watched_site() as site, open_http_client(allowed_networks=("127.0.0.0/8",)) as client:
            assert not await Connectivity(client.send, [site.url("/status/500")]).is_blind(0.0)
            site.is_away = True
            assert await Connectivity(client.send, [site.url("/status/500")]).is_blind(0.0)

    async def test_a_private_reference_that_nobody_allows_is_no_reference(self) -> None:
        async with watched_site() as site, open_http_client() as client:
            assert await Connectivity(client.send, [site.url("/status/200")]).is_blind(0.0)
            assert not site.asked
