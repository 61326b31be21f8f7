"""An engine's answer is used only after its codes were checked."""

import pytest

from monitoring.articles.translation.inline_codes import accepted, readable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Fit &amp; <g1>fun</g1>", "Fit & <g1>fun</g1>"),
        ("a &lt; b", "a < b"),
        ("Write &lt;g1&gt;", "Write &lt;g1&gt;"),
        ("Write &amp;lt;", "Write &amp;lt;"),
    ],
)
def test_people_read_and_type_what_means_the_same(text: str, shown: str) -> None:
    assert readable(text) == shown
    assert accepted(text, shown) == text


class TestAccepted:
    @pytest.mark.parametrize(
        ("segment", "answer", "expected"),
        [
            ("a <g1>b</g1> <x2/>", "<x2/> é <g1>ö</g1>", "<x2/> é <g1>ö</g1>"),
            ("a <x1/>", "é < X1 / >", "é <x1/>"),
            ("a", " é\r\n\0ö\u2028u ", "é öu".replace("öu", "ö u")),
            ("a", "AT&T &copy; &amp;lt;", "AT&amp;T © &amp;lt;"),
            ("a &lt; b", "é &lt; ö", "é &lt; ö"),
        ],
    )
    def test_the_same_codes_in_any_order_are_accepted_and_the_words_cleaned(
        self, segment: str, answer: str, expected: str
    ) -> None:
        assert accepted(segment, answer) == expected

    @pytest.mark.parametrize(
        ("segment", "answer"),
        [
            ("a <x1/>", "é"),
            ("a", "é <x1/>"),
            ("a <x1/>", "é <x1/><x1/>"),
            ("a <g1>b</g1>", "é </g1>ö<g1>"),
            ("a <g1>b</g1>", "é ö <g1></g1>"),
            ("a <g1>b</g1> <g2>c</g2>", "é <g1>ö <g2>u</g2></g1>"),
            ("a <g1>b <x2/></g1>", "é <g1>ö</g1> <x2/>"),
            ("a", "é <script>"),
            ("a", "é &lt;script&gt;"),
            ("a", ""),
            ("a", "..."),
            ("a", None),
        ],
    )
    def test_lost_doubled_emptied_moved_or_invented_markup_is_refused(
        self, segment: str, answer: str | None
    ) -> None:
        assert accepted(segment, answer) is None
