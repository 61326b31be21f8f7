from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from members.people import refused
from monitoring.members.refusals import Refused
from monitoring.members.rules import check_password, read_email, read_name

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=300)


class TestEmail:
    @pytest.mark.parametrize(
        ("typed", "kept"),
        [
            ("ada@example.com", "ada@example.com"),
            ("  Ada@Example.COM\n", "ada@example.com"),
            ("STRASSE@example.com", "strasse@example.com"),
            ("straße@example.com", "strasse@example.com"),
            ("zoe\u0308@example.com", "zo\u00eb@example.com"),
            ("a+b.c@localhost", "a+b.c@localhost"),
            ("a" * 242 + "@example.com", "a" * 242 + "@example.com"),
        ],
    )
    def test_has_one_spelling(self, typed: str, kept: str) -> None:
        assert read_email(typed) == kept

    def test_without_end_is_refused_before_it_is_normalised(self) -> None:
        """Normalising so many combining marks would take minutes."""
        with refused("email_invalid"):
            read_email("a" + "\u0301" * 100_000 + "\u0323" * 100_000 + "@example.com")

    @pytest.mark.parametrize(
        "typed",
        [
            "",
            "ada",
            "@example.com",
            "ada@",
            "ada@b@example.com",
            "ada lovelace@example.com",
            "ada@example.com\x00",
            "a\x00da@example.com",
            "ada\ud800@example.com",
            "ada\u200b@example.com",
            "ada\u00a0x@example.com",
            "ada@exam\nple.com",
            "a" * 243 + "@example.com",
            "\u00df" * 122 + "@example.com\u0130",
        ],
    )
    def test_that_is_none_is_refused(self, typed: str) -> None:
        with refused("email_invalid"):
            read_email(typed)

    @given(ANY_TEXT)
    def test_can_be_kept_by_every_database_or_is_refused(self, typed: str) -> None:
        try:
            email = read_email(typed)
        except Refused:
            return
        assert len(email) <= 254
        assert "\x00" not in email
        assert email.encode()


class TestName:
    @pytest.mark.parametrize("name", ["Ada", "  Ada Lovelace ", "李", "n" * 100, "Ana-María O'Neill"])
    def test_is_kept_without_the_space_around_it(self, name: str) -> None:
        assert read_name(name) == name.strip()

    @pytest.mark.parametrize("name", ["", " \t ", "n" * 101, "a\x00b", "a\nb", "a\ud800b", "a\u2028b"])
    def test_that_no_line_can_show_is_refused(self, name: str) -> None:
        with refused("name_invalid"):
            read_name(name)


class TestPassword:
    @pytest.mark.parametrize(
        "password",
        [
            "ein langer satz",
            "correct horse battery staple",
            "kqzvxwjybmpt",
            "kqzvxwjybmpt" + "x" * 1012,
            "kq\x00zv\ud800xw jybm\u0301pt",
        ],
    )
    def test_is_any_text_that_is_long_enough_and_hard_to_guess(self, password: str) -> None:
        check_password(password, "ada@example.com")

    @pytest.mark.parametrize(
        ("password", "refusal"),
        [
            ("x" * 11, "password_too_short"),
            ("", "password_too_short"),
            ("x" * 1025, "password_too_long"),
            ("ada@example.com", "password_is_email"),
            (" ADA@example.com ", "password_is_email"),
            ("aaaaaaaaaaaa", "password_too_common"),
            ("x" * 1024, "password_too_common"),
            (" " * 12, "password_too_common"),
            ("\x00" * 12, "password_too_common"),
            ("\ud800" * 12, "password_too_common"),
            ("password1234", "password_too_common"),
            ("Passw0rd!2024", "password_too_common"),
            ("qwertyuiop12", "password_too_common"),
            ("abcdefghijkl", "password_too_common"),
            ("letmeinletmein", "password_too_common"),
            ("monitoring1234", "password_too_common"),
            ("ada@example.com1", "password_too_common"),
        ],
    )
    def test_that_is_short_long_public_or_easy_to_guess_is_refused(self, password: str, refusal: str) -> None:
        with refused(refusal):
            check_password(password, "ada@example.com")
