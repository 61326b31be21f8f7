"""Times, durations and ratios in words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from monitoring.app.formatting import (
    add_break_points,
    isolate,
    write_ago,
    write_days_left,
    write_duration,
    write_milliseconds,
    write_moment,
    write_percent,
)

MOMENT = datetime(2026, 11, 1, 13, 5, 59, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (59.6, "1 min"),
        (61, "1 min 1 s"),
        (3600, "1 h"),
        (7_500, "2 h 5 min"),
        (3_605, "1 h"),
        (90_061, "1 d 1 h"),
        (-1, "0 s"),
    ],
)
def test_a_duration_is_written_in_its_two_largest_units(seconds: float, words: str) -> None:
    assert write_duration(seconds) == words


@pytest.mark.parametrize(
    ("milliseconds", "words"),
    [
        (0, "0 ms"),
        (999, "999 ms"),
        (1000, "1 s"),
        (1234, "1.2 s"),
        (59_949, "59.9 s"),
        (59_950, "1 min"),
        (65_400, "1 min 5 s"),
    ],
)
def test_a_response_time_is_written_as_people_say_it(milliseconds: int, words: str) -> None:
    assert write_milliseconds(milliseconds) == words


@pytest.mark.parametrize(
    ("ratio", "words"),
    [(1.0, "100 %"), (0.999999, "99.99 %"), (0.5, "50.00 %"), (0.0, "0.00 %"), (None, "not enough data")],
)
def test_only_what_never_failed_is_100_percent(ratio: float | None, words: str) -> None:
    assert write_percent(ratio) == words


def test_a_moment_is_written_in_utc_whatever_its_zone() -> None:
    text = write_moment(MOMENT.astimezone(timezone(timedelta(hours=5))))
    assert ">1 Nov 2026, 13:05 UTC<" in text
    assert 'datetime="2026-11-01T13:05:59.000000Z"' in text


@pytest.mark.parametrize(
    ("passed", "words"),
    [
        (timedelta(seconds=-5), "just now"),
        (timedelta(seconds=59), "just now"),
        (timedelta(seconds=61), "1 minute ago"),
        (timedelta(hours=2, minutes=59), "2 hours ago"),
        (timedelta(days=40), "40 days ago"),
    ],
)
def test_how_long_ago_is_told_in_one_unit(passed: timedelta, words: str) -> None:
    assert f">{words}<" in write_ago(datetime.now(UTC) - passed)


@pytest.mark.parametrize(
    ("left", "words"),
    [
        (timedelta(days=42, minutes=5), "42 days left"),
        (timedelta(days=1, minutes=5), "1 day left"),
        (timedelta(hours=5), "0 days left"),
        (timedelta(hours=-5), "expired"),
    ],
)
def test_a_certificate_has_whole_days_left(left: timedelta, words: str) -> None:
    assert f">{words}<" in write_days_left(datetime.now(UTC) + left)


def test_what_never_was_is_never() -> None:
    assert (write_ago(None), write_moment(None)) == ("never", "never")


@pytest.mark.parametrize("text", ["\N{RIGHT-TO-LEFT OVERRIDE}gnp", "متجر"])
def test_text_that_may_turn_is_isolated(text: str) -> None:
    assert isolate(text) == f"\N{FIRST STRONG ISOLATE}{text}\N{POP DIRECTIONAL ISOLATE}"


def test_plain_text_stays_as_it_is() -> None:
    assert isolate("Web shop") == "Web shop"


@pytest.mark.parametrize(
    ("text", "markup"),
    [
        ("bob.b@acme.example", "bob<wbr>.b<wbr>@acme<wbr>.example"),
        ("http://shop.example/a/b?c=d", "http://shop<wbr>.example/<wbr>a/<wbr>b?c=d"),
        ("2001:db8::c0de", "2001:<wbr>db8::<wbr>c0de"),
        ("It ended. Now: yes.", "It ended. Now: yes."),
        ("<b>@acme", "&lt;b&gt;@acme"),
    ],
)
def test_an_email_or_address_may_break_between_its_words_and_is_escaped(text: str, markup: str) -> None:
    assert add_break_points(text) == markup
