from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, cast
from uuid import UUID, uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitoring.checks import fair_queue as fair_queue_module
from monitoring.checks.claims import Claimed
from monitoring.checks.fair_queue import FairQueue, Postponements, Turn
from monitoring.checks.probes.http import Expectation, HttpProbe
from monitoring.monitors.health import Health, State
from monitoring.monitors.warnings import Warnings
from monitoring.notifications.monitor_subjects import KnownMonitor
from monitoring.outbound.exchanges import OutboundRequest
from monitoring.outbound.targets import read_target

if TYPE_CHECKING:
    from collections.abc import Iterable

    from monitoring.outbound.targets import Endpoint

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
PLENTY = 1000
SLOW_SECONDS = 1.0
ANYTHING = Expectation(
    expected_status_codes=("2xx",),
    required_keyword=None,
    forbidden_keyword=None,
    tls_expiry_warning_days=0,
    slow_threshold_ms=None,
)

UNREADABLE = "a host that cannot be read"


def claim(team: str, host: str | None = None, interval_seconds: int = 300) -> Claimed:
    """Claim a monitor of a team; of a host that nobody else has, unless it is named."""
    monitor_id = uuid4()
    site = f"{host or monitor_id}.example.com"
    url = f"https://[::1]:99999/{monitor_id}" if host == UNREADABLE else f"https://{site}/"
    return Claimed(
        claim=uuid4(),
        lease_ends_at=NOON,
        planned_at=NOON,
        last_checked_at=None,
        subject=KnownMonitor(monitor_id, id_of(team), team, url, ()),
        maintenance_from=None,
        maintenance_until=None,
        probe=HttpProbe(OutboundRequest(method="GET", url=url, timeout_seconds=15), ANYTHING),
        timeout_seconds=15,
        warnings=Warnings(),
        health=Health(State.UP),
        status="up",
        interval_seconds=interval_seconds,
        retry_interval_seconds=10,
        failure_threshold=1,
        recovery_threshold=1,
    )


def id_of(team: str) -> UUID:
    return UUID(bytes=team.encode().ljust(16))


def teams_of(claimed: Iterable[Claimed]) -> str:
    return "".join(each.subject.name for each in claimed)


def take_all(queue: FairQueue, teams: str, host: str | None = None) -> dict[Turn, list[Claimed]]:
    """Take one claim for each letter, which is a team, and tell when they may begin."""
    turns: dict[Turn, list[Claimed]] = {turn: [] for turn in Turn}
    for team in teams:
        claimed = claim(team, host)
        turns[queue.take(claimed)].append(claimed)
    return turns


