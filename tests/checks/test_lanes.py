from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast
from uuid import UUID, uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitoring.checks import lanes as lanes_module
from monitoring.checks.claims import Claimed
from monitoring.checks.judging import Expectation
from monitoring.checks.lanes import Lanes, Postponements, Turn, host_of
from monitoring.incidents.subjects import KnownMonitor
from monitoring.monitors.health import Health, State
from monitoring.outbound.exchanges import OutboundRequest

if TYPE_CHECKING:
    from collections.abc import Iterable

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
PLENTY = 1000


def claim(team: str, host: str | None = None, interval_seconds: int = 300) -> Claimed:
    """Claim a monitor of a team; of a host that nobody else has, unless it is named."""
    monitor_id = uuid4()
    url = f"https://{host or monitor_id}.example.com/"
    return Claimed(
        claim=uuid4(),
        lease_ends_at=NOON,
        planned_at=NOON,
        last_checked_at=None,
        subject=KnownMonitor(monitor_id, id_of(team), team, url),
        request=OutboundRequest(method="GET", url=url, timeout_seconds=15),
        expectation=Expectation(
            expected_status_codes=("2xx",),
            required_keyword=None,
            forbidden_keyword=None,
            tls_expiry_warning_days=0,
            slow_threshold_ms=None,
        ),
        health=Health(State.UP),
        status="up",
        interval_seconds=interval_seconds,
        failure_threshold=1,
        recovery_threshold=1,
    )


def id_of(team: str) -> UUID:
    return UUID(bytes=team.encode().ljust(16))


def teams_of(claimed: Iterable[Claimed]) -> str:
    return "".join(each.subject.name for each in claimed)


def take_all(lanes: Lanes, teams: str, host: str | None = None) -> dict[Turn, list[Claimed]]:
    """Take one claim for each letter, which is a team, and tell when they may begin."""
    turns: dict[Turn, list[Claimed]] = {turn: [] for turn in Turn}
    for team in teams:
        claimed = claim(team, host)
        turns[lanes.take(claimed)].append(claimed)
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
        lanes = Lanes(len(running), PLENTY, PLENTY)
        entered = take_all(lanes, running)[Turn.NOW]
        assert teams_of(entered) == running
        assert teams_of(take_all(lanes, waiting)[Turn.LATER]) == waiting
        for team in leaving:
            [gone, *_] = [each for each in entered if each.subject.name == team]
            entered.remove(gone)
            lanes.leave(gone)
        assert teams_of(lanes.call()) == begins

    def test_go_to_a_newcomer_although_dead_servers_fill_the_process(self) -> None:
        lanes = Lanes(200, 100, 20)
        dead = take_all(lanes, "A" * 1000 + "B" * 1000)
        assert Counter(teams_of(dead[Turn.NOW])) == {"A": 100, "B": 80}
        assert take_all(lanes, "C")[Turn.NOW]

    def test_are_kept_for_those_who_have_hardly_any(self) -> None:
        lanes = Lanes(20, PLENTY, PLENTY)
        assert len(take_all(lanes, "A" * 20)[Turn.NOW]) == 18
        assert teams_of(take_all(lanes, "BBCC")[Turn.NOW]) == "BC"

    def test_of_a_team_are_as_many_as_it_may_have(self) -> None:
        lanes = Lanes(100, 3, PLENTY)
        turns = take_all(lanes, "A" * 10)
        assert [len(turns[turn]) for turn in Turn] == [3, 3, 4]
        assert lanes.call() == []
        lanes.leave(turns[Turn.NOW][0])
        assert lanes.call() == turns[Turn.LATER][:1]

    def test_of_a_host_are_as_many_as_it_may_have_and_the_others_of_the_team_do_not_wait(self) -> None:
        lanes = Lanes(100, PLENTY, 2)
        turns = take_all(lanes, "A" * 10, host="slow")
        assert [len(turns[turn]) for turn in Turn] == [2, 2, 6]
        assert take_all(lanes, "A")[Turn.NOW]
        lanes.leave(turns[Turn.NOW][0])
        assert lanes.call() == turns[Turn.LATER][:1]

    def test_of_a_host_are_shared_by_the_teams_that_want_them(self) -> None:
        lanes = Lanes(100, PLENTY, 4)
        entered = take_all(lanes, "AAAAAAAA", host="shared")[Turn.NOW]
        take_all(lanes, "B" * 20)  # which has more running in all, elsewhere
        take_all(lanes, "BBB", host="shared")
        called = []
        for claimed in entered[:2]:
            lanes.leave(claimed)
            called += lanes.call()
        assert teams_of(called) == "BB"
        lanes.leave(called[0])
        assert teams_of(lanes.call()) == "B"

    def test_of_a_host_are_all_a_teams_again_when_no_other_waits(self) -> None:
        lanes = Lanes(100, PLENTY, 2)
        first, second = take_all(lanes, "AA", host="shared")[Turn.NOW]
        [other] = take_all(lanes, "B", host="shared")[Turn.LATER]
        take_all(lanes, "A", host="shared")
        lanes.leave(first)
        assert lanes.call() == [other]
        lanes.leave(other)
        assert teams_of(lanes.call()) == "A"
        lanes.leave(second)
        assert lanes.call() == []

    def test_of_a_host_are_looked_for_again_when_the_share_of_it_has_grown(self) -> None:
        lanes = Lanes(100, PLENTY, 4)
        first, second, *_ = take_all(lanes, "AAAA", host="shared")[Turn.NOW]
        take_all(lanes, "B" * 20)  # so that A is looked at first, and has its share of two
        take_all(lanes, "AB", host="shared")
        lanes.leave(first)
        lanes.leave(second)
        assert teams_of(lanes.call()) == "B"
        assert teams_of(lanes.call()) == "A"


