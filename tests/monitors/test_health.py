"""Checks are written as letters, one a minute: U up, S slow, D down, ? unknown, _ an hour without checks."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitoring.contract.document import published_document
from monitoring.history.timeline import measure
from monitoring.monitors.health import (
    GRACE,
    STATUSES,
    Health,
    Observation,
    Outcome,
    State,
    Transition,
    observe,
    outcome_in_maintenance,
    status_of,
)

CREATED_AT = datetime(2026, 11, 20, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
OUTCOMES = {"U": Outcome.UP, "S": Outcome.DEGRADED, "D": Outcome.DOWN, "?": Outcome.UNKNOWN}
LETTERS = {outcome: letter for letter, outcome in OUTCOMES.items()}

Check = tuple[datetime, Outcome]
Span = tuple[datetime, datetime]


@dataclass
class Watched:
    """A monitor that is checked once a minute, with its state kept as the service keeps it."""

    failure_threshold: int
    recovery_threshold: int
    health: Health = field(default_factory=lambda: Health(State.PENDING))
    observations: list[Observation] = field(default_factory=list)
    history: list[Transition] = field(default_factory=lambda: [Transition(CREATED_AT, State.PENDING)])
    incidents: list[list[datetime]] = field(default_factory=list)

    @property
    def statuses(self) -> list[str]:
        return [status_of(observation.health) for observation in self.observations]

    @property
    def seen_until(self) -> datetime:
        assert self.health.seen_until
        return self.health.seen_until

    def check(self, checked_at: datetime, outcome: Outcome) -> None:
        observation = observe(
            self.health,
            outcome,
            checked_at,
            interval_seconds=60,
            failure_threshold=self.failure_threshold,
            recovery_threshold=self.recovery_threshold,
        )
        self.health = observation.health
        self.observations.append(observation)
        for change in observation.changes:
            if self.history[-1].changed_at == change.changed_at:
                self.history.pop()
            self.history.append(change)
        if observation.opened_at:
            self.incidents.append([observation.opened_at])
        if observation.resolved_at:
            self.incidents[-1].append(observation.resolved_at)

    def spans(self, state: State) -> list[Span]:
        moments = [*(change.changed_at for change in self.history), self.seen_until]
        spans = zip(self.history, pairwise(moments), strict=True)
        return [span for change, span in spans if change.state is state]


def watch(checks: list[Check], failure_threshold: int = 2, recovery_threshold: int = 2) -> Watched:
    watched = Watched(failure_threshold, recovery_threshold)
    for checked_at, outcome in checks:
        watched.check(checked_at, outcome)
    return watched


def timed(letters: str) -> list[Check]:
    checks, now = [], CREATED_AT
    for letter in letters:
        now += 60 * MINUTE if letter == "_" else MINUTE
        if letter != "_":
            checks.append((now, OUTCOMES[letter]))
    return checks


def minutes(moment: datetime) -> float:
    return (moment - CREATED_AT) / MINUTE


class TestStatus:
    @pytest.mark.parametrize(
        ("letters", "statuses"),
        [
            ("U", "up"),
            ("S", "degraded"),
            ("USU", "up degraded up"),
            ("DU", "validating up"),
            ("DD", "validating down"),
            ("UDU", "up validating up"),
            ("UDUDU", "up validating up validating up"),
            ("UDD", "up validating down"),
            ("SDS", "degraded validating degraded"),
            ("SDU", "degraded validating up"),
            ("SDDU", "degraded validating down down"),
            ("DDUU", "validating down down up"),
            ("DDUS", "validating down down degraded"),
            ("DDSU", "validating down down up"),
            ("DDUDU", "validating down down down down"),
            ("U?U", "up unknown up"),
            ("?U", "unknown up"),
            ("?D", "unknown validating"),
            ("D?D", "validating unknown validating"),
            ("UD?D", "up validating unknown validating"),
            ("DD?D", "validating down unknown down"),
            ("DDU?UU", "validating down down unknown down up"),
            ("S?", "degraded unknown"),
            ("UD_D", "up validating validating"),
            ("DDU_UU", "validating down down down up"),
        ],
    )
    def test_follows_outcomes_with_both_thresholds_at_two(self, letters: str, statuses: str) -> None:
        assert " ".join(watch(timed(letters)).statuses) == statuses

    @pytest.mark.parametrize(
        ("failure_threshold", "recovery_threshold", "statuses"),
        [
            (1, 1, "up down down down up up up"),
            (3, 1, "up validating validating down up up up"),
            (1, 3, "up down down down down down up"),
            (4, 1, "up validating validating validating up up up"),
        ],
    )
    def test_takes_each_threshold_for_its_own_direction(
        self, failure_threshold: int, recovery_threshold: int, statuses: str
    ) -> None:
        watched = watch(timed("UDDDUUU"), failure_threshold, recovery_threshold)
        assert " ".join(watched.statuses) == statuses

    def test_before_the_first_check_is_pending(self) -> None:
        assert status_of(Health(State.PENDING)) == "pending"


class TestIncident:
    @pytest.mark.parametrize(
        ("letters", "incidents"),
        [
            ("UDU", []),
            ("UDUDUD", []),
            ("DD", [[1]]),
            ("UDD", [[2]]),
            ("UDDDDU", [[2]]),
            ("UDDUU", [[2, 4]]),
            ("UDDSU", [[2, 4]]),
            ("UDDUDUU", [[2, 6]]),
            ("UDUDDUU", [[4, 6]]),
            ("UDDUUDD", [[2, 4], [6]]),
            ("UD?D", []),
            ("UD?DD", [[4]]),
            ("DD?U", [[1]]),
            ("DDU?UU", [[1, 5]]),
            ("UD_D", []),
            ("UD_DD", [[63]]),
            ("DD_UU", [[1, 63]]),
        ],
    )
    def test_lasts_from_the_first_failure_to_the_first_success(
        self, letters: str, incidents: list[list[int]]
    ) -> None:
        watched = watch(timed(letters))
        assert [[minutes(moment) for moment in incident] for incident in watched.incidents] == incidents


class TestTime:
    @pytest.mark.parametrize(
        ("letters", "history"),
        [
            ("U", "1 up"),
            ("USU", "1 up"),
            ("D", ""),
            ("DU", "2 up"),
            ("DD", "1 down"),
            ("UDUU", "1 up"),
            ("UDD", "1 up, 2 down"),
            ("UDDUU", "1 up, 2 down, 4 up"),
            ("UDDUDUU", "1 up, 2 down, 6 up"),
            ("U??U", "1 up, 2 unknown, 4 up"),
            ("UD?U", "1 up, 3 unknown, 4 up"),
            ("U?D", "1 up, 2 unknown, 3 up"),
            ("U?DD", "1 up, 2 unknown, 3 down"),
            ("U?DU", "1 up, 2 unknown, 3 up"),
            ("?", "1 unknown"),
            ("?D", "1 unknown, 2 pending"),
            ("?U", "1 unknown, 2 up"),
            ("DD?D", "1 down, 3 unknown, 4 down"),
            ("DD?UU", "1 down, 3 unknown, 4 up"),
            ("U_U", "1 up, 4 unknown, 62 up"),
            ("UD_D", "1 up, 5 unknown, 63 up"),
            ("UD_DD", "1 up, 5 unknown, 63 down"),
            ("U_?U", "1 up, 4 unknown, 63 up"),
            ("U?_U", "1 up, 2 unknown, 63 up"),
            ("D_U", "4 unknown, 62 up"),
        ],
    )
    def test_is_counted_as_what_was_confirmed_from_its_first_sign_on(
        self, letters: str, history: str
    ) -> None:
        changes = watch(timed(letters)).history[1:]
        assert ", ".join(f"{minutes(moment):g} {state}" for moment, state in changes) == history

    def test_with_a_threshold_of_one_needs_no_return_to_what_was_before_blindness(self) -> None:
        watched = watch(timed("U?D"), failure_threshold=1)
        assert watched.observations[-1].changes == (Transition(CREATED_AT + 3 * MINUTE, State.DOWN),)

    def test_of_a_gap_is_told_together_with_its_end(self) -> None:
        watched = watch(timed("U_U"))
        assert watched.observations[-1].changes == (
            Transition(CREATED_AT + 4 * MINUTE, State.UNKNOWN),
            Transition(CREATED_AT + 62 * MINUTE, State.UP),
        )

    def test_between_checks_is_no_gap_up_to_an_interval_and_the_grace(self) -> None:
        latest = CREATED_AT + MINUTE + GRACE
        on_time = watch([(CREATED_AT, Outcome.UP), (latest, Outcome.UP)])
        too_late = watch([(CREATED_AT, Outcome.UP), (latest + timedelta(microseconds=1), Outcome.UP)])
        assert not on_time.spans(State.UNKNOWN)
        assert too_late.spans(State.UNKNOWN) == [(latest, latest + timedelta(microseconds=1))]


pauses = st.sampled_from([timedelta(seconds=10), MINUTE, MINUTE + GRACE, 2 * MINUTE + GRACE]) | st.timedeltas(
    timedelta(microseconds=1), 6 * MINUTE
)
thresholds = st.integers(1, 4)


@st.composite
def sequences(draw: st.DrawFn) -> list[Check]:
    """Outcomes at irregular times, in runs that are long enough to reach thresholds."""
    runs = draw(st.lists(st.tuples(st.sampled_from("UUSDDD?"), st.integers(1, 5)), min_size=1, max_size=12))
    checks, now = [], CREATED_AT
    for letter in "".join(letter * length for letter, length in runs):
        now += draw(pauses)
        checks.append((now, OUTCOMES[letter]))
    return checks


class Hindsight:
    """The same rules without state: searched for in the text of all checks, in which | is a gap."""

    def __init__(self, checks: list[Check], failure_threshold: int, recovery_threshold: int) -> None:
        self.failures = re.compile(f"D{{{failure_threshold}}}")
        self.successes = re.compile(f"[US]{{{recovery_threshold}}}")
        self.text, self.moments = "", []
        seen_until = checks[0][0]
        for checked_at, outcome in checks:
            if checked_at > seen_until:
                self.text += "|"
                self.moments.append(seen_until)
            self.text += LETTERS[outcome]
            self.moments.append(checked_at)
            seen_until = checked_at + MINUTE + GRACE
        self.moments.append(seen_until)

    def incidents(self) -> list[list[datetime]]:
        incidents = []
        opening = self.failures.search(self.text)
        while opening:
            ending = self.successes.search(self.text, opening.end())
            ends = [opening.start(), ending.start()] if ending else [opening.start()]
            incidents.append([self.moments[position] for position in ends])
            opening = self.failures.search(self.text, ending.end()) if ending else None
        return incidents

    def blind(self) -> list[Span]:
        runs = re.finditer(r"[?|]+", self.text)
        return [(self.moments[run.start()], self.moments[run.end()]) for run in runs]

    def down(self) -> list[Span]:
        spans = [(incident[0], [*incident, self.moments[-1]][1]) for incident in self.incidents()]
        return without(spans, self.blind())

    def up(self) -> list[Span]:
        first = re.search(f"[US]|{self.failures.pattern}", self.text)
        settled = [(self.moments[first.start()], self.moments[-1])] if first else []
        return without(settled, self.blind() + self.down())


def without(spans: list[Span], holes: list[Span]) -> list[Span]:
    for hole_start, hole_end in holes:
        pieces = [
            piece
            for start, end in spans
            for piece in ((start, min(end, hole_start)), (max(start, hole_end), end))
        ]
        spans = [(start, end) for start, end in pieces if start < end]
    return spans


class TestAnySequenceOfChecks:
    @given(sequences(), thresholds, thresholds)
    def test_has_the_incidents_that_hindsight_finds(
        self, checks: list[Check], failure_threshold: int, recovery_threshold: int
    ) -> None:
        hindsight = Hindsight(checks, failure_threshold, recovery_threshold)
        assert watch(checks, failure_threshold, recovery_threshold).incidents == hindsight.incidents()

    @given(sequences(), thresholds, thresholds)
    def test_has_the_spans_that_hindsight_finds(
        self, checks: list[Check], failure_threshold: int, recovery_threshold: int
    ) -> None:
        watched = watch(checks, failure_threshold, recovery_threshold)
        hindsight = Hindsight(checks, failure_threshold, recovery_threshold)
        assert watched.spans(State.UP) == hindsight.up()
        assert watched.spans(State.DOWN) == hindsight.down()
        assert watched.spans(State.UNKNOWN) == hindsight.blind()

    @given(sequences(), thresholds, thresholds)
    def test_opens_and_resolves_incidents_in_turn(
        self, checks: list[Check], failure_threshold: int, recovery_threshold: int
    ) -> None:
        is_open = False
        for observation in watch(checks, failure_threshold, recovery_threshold).observations:
            assert not (observation.opened_at and is_open)
            assert not (observation.resolved_at and not is_open)
            is_open = bool(observation.opened_at) or (is_open and not observation.resolved_at)
            assert is_open == (observation.health.settled is State.DOWN)

    @given(sequences(), thresholds, thresholds)
    def test_opens_an_incident_only_at_a_threshold_of_failures_in_a_row(
        self, checks: list[Check], failure_threshold: int, recovery_threshold: int
    ) -> None:
        moments = [checked_at for checked_at, _ in checks]
        for incident in watch(checks, failure_threshold, recovery_threshold).incidents:
            first = moments.index(incident[0])
            outcomes = [outcome for _, outcome in checks[first : first + failure_threshold]]
            assert outcomes == [Outcome.DOWN] * failure_threshold

    @given(sequences(), thresholds, thresholds)
    def test_leaves_a_history_in_strict_order_without_repetitions(
        self, checks: list[Check], failure_threshold: int, recovery_threshold: int
    ) -> None:
        history = watch(checks, failure_threshold, recovery_threshold).history
        assert all(before.changed_at < after.changed_at for before, after in pairwise(history))
        assert all(before.state is not after.state for before, after in pairwise(history))

    @given(sequences(), thresholds, thresholds)
    def test_changes_nothing_before_the_change_that_was_told_last(
        self, checks: list[Check], failure_threshold: int, recovery_threshold: int
    ) -> None:
        observations = watch(checks, failure_threshold, recovery_threshold).observations
        moments = [change.changed_at for observation in observations for change in observation.changes]
        assert moments == sorted(moments)

    @given(
        st.lists(st.tuples(st.integers(0, 2), st.sampled_from("US?_")), min_size=1, max_size=20), thresholds
    )
    def test_costs_no_downtime_where_failures_stay_unconfirmed(
        self, runs: list[tuple[int, str]], recovery_threshold: int
    ) -> None:
        letters = "".join("D" * failures + other for failures, other in runs)
        watched = watch(timed(f"{letters}U"), failure_threshold=3, recovery_threshold=recovery_threshold)
        assert not watched.spans(State.DOWN)
        assert not watched.incidents

    @given(sequences(), thresholds, thresholds)
    def test_has_an_uptime_from_0_to_1(
        self, checks: list[Check], failure_threshold: int, recovery_threshold: int
    ) -> None:
        watched = watch(checks, failure_threshold, recovery_threshold)
        [durations] = measure(watched.history, [(CREATED_AT, watched.seen_until)], watched.seen_until)
        assert durations.uptime_ratio is None or 0 <= durations.uptime_ratio <= 1


def test_in_maintenance_a_failure_counts_as_no_check_and_all_else_as_usual() -> None:
    counted = {outcome: outcome_in_maintenance(outcome) for outcome in Outcome}
    assert counted == {outcome: outcome for outcome in Outcome} | {Outcome.DOWN: Outcome.UNKNOWN}


def test_every_status_of_the_document_is_one_here() -> None:
    names = published_document().root["components"]["schemas"]["MonitorStatus"]["enum"]
    assert sorted(STATUSES) == sorted(names)
