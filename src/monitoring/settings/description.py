"""The rows of the settings table in docs/settings.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from monitoring.settings import Settings


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One row of the settings table."""

    name: str
    default: str
    meaning: str


def describe_settings() -> list[SettingRow]:
    """Return all settings as docs/settings.md shows them, in the order of `Settings`."""
    return [
        SettingRow(name.upper(), _show_default(field), field.description or "")
        for name, field in Settings.model_fields.items()
    ]


def _show_default(field: Any) -> str:  # noqa: ANN401
    if field.json_schema_extra:
        return str(field.json_schema_extra["shown"])
    if field.is_required():
        return "required"
    default = field.default
    if default in (None, (), {}):
        return ""
    return str(default).lower() if isinstance(default, bool) else str(default)
