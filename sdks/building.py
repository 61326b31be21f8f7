"""What all SDKs are made with: folders, commands, the guide's recipes, and a note of what was done."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parent.parent
SDKS = ROOT / "sdks"
EXAMPLES = ROOT / "examples"
GUIDE = ROOT / "docs" / "guides" / "generate-an-sdk.md"
BUILD = ROOT / "build" / "sdks"
NOTES = BUILD / "tools"
DOCUMENT = BUILD / "openapi.yaml"  # as it is published
DERIVED = BUILD / "openapi-3.0.json"
PYTHON = BUILD / "venv" / "bin"
PACKAGES = BUILD / "node_modules" / ".bin"


@dataclass(frozen=True)
class Sdk:
    """What `make sdks` generates from the document with one generator."""

    name: str
    package: str  # of the generator
    build: Callable[[Path], None]
    checked: str  # how the generated code is checked while it is built
    pages: tuple[str, ...] | None  # how to run the guide's recipe, in the SDK's folder
    journey: tuple[str, ...] | None = None
    example: tuple[str, ...] | None = None

    @property
    def folder(self) -> Path:
        return BUILD / self.name

    def rebuild(self) -> None:
        """Generate and compile in an empty folder. Raises `BuildError` with the failing tool's output."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.build(self.folder)
        self.note(f"generated, {self.checked}")

    def note(self, did: str) -> None:
        """Keep what was done for the table of docs/tools.md (contract-tests/tools_table.py)."""
        language = f" ({self.name})" if self.package == "openapi-generator-cli" else ""
        line = {"tool": self.package + language, "version": _pinned_version(self.package), "what": did}
        NOTES.mkdir(parents=True, exist_ok=True)
        (NOTES / f"sdk-{self.name}.json").write_text(json.dumps(line) + "\n")


class BuildError(Exception):
    """A tool failed. The message is its command line and its output."""


def copy(folder: Path, *sources: Path, name: str | None = None) -> None:
    folder.mkdir(exist_ok=True)
    for source in sources:
        shutil.copy(source, folder / (name or source.name))


def read_code(section: str, language: str = r"\w+") -> str:
    """Return the last code of a section of the guide."""
    _, _, rest = GUIDE.read_text().partition(f"\n## {section}\n")
    fence = rf"^```{language}\n(.*?)^```$"
    found: list[str] = re.findall(fence, rest.partition("\n## ")[0], re.DOTALL | re.MULTILINE)
    return found[-1]


def write_recipe(section: str, template: str, program: Path) -> None:
    """Put the guide's recipe, a section's last code, into a program that prints every monitor's id."""
    text = (SDKS / "recipes" / template).read_text()
    before, after = re.split(r"^ *(?:#|//) <recipe>\n", text, flags=re.MULTILINE)
    program.parent.mkdir(exist_ok=True)
    program.write_text(before + read_code(section) + after)


def run(folder: Path, *command: str | Path) -> str:
    """Run a tool and return what it printed. Raises `BuildError` if it fails."""
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=folder, env=environment(), capture_output=True, text=True, check=False)
    if done.returncode:
        raise BuildError(f"{' '.join(words)}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def environment() -> dict[str, str]:
    """Return every tool's environment, which turns off downloads and telemetry."""
    return os.environ | {
        "GOCACHE": str(BUILD / "go-cache"),
        "GOFLAGS": "-mod=mod",
        "GOPROXY": "off",
        "GOTOOLCHAIN": "local",
        "DO_NOT_TRACK": "1",
        "NO_COLOR": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def _pinned_version(package: str) -> str:
    packages: dict[str, str] = json.loads((SDKS / "package.json").read_text())["dependencies"]
    if package in packages:
        return packages[package]
    pinned = re.search(rf"^{package}==(\S+)", (SDKS / "requirements.txt").read_text(), re.MULTILINE)
    assert pinned
    return pinned[1]
