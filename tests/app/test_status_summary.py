"""A screen reader is told which monitors something is wrong with."""

from __future__ import annotations

import pytest

from monitoring.app.monitors.status_summary import write_sentence

NOTHING: tuple[int, list[str]] = (0, [])


@pytest.mark.parametrize(
    ("opened", "degraded", "said"),
    [
        (NOTHING, NOTHING, "No open incidents."),
        ((1, ["Shop"]), NOTHING, "1 open incident: Shop."),
        (NOTHING, (2, ["API", "Blog"]), "2 degraded: API, Blog."),
        (
            (1200, ["Shop", "Blog"]),
            (1, ["API"]),
            "1,200 open incidents: Shop, Blog and 1,198 more. 1 degraded: API.",
        ),
        ((1, ["\u202eShop"]), NOTHING, "1 open incident: \u2068\u202eShop\u2069."),
    ],
)
def test_counts_are_exact_and_a_few_are_named(
    opened: tuple[int, list[str]], degraded: tuple[int, list[str]], said: str
) -> None:
    assert write_sentence(opened, degraded) == said
