"""Paths of strangers are read or refused, and following one never takes longer than it may."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from monitoring.monitors.json_paths import CostlyPathError, UnreadablePathError, count_values, read_path
from monitoring.monitors.patterns import TooMuchWorkError

SHOP = {
    "status": "ok",
    "checks": [{"name": "db", "ms": 3}, {"name": "cache", "ms": 30}],
    "": {"a b": None},
}


def find(path: str, text: str = orjson.dumps(SHOP).decode()) -> list[Any]:
    return list(read_path(path).find(orjson.loads(text), count_values(text)))


class TestFinding:
    @pytest.mark.parametrize(
        ("path", "found"),
        [
            ("$", [SHOP]),
            ("$.status", ["ok"]),
            ("$['']['a b']", [None]),
            ("$.checks[-1].ms", [30]),
            ("$.checks[*].name", ["db", "cache"]),
            ("$.checks[1:].name", ["cache"]),
            ("$..ms", [3, 30]),
            ("$.checks[?@.name == 'db'].ms", [3]),
            ("$.checks[?@.ms > 5 && length(@.name) == 5].ms", [30]),
            ("$.checks[?match(@.name, 'd.')].ms", [3]),
            ("$.checks[?search(@.name, 'c')].ms", [30]),
            ("$.checks[?search(@.ms, 'c')].ms", []),
            ("$.checks[?match(@.name, '(')].ms", []),
            ("$[?count(@[*]) == 2][0].name", ["db"]),
            ("$.nothing", []),
            ("$.status.nothing", []),
        ],
    )
    def test_selects_what_the_standard_says(self, path: str, found: list[Any]) -> None:
        assert find(path) == found


class TestRefusing:
    @pytest.mark.parametrize(
        ("path", "position"),
        [("$.a[", 5), ("$.", 3), ("$.a[?@.b==]", 11), ("$['a", 4), ("$.a b", 5), ("$[?nothing(@)]", 4)],
    )
    def test_names_the_character_at_which_a_path_goes_wrong(self, path: str, position: int) -> None:
        with pytest.raises(UnreadablePathError) as raised:
            read_path(path)
        assert raised.value.position == position

    @pytest.mark.parametrize(
        "path",
        [
            "$..a..b",
            "$..a[?@..b]",
            "$['a','b']",
            "$" + "[*,*]" * 50,  # 2 to the power of 50 values
            "$[?@[0,0]]",
            "$[?$.a == $.b]",
            "$[?match(@.a, $.pattern)]",
        ],
    )
    def test_knows_paths_whose_work_could_grow_faster_than_the_answer(self, path: str) -> None:
        with pytest.raises(CostlyPathError):
            read_path(path)


class TestHostileAnswers:
    def test_with_more_values_than_a_path_may_visit_are_not_visited(self) -> None:
        many = f"[{'0,' * 400_000}0]"
        with pytest.raises(TooMuchWorkError):
            find("$[*]", many)
        assert find("$[399999]", many) == [0]

    def test_that_are_deep_end_the_search(self) -> None:
        deep = "[" * 1000 + "]" * 1000
        with pytest.raises(TooMuchWorkError):
            find("$..a", deep)
        assert len(find("$[0][0]", deep)) == 1

    def test_that_are_deep_cannot_be_compared(self) -> None:
        deep = "[" * 1000 + "]" * 1000
        with pytest.raises(TooMuchWorkError):
            find("$[?@.a == @.b]", f'[{{"a":{deep},"b":{deep}}}]')

    def test_with_long_texts_are_not_searched_by_a_filter(self) -> None:
        with pytest.raises(TooMuchWorkError):
            find("$[?search(@, '((a{1,9}){1,9}){1,9}b')]", f'["{"a" * 100_000}"]')
