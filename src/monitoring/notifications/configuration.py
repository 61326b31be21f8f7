"""Channel configurations: the OpenAPI document's fields for each channel type, and their defaults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from monitoring.contract.configurations import (
    Configuration,
    field_names,
    member_of,
    read_defaults,
    read_notes,
    read_required,
)
from monitoring.contract.document import Json
from monitoring.notifications.models import NotificationChannel

__all__ = [
    "Configuration",
    "columns_of",
    "complete_routing",
    "configuration_of",
    "default_configuration",
    "required_fields",
    "secret_fields",
]

# The fields that have their own columns. All other fields are stored in the column `settings`.
_COLUMNS = ("type", "name", "url", "events", "enabled")


def configuration_of(channel: NotificationChannel) -> Configuration:
    """Return a channel's configuration as responses show it, in the order of the OpenAPI document."""
    shown = {name: getattr(channel, name) for name in _COLUMNS} | channel.settings
    shown = complete_routing(shown)
    return {name: shown.get(name) for name in field_names(_schema_of(channel.type))}


def columns_of(configuration: Configuration) -> dict[str, Any]:
    """Return the column values that store a configuration. It must have the format of `configuration_of`."""
    settings = {name: value for name, value in configuration.items() if name not in _COLUMNS}
    return {"url": "", **{name: configuration[name] for name in _COLUMNS if name in configuration}} | {
        "settings": settings
    }


def complete_routing(configuration: Mapping[str, Json]) -> Configuration:
    """Return a configuration with defaults for the routing fields that it omits."""
    routing = configuration.get("routing") or {}
    return {**configuration, "routing": {**read_defaults("NotificationRoutingCreate"), **routing}}


def default_configuration(channel_type: str) -> Mapping[str, Json]:
    """Return the defaults of a channel type's fields, leaving out fields that have no default."""
    return read_defaults(_schema_of(channel_type))


def required_fields(channel_type: str) -> Sequence[str]:
    """Return a channel type's required fields."""
    return read_required(_schema_of(channel_type))


def secret_fields(channel_type: str) -> Mapping[str, str]:
    """Return the fields of a channel type that responses mask, each with its kind of mask.

    The mask `address` shows only a URL's scheme and host, `values` only header names, and `whole` nothing.
    """
    return read_notes(_schema_of(channel_type), "x-secret")


def _schema_of(channel_type: str) -> str:
    return member_of("NotificationChannelCreate", channel_type)