class TestFreeLanes:
    """Each letter is a check of the team of that name."""

    @pytest.mark.parametrize(
        ("running", "waiting", "leaving", "begins"),
        [
            ("A", "A", "A", "A"),
            ("AAAA", "AB", "A", "B"),  # it came later, and has nothing yet
            ("AABB", "ABC", "A", "C"),
            ("AAAB", "AB", "A", "B"),
            ("AAAB", "AB", "B", "B"),
            ("ABCD", "DCBA", "C", "C"),
            ("AABB", "BBA", "A", "A"),
            ("ABC", "CBA", "", ""),
            ("AAAA", "AAAA", "AAA", "AAA"),
            ("AAAA", "AAAABB", "AAAA", "ABAB"),
            ("AAAAAA", "AABBCC", "AAAAAA", "ABCABC"),
            ("AAAABBBB", "ABCDEF", "A", "C"),
            ("ABA", "AB", "AAB", "BA"),  # the last to have had a turn was A
        ],
    )
    def test_go_to_the_team_with_the_fewest(
        self, running: str, waiting: str, leaving: str, begins: str
    ) -> None:
        queue = FairQueue(len(running), PLENTY, PLENTY)
        entered = take_all(queue, running)[Turn.NOW]
        assert teams_of(entered) == running
        assert teams_of(take_all(queue, waiting)[Turn.LATER]) == waiting
        for team in leaving:
            [gone, *_] = [each for each in entered if each.subject.name == team]
            entered.remove(gone)
            queue.leave(gone, SLOW_SECONDS)
        assert teams_of(queue.call()) == begins

    def test_go_to_a_newcomer_although_dead_servers_fill_the_process(self) -> None:
        queue = FairQueue(200, 100, 20)
        dead = take_all(queue, "A" * 1000 + "B" * 1000)
        assert Counter(teams_of(dead[Turn.NOW])) == {"A": 100, "B": 80}
        assert take_all(queue, "C")[Turn.NOW]

    def test_are_kept_for_those_who_have_hardly_any(self) -> None:
        queue = FairQueue(20, PLENTY, PLENTY)
        assert len(take_all(queue, "A" * 20)[Turn.NOW]) == 18
        assert teams_of(take_all(queue, "BBCC")[Turn.NOW]) == "BC"

    def test_of_a_team_are_as_many_as_it_may_have(self) -> None:
        queue = FairQueue(100, 3, PLENTY)
        turns = take_all(queue, "A" * 10)
        assert [len(turns[turn]) for turn in Turn] == [3, 3, 4]
        assert queue.call() == []
        queue.leave(turns[Turn.NOW][0], SLOW_SECONDS)
        assert queue.call() == turns[Turn.LATER][:1]

    def test_of_a_host_are_as_many_as_it_may_have_and_the_others_of_the_team_do_not_wait(self) -> None:
        queue = FairQueue(100, PLENTY, 2)
        turns = take_all(queue, "A" * 10, host="slow")
        assert [len(turns[turn]) for turn in Turn] == [2, 2, 6]
        assert take_all(queue, "A")[Turn.NOW]
        queue.leave(turns[Turn.NOW][0], SLOW_SECONDS)
        assert queue.call() == turns[Turn.LATER][:1]

    @pytest.mark.parametrize("teams", ["AAAAAAAAAA", "ABABABABAB"])
    def test_of_hosts_that_cannot_be_read_are_as_many_as_one_host_may_have(self, teams: str) -> None:
        queue = FairQueue(100, PLENTY, 2)
        turns = take_all(queue, teams, host=UNREADABLE)
        assert len({each.subject.url for each in turns[Turn.NOW] + turns[Turn.LATER]}) > 2
        assert len(turns[Turn.NOW]) == 2
        assert take_all(queue, "A")[Turn.NOW]

    def test_of_two_spellings_of_a_host_are_as_many_as_one_host_may_have(self) -> None:
        queue = FairQueue(100, PLENTY, 2)
        turns = [queue.take(claim("A", host)) for host in ("shop", "SHOP", "sh%6Fp")]
        assert turns == [Turn.NOW, Turn.NOW, Turn.LATER]

    def test_of_a_host_are_shared_by_the_teams_that_want_them(self) -> None:
        queue = FairQueue(100, PLENTY, 4)
        entered = take_all(queue, "AAAAAAAA", host="shared")[Turn.NOW]
        take_all(queue, "B" * 20)  # which has more running in all, elsewhere
        take_all(queue, "BBB", host="shared")
        called = []
        for claimed in entered[:2]:
            queue.leave(claimed, SLOW_SECONDS)
            called += queue.call()
        assert teams_of(called) == "BB"
        queue.leave(called[0], SLOW_SECONDS)
        assert teams_of(queue.call()) == "B"

    def test_of_a_host_are_all_a_teams_again_when_no_other_waits(self) -> None:
        queue = FairQueue(100, PLENTY, 2)
        first, second = take_all(queue, "AA", host="shared")[Turn.NOW]
        [other] = take_all(queue, "B", host="shared")[Turn.LATER]
        take_all(queue, "A", host="shared")
        queue.leave(first, SLOW_SECONDS)
        assert queue.call() == [other]
        queue.leave(other, SLOW_SECONDS)
        assert teams_of(queue.call()) == "A"
        queue.leave(second, SLOW_SECONDS)
        assert queue.call() == []

    def test_of_a_host_are_looked_for_again_when_the_share_of_it_has_grown(self) -> None:
        queue = FairQueue(100, PLENTY, 4)
        first, second, *_ = take_all(queue, "AAAA", host="shared")[Turn.NOW]
        take_all(queue, "B" * 20)  # so that A is looked at first, and has its share of two
        take_all(queue, "AB", host="shared")
        queue.leave(first, SLOW_SECONDS)
        queue.leave(second, SLOW_SECONDS)
        assert teams_of(queue.call()) == "B"
        assert teams_of(queue.call()) == "A"


