"""A checker without REFERENCE_URLS finds out if its own network is dead, or what it check_states."""

from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from checks.rounds import make_due
from checks.watched_site import WatchedSite, watched_site
from monitoring.auth.service import create_team
from monitoring.checks import connectivity, witnesses
from monitoring.checks.checker import run_checker
from monitoring.checks.prober import BLIND
from monitoring.checks.witnesses import FEWEST_DOMAINS, domain_of
from monitoring.history.queries import list_results
from monitoring.incidents.models import Incident
from monitoring.monitors.models import CheckState, Monitor
from monitoring.notifications.models import NotificationDelivery
from monitoring.notifications.service import create_channel
from outbound.name_server import NameServer, name_server
from temporary_backends import temporary_backends

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable
    from pathlib import Path

    from monitoring.backends.assembly import Backends

pytestmark = pytest.mark.anyio

UNRELATED = ("shop.one.example", "www.two.example", "three.example", "www.four.example", "a.b.five.example")
HERE = "127.0.0.1"  # where the site is, and on no other address
LONG_AGO, LONG_HENCE = datetime(2026, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)


class Watched:
    """A service with monitors of names that a name server knows, or that nobody answers for."""

    def __init__(self, backends: Backends, names: NameServer, site: WatchedSite) -> None:
        self.backends = backends
        self.names = names
        self._site = site

    async def make(self, host: str, address: str | None = None, settled: str = "up") -> Monitor:
        """Make a monitor that is not due yet. One that is settled as down has long been so."""
        self.names.answers[host] = [[address]] if address else None
        [monitor] = await make_due(
            since=LONG_AGO,
            url=self._site.url("/status/200", host),
            interval_seconds=86_400,
            timeout_seconds=1,
            failure_threshold=1,
        )
        await CheckState.filter(monitor_id=monitor.id).update(settled=settled, due_at=LONG_HENCE)
        return monitor

    async def check(self, monitors: Iterable[Monitor]) -> list[str]:
        """Have these monitors checked once, all at the same time, and return their statuses.

        One checker claims them together. If two claimed some each, both might know too few domains.
        """
        ids = [monitor.id for monitor in monitors]
        await CheckState.filter(monitor_id__in=ids).update(last_checked_at=None, due_at=LONG_AGO)
        async with asyncio.timeout(60):
            while await CheckState.filter(monitor_id__in=ids, last_checked_at=None).exists():  # noqa: ASYNC110 - a row has no event
                await asyncio.sleep(0.02)
        return [(await Monitor.get(id=each)).status for each in ids]


@pytest.fixture(autouse=True)
def quick_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(witnesses, "ANSWER_SECONDS", 0.5)
    monkeypatch.setattr(connectivity, "HOLDING_SECONDS", 0.2)


@pytest.fixture
async def watched(tmp_path: Path) -> AsyncIterator[Watched]:
    async with open_watched(tmp_path) as opened:
        yield opened


@asynccontextmanager
async def open_watched(folder: Path) -> AsyncIterator[Watched]:
    async with (
        name_server() as names,
        watched_site() as site,
        temporary_backends(
            folder, allowed_networks="127.0.0.0/8", checks_at_once=50, dns_servers=names.address
        ) as backends,
    ):
        yield Watched(backends, names, site)


async def test_as_many_unrelated_domains_as_count_that_vanish_together_are_our_own_blindness(
    watched: Watched, own_log: pytest.LogCaptureFixture
) -> None:
    own_log.set_level(logging.INFO, "monitoring.checks.connectivity")
    monitors = [await watched.make(host) for host in UNRELATED]
    assert len(monitors) == FEWEST_DOMAINS
    async with run_checker(watched.backends):
        assert await watched.check(monitors) == ["unknown"] * FEWEST_DOMAINS
        assert await watched.check(monitors) == ["unknown"] * FEWEST_DOMAINS
        [result, _] = await list_results(monitors[0].id, limit=5)
        assert (result.outcome, result.error_message) == ("unknown", BLIND.message)
        assert not await Incident.exists()
        [told] = own_log.messages
        assert "This machine is offline" in told

        for host in UNRELATED:
            watched.names.know(host, [HERE])
        assert await watched.check(monitors) == ["up"] * FEWEST_DOMAINS
        async with asyncio.timeout(60):
            while len(own_log.messages) < 2:  # noqa: ASYNC110 - a log has no event
                await asyncio.sleep(0.02)
        assert "Over" in own_log.messages[1]


async def test_it_is_told_in_one_message_to_each_channel(watched: Watched) -> None:
    monitors = [await watched.make(host) for host in UNRELATED]
    team = await create_team("Acme", "free", len(monitors))
    await Monitor.all().update(team_id=team.id)
    chat = {"type": "slack", "url": "https://hooks.slack.com/services/T0000/B0000/a-secret"}
    channels = [await create_channel(team.id, dict(chat)) for _ in range(2)]
    async with run_checker(watched.backends), run_checker(watched.backends):
        for _ in range(2):
            assert await watched.check(monitors) == ["unknown"] * len(monitors)
    told = await NotificationDelivery.all().order_by("channel_id").values_list("channel_id", "event")
    assert told == [(channel.id, "checks.interrupted") for channel in channels]


