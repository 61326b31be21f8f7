"""What is wrong with a file is named with its line."""

from __future__ import annotations

import pytest

from monitoring.as_code.files import FileProblemsError, read_file


def _problems(text: str) -> list[str]:
    with pytest.raises(FileProblemsError) as raised:
        read_file(text, "monitors.yaml")
    return str(raised.value).splitlines()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "monitors:\n  a:\n    url: https://a.example/\n    intervall_seconds: 60\n",
            "monitors.yaml:4: monitors.a.intervall_seconds: is not known here",
        ),
        (
            "monitors:\n  a: {url: https://a.example/}\n  a: {url: https://b.example/}\n",
            "monitors.yaml:3: monitors.a: is given twice",
        ),
        (
            "monitors:\n  a:\n    url: https://a.example/\n    url: https://b.example/\n",
            "monitors.yaml:4: monitors.a.url: is given twice",
        ),
        ("monitors:\n  a: {interval_seconds: 60}\n", "monitors.yaml:2: monitors.a.url: is required"),
        (
            "monitors:\n  a:\n    url: https://a.example/\n    interval_seconds: 5\n",
            "monitors.yaml:4: monitors.a.interval_seconds: must be at least 30",
        ),
        (
            "monitors:\n  a:\n    type: heartbeat\n    heartbeat:\n      period_seconds: 1\n",
            "monitors.yaml:5: monitors.a.heartbeat.period_seconds: must be at least 30",
        ),
        (
            "monitor: {}\n",
            "monitors.yaml:1: monitor: must be monitors, notification_channels or maintenance_windows",
        ),
        ("monitors:\n  - url: https://a.example/\n", "monitors.yaml:1: monitors: must have rows by key"),
        (
            "monitors:\n  a b: {url: https://a.example/}\n",
            "monitors.yaml:2: monitors.a b: must be 1 to 100 letters, digits, dots, hyphens or underscores",
        ),
        (
            "notification_channels:\n  a:\n    type: slack\n    url: ${NOBODY_SET_THIS}\n",
            "monitors.yaml:2: notification_channels.a: NOBODY_SET_THIS is not set in the environment",
        ),
        (
            "maintenance_windows:\n  a: {duration_seconds: 600, monitor_keys: [b]}\n",
            "monitors.yaml:2: maintenance_windows.a: names the monitor b, which the file does not have",
        ),
        ("monitors: [\n", "monitors.yaml:2: expected the node content, but found '<stream end>'"),
        (
            "monitors: {b: {url: '${NO_B}'}}\n"  # noqa: ISC004 - one text
            "maintenance_windows: {a: {duration_seconds: 600, monitor_keys: [b]}}\n",
            "monitors.yaml:1: monitors.b: NO_B is not set in the environment",
        ),
        ("", "monitors.yaml:1: must have monitors, notification_channels or maintenance_windows"),
        ("a\n", "monitors.yaml:1: must have monitors, notification_channels or maintenance_windows"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text: str, problem: str) -> None:
    assert _problems(text) == [problem]


def test_everything_that_is_wrong_is_named_at_once() -> None:
    text = "monitors:\n  a: {url: a}\n  b: {url: https://b.example/, paused: 1}\n"
    assert [problem.split(": ")[0] for problem in _problems(text)] == ["monitors.yaml:2", "monitors.yaml:3"]


def test_times_and_words_are_texts_as_in_yaml_1_2() -> None:
    text = """
notification_channels:
  a:
    type: ntfy
    url: https://ntfy.sh
    topic: on
    routing: {quiet_hours: {starts_at: 22:00, ends_at: 07:00, time_zone: Europe/Berlin}}
"""
    [row] = read_file(text, "monitors.yaml")
    assert row.fields["topic"] == "on"
    assert row.fields["routing"]["quiet_hours"]["starts_at"] == "22:00"


def test_variables_stand_for_texts_and_parts_of_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_TOKEN", "a-token")
    text = """
monitors:
  a:
    url: https://a.example/
    request_headers: {Authorization: 'Bearer ${A_TOKEN}', X-Template: '$${A_TOKEN}'}
"""
    [row] = read_file(text, "monitors.yaml")
    assert row.variables == {"A_TOKEN": "a-token"}
    assert row.fields["request_headers"] == {"Authorization": "Bearer a-token", "X-Template": "${A_TOKEN}"}
