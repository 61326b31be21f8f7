"""Modules that every child of a supervisor needs, imported by the process that children are forked from.

That process removes its own file from the shared metrics. Each child sets the first values of its metrics
itself, as a new process does.
"""

from __future__ import annotations

import os
from pathlib import Path

from monitoring.metrics import set_first_values

os.register_at_fork(after_in_child=set_first_values)
if folder := os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
    for path in Path(folder).glob(f"*_{os.getpid()}.db"):
        path.unlink()
