"""Docs checks: what README and docs say about settings, files and commands is what the project has."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from monitoring.settings.description import describe_settings

ROOT = Path(__file__).parent.parent
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("contract-tests/*.md")]
LINK = re.compile(r"\]\((?!https?://|#|mailto:)([^)#\s]+)")


def find_problems() -> list[str]:
    """Return one line a problem."""
    return [*_find_broken_links(), *_find_settings_that_differ()]


def write_settings_table() -> str:
    """Write the configuration table that README carries."""
    rows = [f"| `{row.name}` | {_code(row.default)} | {row.meaning} |" for row in describe_settings()]
    return "\n".join(["| variable | default | meaning |", "|---|---|---|", *rows])


def _find_broken_links() -> list[str]:
    return [
        f"{page.relative_to(ROOT)}: link to {target} leads nowhere"
        for page in PAGES
        for target in LINK.findall(page.read_text())
        if not (page.parent / target).exists()
    ]


def _find_settings_that_differ() -> list[str]:
    if write_settings_table() in (ROOT / "README.md").read_text():
        return []
    return ["README.md: the configuration table is not what `python docs/check.py --settings` prints"]


def _code(text: str) -> str:
    return f"`{text}`" if text and text != "required" else text


if __name__ == "__main__":
    if "--settings" in sys.argv:
        print(write_settings_table())
    elif problems := find_problems():
        sys.exit("\n".join(problems))