async def test_what_was_not_known_in_maintenance_is_checked_again_when_it_ends(watched: Watched) -> None:
    monitors = [await watched.make(host) for host in UNRELATED]
    ends_at = datetime.now(UTC) + timedelta(minutes=1)
    await CheckState.all().update(maintenance_from=LONG_AGO, maintenance_until=ends_at)
    async with run_checker(watched.backends):
        await watched.check(monitors)
    planned = [state.next_check_at for state in await CheckState.all() if state.next_check_at]
    assert len(planned) == len(monitors)
    assert max(planned) <= ends_at


async def test_fewer_domains_are_down(watched: Watched, own_log: pytest.LogCaptureFixture) -> None:
    monitors = [await watched.make(host) for host in UNRELATED[1:]]
    async with run_checker(watched.backends):
        assert await watched.check(monitors) == ["down"] * len(monitors)
    assert await Incident.all().count() == len(monitors)
    assert own_log.messages == []


async def test_many_hosts_of_one_domain_are_down(watched: Watched) -> None:
    monitors = [await watched.make(f"{name}.one.example") for name in "abcdefg"]
    async with run_checker(watched.backends):
        assert await watched.check(monitors) == ["down"] * len(monitors)


async def test_unrelated_servers_that_vanish_together_are_our_own_blindness_though_names_are_found(
    watched: Watched,
) -> None:
    monitors = [await watched.make(host, f"127.0.1.{number}") for number, host in enumerate(UNRELATED, 1)]
    async with run_checker(watched.backends):
        assert await watched.check(monitors) == ["unknown"] * len(monitors)


async def test_a_gateway_without_an_uplink_that_resolves_every_name_to_itself_is_our_own_blindness(
    watched: Watched,
) -> None:
    monitors = [await watched.make(host, "192.168.1.1") for host in UNRELATED]
    async with run_checker(watched.backends):
        assert await watched.check(monitors) == ["unknown"] * len(monitors)


async def test_a_dead_resolver_is_noticed_though_some_addresses_are_still_known(watched: Watched) -> None:
    watched.names.ttl_seconds = 3600
    known = [await watched.make(host, HERE) for host in UNRELATED]
    async with run_checker(watched.backends):
        assert await watched.check(known) == ["up"] * len(known)
        forgotten = await watched.make("six.example", HERE)
        watched.names.answers = dict.fromkeys(watched.names.answers)
        assert await watched.check([*known, forgotten]) == [*["up"] * len(known), "unknown"]


async def test_many_domains_on_one_server_are_down_with_it(watched: Watched) -> None:
    monitors = [await watched.make(host, "127.0.1.1") for host in (*UNRELATED, "six.example")]
    async with run_checker(watched.backends):
        assert await watched.check(monitors) == ["down"] * len(monitors)


async def test_one_that_answers_shows_that_the_others_are_down(watched: Watched) -> None:
    monitors = [await watched.make(host) for host in UNRELATED]
    fine = await watched.make("six.example", HERE)
    async with run_checker(watched.backends):
        assert await watched.check([*monitors, fine]) == ["down"] * len(monitors) + ["up"]


async def test_one_that_answered_before_is_asked_again_before_others_are_believed_to_be_down(
    watched: Watched,
) -> None:
    monitors = [await watched.make(host) for host in UNRELATED]
    fine = await watched.make("six.example", HERE)
    async with run_checker(watched.backends):
        assert await watched.check([fine]) == ["up"]
        assert await watched.check(monitors) == ["down"] * len(monitors)


async def test_the_first_that_fails_is_doubted_though_the_others_answered_just_now(watched: Watched) -> None:
    monitors = [await watched.make(host, HERE) for host in UNRELATED]
    async with run_checker(watched.backends):
        assert await watched.check(monitors) == ["up"] * len(monitors)
        for host in UNRELATED:
            watched.names.answers[host] = None
        assert await watched.check(monitors[:1]) == ["unknown"]


async def test_those_that_have_long_been_down_say_nothing_about_one_that_goes_down(watched: Watched) -> None:
    dead = [await watched.make(host, settled="down") for host in UNRELATED]
    last = await watched.make("six.example")
    async with run_checker(watched.backends):
        assert (await watched.check([*dead, last]))[-1] == "down"


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("example.com", "example.com"),
        ("www.example.com", "example.com"),
        ("a.b.example.com.", "example.com"),
        ("www.example.co.uk", "example.co.uk"),
        ("example.com.au", "example.com.au"),
        ("co.uk", None),
        ("www.example.in.ua", "example.in.ua"),
        ("example.github.io", "github.io"),
        ("www.unlisted.example", "unlisted.example"),
        ("t.co", "t.co"),
        ("www.ab.de", "ab.de"),
        ("localhost", None),
        ("192.0.2.1", None),
        ("2001:db8::1", None),
    ],
)
def test_a_domain_is_what_somebody_registered(host: str, domain: str | None) -> None:
    assert domain_of(host) == domain
