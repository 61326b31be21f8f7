"""Assertions that nobody can judge are refused before anything is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from monitors.conversations import MONITORS, URL, create, is_problem, list_ids, path_of

if TYPE_CHECKING:
    from cast import Player
    from monitoring.contract.catalogue import Catalogue

FINE: dict[str, Any] = {"source": "json", "path": "$.status", "comparison": "equals", "value": "ok"}
UNREADABLE: list[tuple[dict[str, Any], str, dict[str, Any]]] = [
    ({**FINE, "path": "$.a["}, "assertion_path_unreadable", {"position": 5}),
    ({**FINE, "path": "$..a..b"}, "assertion_path_costly", {}),
    (
        {"source": "body", "comparison": "matches", "value": "(?=secret)"},
        "assertion_pattern_unreadable",
        {"reason": "invalid perl operator"},
    ),
    (
        {"source": "header", "name": "Age", "comparison": "not_matches", "value": "(secret"},
        "assertion_pattern_unreadable",
        {"reason": "missing )"},
    ),
]


class TestAssertions:
    @pytest.mark.parametrize(("assertion", "name", "values"), UNREADABLE)
    def test_that_nobody_can_read_are_refused_with_field_and_reason(
        self,
        alice: Player,
        catalogue: Catalogue,
        assertion: dict[str, Any],
        name: str,
        values: dict[str, Any],
    ) -> None:
        answer = alice.post(MONITORS, json={"url": URL, "assertions": [FINE, assertion]})
        assert is_problem(answer, catalogue, name, number=1, **values)
        assert "secret" not in answer.text
        assert list_ids(alice) == []
        monitor = create(alice, assertions=[FINE])
        answer = alice.patch(path_of(monitor), json={"assertions": [assertion]})
        assert is_problem(answer, catalogue, name, number=0, **values)
        assert alice.get(path_of(monitor)).json()["assertions"] == [FINE]

    @pytest.mark.parametrize(
        ("assertion", "field"),
        [
            ({"source": "json", "comparison": "exists"}, "assertions.0.path"),
            ({"source": "header", "comparison": "exists"}, "assertions.0.name"),
            ({**FINE, "name": "Age"}, "assertions.0.name"),
            ({"source": "json", "path": "$.a", "comparison": "equals"}, "assertions.0.value"),
            ({**FINE, "comparison": "exists"}, "assertions.0.value"),
            ({**FINE, "comparison": "less_than"}, "assertions.0.value"),
            ({**FINE, "comparison": "matches", "value": 1}, "assertions.0.value"),
            ({**FINE, "value": None}, "assertions.0.value"),
            ({"source": "body", "comparison": "less_than", "value": "a"}, "assertions.0.comparison"),
            ({"source": "first_byte_ms", "comparison": "equals", "value": 1}, "assertions.0.comparison"),
            ({"source": "first_byte_ms", "comparison": "less_than", "value": 0.5}, "assertions.0.value"),
        ],
    )
    def test_of_the_wrong_form_are_invalid(
        self, alice: Player, assertion: dict[str, Any], field: str
    ) -> None:
        answer = alice.post(MONITORS, json={"url": URL, "assertions": [assertion]})
        assert answer.status_code == 400
        assert answer.json()["error"].startswith(f"{field}: ")

    def test_on_a_body_do_not_go_with_head(self, alice: Player, catalogue: Catalogue) -> None:
        of_header = {"source": "header", "name": "Age", "comparison": "exists"}
        given = {"url": URL, "method": "HEAD"}
        assert alice.post(MONITORS, json={**given, "assertions": [FINE]}).status_code == 400
        assert alice.post(MONITORS, json={**given, "assertions": [of_header]}).status_code == 201
        monitor = create(alice, assertions=[of_header, FINE])
        answer = alice.patch(path_of(monitor), json={"method": "HEAD"})
        problem = "must be header or first_byte_ms when method is HEAD"
        assert is_problem(
            answer, catalogue, "monitor_contradicted", field="assertions.1.source", problem=problem
        )

    def test_are_replaced_as_a_whole_and_removed_by_null(self, alice: Player) -> None:
        monitor = create(alice, assertions=[FINE, FINE])
        answer = alice.patch(path_of(monitor), json={"assertions": [{**FINE, "value": True}]})
        assert answer.json()["assertions"] == [{**FINE, "value": True}]
        assert alice.patch(path_of(monitor), json={"assertions": None}).json()["assertions"] == []
