"""Names can be seen, and disturb nothing around them."""

from __future__ import annotations

import pytest

from monitoring.auth.names import is_name


@pytest.mark.parametrize(
    "text", ["a", "Ada Lovelace", "Σωκράτης", "محمد", "李小龙", "👩‍👩‍👧", "<b>", "x" * 100, "می‌خواهم"]
)
def test_this_is_a_name(text: str) -> None:
    assert is_name(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "x" * 101,
        "\u200b",
        "\u0301",
        "a\nb",
        "a\tb",
        "a\0b",
        "a\u2028b",
        "a\u202eb",
        "a\u2066b",
        "\ud800a",
    ],
    ids=ascii,
)
def test_this_is_none(text: str) -> None:
    assert not is_name(text)
