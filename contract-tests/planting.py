"""Plants a lie (a deliberate fault) in a copy of the source tree, and finds a test that detects it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from monitoring.contract.document import load_document
from places import changed, steps_of
from seams import Seam

if TYPE_CHECKING:
    from collections.abc import Callable

    from monitoring.contract.document import Json

ROOT = Path(__file__).parent.parent
DOCUMENT = "openapi.yaml"
PACKAGED = "src/monitoring/openapi.yaml"  # a link to the document
WHAT_TESTS_NEED = ("src", "tests", "contract-tests", "docs", DOCUMENT, "arazzo.yaml", "pyproject.toml")

UNNEEDED_PLUGINS = ("cacheprovider", "randomly", "schemathesis", "xdist")
FAILED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)  # in the summary of a run
FUZZING_EXAMPLES = "5"
TIMEOUT_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Change:
    """Another value at a JSON pointer of the document.

    `value` is the new value, or a function that returns it for the old value.
    """

    pointer: str
    value: Any

    def of(self, document: Json) -> Json:
        """Return the changed document. Raises KeyError if there is nothing at the pointer."""
        node = document
        for step in steps_of(self.pointer):
            node = node[int(step)] if isinstance(node, list) else node[step]
        return changed(document, self.pointer, self.value(node) if callable(self.value) else self.value)


@dataclass(frozen=True, slots=True)
class Lie:
    """A planted fault: what is no longer true, how to plant the fault, and the test that should detect it.

    If `only_published` is set, the fault is planted only in the published document, and the service runs on
    the unchanged one.
    """

    claim: str
    parts: tuple[Change | Seam, ...]
    caught_by: str
    only_published: bool = False

    @property
    def changes(self) -> list[Change]:
        """The parts that change the document."""
        return [part for part in self.parts if isinstance(part, Change)]

    @property
    def seams(self) -> list[Seam]:
        """The parts that change the code."""
        return [part for part in self.parts if isinstance(part, Seam)]

    @property
    def place(self) -> str:
        """Where the fault is planted, as shown in the table."""
        if self.only_published:
            return "published document"
        return ", ".join(f"`{seam.name}`" for seam in self.seams) or "document"


def renamed(before: str, after: str) -> Callable[[Json], Json]:
    """Return a function that renames a key of an object, or an item of an array, without moving it."""

    def rename(node: Json) -> Json:
        if before not in node:
            raise KeyError(before)
        if isinstance(node, list):
            return [after if item == before else item for item in node]
        return {after if key == before else key: value for key, value in node.items()}

    return rename


def worded(before: str, after: str) -> Callable[[str], str]:
    """Return a function that replaces a part of a text."""

    def word(text: str) -> str:
        if before not in text:
            raise KeyError(before)
        return text.replace(before, after)

    return word


def copy_tree(folder: Path) -> Path:
    """Copy the files that tests need. Symbolic links stay symbolic links."""
    tree = folder / "tree"
    tree.mkdir()
    for name in WHAT_TESTS_NEED:
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns("node_modules", "screenshots", "__pycache__", "*.egg-info")
            shutil.copytree(ROOT / name, tree / name, symlinks=True, ignore=ignored)
        else:
            shutil.copy(ROOT / name, tree / name)
    return tree


def plant(changes: list[Change], tree: Path, *, only_published: bool = False) -> None:
    """Apply changes to the document in a copy of the tree.

    If `only_published` is set, the package's document is first made a separate file, which stays unchanged.
    """
    if only_published:
        (tree / PACKAGED).unlink()
        shutil.copy(tree / DOCUMENT, tree / PACKAGED)
    document = load_document(tree / DOCUMENT).root
    for change in changes:
        document = change.of(document)
    written = yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
    (tree / DOCUMENT).write_text(written)


def find_catcher(tree: Path, lie: Lie) -> str:
    """Return the test that fails because of the lie: the expected test, or else any other contract test."""
    for tests in ([lie.caught_by], ["contract-tests", "-m", "not long"]):
        run = run_tests(tree, *tests, claim=lie.claim)
        if run.returncode and "ERROR: not found" not in run.stderr:
            found = FAILED.search(run.stdout)
            return found[1] if found else f"{tests[0]}, before it begins"
    raise AssertionError(f"nobody noticed:\n{run.stdout}{run.stderr}")


def run_tests(tree: Path, *tests: str, claim: str = "") -> subprocess.CompletedProcess[str]:
    """Run tests of a copy in a process that imports nothing from this tree.

    `claim` names the lie in the code.
    """
    return subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-x", "--rootdir", str(tree)),
            *(f"-pno:{plugin}" for plugin in UNNEEDED_PLUGINS),
            *("-p", "planted_lie"),
            *tests,
        ],
        cwd=tree,
        env={
            name: value
            for name, value in os.environ.items()
            if name not in ("CONTRACT_REPORTS", "PYTEST_ADDOPTS")
        }
        | {
            "PYTHONPATH": f"{tree / 'src'}{os.pathsep}{tree / 'contract-tests'}",
            "PYTHONDONTWRITEBYTECODE": "1",
            "FUZZING_EXAMPLES": FUZZING_EXAMPLES,
            "PLANTED_LIE": claim,
        },
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )
