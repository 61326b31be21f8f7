"""Check the work at hand in less than a minute: what changed since main, or one room.

    python tests/quick.py [ROOM]

A changed file in src/monitoring calls for the tests of its room, and a changed test file for itself.
`make test` runs everything.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
TESTS = ROOT / "tests"
SOURCES = Path("src/monitoring")
BIN = Path(sys.executable).parent

# Maps path prefixes outside of the packages ("rooms") to the tests for them.
ELSEWHERE = {
    "openapi.yaml": ["contract-tests/test_document.py", "contract-tests/test_examples.py"],
    "README.md": ["tests/test_docs.py"],
    "docs/guides/": ["tests/test_guides.py"],
    "docs/": ["tests/test_docs.py"],
    "deploy/": ["tests/test_deployment.py"],
    "benchmarks/": ["tests/benchmarks"],
    "faults/": ["faults/test_verdict.py"],
}


def main() -> int:
    """Print and run the necessary checks. Return 1 if any of them fails."""
    room = sys.argv[1] if len(sys.argv) > 1 else ""
    if room and not (TESTS / room).is_dir():
        print(f"No room is called {room!r}; rooms are {', '.join(list_rooms())}")  # noqa: T201 - a command
        return 2
    changed = [] if room else list_changes()
    found = {f"tests/{room}"} if room else {test for path in changed for test in find_tests(path)}
    tests = sorted(test for test in found if not {*map(str, Path(test).parents)} & found)
    said = f"The room {room}" if room else f"{len(changed)} files changed since main"
    print(f"{said}: {' '.join(tests) or 'no tests'}", flush=True)  # noqa: T201
    if left := [path for path in changed if path.endswith(".py") and not find_tests(path)]:
        print(f"Only `make test` has tests of {' '.join(left)}", flush=True)  # noqa: T201
    types = subprocess.Popen([BIN / "mypy"], cwd=ROOT)
    statuses = [run("ruff", "check", "--quiet", "."), run("ruff", "format", "--check", "--quiet", ".")]
    for folder in ("tests/", "contract-tests/", "faults/"):  # each has its own conftest.py
        chosen = [test for test in tests if test.startswith(folder)]
        statuses += [run("pytest", "-n", "auto", "--dist=worksteal", *chosen)] if chosen else []
    return int(any([*statuses, types.wait()]))


def list_changes() -> list[str]:
    """Return the files that differ from the commit at which this branch left main, and the new files."""
    main_branch = "main" if ask("rev-parse", "--verify", "--quiet", "main") else "origin/main"
    [start] = ask("merge-base", "HEAD", main_branch) or ["HEAD"]
    changed = ask("diff", "--name-only", start) + ask("ls-files", "--others", "--exclude-standard")
    return sorted({path for path in changed if (ROOT / path).exists()})


def find_tests(path: str) -> list[str]:
    """Return the existing test files and folders for a file."""
    place = Path(path)
    if place.is_relative_to(SOURCES):
        name = place.relative_to(SOURCES).parts[0].removesuffix(".py")
        found = [f"tests/{name}", f"tests/test_{name}.py"]
    elif place.name.startswith("test_") and place.suffix == ".py":
        found = [] if place.name.startswith("test_fuzzing") else [path]
    elif place.is_relative_to("tests") and len(place.parts) > 2:  # a file that a room's tests share
        found = [f"tests/{place.parts[1]}"]
    else:
        found = next((tests for beginning, tests in ELSEWHERE.items() if path.startswith(beginning)), [])
    return [test for test in found if (ROOT / test).exists()]


def list_rooms() -> list[str]:
    """Return the valid values of `ROOM`."""
    return sorted(folder.name for folder in TESTS.iterdir() if any(folder.rglob("test_*.py")))


def ask(*arguments: str) -> list[str]:
    """Return the lines that a git command prints."""
    command = ["git", *arguments]
    answer = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    return answer.stdout.splitlines()


def run(program: str, *arguments: str) -> int:
    """Run a program of the virtual environment, and return its exit status."""
    print(f"$ {program} {' '.join(arguments)}", flush=True)  # noqa: T201
    return subprocess.run([BIN / program, *arguments], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
