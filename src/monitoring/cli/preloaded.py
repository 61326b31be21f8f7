"""What every child of a supervisor needs, for the process that they are forked from.

That process counts nothing. So it takes its own figures out of the shared metrics, and each child begins with
the values that a new process has.
"""

from __future__ import annotations

import os
from pathlib import Path

from monitoring.metrics import set_first_values

os.register_at_fork(after_in_child=set_first_values)
if folder := os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
    for path in Path(folder).glob(f"*_{os.getpid()}.db"):
        path.unlink()
