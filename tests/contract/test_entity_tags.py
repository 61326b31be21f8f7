from datetime import UTC, datetime

import pytest

from monitoring.contract.entity_tags import is_current, is_known, version_of, write_tag
from monitoring.contract.problems import Problem

BODY = b'{"status":"up"}'


class TestIfMatch:
    @pytest.mark.parametrize(
        "if_match",
        [
            None,
            "*",
            '"7"',
            "7",
            "6,7",
            '"6", "7"',
            '"6","7"',
            'W/"7", "7"',
            '"a,b" ,"7"',
            '"7.5f0c"',
            "7.5f0c",
        ],
    )
    def test_holds_when_it_is_absent_any_or_names_the_version(self, if_match: str | None) -> None:
        assert is_current(if_match, "7")

    @pytest.mark.parametrize(
        "if_match",
        ['"6"', '""', '"77"', '"6,7"', '"W/7"', "77", "7*", '"7', 'w/"7"', '"7" "8"', '"6.7"', '".7"'],
    )
    def test_fails_for_other_versions(self, if_match: str) -> None:
        assert not is_current(if_match, "7")

    @pytest.mark.parametrize("if_match", ['W/"7"', 'W/"6"', 'W/"7.5f0c"', '"6", W/"7"', "W/7"])
    def test_fails_for_weak_tags_whatever_they_name(self, if_match: str) -> None:
        with pytest.raises(Problem, match="weak_entity_tag"):
            is_current(if_match, "7")

    def test_holds_for_the_tag_that_was_given_out_whatever_else_has_changed(self) -> None:
        assert is_current(write_tag(BODY, "12"), "12")

    def test_fails_for_what_was_changed_a_microsecond_earlier(self) -> None:
        changed_at = datetime(2026, 11, 27, 9, 30, tzinfo=UTC)
        before, after = version_of(changed_at), version_of(changed_at.replace(microsecond=1))
        assert not is_current(write_tag(BODY, before), after)


class TestIfNoneMatch:
    TAG = write_tag(BODY, "7")

    @pytest.mark.parametrize(
        "if_none_match", ["*", TAG, f"W/{TAG}", f'"other", {TAG}', f'"other",W/{TAG}', f'"a,b" , {TAG}']
    )
    def test_knows_the_tag_weak_or_strong_in_a_list_or_any(self, if_none_match: str) -> None:
        assert is_known(self.TAG, if_none_match)

    @pytest.mark.parametrize(
        "if_none_match", [None, '"7"', write_tag(b"{}", "7"), write_tag(BODY, "8"), '"*"', f'"a, {TAG}, b']
    )
    def test_knows_no_other_tag(self, if_none_match: str | None) -> None:
        assert not is_known(self.TAG, if_none_match)
