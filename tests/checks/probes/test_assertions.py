"""What assertions say of an answer."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from monitoring.checks.probes.assertions import (
    DIFFERENT,
    MISSING,
    NOT_JSON,
    OF_ANOTHER_TYPE,
    THERE,
    find_failed,
)
from monitoring.outbound.exchanges import Exchange
from monitoring.outbound.stopwatch import Timings

SHOP = {
    "status": "ok",
    "count": 3,
    "ratio": 0.5,
    "fine": True,
    "nothing": None,
    "tags": ["a", 1],
    "checks": [{"ok": True}, {"ok": False}],
}
ANSWER = Exchange(
    status_code=200,
    body=orjson.dumps(SHOP),
    headers={
        b"content-type": [b"application/json"],
        b"age": [b"30"],
        b"x-two": [b"a", b"b"],
        b"empty": [b""],
    },
    timings=Timings(first_byte_ms=99.6),
)


def fault_of(assertion: dict[str, Any], answer: Exchange = ANSWER) -> str | None:
    """Return what is said of the assertion, without its name."""
    failed = find_failed([assertion], answer)
    if failed is None:
        return None
    assert failed.error == "assertion_failed"
    name, _, fault = failed.message.partition("): ")
    assert name.startswith(f"Assertion 1 ({assertion['source']}")
    return fault


class TestJson:
    @pytest.mark.parametrize(
        ("path", "comparison", "value", "fault"),
        [
            ("$.status", "equals", "ok", None),
            ("$.status", "equals", "OK", DIFFERENT),
            ("$.status", "equals", 1, OF_ANOTHER_TYPE),
            ("$.status", "not_equals", "ok", DIFFERENT),
            ("$.status", "not_equals", 1, None),
            ("$.lost", "equals", "ok", MISSING),
            ("$.lost", "not_equals", "ok", MISSING),
            ("$.fine", "equals", True, None),
            ("$.fine", "equals", 1, OF_ANOTHER_TYPE),
            ("$.count", "equals", 3.0, None),
            ("$.count", "equals", "3", OF_ANOTHER_TYPE),
            ("$.count", "greater_than", 2, None),
            ("$.count", "greater_than", 3, DIFFERENT),
            ("$.ratio", "less_than", 1, None),
            ("$.ratio", "less_than", 0.5, DIFFERENT),
            ("$.fine", "less_than", 2, OF_ANOTHER_TYPE),
            ("$.nothing", "less_than", 2, OF_ANOTHER_TYPE),
            ("$.status", "contains", "k", None),
            ("$.status", "not_contains", "k", DIFFERENT),
            ("$.tags", "contains", "a", None),
            ("$.tags", "contains", 1, None),
            ("$.tags", "contains", True, DIFFERENT),
            ("$.tags", "not_contains", "b", None),
            ("$.count", "contains", "3", OF_ANOTHER_TYPE),
            ("$.status", "matches", "^o", None),
            ("$.status", "matches", "^k", DIFFERENT),
            ("$.status", "not_matches", "^o", DIFFERENT),
            ("$.count", "matches", "3", OF_ANOTHER_TYPE),
            ("$.checks[*].ok", "equals", True, DIFFERENT),
            ("$.checks[0:1].ok", "equals", True, None),
            ("$.checks[?@.lost].ok", "equals", True, MISSING),
        ],
    )
    def test_is_missing_of_another_type_or_different(
        self, path: str, comparison: str, value: object, fault: str | None
    ) -> None:
        assertion = {"source": "json", "path": path, "comparison": comparison, "value": value}
        assert fault_of(assertion) == fault

    @pytest.mark.parametrize(
        ("path", "comparison", "fault"),
        [
            ("$.nothing", "exists", None),
            ("$.lost", "exists", MISSING),
            ("$.lost", "not_exists", None),
            ("$.nothing", "not_exists", THERE),
        ],
    )
    def test_exists_whatever_its_value(self, path: str, comparison: str, fault: str | None) -> None:
        assert fault_of({"source": "json", "path": path, "comparison": comparison}) == fault

    @pytest.mark.parametrize("body", [b"", b"<html>", b"{", b"[" * 5000, b'{"a": NaN}'])
    def test_that_is_none_fails_every_assertion(self, body: bytes) -> None:
        assertion = {"source": "json", "path": "$.lost", "comparison": "not_exists"}
        assert fault_of(assertion, ANSWER._replace(body=body)) == NOT_JSON

    def test_is_read_in_the_encoding_that_it_says(self) -> None:
        assertion = {"source": "json", "path": "$.a", "comparison": "equals", "value": "ä"}
        for body, content_type in (
            ('{"a": "ä"}'.encode("utf-16"), b"application/json"),
            ('\ufeff{"a": "ä"}'.encode(), b"application/json"),
            ('{"a": "ä"}'.encode("latin-1"), b"application/json; charset=iso-8859-1"),
        ):
            answer = ANSWER._replace(body=body, headers={b"content-type": [content_type]})
            assert fault_of(assertion, answer) is None


class TestHeader:
    @pytest.mark.parametrize(
        ("name", "comparison", "value", "fault"),
        [
            ("Content-Type", "contains", "json", None),
            ("content-type", "equals", "application/json", None),
            ("Content-Type", "not_contains", "json", DIFFERENT),
            ("X-Two", "equals", "a, b", None),
            ("X-Lost", "not_contains", "json", MISSING),
            ("Age", "less_than", 31, None),
            ("Age", "greater_than", 30, DIFFERENT),
            ("Age", "equals", "30", None),
            ("Content-Type", "greater_than", 1, OF_ANOTHER_TYPE),
            ("Empty", "matches", "^$", None),
        ],
    )
    def test_is_text_unless_it_is_compared_with_a_number(
        self, name: str, comparison: str, value: object, fault: str | None
    ) -> None:
        assertion = {"source": "header", "name": name, "comparison": comparison, "value": value}
        assert fault_of(assertion) == fault

    def test_exists_though_it_is_empty(self) -> None:
        assert fault_of({"source": "header", "name": "Empty", "comparison": "exists"}) is None
        assert fault_of({"source": "header", "name": "Lost", "comparison": "exists"}) == MISSING
        assert fault_of({"source": "header", "name": "Empty", "comparison": "not_exists"}) == THERE


class TestBody:
    def test_is_searched_as_text(self) -> None:
        assert fault_of({"source": "body", "comparison": "matches", "value": r'"count":\s*3'}) is None
        assert fault_of({"source": "body", "comparison": "matches", "value": "4"}) == DIFFERENT
        assert fault_of({"source": "body", "comparison": "not_matches", "value": "(?i)OK"}) == DIFFERENT

    @pytest.mark.parametrize(
        "assertion",
        [
            {"source": "json", "path": "$.status", "comparison": "exists"},
            {"source": "body", "comparison": "not_matches", "value": "error"},
            {"source": "body", "comparison": "matches", "value": "error"},
        ],
    )
    def test_that_was_not_read_to_its_end_is_too_large(self, assertion: dict[str, Any]) -> None:
        failed = find_failed([assertion], ANSWER._replace(is_cut=True))
        assert failed
        assert failed.error == "response_too_large"

    def test_that_was_not_read_to_its_end_may_have_said_enough(self) -> None:
        assertion = {"source": "body", "comparison": "matches", "value": "ok"}
        assert find_failed([assertion], ANSWER._replace(is_cut=True)) is None

    def test_is_too_large_for_a_pattern_that_would_take_long(self) -> None:
        assertion = {"source": "body", "comparison": "matches", "value": "((a{1,9}){1,9}){1,9}b"}
        failed = find_failed([assertion], ANSWER._replace(body=b"a" * 1_048_576))
        assert failed == (
            "response_too_large",
            "Assertion 1 (body): the answer is too large for it",
        )


class TestTimeToFirstByte:
    @pytest.mark.parametrize(
        ("comparison", "value", "fault"),
        [("less_than", 101, None), ("less_than", 100, DIFFERENT), ("greater_than", 99, None)],
    )
    def test_is_compared_in_whole_milliseconds(self, comparison: str, value: int, fault: str | None) -> None:
        assert fault_of({"source": "first_byte_ms", "comparison": comparison, "value": value}) == fault


class TestMessage:
    def test_names_the_first_assertion_that_fails_by_number_source_and_what_it_is_about(self) -> None:
        failed = find_failed(
            [
                {"source": "json", "path": "$.status", "comparison": "equals", "value": "ok"},
                {"source": "header", "name": "X-Lost", "comparison": "exists"},
                {"source": "json", "path": "$.lost", "comparison": "exists"},
            ],
            ANSWER,
        )
        assert failed == ("assertion_failed", "Assertion 2 (header X-Lost): the value is missing")

    def test_stays_on_one_short_line_and_quotes_nothing_of_the_answer(self) -> None:
        path = f"$['a\u2028b{'c' * 240}']"
        failed = find_failed([{"source": "json", "path": path, "comparison": "exists"}], ANSWER)
        assert failed
        assert len(failed.message) < 200
        assert failed.message.isprintable()
        assert "ok" not in failed.message
