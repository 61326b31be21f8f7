import pytest

from monitoring.monitors.entity_tags import entity_tag, is_current


class TestIfMatch:
    @pytest.mark.parametrize(
        "if_match", [None, "*", '"7"', "7", "6,7", '"6", "7"', '"6","7"', 'W/"7", "7"', '"a,b" ,"7"']
    )
    def test_holds_when_it_is_absent_any_or_names_the_version(self, if_match: str | None) -> None:
        assert is_current(if_match, version=7)

    @pytest.mark.parametrize(
        "if_match",
        [
            '"6"',
            '""',
            'W/"7"',
            '"77"',
            '"6", W/"7"',
            '"6,7"',
            '"W/7"',
            "W/7",
            "77",
            "7*",
            '"7',
            'w/"7"',
            '"7" "8"',
        ],
    )
    def test_fails_for_other_versions_and_weak_tags(self, if_match: str) -> None:
        assert not is_current(if_match, version=7)

    def test_holds_for_the_tag_that_was_given_out(self) -> None:
        assert is_current(entity_tag(12), version=12)
