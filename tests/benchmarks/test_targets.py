from __future__ import annotations

import pytest

from rounds import Sample, Scenario
from targets import (
    FASTAPI,
    SERVICE,
    STARLETTE,
    TARGETS,
    MemoryLimit,
    Target,
    judge,
    judge_memory,
    judge_target,
    left_out,
)

OURS, THEIRS = "service", "peer"


def measured(ours: list[float], theirs: list[float], field: str = "application_us") -> Scenario:
    """Make a scenario with these costs of an operation in each round."""
    samples = {
        name: [Sample(**{"application_us": 0.0, field: figure}) for figure in figures]
        for name, figures in ((OURS, ours), (THEIRS, theirs))
    }
    return Scenario("list", "List of 50", samples)


class TestTarget:
    @pytest.mark.parametrize(
        ("theirs", "words"),
        [
            (500.0, "met"),
            (400.0, "met"),
            (399.0, "missed by less than 1%"),
            (396.0, "missed by 1%"),
            (300.0, "missed by 25%"),
            (100.0, "missed by 75%"),
        ],
    )
    def test_of_at_least_is_missed_by_what_the_peer_costs_too_little(self, theirs: float, words: str) -> None:
        verdict = judge_target(Target("list", THEIRS, at_least=4), measured([100.0], [theirs]))
        assert verdict.words == words
        assert verdict.is_met is (words == "met")
        assert verdict.promise == "peer costs at least 4 times as much"

    @pytest.mark.parametrize(
        ("ours", "words"),
        [
            (100.0, "met"),
            (120.0, "met"),
            (120.1, "missed by less than 1%"),
            (150.0, "missed by 25%"),
            (360.0, "missed by 200%"),
        ],
    )
    def test_of_at_most_is_missed_by_what_we_cost_too_much(self, ours: float, words: str) -> None:
        verdict = judge_target(Target("list", THEIRS, at_most=1.2), measured([ours], [100.0]))
        assert verdict.words == words
        assert verdict.is_met is (words == "met")
        assert verdict.promise == "costs at most 1.2 times as much as peer"

    def test_is_judged_by_the_median_round_however_bad_the_worst_is(self) -> None:
        scenario = measured([100.0, 100.0, 900.0], [400.0, 450.0, 400.0])
        verdict = judge_target(Target("list", THEIRS, at_least=4), scenario)
        assert verdict.is_met
        assert verdict.measured.median == 4.0

    def test_is_not_met_by_the_better_half_of_the_rounds(self) -> None:
        scenario = measured([100.0, 100.0, 130.0, 130.0, 130.0], [100.0] * 5)
        assert judge_target(Target("list", THEIRS, at_most=1.2), scenario).words == "missed by 8%"

    def test_counts_the_backends(self) -> None:
        samples = {OURS: [Sample(10.0, 80.0, 10.0)], THEIRS: [Sample(40.0, 5.0, 5.0)]}
        verdict = judge_target(Target("list", THEIRS, at_most=1), Scenario("list", "List of 50", samples))
        assert (verdict.measured.median, verdict.words) == (2.0, "missed by 100%")

    def test_may_compare_two_things_that_the_service_does(self) -> None:
        samples = {"first page": [Sample(100.0)], "far page": [Sample(110.0)]}
        verdict = judge_target(
            Target("pages", "first page", at_most=1.2, ours="far page"), Scenario("pages", "Pages", samples)
        )
        assert verdict.is_met
        assert verdict.promise == "far page costs at most 1.2 times as much as first page"


@pytest.mark.parametrize(("mib", "words"), [(85.0, "met"), (102.0, "missed by 20%")])
def test_memory_is_judged_by_its_limit(mib: float, words: str) -> None:
    samples = {"worker": [Sample(1.0, memory_mib=each) for each in (1.0, mib, 900.0)]}
    limit = MemoryLimit("start_commands", "worker", 85)
    verdict = judge_memory(limit, Scenario("start_commands", "Start", samples))
    assert verdict.promise == "worker takes at most 85 MiB at rest"
    assert (verdict.words, verdict.is_met) == (words, words == "met")


class TestTargets:
    def test_have_one_bound_each(self) -> None:
        assert [target for target in TARGETS if (target.at_least is None) == (target.at_most is None)] == []

    def test_are_judged_where_something_was_measured_and_in_their_order(self) -> None:
        names = {name for target in TARGETS for name in (target.ours, target.peer)}
        samples = {name: [Sample(100.0, postgres_us=10.0)] for name in names}
        scenarios = {key: Scenario(key, key, samples) for key in ("start", "pages", "check_http", "list")}
        assert [verdict.title for verdict in judge(scenarios)] == [
            *("list", "list", "check_http", "check_http", "pages", "start", "start"),
        ]
        assert judge({}) == []

    def test_of_a_peer_that_could_not_take_part_are_not_judged_but_named(self) -> None:
        scenarios = {"list": Scenario("list", "List of 50", {SERVICE: [Sample(1.0)], FASTAPI: [Sample(4.0)]})}
        assert len(judge(scenarios)) == 1
        assert left_out(scenarios) == [f"List of 50: {STARLETTE} takes no part"]
