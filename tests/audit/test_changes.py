from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from monitoring.audit.changes import Change, find_changes, write_value

MASK = "********"


class TestChanges:
    def test_are_the_fields_that_differ_and_the_parts_of_nested_ones(self) -> None:
        before = {"name": "Shop", "interval_seconds": 300, "routing": {"tags": ["a"], "delay_seconds": 0}}
        after = {"name": "Shop", "interval_seconds": 60, "routing": {"tags": ["a", "b"], "delay_seconds": 0}}
        assert find_changes(before, after) == [
            Change("interval_seconds", "300", "60"),
            Change("routing.tags", "a", "a, b"),
        ]

    def test_tell_a_new_secret_and_not_what_it_is(self) -> None:
        masked = {"request_headers": {"Authorization": MASK, "Accept": "text/html"}}
        assert find_changes(masked, masked) == []
        renewed = {"request_headers.Authorization"}
        assert find_changes(masked, masked, renewed=renewed) == [
            Change("request_headers.Authorization", MASK, MASK)
        ]

    def test_of_a_field_that_came_or_went_have_an_empty_side(self) -> None:
        before, after = {"request_headers": {"A": "1"}}, {"request_headers": {"B": "2"}}
        assert find_changes(before, after) == [
            Change("request_headers.A", "1", ""),
            Change("request_headers.B", "", "2"),
        ]

    @pytest.mark.parametrize(
        ("value", "text"),
        [
            (None, ""),
            (True, "yes"),
            (False, "no"),
            (0, "0"),
            ([], ""),
            ([{"name": "X-Key", "value": MASK}], '[{"name":"X-Key","value":"********"}]'),
            (datetime(2026, 11, 20, 9, 30, tzinfo=UTC), "2026-11-20T09:30:00.000000Z"),
            ("a" * 200, "a" * 200),
            ("a" * 201, "a" * 199 + "…"),
        ],
    )
    def test_are_written_for_people(self, value: Any, text: str) -> None:
        assert write_value(value) == text
