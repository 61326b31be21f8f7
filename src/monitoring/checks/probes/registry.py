"""Every kind of probe there is, and which one a monitor has."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from monitoring.backends.encryption import UndecryptableError
from monitoring.checks.probes.http import HttpProbe
from monitoring.checks.probes.protocol import Probe
from monitoring.checks.probes.unreadable import UnreadableProbe

log = logging.getLogger(__name__)

PROBES: Mapping[str, type[Probe]] = {"http": HttpProbe}

# Until monitors have a column that names another kind, every monitor is of this one.
DEFAULT_KIND = "http"

# Every column of `monitors` that some probe reads.
COLUMNS = tuple(dict.fromkeys(column for probe in PROBES.values() for column in probe.columns))


def read_probe(row: Mapping[str, Any]) -> Probe:
    """Read the probe of a monitor from a row that has `id` and at least `COLUMNS`."""
    try:
        return PROBES[DEFAULT_KIND].read(row)
    except UndecryptableError as error:
        log.error("The monitor %s cannot be checked: %s", row["id"], error)  # noqa: TRY400 - no surprise
        return UnreadableProbe.read(row)
