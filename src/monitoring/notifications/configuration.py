"""The configuration of a channel: the fields that the document has for its type, and their defaults."""

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

# Fields with a column of their own. Those that only some types have are in the column `settings`.
_COLUMNS = ("type", "name", "url", "events", "enabled")


def configuration_of(channel: NotificationChannel) -> Configuration:
    """Return a channel's configuration as answers show it, in the order of the document."""
    shown = {name: getattr(channel, name) for name in _COLUMNS} | channel.settings
    shown = complete_routing(shown)
    return {name: shown.get(name) for name in field_names(_schema_of(channel.type))}


def columns_of(configuration: Configuration) -> dict[str, Any]:
    """Return the columns that store a configuration as answers show it."""
    settings = {name: value for name, value in configuration.items() if name not in _COLUMNS}
    return {"url": "", **{name: configuration[name] for name in _COLUMNS if name in configuration}} | {
        "settings": settings
    }


def complete_routing(configuration: Mapping[str, Json]) -> Configuration:
    """Fill in the fields of a channel's routing that a client, or an earlier release, left out."""
    routing = configuration.get("routing") or {}
    return {**configuration, "routing": {**read_defaults("NotificationRoutingCreate"), **routing}}


def default_configuration(channel_type: str) -> Mapping[str, Json]:
    """Return the default of every field that has one. The name's default depends on the type."""
    return read_defaults(_schema_of(channel_type))


def required_fields(channel_type: str) -> Sequence[str]:
    """Return the fields that a new channel of a type must be given."""
    return read_required(_schema_of(channel_type))


def secret_fields(channel_type: str) -> Mapping[str, str]:
    """Return the fields that answers mask, each with the kind of mask.

    `address` keeps the host of a URL, `values` the names in a list of headers, `whole` nothing.
    """
    return read_notes(_schema_of(channel_type), "x-secret")


def _schema_of(channel_type: str) -> str:
    return member_of("NotificationChannelCreate", channel_type)
