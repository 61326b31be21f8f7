"""Headings get the anchors that GitHub gives them."""

import pytest

from monitoring.articles.translation.markdown_anchors import moved_anchors, slug


class TestSlug:
    @pytest.mark.parametrize(
        ("heading", "expected"),
        [  # what GitHub makes of them, as github-slugger's tests have it
            ("Foo Bar", "foo-bar"),
            ("I ♥ unicode", "i--unicode"),
            ("dash-dash", "dash-dash"),
            ("em—dash", "emdash"),
            ("Привет", "привет"),
            ("😄 emoji", "-emoji"),
            ("heading with a _ in it, isn't it?", "heading-with-a-_-in-it-isnt-it"),
            ("Ünïcödé é", "ünïcödé-é"),
            ("中文 標題", "中文-標題"),
            ("2² Ⓐ ½ Ⅷ", "2-ⓐ--ⅷ"),
        ],
    )
    def test_is_githubs(self, heading: str, expected: str) -> None:
        assert slug(heading) == expected


class TestMovedAnchors:
    def test_repeated_headings_are_numbered_past_those_that_end_in_a_number(self) -> None:
        before = "# a\n\n# a\n\n# a 1\n\n# a\n"
        assert moved_anchors(before, before.replace("a", "b")) == {
            "a": "b",
            "a-1": "b-1",
            "a-1-1": "b-1-1",
            "a-2": "b-2",
        }

    def test_a_heading_without_letters_leaves_links_as_they_were(self) -> None:
        assert moved_anchors("# a", "# !") == {}
