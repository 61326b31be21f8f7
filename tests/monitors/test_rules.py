from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitoring.contract.problems import Problem
from monitoring.monitors.configuration import default_configuration
from monitoring.monitors.rules import change, check, complete, merge, status_after
from monitors.configurations import configuration_with, creations, patches

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(st.text(max_size=3), values, max_size=3),
    max_leaves=12,
)


class TestDefaults:
    def test_name_is_the_host_of_the_url(self) -> None:
        assert complete({"url": "https://shop.example.com:8443/health"}, {})["name"] == "shop.example.com"

    def test_name_is_cut_where_the_host_is_longer_than_a_name_may_be(self) -> None:
        host = f"{'a' * 60}.{'b' * 60}.example"
        assert complete({"url": f"https://{host}/"}, {})["name"] == host[:100]

    def test_stand_for_everything_left_out(self) -> None:
        defaults = default_configuration()
        assert complete({"url": "https://a.example", "paused": True}, defaults) == {
            **defaults,
            "name": "a.example",
            "url": "https://a.example",
            "paused": True,
        }

    @given(creations)
    def test_never_replace_what_was_given(self, fields: dict[str, Any]) -> None:
        assert complete(fields, default_configuration()).items() >= fields.items()


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

    @given(creations, patches)
    def test_leaves_every_field_it_does_not_name(self, fields: dict[str, Any], patch: dict[str, Any]) -> None:
        before = configuration_with(**fields)
        after = change(before, patch, default_configuration())
        assert after.keys() == before.keys()
        assert {name for name in after if after[name] != before[name]} <= patch.keys()

    @given(creations)
    def test_of_nulls_puts_every_field_back_to_its_default(self, fields: dict[str, Any]) -> None:
        before = configuration_with(**fields)
        nulls = dict.fromkeys(before.keys() - {"url"})
        assert change(before, nulls, default_configuration()) == configuration_with(url=before["url"])

    def test_merges_request_headers_one_by_one(self) -> None:
        before = configuration_with(request_headers={"Accept": "text/html", "X-Trace": "1"})
        patch = {"request_headers": {"Accept": None, "X-Shop": "a"}}
        after = change(before, patch, default_configuration())
        assert after["request_headers"] == {"X-Trace": "1", "X-Shop": "a"}

    @pytest.mark.parametrize(
        ("patch", "headers"),
        [
            ({"accept": None}, {"X-Trace": "1"}),
            ({"accept": "b"}, {"accept": "b", "X-Trace": "1"}),
            ({"accept": "a"}, {"accept": "a", "X-Trace": "1"}),
            ({"accept": "b", "Accept": None}, {"accept": "b", "X-Trace": "1"}),
            ({"Accept": None, "accept": "b"}, {"accept": "b", "X-Trace": "1"}),
            ({"Accept": "b", "accept": None}, {"Accept": "b", "X-Trace": "1"}),
            ({"ACCEPT": None, "accept": None}, {"X-Trace": "1"}),
            ({"x-other": None}, {"Accept": "a", "X-Trace": "1"}),
            (None, {}),
        ],
    )
    def test_matches_request_headers_in_any_case_and_its_spelling_wins(
        self, patch: dict[str, str | None] | None, headers: dict[str, str]
    ) -> None:
        before = configuration_with(request_headers={"Accept": "a", "X-Trace": "1"})
        after = change(before, {"request_headers": patch}, default_configuration())
        assert after["request_headers"] == headers

    def test_keeps_the_place_of_a_header_it_spells_alike(self) -> None:
        before = configuration_with(request_headers={"Accept": "a", "X-Trace": "1"})
        after = change(before, {"request_headers": {"Accept": "b"}}, default_configuration())
        assert list(after["request_headers"]) == ["Accept", "X-Trace"]

    @pytest.mark.parametrize("before", [{}, {"Accept": "a"}, {"ACCEPT": "a"}])
    def test_that_sets_a_request_header_twice_is_refused(self, before: dict[str, str]) -> None:
        patch = {"request_headers": {"Accept": "a", "accept": "b"}}
        after = change(configuration_with(request_headers=before), patch, default_configuration())
        with pytest.raises(Problem, match=r"^request_header_repeated$"):
            check(after)

    def test_that_moves_the_url_keeps_the_name(self) -> None:
        after = change(configuration_with(), {"url": "https://b.example"}, default_configuration())
        assert after["name"] == "shop.example.com"

    def test_that_moves_the_url_and_drops_the_name_takes_the_new_host(self) -> None:
        patch = {"url": "https://b.example", "name": None}
        assert change(configuration_with(), patch, default_configuration())["name"] == "b.example"


