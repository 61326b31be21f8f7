from __future__ import annotations

import json
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitoring.history.latencies import Latencies

A_DAY_MS = 86_400_000

response_times = st.one_of(
    st.integers(0, A_DAY_MS), st.integers(0, 200), st.floats(0, 18).map(lambda power: int(2.718**power))
)
many = st.lists(response_times, min_size=1, max_size=200)
percents = st.integers(1, 100) | st.floats(0.1, 100)


def nearest_rank(response_times_ms: list[int], percent: float) -> int:
    return sorted(response_times_ms)[ceil(percent * len(response_times_ms) / 100) - 1]


class TestPercentile:
    @given(many, percents)
    def test_is_at_most_2_percent_wrong(self, response_times_ms: list[int], percent: float) -> None:
        exact = nearest_rank(response_times_ms, percent)
        told = Latencies(response_times_ms).percentile(percent)
        assert told is not None
        assert abs(told - exact) * 50 <= exact

    @given(st.integers(0, A_DAY_MS))
    def test_of_one_response_time_is_at_most_2_percent_from_it(self, response_time_ms: int) -> None:
        told = Latencies([response_time_ms]).percentile(50)
        assert told is not None
        assert abs(told - response_time_ms) * 50 <= response_time_ms

    def test_below_50_ms_is_exact(self) -> None:
        assert [Latencies([ms]).percentile(50) for ms in range(50)] == list(range(50))

    @given(many, percents, percents)
    def test_does_not_fall_as_the_percentage_rises(
        self, response_times_ms: list[int], percent: float, other_percent: float
    ) -> None:
        latencies = Latencies(response_times_ms)
        low, high = (latencies.percentile(rank) for rank in sorted([percent, other_percent]))
        assert low is not None
        assert high is not None
        assert low <= high

    @pytest.mark.parametrize(("percent", "told"), [(0, 1), (25, 1), (26, 2), (50, 2), (75, 3), (100, 4)])
    def test_is_the_one_of_the_nearest_rank(self, percent: int, told: int) -> None:
        assert Latencies([4, 2, 1, 3]).percentile(percent) == told

    @pytest.mark.parametrize(("percent", "told"), [(50, 1), (50.1, 2), (99.9, 2), (99.91, 3)])
    def test_tells_one_in_a_thousand_from_another(self, percent: float, told: int) -> None:
        assert Latencies([1] * 500 + [2] * 499 + [3]).percentile(percent) == told

    def test_of_no_response_times_is_none(self) -> None:
        assert Latencies().percentile(50) is None


class TestLatencies:
    @given(st.lists(response_times), st.lists(response_times))
    def test_merged_are_as_if_counted_together(self, some: list[int], others: list[int]) -> None:
        merged = Latencies(some)
        merged.merge(Latencies(others))
        assert merged.to_json() == Latencies(some + others).to_json()

    def test_merged_into_others_stay_as_they_are(self) -> None:
        some, others = Latencies([1]), Latencies([2])
        some.merge(others)
        some.add(3)
        assert others.to_json() == Latencies([2]).to_json()

    @given(st.lists(response_times))
    def test_come_back_from_json_as_they_were(self, response_times_ms: list[int]) -> None:
        latencies = Latencies(response_times_ms)
        stored = json.loads(json.dumps(latencies.to_json()))
        assert stored == latencies.to_json()
        assert Latencies.from_json(stored).to_json() == latencies.to_json()

    @given(st.lists(response_times))
    def test_know_how_many_they_are(self, response_times_ms: list[int]) -> None:
        assert Latencies(response_times_ms).count == len(response_times_ms)

    @given(st.lists(response_times))
    def test_are_counted_in_any_order(self, response_times_ms: list[int]) -> None:
        latencies = Latencies()
        for response_time_ms in reversed(response_times_ms):
            latencies.add(response_time_ms)
        assert list(latencies.to_json().items()) == list(Latencies(response_times_ms).to_json().items())

    def test_of_every_length_fill_no_more_than_925_buckets(self) -> None:
        spread = Latencies(round(1.001**power) for power in range(18_281))
        spread.add(0)
        spread.add(A_DAY_MS)
        buckets = list(spread.to_json())
        assert (buckets[0], buckets[-1]) == ("0", "924")
        assert len(buckets) <= 925
