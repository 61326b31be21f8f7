from typing import Any

import pytest
from hypothesis import given, reject

from monitoring.backends.encryption import MASK
from monitoring.contract.problems import Problem
from monitoring.monitors.configuration import default_configuration
from monitoring.monitors.rules import change, complete, status_after
from monitors.configurations import configuration_with, creations, patches


class TestDefaults:
    def test_name_is_the_host_of_the_url(self) -> None:
        assert (
            complete({"url": "https://shop.example.com:8443/health"}, default_configuration())["name"]
            == "shop.example.com"
        )

    def test_name_is_cut_where_the_host_is_longer_than_a_name_may_be(self) -> None:
        host = f"{'a' * 60}.{'b' * 60}.example"
        assert complete({"url": f"https://{host}/"}, default_configuration())["name"] == host[:100]

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
    @given(creations, patches)
    def test_leaves_every_field_it_does_not_name(self, fields: dict[str, Any], patch: dict[str, Any]) -> None:
        before = configuration_with(**fields)
        try:
            after = change(before, patch, default_configuration())
        except Problem:
            reject()
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
    def test_that_sets_a_request_header_twice_sets_the_last(self, before: dict[str, str]) -> None:
        patch = {"request_headers": {"Accept": "a", "accept": "b"}}
        after = change(configuration_with(request_headers=before), patch, default_configuration())
        assert after["request_headers"] == {"accept": "b"}

    def test_that_moves_the_url_keeps_the_name(self) -> None:
        after = change(configuration_with(), {"url": "https://b.example"}, default_configuration())
        assert after["name"] == "shop.example.com"

    def test_that_moves_the_url_and_drops_the_name_takes_the_new_host(self) -> None:
        patch = {"url": "https://b.example", "name": None}
        assert change(configuration_with(), patch, default_configuration())["name"] == "b.example"


class TestMasks:
    @pytest.mark.parametrize("name", ["X-Token", "x-TOKEN", "Accept"])
    def test_keep_what_the_monitor_has(self, name: str) -> None:
        before = configuration_with(request_headers={"X-Token": "a", "Accept": "b"})
        after = change(before, {"request_headers": {name: MASK}}, default_configuration())
        kept = {key.lower(): value for key, value in after["request_headers"].items()}
        assert kept == {"x-token": "a", "accept": "b"}
        assert name in after["request_headers"]


class TestConflicts:
    @pytest.mark.parametrize(
        ("problem_name", "before", "patch"),
        [
            ("monitor_contradicted", {"method": "POST", "request_body": "x"}, {"method": None}),
            ("monitor_contradicted", {"method": "POST", "request_body": ""}, {"method": "HEAD"}),
            ("monitor_contradicted", {}, {"request_body": "x"}),
            ("monitor_contradicted", {"required_keyword": "ok"}, {"method": "HEAD"}),
            ("monitor_contradicted", {"method": "HEAD"}, {"forbidden_keyword": "error"}),
            (
                "request_headers_too_many",
                {"request_headers": {f"X-{number}": "" for number in range(20)}},
                {"request_headers": {"X-20": ""}},
            ),
            (
                "request_header_masked",
                {"request_headers": {"X-Token": "a"}},
                {"request_headers": {"X-Key": MASK}},
            ),
        ],
    )
    def test_with_what_the_monitor_has_are_refused_by_name(
        self, problem_name: str, before: dict[str, Any], patch: dict[str, Any]
    ) -> None:
        with pytest.raises(Problem, match=f"^{problem_name}$"):
            change(configuration_with(**before), patch, default_configuration())

    @pytest.mark.parametrize(
        ("before", "patch"),
        [
            ({"method": "POST"}, {"request_body": ""}),
            ({"method": "HEAD"}, {"method": None, "required_keyword": "ok", "forbidden_keyword": "error"}),
            (
                {"request_headers": {f"X-{number}": "" for number in range(20)}},
                {"request_headers": {"X-0": None, "x-1": "a", "X-20": ""}},
            ),
        ],
    )
    def test_are_not_seen_where_there_are_none(self, before: dict[str, Any], patch: dict[str, Any]) -> None:
        after = change(configuration_with(**before), patch, default_configuration())
        assert len(after["request_headers"]) in (0, 20)

    def test_name_the_keyword_field(self) -> None:
        with pytest.raises(Problem) as caught:
            change(configuration_with(forbidden_keyword="error"), {"method": "HEAD"}, default_configuration())
        assert caught.value.values["field"] == "forbidden_keyword"


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