class TestLine:
    def test_is_shared_by_teams(self) -> None:
        queue = FairQueue(4, PLENTY, PLENTY)
        take_all(queue, "AABB")
        assert Counter(teams_of(take_all(queue, "AAAABBBBCC")[Turn.LATER])) == {"A": 2, "B": 2, "C": 1}

    def test_is_never_longer_than_twice_what_may_run(self) -> None:
        queue = FairQueue(4, PLENTY, PLENTY)
        assert len(take_all(queue, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")[Turn.LATER]) == 8

    def test_is_left_from_the_front_until_somebody_may_stay(self) -> None:
        queue = FairQueue(2, PLENTY, PLENTY)
        take_all(queue, "AA")
        first, second, third = take_all(queue, "BCD")[Turn.LATER]
        assert queue.send_away(lambda each: each is not second) == [first]
        assert queue.send_away(lambda _: True) == [second, third]
        assert not queue.has_line

    def test_has_a_monitor_once_and_not_while_it_runs(self) -> None:
        queue = FairQueue(1, PLENTY, PLENTY)
        running, waiting = claim("A"), claim("B")
        turns = [queue.take(each) for each in (running, waiting, running, waiting)]
        assert turns == [Turn.NOW, Turn.LATER, Turn.NEVER, Turn.NEVER]
        queue.leave(running, SLOW_SECONDS)
        assert queue.call() == [waiting]
        assert queue.take(running) is Turn.LATER

    def test_leaves_room_to_claim_however_long_it_is(self) -> None:
        queue = FairQueue(10, PLENTY, PLENTY)
        assert queue.free == 10
        take_all(queue, "AAA")
        assert queue.free == 7
        take_all(queue, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        assert queue.free == 5
        assert FairQueue(1, 1, 1).free == 1

    def test_reads_each_endpoint_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        read: Counter[str] = Counter()

        def note(probe: HttpProbe) -> Endpoint:
            read[probe.request.url] += 1
            return read_target(probe.request.url)

        monkeypatch.setattr(HttpProbe, "endpoint", property(note))
        queue = FairQueue(3, PLENTY, PLENTY)
        running = take_all(queue, "ABCABC")[Turn.NOW]
        while running:
            queue.leave(running.pop(), SLOW_SECONDS)
            running += queue.call()
        assert list(read.values()) == [1] * 6

    def test_is_not_looked_through_for_what_cannot_begin(self) -> None:
        """A line of one team at a slow host is looked at when one of these leaves, not when others do."""
        queue = FairQueue(100, PLENTY, 1)
        take_all(queue, "AA", host="slow")
        assert queue.call() == []
        [other] = take_all(queue, "B")[Turn.NOW]
        looked_at: list[object] = []
        queue._call_one_of = looked_at.append  # type: ignore[method-assign,assignment]  # noqa: SLF001
        queue.leave(other, SLOW_SECONDS)
        queue.call()
        assert looked_at == []


@settings(deadline=None)
@given(st.data())
def test_whatever_happens_bounds_hold_nobody_is_lost_and_nothing_is_kept_in_the_end(
    data: st.DataObject,
) -> None:
    at_once, per_team, per_host = (data.draw(st.integers(1, 12)) for _ in range(3))
    queue = FairQueue(at_once, per_team, per_host)
    running: list[Claimed] = []
    waiting: list[Claimed] = []
    for _ in range(data.draw(st.integers(0, 60))):
        match data.draw(st.sampled_from(["take", "take", "leave", "send away"])):
            case "take":
                host = data.draw(st.sampled_from([*"xyz", UNREADABLE]))
                claimed = claim(data.draw(st.sampled_from("ABCD")), host)
                {Turn.NOW: running, Turn.LATER: waiting, Turn.NEVER: []}[queue.take(claimed)].append(claimed)
            case "leave" if running:
                ending = running.pop(data.draw(st.integers(0, len(running) - 1)))
                queue.leave(ending, SLOW_SECONDS)
            case "send away" if waiting:
                first = waiting[0]
                assert queue.send_away(lambda each, first=first: each is first) == [first]  # type: ignore[misc]
                waiting.remove(first)
        for claimed in queue.call():
            waiting.remove(claimed)
            running.append(claimed)
        assert len(running) <= at_once
        assert max(Counter(teams_of(running)).values(), default=0) <= per_team
        assert max(Counter(each.probe.endpoint for each in running).values(), default=0) <= per_host
        assert queue.has_line == bool(waiting)
    while running:  # whoever waits gets a turn when enough have left
        queue.leave(running.pop(), SLOW_SECONDS)
        called = queue.call()
        running += called
        waiting = [each for each in waiting if each not in called]
    assert waiting == []
    assert not any(cast("dict[str, object]", vars(queue))[name] for name in ("_teams", "_hosts", "_line"))


class TestPostponements:
    @pytest.mark.parametrize(
        ("interval_seconds", "seconds"),
        [
            (30, [5, 10, 10, 10, 10]),
            (60, [5, 10, 20, 20, 20]),
            (120, [5, 10, 20, 40, 40]),
            (86_400, [5, 10, 20, 40, 40]),
        ],
    )
    def test_are_longer_each_time_within_half_the_interval(
        self, interval_seconds: int, seconds: list[int]
    ) -> None:
        claimed, postponements = claim("A", interval_seconds=interval_seconds), Postponements()
        assert [next(iter(postponements.postpone([claimed], slow))) for _ in seconds] == seconds

    @pytest.mark.parametrize(
        ("is_quick", "seconds"), [(True, [0.5, 1, 1]), (None, [0.5, 10, 10]), (False, [5, 10, 10])]
    )
    def test_are_short_where_room_is_made_soon(
        self,
        is_quick: bool | None,  # noqa: FBT001
        seconds: list[float],
    ) -> None:
        claimed, postponements = claim("A", interval_seconds=30), Postponements()
        told = [next(iter(postponements.postpone([claimed], lambda _: is_quick))) for _ in seconds]
        assert told == seconds

    def test_begin_anew_once_there_was_a_turn(self) -> None:
        claimed, another, postponements = claim("A"), claim("A"), Postponements()
        postponements.postpone([claimed, another], slow)
        postponements.forget(claimed)
        assert postponements.postpone([claimed, another], slow) == {5: [claimed], 10: [another]}

    def test_are_not_remembered_without_bound(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(fair_queue_module, "MAX_REMEMBERED", 2)
        claims, postponements = [claim("A") for _ in range(3)], Postponements()
        assert [list(postponements.postpone(claims, slow)) for _ in range(3)] == [[5], [5], [5]]


def slow(_: Claimed) -> bool:
    return False


@pytest.mark.parametrize(("took_seconds", "most_seconds"), [(0.005, 10), (0.02, 10), (0.2, 30)])
def test_a_team_with_all_its_monitors_at_one_host_waits_for_little_but_the_host(
    took_seconds: float, most_seconds: float
) -> None:
    """Plays a checker that has 2,000 monitors due at once, on a clock of its own."""
    queue, postponements = FairQueue(at_once=200, per_team=100, per_host=20), Postponements()
    due = [(0.0, number, claim("A", "shop")) for number in range(2000)]
    ends: list[tuple[float, int, Claimed]] = []
    tick, now, next_claim, number = 0.02, 0.0, 0.0, count(2000)
    while due or ends or queue.has_line:
        while ends and ends[0][0] <= now:
            queue.leave(heappop(ends)[-1], took_seconds)
        begun = queue.call()
        if now >= next_claim:
            room = queue.free
            claimed = [heappop(due)[-1] for _ in range(room) if due and due[0][0] <= now]
            turns = [(each, queue.take(each)) for each in claimed]
            begun += [each for each, turn in turns if turn is Turn.NOW]
            refused = [each for each, turn in turns if turn is Turn.NEVER]
            for seconds, postponed in postponements.postpone(refused, queue.is_quick).items():
                for each in postponed:
                    heappush(due, (now + seconds, next(number), each))
            next_claim = now + (0.1 if len(claimed) == room else 0.5)
        for each in begun:
            postponements.forget(each)
            heappush(ends, (now + took_seconds, next(number), each))
        now += tick
    assert now < most_seconds
