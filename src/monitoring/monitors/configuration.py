"""What a client decides about a monitor: the fields of the document's MonitorCreate, and their defaults."""

from __future__ import annotations

from typing import TYPE_CHECKING

from monitoring.contract.configurations import Configuration, read_configuration, read_defaults

if TYPE_CHECKING:
    from collections.abc import Mapping

    from monitoring.contract.document import Json
    from monitoring.monitors.models import Monitor

__all__ = ["Configuration", "configuration_of", "default_configuration"]

_SCHEMA = "MonitorCreate"


def configuration_of(monitor: Monitor) -> Configuration:
    """Read a monitor's configuration, in the order of the document."""
    return read_configuration(monitor, _SCHEMA)


def default_configuration() -> Mapping[str, Json]:
    """Return the default of every field that has one; `name` has none here, its default is the URL's host."""
    return read_defaults(_SCHEMA)
