"""Plants a lie in a copy of the tree, and runs the test there that is said to catch it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
DOCUMENT = "openapi.yaml"
PACKAGED = "src/monitoring/openapi.yaml"  # a link to the document
WHAT_TESTS_NEED = ("src", "tests", "contract-tests", "docs", DOCUMENT, "pyproject.toml")

UNNEEDED_PLUGINS = ("cacheprovider", "randomly", "schemathesis", "xdist")
FUZZING_EXAMPLES = "5"
TIMEOUT_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Edit:
    """`old` becomes `new`, once, after the first place where the file says `after`."""

    path: str
    old: str
    new: str
    after: str = ""

    def of(self, text: str) -> str:
        """Return the changed text. Raises LookupError where there is nothing to change."""
        before, anchor, rest = text.partition(self.after) if self.after else ("", "", text)
        if (self.after and not anchor) or self.old not in rest:
            raise LookupError(f"{self.path} has no {self.old!r} {f'after {self.after!r}' if anchor else ''}")
        return before + anchor + rest.replace(self.old, self.new, 1)


@dataclass(frozen=True, slots=True)
class Lie:
    """What is not so any more, how that comes about, the test that notices, and what it then says.

    `only_published`: the published document lies, and the service runs on the true one.
    """

    claim: str
    edits: tuple[Edit, ...]
    caught_by: str
    says: str
    only_published: bool = False

    @property
    def place(self) -> str:
        """Where it is planted, in words for the table."""
        if self.only_published:
            return "published document"
        paths = dict.fromkeys(edit.path.removeprefix("src/monitoring/") for edit in self.edits)
        return ", ".join("document" if path == DOCUMENT else f"`{path}`" for path in paths)


def copy_tree(folder: Path) -> Path:
    """Copy what tests need; links stay links."""
    tree = folder / "tree"
    tree.mkdir()
    for name in WHAT_TESTS_NEED:
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns("node_modules", "__pycache__", "*.egg-info")
            shutil.copytree(ROOT / name, tree / name, symlinks=True, ignore=ignored)
        else:
            shutil.copy(ROOT / name, tree / name)
    return tree


def plant(lie: Lie, tree: Path) -> None:
    """Change the copy."""
    if lie.only_published:
        (tree / PACKAGED).unlink()
        shutil.copy(tree / DOCUMENT, tree / PACKAGED)
    for edit in lie.edits:
        path = tree / edit.path
        path.write_text(edit.of(path.read_text()))


def run_tests(tree: Path, *tests: str) -> subprocess.CompletedProcess[str]:
    """Run tests of a copy, in a process that imports nothing from here."""
    return subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-x", "--rootdir", str(tree)),
            *(f"-pno:{plugin}" for plugin in UNNEEDED_PLUGINS),
            *tests,
        ],
        cwd=tree,
        env={
            name: value
            for name, value in os.environ.items()
            if name not in ("CONTRACT_REPORTS", "PYTEST_ADDOPTS")
        }
        | {
            "PYTHONPATH": str(tree / "src"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "FUZZING_EXAMPLES": FUZZING_EXAMPLES,
        },
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )
