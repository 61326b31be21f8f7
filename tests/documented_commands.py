"""Extracts the commands that a document tells its readers to run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

BLOCK = re.compile(r"^```(?:sh|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def read_commands(page: Path, heading: str) -> list[str]:
    """Return the blocks of commands in the section under a heading, without prompts.

    The section ends at the next heading of any level.
    """
    _, section = page.read_text().split(f"\n{heading}\n")
    blocks: list[str] = BLOCK.findall(f"\n{section}"[: _find_end(section)])
    return [re.sub(r"^\$ ", "", block, flags=re.MULTILINE) for block in blocks]


def _find_end(section: str) -> int:
    end = re.search(r"^#{2,} ", section, re.MULTILINE)
    return end.start() if end else len(section) + 1
