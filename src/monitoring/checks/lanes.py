"""How many checks run at once, of one team and of one host, and whose turn is next. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from dataclasses import dataclass, field
from enum import Enum, auto
from heapq import heapify, heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from monitoring.outbound.targets import UnusableUrl, read_target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from uuid import UUID

    from monitoring.checks.claims import Claimed

# This part of the lanes is for who has hardly anything running. Else whoever comes while teams with dead
# servers fill the process waits until a lane is free, which may take as long as a timeout.
KEPT_PART = 10

# When what was refused is due again: this long after the first time, twice as long each time after that.
FIRST_POSTPONEMENT_SECONDS = 5
LONGEST_POSTPONEMENT_SECONDS = 60
POSTPONEMENT_JITTER = 1.5
MAX_REMEMBERED = 100_000


class Turn(Enum):
    """When what is claimed may begin."""

    NOW = auto()
    LATER = auto()
    NEVER = auto()


class Lanes:
    """Keeps count of what runs, and of the line of those that wait, because of their team, host, or of all.

    A free lane goes to the team with the fewest checks running, of equal ones to the one that has waited for
    its turn the longest. Where teams wait for the same host, each has its share of it. A monitor is in here
    once.
    """

    def __init__(self, at_once: int, per_team: int, per_host: int) -> None:
        self._at_once = at_once
        self._kept = at_once // KEPT_PART
        self._per_team = per_team
        self._per_host = per_host
        self._running: dict[UUID, _Place] = {}
        self._line: dict[UUID, tuple[Claimed, _Place]] = {}  # those that have waited the longest first
        self._teams: dict[UUID, _Team] = {}
        self._hosts: dict[str, _Host] = {}
        # Teams that wait and may have somebody who can begin: others need no look until one of theirs leaves.
        self._ready: set[_Team] = set()
        self._turns = count()

    @property
    def room(self) -> int:
        """How many more may be claimed.

        It is never none: however full it is, it may be somebody's turn who is not here yet.
        """
        return max(self._at_once - max(len(self._running), len(self._line)), self._at_once // 2, 1)

    @property
    def has_line(self) -> bool:
        """Whether anything waits."""
        return bool(self._line)

    def take(self, claimed: Claimed) -> Turn:
        """Let a check enter now, or wait in line; never, if it is in here already or the line is full.

        As many may wait as may run: of a team at one host, of a team, where each has its part of the whole.
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

    def leave(self, claimed: Claimed) -> None:
        """Give the lane free."""
        place = self._running.pop(claimed.monitor_id)
        team, host = place
        team.running -= 1
        host.running[team] -= 1
        if not host.running[team]:
            del host.running[team]
        if team.lines:
            self._ready.add(team)
        self._ready |= host.waiting
        self._forget_if_gone(place)

    def call(self) -> list[Claimed]:
        """Take out of the line who can begin now, and has entered."""
        called: list[Claimed] = []
        if not self._ready or len(self._running) >= self._at_once:
            return called
        order = [(team.running, team.turn, team) for team in self._ready]  # no two have the same turn
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

    def send_away(self, has_waited_too_long: Callable[[Claimed], bool]) -> list[Claimed]:
        """Take out of the line whoever waits too long, from the front until one does not."""
        sent: list[Claimed] = []
        while self._line:
            claimed, _ = next(iter(self._line.values()))
            if not has_waited_too_long(claimed):
                break
            self._forget_if_gone(self._step_out(claimed))
            sent.append(claimed)
        return sent

    def _has_lane_for(self, team: _Team) -> bool:
        """Say whether one more may run in all; of the lanes that are kept, each team has its share."""
        taken = len(self._running)
        if taken < self._at_once - self._kept:
            return True
        return taken < self._at_once and team.running < max(1, self._kept // len(self._teams))

    def _may_use(self, team: _Team, host: _Host) -> bool:
        """Say whether team and host allow one more."""
        if team.running >= self._per_team or host.running.total() >= self._per_host:
            return False
        if host.waiting <= {team}:
            return True
        return host.running[team] < max(1, self._per_host // len(host.waiting | host.running.keys() | {team}))

    def _is_line_full_for(self, team: _Team, host: _Host) -> bool:
        share = max(1, min(self._per_team, self._at_once // len(self._teams)))
        return (
            len(self._line) >= 2 * self._at_once
            or team.waiting_count >= share
            or len(team.lines.get(host, ())) >= self._per_host
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
        """Let one of the team's enter; its hosts take turns."""
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
        """Take who is the first in the line of its team and host out of it."""
        _, place = self._line.pop(claimed.monitor_id)
        team, host = place
        team.waiting_count -= 1
        team.lines[host].popleft()
        if not team.lines[host]:
            del team.lines[host]
            host.waiting.discard(team)
            self._ready |= host.waiting  # their shares of the host have grown
        if not team.lines:
            self._ready.discard(team)
        return place

    def _place_of(self, claimed: Claimed) -> _Place:
        team_id, name = claimed.subject.team_id, host_of(claimed.request.url)
        if team_id not in self._teams:
            self._teams[team_id] = _Team(team_id, next(self._turns))
        if name not in self._hosts:
            self._hosts[name] = _Host(name)
        return _Place(self._teams[team_id], self._hosts[name])

    def _forget_if_gone(self, place: _Place) -> None:
        team, host = place
        if not team.running and not team.lines:
            self._teams.pop(team.id, None)
        if not host.running and not host.waiting:
            self._hosts.pop(host.name, None)


class Postponements:
    """Remembers how often monitors were refused, so that the rest of what is due is reached."""

    def __init__(self) -> None:
        self._counts: Counter[UUID] = Counter()

    def postpone(self, refused: Iterable[Claimed]) -> dict[float, list[Claimed]]:
        """Say in how many seconds they are due again: later the more often, within half their interval.

        A little after that, by up to `POSTPONEMENT_JITTER`, keeps to the bound as well.
        """
        if len(self._counts) > MAX_REMEMBERED:  # many went to other processes
            self._counts.clear()
        postponed: defaultdict[float, list[Claimed]] = defaultdict(list)
        for claimed in refused:
            longest = min(claimed.interval_seconds / 2, LONGEST_POSTPONEMENT_SECONDS) / POSTPONEMENT_JITTER
            seconds = FIRST_POSTPONEMENT_SECONDS
            for _ in range(self._counts[claimed.monitor_id]):
                if seconds * 2 > longest:
                    break
                seconds *= 2
            else:  # not yet the longest
                self._counts[claimed.monitor_id] += 1
            postponed[seconds].append(claimed)
        return postponed

    def forget(self, claimed: Claimed) -> None:
        """Forget what has got its turn."""
        self._counts.pop(claimed.monitor_id, None)


@dataclass(eq=False, slots=True)
class _Team:
    """What a team has here. `lines` are those of hosts, the one whose turn is next first; none is empty."""

    id: UUID
    turn: int
    running: int = 0
    waiting_count: int = 0
    lines: dict[_Host, deque[Claimed]] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class _Host:
    """How many checks of it run by team, and which teams wait."""

    name: str
    running: Counter[_Team] = field(default_factory=Counter)
    waiting: set[_Team] = field(default_factory=set)


class _Place(NamedTuple):
    team: _Team
    host: _Host


def host_of(url: str) -> str:
    """Name host and port of a URL, in one spelling."""
    try:
        target = read_target(url)
    except UnusableUrl:
        return url
    return f"{target.host}:{target.port}"
