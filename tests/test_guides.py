"""Every command of the guides, run as a newcomer would, against what `monitoring dev` starts."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from markdown_it import MarkdownIt

from service_process import MONITORING, TIMEOUT_SECONDS, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.embedded("the guides are about what `make run` starts")

ROOT = Path(__file__).parent.parent
GUIDES = ROOT / "docs" / "guides"
DEFAULT_URL = "http://127.0.0.1:8000"
EXPECTED_BLOCKS = 2  # of the quick start: the other guides expect its variables and its token
LISTENING = re.compile(r"listening on (http\S+)")


class Block(NamedTuple):
    """Commands, and what the guide says they answer: JSON, text or nothing."""

    commands: str
    kind: str
    answer: str


def read_blocks(name: str) -> list[Block]:
    fences = [
        token for token in MarkdownIt().parse((GUIDES / f"{name}.md").read_text()) if token.type == "fence"
    ]
    following = [*fences[1:], None]
    return [
        Block(fence.content, *((after.info, after.content) if after and after.info != "sh" else ("", "")))
        for fence, after in zip(fences, following, strict=True)
        if fence.info == "sh" and fence.content != "make run\n"
    ]


@pytest.fixture
def newcomer(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """Clone the repository, as far as the guides see it, and start the service: folder and address."""
    folder = tmp_path
    (folder / "docs").symlink_to(ROOT / "docs")
    commands = folder / ".venv" / "bin"
    commands.mkdir(parents=True)
    (commands / "monitoring").write_text(f'#!/bin/sh\nexec {sys.executable} -c "{MONITORING[-1]}" "$@"\n')
    (commands / "monitoring").chmod(0o755)
    log = folder / "log"
    with log.open("w") as output:
        service = subprocess.Popen(
            [*MONITORING, "dev"], cwd=folder, env={"PORT": "0"}, stdout=output, stderr=output
        )
    try:
        wait_until(lambda: LISTENING.search(log.read_text()) or service.poll() is not None)
        listening = LISTENING.search(log.read_text())
        assert listening, log.read_text()
        yield folder, listening[1]
    finally:
        service.kill()
        service.wait(TIMEOUT_SECONDS)


def run_blocks(folder: Path, blocks: list[Block]) -> list[str]:
    """Run blocks in one shell that stops at the first command that fails; return what each printed."""
    script = [f"{{\n{block.commands}}} > printed-{number}" for number, block in enumerate(blocks)]
    run = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", "\n".join(script)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_SECONDS,
    )
    assert run.returncode == 0, run.stderr
    return [(folder / f"printed-{number}").read_text() for number in range(len(blocks))]


@pytest.mark.parametrize("name", ["quick-start", "errors-and-retries", "publisher-webhook", "authentication"])
def test_every_command_of_a_guide_works_and_answers_as_it_says(name: str, newcomer: tuple[Path, str]) -> None:
    folder, base_url = newcomer
    blocks = read_blocks("quick-start")
    if name != "quick-start":
        blocks = [*blocks[:EXPECTED_BLOCKS], *read_blocks(name)]
    blocks = [block._replace(commands=block.commands.replace(DEFAULT_URL, base_url)) for block in blocks]
    for block, printed in zip(blocks, run_blocks(folder, blocks), strict=True):
        if block.kind == "json":
            assert outline(json.loads(printed)) == outline(json.loads(block.answer)), block.commands
        elif block.kind:
            assert printed == block.answer, block.commands
        assert block.answer or '"error"' not in printed, block.commands


def outline(answer: dict[str, Any]) -> dict[str, Any]:
    """Keep what is the same in every run: the fields, and an error's sentence."""
    return answer if "error" in answer else dict.fromkeys(answer)
