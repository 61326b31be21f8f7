from __future__ import annotations

import pytest

from growing import find_growth, judge_checks


def samples(*values: float, name: str = "api 1: memory in MiB") -> list[tuple[float, dict[str, float]]]:
    return [(10.0 * number, {name: value}) for number, value in enumerate(values)]


def test_what_grows_at_first_and_then_stays_is_flat() -> None:
    [growth] = find_growth(samples(10, 50, 100, 100, 101, 99, 100), settling_seconds=20)
    assert not growth.is_too_much
    assert str(growth).split() == ["100.0", "100.0", "api", "1:", "memory", "in", "MiB"]


def test_what_keeps_growing_is_named() -> None:
    [growth] = find_growth(samples(10, 50, 100, 110, 120, 130, 140), settling_seconds=20)
    assert growth.is_too_much
    assert str(growth).endswith("GREW")


@pytest.mark.parametrize(
    ("name", "early", "most"),
    [
        ("api 1: memory in MiB", 20, 28),
        ("api 1: open files", 20, 30),
        ("database: connections", 20, 25),
        ("checks: bytes a row", 140, 160),
    ],
)
def test_a_small_figure_may_move_so_far_and_no_further(name: str, early: float, most: float) -> None:
    [moved] = find_growth(samples(early, early, early, most, name=name), settling_seconds=0)
    [grew] = find_growth(samples(early, early, early, most + 1, name=name), settling_seconds=0)
    assert (moved.is_too_much, grew.is_too_much) == (False, True)


def test_what_was_not_measured_throughout_is_left_out() -> None:
    measured = [*samples(10, 10, 10, 10), (40.0, {})]
    assert find_growth(measured, settling_seconds=0) == []


def test_too_short_a_run_shows_nothing() -> None:
    with pytest.raises(ValueError, match="nothing was measured"):
        find_growth(samples(1, 1, 1), settling_seconds=20)


def test_a_run_in_which_half_of_the_checks_are_missing_is_no_run_at_this_load() -> None:
    assert list(judge_checks(stored_a_second=5.0, due_a_second=10.0)) == []
    assert list(judge_checks(stored_a_second=4.9, due_a_second=10.0)) == [
        "4.9 checks a second were stored, and 10.0 were due"
    ]
