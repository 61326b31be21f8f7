"""Names are visible, and disturb no text around them."""

from __future__ import annotations

import pytest

from monitoring.auth.names import MAX_NAME_CHARACTERS, is_name
from monitoring.contract.document import published_document


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


@pytest.mark.parametrize("schema_name", ["MonitorCreate", "WebhookChannelCreate"])
def test_the_document_bounds_names_alike(schema_name: str) -> None:
    document = published_document()
    properties = document.root["components"]["schemas"][schema_name]["properties"]
    assert document.follow(properties["name"])["maxLength"] == MAX_NAME_CHARACTERS
