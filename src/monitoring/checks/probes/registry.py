"""Registers the probe of each monitor type, and reads a monitor's probe."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from monitoring.backends.encryption import UndecryptableError
from monitoring.checks.probes.certificate import CertificateProbe
from monitoring.checks.probes.dns import DnsProbe
from monitoring.checks.probes.heartbeat import HeartbeatProbe
from monitoring.checks.probes.http import HttpProbe
from monitoring.checks.probes.ping import PingProbe
from monitoring.checks.probes.protocol import Probe
from monitoring.checks.probes.tcp import TcpProbe
from monitoring.checks.probes.unreadable import UnreadableProbe

log = logging.getLogger(__name__)

# The probe of each MonitorType in the OpenAPI document.
PROBES: Mapping[str, type[Probe]] = {
    "http": HttpProbe,
    "tcp": TcpProbe,
    "dns": DnsProbe,
    "certificate": CertificateProbe,
    "ping": PingProbe,
    "heartbeat": HeartbeatProbe,
}

# All columns of `monitors` that probes read.
COLUMNS = tuple(dict.fromkeys(("type", *(column for probe in PROBES.values() for column in probe.columns))))


def read_probe(row: Mapping[str, Any]) -> Probe:
    """Return a monitor's probe, from a row that has `id` and at least `COLUMNS`."""
    if row["type"] not in PROBES:  # created by a newer release that runs beside this one
        return UnreadableProbe(f"This checker does not know the type {row['type']} yet")
    try:
        return PROBES[row["type"]].read(row)
    except UndecryptableError as error:
        log.error("The monitor %s cannot be checked: %s", row["id"], error)  # noqa: TRY400 - no surprise
        return UnreadableProbe("The service could not read the monitor's request headers")
