from __future__ import annotations

import pytest

from growing import find_growth


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


def test_a_small_figure_may_move() -> None:
    [growth] = find_growth(samples(20, 20, 20, 26, name="api 1: open files"), settling_seconds=0)
    assert not growth.is_too_much


def test_what_was_not_measured_throughout_is_left_out() -> None:
    measured = [*samples(10, 10, 10, 10), (40.0, {})]
    assert find_growth(measured, settling_seconds=0) == []


def test_too_short_a_run_shows_nothing() -> None:
    with pytest.raises(ValueError, match="nothing was measured"):
        find_growth(samples(1, 1, 1), settling_seconds=20)
