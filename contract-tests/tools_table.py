"""Writes the table of docs/tools.md from what the tools' runs noted.

`python contract-tests/tools_table.py contract-whole` writes the rows of `make contract-whole`, from its notes
in build/contract-whole/tools.
With `--check` it writes nothing and fails if they are not on the page.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "tools.md"
HEAD = "| tool | version | run by | what it did |\n|---|---|---|---|\n"


def note(tool: str, version: str, what: str, target: str = "contract-whole") -> None:
    """Store what a tool did in a run of `make <target>`."""
    folder = notes_of(target)
    folder.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"\W+", "-", tool.lower()).strip("-")
    (folder / f"{name}.json").write_text(json.dumps({"tool": tool, "version": version, "what": what}))


def notes_of(target: str) -> Path:
    """Return the folder with a target's notes."""
    return ROOT / "build" / target / "tools"


def write_page(page: str, target: str) -> str:
    """Return the page with a target's rows replaced by the noted ones.

    Rows of other targets stay unchanged.
    """
    introduction, _, table = page.partition(HEAD)
    kept = [row for row in table.splitlines() if f"| `make {target}` |" not in row]
    notes = [json.loads(path.read_text()) for path in notes_of(target).glob("*.json")]
    noted = [f"| {each['tool']} | {each['version']} | `make {target}` | {each['what']} |" for each in notes]
    return introduction + HEAD + "".join(f"{row}\n" for row in sorted([*kept, *noted], key=str.lower))


def main() -> int:
    """Write the page. With `--check`, return 1 if the page does not match the notes."""
    target, *options = sys.argv[1:]
    page = PAGE.read_text()
    written = write_page(page, target)
    if "--check" not in options:
        PAGE.write_text(written)
    elif written != page:
        command = f"python contract-tests/tools_table.py {target}"
        sys.stderr.write(f"docs/tools.md is not what `make {target}` noted; `{command}` writes:\n{written}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
