from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitoring.contract.configurations import merge

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(st.text(max_size=3), values, max_size=3),
    max_leaves=12,
)


class TestMergePatch:
    @pytest.mark.parametrize(
        ("target", "patch", "merged"),
        [
            ({"a": "b"}, {"a": "c"}, {"a": "c"}),
            ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
            ({"a": "b"}, {"a": None}, {}),
            ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
            ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
            ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
            ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
            ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
            (["a", "b"], ["c", "d"], ["c", "d"]),
            ({"a": "b"}, ["c"], ["c"]),
            ({"a": "foo"}, None, None),
            ({"a": "foo"}, "bar", "bar"),
            ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
            ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
            ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
        ],
    )
    def test_does_what_appendix_a_of_rfc_7396_says(self, target: Any, patch: Any, merged: Any) -> None:
        assert merge(target, patch) == merged

    @given(JSON_VALUES, JSON_VALUES)
    def test_applied_twice_is_as_applied_once(self, target: Any, patch: Any) -> None:
        assert merge(merge(target, patch), patch) == merge(target, patch)

    @given(st.dictionaries(st.text(max_size=3), JSON_VALUES, max_size=3))
    def test_that_is_empty_changes_nothing(self, target: dict[str, Any]) -> None:
        assert merge(target, {}) == target
