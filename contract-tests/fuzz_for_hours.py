"""Runs the fuzzing repeatedly, each time with a new seed, until HOURS have passed.

Embedded and production backends alternate.

Stops at the first failure. Its message contains the seed, and a curl command that repeats the request.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import time
from itertools import count, cycle
from pathlib import Path

HERE = Path(__file__).parent
SUITE = [HERE / "test_fuzzing.py", HERE / "test_fuzzing_in_trouble.py"]


def main() -> int:
    """Return 0 if there was no failure until the time was up."""
    deadline = time.monotonic() + 3600 * float(os.environ.get("HOURS", "1"))
    for number, kind in zip(count(1), cycle(("embedded", "production")), strict=False):
        seed = str(secrets.randbelow(2**32))
        sys.stdout.write(f"Round {number}: {kind} backends, FUZZING_SEED={seed}\n")
        sys.stdout.flush()
        run = subprocess.run(
            [sys.executable, "-m", "pytest", "-n", "auto", "--exitfirst", f"--backends={kind}", *SUITE],
            env={"FUZZING_EXAMPLES": "1000", **os.environ, "FUZZING_SEED": seed},
            check=False,
        )
        if run.returncode != 0:
            return run.returncode
        if time.monotonic() > deadline:
            break
    return 0


if __name__ == "__main__":
    sys.exit(main())
