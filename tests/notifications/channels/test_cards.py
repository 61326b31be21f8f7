"""The adaptive cards for Teams, judged by the reader that Microsoft publishes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson

from monitoring.notifications.channels import microsoft_teams
from monitoring.notifications.channels.rendering import render_message
from notifications.channels.test_provider_channel import BODIES
from notifications.every_message import BASE_URL, EVERY_MESSAGE

CARDS = Path(__file__).parent / "cards"


def judge(cards: list[Any]) -> Any:
    # Node.js comes with the packages where the machine has none.
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    subprocess.run([CARDS / "install"], env=environment, check=True)
    judged = subprocess.run(
        ["node", CARDS / "judge.mjs"],
        input=orjson.dumps(cards),
        env=environment,
        stdout=subprocess.PIPE,
        check=True,
    )
    return orjson.loads(judged.stdout)


def test_its_reader_objects_to_nothing() -> None:
    card = BODIES["microsoft_teams"]["attachments"][0]["content"]
    assert judge([card]) == [{"items": 2, "actions": 2, "objections": []}]


def test_its_reader_objects_to_no_message() -> None:
    messages = [
        render_message(orjson.dumps(event).decode(), f"{BASE_URL}/app") for event in EVERY_MESSAGE.values()
    ]
    bodies = [microsoft_teams.write(message, {"url": BASE_URL}).body for message in messages]
    found = judge([body["attachments"][0]["content"] for body in bodies])
    assert found == [{"items": 2, "actions": 1, "objections": []}] * len(EVERY_MESSAGE)


def test_its_reader_objects_to_what_no_card_has() -> None:
    nonsense = {"type": "AdaptiveCard", "version": "1.4", "body": [{"type": "Picture of a cat"}]}
    (found,) = judge([nonsense])
    assert found["objections"]
