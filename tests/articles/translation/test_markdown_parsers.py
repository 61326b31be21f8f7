"""Threads may share parsers, also while one of them reads for the first time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.embedded("nothing is kept anywhere: once is enough")
def test_who_reads_during_a_first_reading_reads_the_same() -> None:
    script = Path(__file__).with_name("first_reading.py")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    *meanwhile, last = done.stdout.splitlines()
    assert meanwhile
    assert set(meanwhile) == {last}
