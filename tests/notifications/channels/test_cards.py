"""The adaptive cards for Teams, judged by the reader that Microsoft publishes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import orjson

from notifications.channels.test_services import BODIES

CARDS = Path(__file__).parent / "cards"


def test_its_reader_objects_to_nothing() -> None:
    # Node.js comes with the packages where the machine has none.
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    subprocess.run([CARDS / "install"], env=environment, check=True)
    card = BODIES["microsoft_teams"]["attachments"][0]["content"]
    judged = subprocess.run(
        ["node", CARDS / "judge.mjs"],
        input=orjson.dumps(card),
        env=environment,
        stdout=subprocess.PIPE,
        check=True,
    )
    assert orjson.loads(judged.stdout) == {"items": 2, "actions": 2, "objections": []}
