"""Probes of every type, read as a claim reads them, and asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from monitoring.checks.probes.registry import COLUMNS, read_probe
from monitoring.monitors.configuration import default_configuration, store_configuration
from monitoring.monitors.rules import complete

if TYPE_CHECKING:
    from monitoring.checks.probes.protocol import Finding, Probe
    from monitoring.outbound.dialer import Dialer


def probe_of(**given: Any) -> Probe:
    """Read the probe of a monitor that a client would create with these fields."""
    columns = store_configuration(complete({"timeout_seconds": 30, **given}, default_configuration()))
    row = {name: columns[name] for name in COLUMNS}
    return read_probe({name: _as_driver_returns(value) for name, value in row.items()})


async def ask(dialer: Dialer, **given: Any) -> Finding:
    """Make one check."""
    return await probe_of(**given).ask(dialer)


def _as_driver_returns(value: Any) -> Any:
    return orjson.dumps(value).decode() if isinstance(value, dict | list) else value
