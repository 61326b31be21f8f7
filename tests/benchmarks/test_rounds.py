from __future__ import annotations

import json

import pytest

from rounds import Sample, Scenario, Spread, cost, ratio, take_turns


def samples(*figures: float) -> list[Sample]:
    return [Sample(application_us=figure) for figure in figures]


class TestSpread:
    @pytest.mark.parametrize(
        ("figures", "spread"),
        [
            ((7.0,), Spread(7.0, 7.0, 7.0)),
            ((1.0, 3.0), Spread(2.0, 1.5, 2.5)),
            ((9.0, 1.0, 5.0), Spread(5.0, 3.0, 7.0)),
            ((1.0, 2.0, 3.0, 4.0, 100.0), Spread(3.0, 2.0, 4.0)),
        ],
    )
    def test_is_the_median_with_the_quartiles(self, figures: tuple[float, ...], spread: Spread) -> None:
        assert cost(samples(*figures)) == spread

    def test_can_be_of_any_figure(self) -> None:
        assert cost([Sample(1.0, postgres_us=5.0)], "postgres_us").median == 5.0


class TestRatio:
    def test_pairs_what_was_measured_in_the_same_round(self) -> None:
        # The machine becomes slower and slower: within a round, one costs twice as much as the other.
        assert ratio(samples(20, 40, 80), samples(10, 20, 40)) == Spread(2.0, 2.0, 2.0)

    def test_is_the_median_of_the_ratios_and_not_the_ratio_of_the_medians(self) -> None:
        assert ratio(samples(10, 20, 90), samples(10, 5, 30)).median == 3.0

    def test_refuses_rounds_in_which_one_did_not_take_part(self) -> None:
        with pytest.raises(ValueError, match="zip"):
            ratio(samples(1, 2), samples(1))


class TestTakeTurns:
    def test_everybody_warms_up_and_then_begins_a_round_in_turn(self) -> None:
        order: list[str] = []

        def run(name: str) -> Sample:
            order.append(name)
            return Sample(float(len(order)))

        taken = take_turns(["a", "b", "c"], 4, run)
        assert ["".join(order[start : start + 3]) for start in range(0, len(order), 3)] == [
            *("abc", "abc", "bca", "cab", "abc")
        ]
        assert [sample.application_us for sample in taken["a"]] == [4.0, 9.0, 11.0, 13.0]
        assert {len(found) for found in taken.values()} == {4}


class TestScenario:
    def test_comes_back_from_what_is_kept_of_it(self) -> None:
        scenario = Scenario("list", "List of 50", {"service": samples(1.5, 2.5), "peer": samples(3.0, 4.0)})
        assert Scenario.from_json("list", json.loads(json.dumps(scenario.to_json()))) == scenario

    def test_keeps_the_medians_for_its_readers(self) -> None:
        told = Scenario("list", "List of 50", {"service": samples(1.0, 2.0, 9.0)}).to_json()
        assert told["candidates"]["service"]["median"]["application_us"] == 2.0
