"""Modules that every child of a supervisor needs, imported by the process that children are forked from.

That process removes its own values from the shared metrics, so that each child begins like a new process.
"""

from __future__ import annotations

import os
from pathlib import Path

from monitoring.metrics import set_first_values

os.register_at_fork(after_in_child=set_first_values)
if folder := os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
    for path in Path(folder).glob(f"*_{os.getpid()}.db"):
        path.unlink()
