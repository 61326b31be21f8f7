"""A monitor's configuration: the fields of MonitorCreate in the OpenAPI document, and their defaults."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from monitoring.contract.configurations import (
    Configuration,
    field_names,
    read_defaults,
    read_settings_defaults,
)
from monitoring.contract.document import Json, published_document
from monitoring.monitors.client_certificates import (
    read_client_certificate,
    show_client_certificate,
    store_client_certificate,
)
from monitoring.monitors.contracts.keeping import store_contract
from monitoring.monitors.models import Monitor
from monitoring.monitors.request_headers import read_headers, show_headers, store_headers

__all__ = [
    "Configuration",
    "column_names",
    "complete_settings",
    "configuration_of",
    "default_configuration",
    "monitor_types",
    "represent_configuration",
    "sent_configuration_of",
    "store_configuration",
]

_SCHEMA = "MonitorCreate"


@cache
def monitor_types() -> tuple[str, ...]:
    """Return the monitor types that the OpenAPI document defines."""
    return tuple(published_document().root["components"]["schemas"]["MonitorType"]["enum"])


@cache
def column_names() -> tuple[str, ...]:
    """Return the names of the columns that store a configuration.

    The column `settings` stores the field that is named after the monitor's type, such as `dns`.
    """
    columns = [name for name in field_names(_SCHEMA) if name not in monitor_types()]
    return (*columns, "settings")


def represent_configuration(columns: Mapping[str, Any]) -> Configuration:
    """Render a configuration from its columns, as responses show it, in the OpenAPI document's order."""
    shown = {name: columns[name] for name in column_names()}
    shown["request_headers"] = show_headers(shown["request_headers"])
    shown["client_certificate"] = show_client_certificate(shown["client_certificate"])
    settings = complete_settings(shown["type"], shown.pop("settings"))
    return {**shown, shown["type"]: settings} if settings else shown


def configuration_of(monitor: Monitor) -> Configuration:
    """Return a monitor's configuration as responses show it, in the OpenAPI document's order."""
    return represent_configuration({name: getattr(monitor, name) for name in column_names()})


def sent_configuration_of(monitor: Monitor) -> Configuration:
    """Return a monitor's configuration with the credentials that checks send. Raises `UndecryptableError`."""
    return {
        **configuration_of(monitor),
        "request_headers": read_headers(monitor.request_headers, monitor.encrypted_headers),
        "client_certificate": read_client_certificate(monitor.client_certificate),
    }


def store_configuration(configuration: Mapping[str, Json]) -> dict[str, Any]:
    """Return the columns that store a configuration, with its credentials encrypted."""
    columns = {name: configuration[name] for name in column_names() if name in configuration}
    return {
        **columns,
        "settings": configuration.get(configuration["type"], {}),
        **store_headers(configuration["request_headers"]),
        "client_certificate": store_client_certificate(configuration["client_certificate"]),
        **store_contract(configuration["contract"]),
    }


def default_configuration() -> Mapping[str, Json]:
    """Return the defaults of all fields that have a fixed default.

    `name` has none, because its default depends on other fields, such as the URL.
    """
    return read_defaults(_SCHEMA)


def complete_settings(monitor_type: str, settings: Mapping[str, Json]) -> dict[str, Json]:
    """Return the settings of a monitor type, with defaults for missing settings and without unknown settings.

    This makes it possible to read settings that another release stored.
    """
    defaults = read_settings_defaults(_SCHEMA, monitor_type)
    return {name: settings.get(name, default) for name, default in defaults.items()}
