"""Limits how many checks run at once, in total, per team and per host, and picks the next check.

A lane is room for one running check. Has no side effects outside its objects.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum, auto
from heapq import heapify, heappop, heappush
from itertools import count
from typing import NamedTuple, TypeAlias
from uuid import UUID

from monitoring.checks.claims import Claimed

# One in this many lanes is reserved for teams with few running checks. Without these lanes, checks of other
# teams' dead servers could occupy all lanes, and a new team might have to wait until those checks time out.
KEPT_PART = 10

# A refused check is due again after the first number of seconds. Each further refusal doubles this delay, up
# to the second number. The delays are shorter for a quick host, because such a host soon has room again.
POSTPONEMENT_SECONDS = (5.0, 60.0)
POSTPONEMENT_SECONDS_IF_QUICK = (0.5, 1.5)
QUICK_SECONDS = 0.25
POSTPONEMENT_JITTER = 1.5
MAX_REMEMBERED = 100_000

# Host and port. Probes without an endpoint share the key None, so they count as one host.
_HostKey: TypeAlias = "tuple[str, int] | None"


class Turn(Enum):
    """When a claimed check may begin."""

    NOW = auto()
    LATER = auto()
    NEVER = auto()


class FairQueue:
    """Counts running checks, and queues checks while no lane is free or their team or host is at its limit.

    A free lane goes to the team with the fewest running checks. If several teams have equally few, it goes to
    the team whose last check began longest ago. If several teams wait for the same host, each team gets a
    share of the host's limit. No monitor is queued or running twice.
    """

    def __init__(self, at_once: int, per_team: int, per_host: int) -> None:
        self._at_once = at_once
        self._kept = at_once // KEPT_PART
        self._per_team = per_team
        self._per_host = per_host
        self._running: dict[UUID, _Place] = {}
        self._line: dict[UUID, tuple[Claimed, _Place]] = {}  # longest-waiting check first
        self._teams: dict[UUID, _Team] = {}
        self._hosts: dict[_HostKey, _Host] = {}
        self._seconds: dict[_HostKey, float] = {}  # moving average per host; the newest check counts half
        # Waiting teams that may have a check ready to begin. All other waiting teams are skipped until a lane
        # that they could use becomes free.
        self._ready: set[_Team] = set()
        self._turns = count()

    @property
    def free(self) -> int:
        """How many more checks may be claimed.

        This is at least one even if all lanes are occupied, because the next free lane may go to a team that
        has no running or waiting check yet.
        """
        return max(self._at_once - max(len(self._running), len(self._line)), self._at_once // 2, 1)

    @property
    def has_line(self) -> bool:
        """Whether any check is waiting."""
        return bool(self._line)

    def take(self, claimed: Claimed) -> Turn:
        """Begin, queue or refuse a check, and return which of the three happened.

        A check is refused if its monitor is already queued or running, if the line is full, or if its team
        has reached one of the following limits. For each host, a team may have as many waiting checks as may
        run there at the same time, or more if the host is quick. In total, a team may have as many waiting
        checks as it may run, but no more than its share of the lanes.
        """
        if claimed.monitor_id in self._running or claimed.monitor_id in self._line:
            return Turn.NEVER
        place = self._place_of(claimed)
        team, host = place
        if self._has_lane_for(team) and self._may_use(team, host) and host not in team.lines:
            self._enter(claimed, place)
            return Turn.NOW
        if self._is_line_full_for(team, host):
            self._forget_if_gone(place)
            return Turn.NEVER
        self._line_up(claimed, place)
        return Turn.LATER

    def leave(self, claimed: Claimed, took_seconds: float) -> None:
        """Free the lane of a finished check, and record how long the check took."""
        place = self._running.pop(claimed.monitor_id)
        team, host = place
        if len(self._seconds) > MAX_REMEMBERED:
            self._seconds.clear()
        self._seconds[host.key] = (took_seconds + self._seconds.get(host.key, took_seconds)) / 2
        team.running -= 1
        host.running[team] -= 1
        if not host.running[team]:
            del host.running[team]
        if team.lines:
            self._ready.add(team)
        self._ready |= host.waiting
        self._forget_if_gone(place)

    def call(self) -> list[Claimed]:
        """Move every check that can begin now from the line into a lane, and return them."""
        called: list[Claimed] = []
        if not self._ready or len(self._running) >= self._at_once:
            return called
        order = [(team.running, team.turn, team) for team in self._ready]  # turns are unique
        heapify(order)
        while order and self._has_lane_for(order[0][-1]):
            _, _, team = heappop(order)
            claimed = self._call_one_of(team)
            if claimed is None:
                self._ready.discard(team)
            else:
                called.append(claimed)
                heappush(order, (team.running, team.turn, team))
        return called

    def is_quick(self, claimed: Claimed) -> bool | None:
        """Return whether the latest checks of this check's host were quick; None if the host is unknown."""
        seconds = self._seconds.get(_host_key(claimed))
        return None if seconds is None else seconds <= QUICK_SECONDS

    def send_away(self, has_waited_too_long: Callable[[Claimed], bool]) -> list[Claimed]:
        """Remove and return the checks that have waited too long. They are at the front of the line."""
        sent: list[Claimed] = []
        while self._line:
            claimed, _ = next(iter(self._line.values()))
            if not has_waited_too_long(claimed):
                break
            self._forget_if_gone(self._step_out(claimed))
            sent.append(claimed)
        return sent

    def _has_lane_for(self, team: _Team) -> bool:
        """Return whether the process may run one more check of this team.

        The reserved lanes are shared equally among the teams.
        """
        taken = len(self._running)
        if taken < self._at_once - self._kept:
            return True
        return taken < self._at_once and team.running < max(1, self._kept // len(self._teams))

    def _may_use(self, team: _Team, host: _Host) -> bool:
        """Return whether the team and host limits allow one more check."""
        if team.running >= self._per_team or host.running.total() >= self._per_host:
            return False
        if host.waiting <= {team}:
            return True
        return host.running[team] < max(1, self._per_host // len(host.waiting | host.running.keys() | {team}))

    def _is_line_full_for(self, team: _Team, host: _Host) -> bool:
        quickness = max(1.0, 1 / self._seconds.get(host.key, 1.0))
        share = max(1, min(self._per_team, self._at_once // len(self._teams)))
        return (
            len(self._line) >= 2 * self._at_once
            or team.waiting_count >= share
            or len(team.lines.get(host, ())) >= self._per_host * quickness
        )

    def _enter(self, claimed: Claimed, place: _Place) -> None:
        team, host = place
        team.running += 1
        team.turn = next(self._turns)
        host.running[team] += 1
        self._running[claimed.monitor_id] = place

    def _line_up(self, claimed: Claimed, place: _Place) -> None:
        team, host = place
        self._line[claimed.monitor_id] = claimed, place
        team.lines.setdefault(host, deque()).append(claimed)
        team.waiting_count += 1
        host.waiting.add(team)
        self._ready.add(team)

    def _call_one_of(self, team: _Team) -> Claimed | None:
        """Move one of a team's checks into a lane, and return it or None. The team's hosts take turns."""
        for host, waiting in team.lines.items():
            if self._may_use(team, host):
                claimed = waiting[0]
                place = self._step_out(claimed)
                self._enter(claimed, place)
                if host in team.lines:
                    team.lines[host] = team.lines.pop(host)
                return claimed
        return None

    def _step_out(self, claimed: Claimed) -> _Place:
        """Remove a check from the line. The check must be its team's first waiting check for its host."""
        _, place = self._line.pop(claimed.monitor_id)
        team, host = place
        team.waiting_count -= 1
        team.lines[host].popleft()
        if not team.lines[host]:
            del team.lines[host]
            host.waiting.discard(team)
            self._ready |= host.waiting  # the other teams' shares of the host's limit have grown
        if not team.lines:
            self._ready.discard(team)
        return place

    def _place_of(self, claimed: Claimed) -> _Place:
        team_id, key = claimed.subject.team_id, _host_key(claimed)
        if team_id not in self._teams:
            self._teams[team_id] = _Team(team_id, next(self._turns))
        if key not in self._hosts:
            self._hosts[key] = _Host(key)
        return _Place(self._teams[team_id], self._hosts[key])

    def _forget_if_gone(self, place: _Place) -> None:
        team, host = place
        if not team.running and not team.lines:
            self._teams.pop(team.id, None)
        if not host.running and not host.waiting:
            self._hosts.pop(host.key, None)


class Postponements:
    """Counts how often each monitor was refused, and computes how long its next check is postponed."""

    def __init__(self) -> None:
        self._counts: Counter[UUID] = Counter()

    def postpone(
        self, refused: Iterable[Claimed], is_quick: Callable[[Claimed], bool | None]
    ) -> dict[float, list[Claimed]]:
        """Group the refused checks by their delay, which is the number of seconds until they are due again.

        The delay grows with every refusal. `is_quick` returns whether a check's host is quick, or None if
        this is unknown. An unknown host counts as quick for the first refusal. The caller may multiply the
        delay by up to `POSTPONEMENT_JITTER`. Even then, the delay is at most half the monitor's interval.
        """
        if len(self._counts) > MAX_REMEMBERED:  # other processes have checked many of these monitors
            self._counts.clear()
        postponed: defaultdict[float, list[Claimed]] = defaultdict(list)
        for claimed in refused:
            count, quick = self._counts[claimed.monitor_id], is_quick(claimed)
            is_soon = quick or (quick is None and count == 0)
            seconds, longest = POSTPONEMENT_SECONDS_IF_QUICK if is_soon else POSTPONEMENT_SECONDS
            longest = min(claimed.interval_seconds / 2, longest) / POSTPONEMENT_JITTER
            for _ in range(count):
                if seconds * 2 > longest:
                    break
                seconds *= 2
            else:  # the delay can still grow
                self._counts[claimed.monitor_id] += 1
            postponed[seconds].append(claimed)
        return postponed

    def forget(self, claimed: Claimed) -> None:
        """Reset the count of a monitor whose check has begun."""
        self._counts.pop(claimed.monitor_id, None)


@dataclass(eq=False, slots=True)
class _Team:
    """A team with checks. `lines` maps hosts to waiting checks, starting with the host whose turn is next."""

    id: UUID
    turn: int
    running: int = 0
    waiting_count: int = 0
    lines: dict[_Host, deque[Claimed]] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class _Host:
    """A host with checks: how many of its checks are running for each team, and which teams wait for it."""

    key: _HostKey
    running: Counter[_Team] = field(default_factory=Counter)
    waiting: set[_Team] = field(default_factory=set)


class _Place(NamedTuple):
    team: _Team
    host: _Host


def _host_key(claimed: Claimed) -> _HostKey:
    endpoint = claimed.probe.endpoint
    if claimed.is_sandbox:  # each sandbox has its own scripted hosts
        return (str(claimed.subject.team_id), 0)
    return (endpoint.host, endpoint.port) if endpoint else None
