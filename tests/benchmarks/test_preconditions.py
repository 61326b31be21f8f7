from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import preconditions
from preconditions import CannotMeasure, demand_files, the_only_run

HOLD = """
import sys
from pathlib import Path
from preconditions import the_only_run
with the_only_run(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def hold(lock: Path) -> subprocess.Popen[str]:
    """Let another process hold the lock."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(lock)],
        env={"PYTHONPATH": str(Path(preconditions.__file__).parent)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    assert process.stdout.readline() == "held\n"
    return process


def test_a_second_run_is_refused_and_told_which_process_is_the_first(tmp_path: Path) -> None:
    lock = tmp_path / "build" / "lock"
    with hold(lock) as first:
        with pytest.raises(CannotMeasure, match=f"process {first.pid} measures in this tree already"):
            the_only_run(lock).__enter__()
        first.kill()
    with the_only_run(lock):  # a killed process holds no lock
        pass


def test_one_run_may_follow_another(tmp_path: Path) -> None:
    for _ in range(2):
        with the_only_run(tmp_path / "lock"):
            pass


def test_everything_that_is_missing_is_told_at_once_with_its_remedy(tmp_path: Path) -> None:
    (tmp_path / "there").touch()
    needed = {tmp_path / name: f"install {name}" for name in ("there", "exporter", "spy")}
    with pytest.raises(CannotMeasure) as refused:
        demand_files(needed)
    assert str(refused.value).splitlines() == [
        f"{tmp_path}/exporter is missing: install exporter",
        f"{tmp_path}/spy is missing: install spy",
    ]
    demand_files({tmp_path / "there": "install it"})