class TestLine:
    def test_is_shared_by_teams(self) -> None:
        lanes = Lanes(4, PLENTY, PLENTY)
        take_all(lanes, "AABB")
        assert Counter(teams_of(take_all(lanes, "AAAABBBBCC")[Turn.LATER])) == {"A": 2, "B": 2, "C": 1}

    def test_is_never_longer_than_twice_what_may_run(self) -> None:
        lanes = Lanes(4, PLENTY, PLENTY)
        assert len(take_all(lanes, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")[Turn.LATER]) == 8

    def test_is_left_from_the_front_until_somebody_may_stay(self) -> None:
        lanes = Lanes(2, PLENTY, PLENTY)
        take_all(lanes, "AA")
        first, second, third = take_all(lanes, "BCD")[Turn.LATER]
        assert lanes.send_away(lambda each: each is not second) == [first]
        assert lanes.send_away(lambda _: True) == [second, third]
        assert not lanes.has_line

    def test_has_a_monitor_once_and_not_while_it_runs(self) -> None:
        lanes = Lanes(1, PLENTY, PLENTY)
        running, waiting = claim("A"), claim("B")
        turns = [lanes.take(each) for each in (running, waiting, running, waiting)]
        assert turns == [Turn.NOW, Turn.LATER, Turn.NEVER, Turn.NEVER]
        lanes.leave(running)
        assert lanes.call() == [waiting]
        assert lanes.take(running) is Turn.LATER

    def test_leaves_room_to_claim_however_long_it_is(self) -> None:
        lanes = Lanes(10, PLENTY, PLENTY)
        assert lanes.room == 10
        take_all(lanes, "AAA")
        assert lanes.room == 7
        take_all(lanes, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        assert lanes.room == 5
        assert Lanes(1, 1, 1).room == 1

    def test_reads_each_url_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        read: Counter[str] = Counter()

        def note(url: str) -> str:
            read[url] += 1
            return host_of(url)

        monkeypatch.setattr(lanes_module, "host_of", note)
        lanes = Lanes(3, PLENTY, PLENTY)
        running = take_all(lanes, "ABCABC")[Turn.NOW]
        while running:
            lanes.leave(running.pop())
            running += lanes.call()
        assert list(read.values()) == [1] * 6

    def test_is_not_looked_through_for_what_cannot_begin(self) -> None:
        """A line of one team at a slow host is looked at when one of these leaves, not when others do."""
        lanes = Lanes(100, PLENTY, 1)
        take_all(lanes, "AA", host="slow")
        assert lanes.call() == []
        [other] = take_all(lanes, "B")[Turn.NOW]
        looked_at: list[object] = []
        lanes._call_one_of = looked_at.append  # type: ignore[method-assign,assignment]  # noqa: SLF001
        lanes.leave(other)
        lanes.call()
        assert looked_at == []


@settings(deadline=None)
@given(st.data())
def test_whatever_happens_bounds_hold_nobody_is_lost_and_nothing_is_kept_in_the_end(
    data: st.DataObject,
) -> None:
    at_once, per_team, per_host = (data.draw(st.integers(1, 12)) for _ in range(3))
    lanes = Lanes(at_once, per_team, per_host)
    running: list[Claimed] = []
    waiting: list[Claimed] = []
    for _ in range(data.draw(st.integers(0, 60))):
        match data.draw(st.sampled_from(["take", "take", "leave", "send away"])):
            case "take":
                claimed = claim(data.draw(st.sampled_from("ABCD")), data.draw(st.sampled_from("xyz")))
                {Turn.NOW: running, Turn.LATER: waiting, Turn.NEVER: []}[lanes.take(claimed)].append(claimed)
            case "leave" if running:
                lanes.leave(running.pop(data.draw(st.integers(0, len(running) - 1))))
            case "send away" if waiting:
                first = waiting[0]
                assert lanes.send_away(lambda each, first=first: each is first) == [first]  # type: ignore[misc]
                waiting.remove(first)
        for claimed in lanes.call():
            waiting.remove(claimed)
            running.append(claimed)
        assert len(running) <= at_once
        assert max(Counter(teams_of(running)).values(), default=0) <= per_team
        assert max(Counter(each.request.url for each in running).values(), default=0) <= per_host
        assert lanes.has_line == bool(waiting)
    while running:  # whoever waits gets a turn when enough have left
        lanes.leave(running.pop())
        called = lanes.call()
        running += called
        waiting = [each for each in waiting if each not in called]
    assert waiting == []
    assert not any(cast("dict[str, object]", vars(lanes))[name] for name in ("_teams", "_hosts", "_line"))


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
        assert [next(iter(postponements.postpone([claimed]))) for _ in seconds] == seconds

    def test_begin_anew_once_there_was_a_turn(self) -> None:
        claimed, another, postponements = claim("A"), claim("A"), Postponements()
        postponements.postpone([claimed, another])
        postponements.forget(claimed)
        assert postponements.postpone([claimed, another]) == {5: [claimed], 10: [another]}

    def test_are_not_remembered_without_bound(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(lanes_module, "MAX_REMEMBERED", 2)
        claims, postponements = [claim("A") for _ in range(3)], Postponements()
        assert [list(postponements.postpone(claims)) for _ in range(3)] == [[5], [5], [5]]


class TestHost:
    @pytest.mark.parametrize(
        ("url", "host"),
        [
            ("http://Shop.example.com/a", "shop.example.com:80"),
            ("https://shop.example.com", "shop.example.com:443"),
            ("https://shop.example.com:8443/", "shop.example.com:8443"),
            ("http://[::1]:99999/", "http://[::1]:99999/"),
        ],
    )
    def test_is_named_in_one_spelling(self, url: str, host: str) -> None:
        assert host_of(url) == host