class TestConfiguration:
    @given(creations)
    def test_whose_fields_go_together_is_accepted(self, fields: dict[str, Any]) -> None:
        check(configuration_with(**fields))

    @pytest.mark.parametrize(
        "fields",
        [
            {"interval_seconds": 30, "timeout_seconds": 29},
            {"method": "HEAD"},
            {"method": "POST", "request_body": ""},
            {"method": "GET", "required_keyword": "ok", "forbidden_keyword": "error"},
            {"expected_status_codes": ["200-200", "1xx", "500-599"]},
            {"request_headers": {f"X-{number}": "" for number in range(20)}},
            {"request_headers": {"Authorization": "Bearer x", "User-Agent": "ours", "Accept-Language": "de"}},
        ],
    )
    def test_may_go_to_the_very_limit(self, fields: dict[str, Any]) -> None:
        check(configuration_with(**fields))

    @pytest.mark.parametrize(
        ("problem_name", "fields"),
        [
            ("timeout_not_below_interval", {"interval_seconds": 30, "timeout_seconds": 30}),
            ("timeout_not_below_interval", {"interval_seconds": 30, "timeout_seconds": 60}),
            ("request_body_without_content", {"method": "GET", "request_body": "x"}),
            ("request_body_without_content", {"method": "GET", "request_body": ""}),
            ("request_body_without_content", {"method": "HEAD", "request_body": "x"}),
            ("keyword_without_body", {"method": "HEAD", "required_keyword": "ok"}),
            ("keyword_without_body", {"method": "HEAD", "forbidden_keyword": "error"}),
            ("status_range_reversed", {"expected_status_codes": ["2xx", "299-200"]}),
            ("request_headers_too_many", {"request_headers": {f"X-{number}": "" for number in range(21)}}),
            ("request_header_name_invalid", {"request_headers": {"": "x"}}),
            ("request_header_name_invalid", {"request_headers": {"X Trace": "x"}}),
            ("request_header_name_invalid", {"request_headers": {"X-Trace\n": "x"}}),
            ("request_header_name_invalid", {"request_headers": {"X-Tracé": "x"}}),
            ("request_header_name_invalid", {"request_headers": {"X" * 65: "x"}}),
            ("request_header_reserved", {"request_headers": {"Content-Length": "0"}}),
            ("request_header_reserved", {"request_headers": {"TRANSFER-ENCODING": "chunked"}}),
            ("request_header_reserved", {"request_headers": {"host": "other.example"}}),
            ("request_header_reserved", {"request_headers": {"Accept-Encoding": "br"}}),
            ("request_header_repeated", {"request_headers": {"Accept": "a", "accept": "b"}}),
            ("request_header_repeated", {"request_headers": {"X-A": "a", "X-B": "b", "x-a": "a"}}),
            ("url_host_invalid", {"url": "http://2130706433/"}),
            ("url_host_invalid", {"url": "http://[:::]/"}),
        ],
    )
    def test_whose_fields_contradict_each_other_is_refused_by_name(
        self, problem_name: str, fields: dict[str, Any]
    ) -> None:
        with pytest.raises(Problem, match=f"^{problem_name}$"):
            check(configuration_with(**fields))

    def test_refusal_names_the_keyword_field(self) -> None:
        with pytest.raises(Problem) as caught:
            check(configuration_with(method="HEAD", forbidden_keyword="error"))
        assert caught.value.values == {"field": "forbidden_keyword"}


class TestStatus:
    @pytest.mark.parametrize(
        ("status", "paused", "status_afterwards"),
        [
            ("pending", False, "pending"),
            ("pending", True, "paused"),
            ("paused", True, "paused"),
            ("paused", False, "pending"),
            ("down", True, "paused"),
            ("down", False, "down"),
        ],
    )
    def test_follows_paused_and_nothing_else(self, status: str, paused: bool, status_afterwards: str) -> None:  # noqa: FBT001
        assert status_after(status, paused=paused) == status_afterwards
