"""Translates our settings to a Tortoise configuration with one connection and one app."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote

from tortoise.backends.base.config_generator import expand_db_url

from monitoring.settings import Settings
from monitoring.tracing import is_tracing

APP_LABEL = "monitoring"
MIGRATIONS_PACKAGE = "monitoring.backends.migrations"
MODEL_MODULES = (
    "monitoring.backends.write_probe",
    "monitoring.audit.models",
    "monitoring.auth.models",
    "monitoring.members.models",
    "monitoring.idempotency.models",
    "monitoring.notifications.models",
    "monitoring.incidents.models",
    "monitoring.monitors.models",
    "monitoring.monitors.maintenance.models",
    "monitoring.monitors.heartbeats.models",
    "monitoring.history.models",
    "monitoring.articles.models",
)

MAX_CONNECT_TIMEOUT_SECONDS = 5.0

# Twice the usual size of the write-ahead log. SQLite truncates a larger one to this size.
WRITE_AHEAD_LOG_BYTES = 8 * 2**20


def configure_tortoise(settings: Settings, model_modules: Sequence[str] = MODEL_MODULES) -> dict[str, Any]:
    """Translate the settings to the arguments of `TortoiseContext.init`."""
    connection = expand_db_url(settings.database_url.get_secret_value())
    # The connection is named after its dialect, because Tortoise caches statements process-wide by that name.
    dialect = connection["engine"].rpartition(".")[2]
    module = f"traced_{dialect}" if is_tracing() else dialect
    connection["engine"] = f"monitoring.backends.database_clients.{module}"
    connection["credentials"] = _OPTIONS[dialect](settings) | _spell_credentials(connection["credentials"])
    return {
        "connections": {dialect: connection},
        "apps": {APP_LABEL: configure_app(dialect, model_modules)},
    }


def configure_app(connection_name: str, model_modules: Sequence[str] = MODEL_MODULES) -> dict[str, Any]:
    """Return the configuration of all models as one app with one migration history."""
    return {
        "models": list(model_modules),
        "default_connection": connection_name,
        "migrations": MIGRATIONS_PACKAGE,
    }


def _spell_credentials(credentials: dict[str, Any]) -> dict[str, Any]:
    """Translate libpq's `sslmode` to asyncpg's `ssl`, and decode a percent-encoded file path.

    For SQLite, also let the write-ahead log keep its size between checkpoints. With Tortoise's default limit,
    the log would be truncated, and grow again with every commit.
    """
    if "file_path" in credentials:
        return credentials | {
            "file_path": unquote(credentials["file_path"]),
            "journal_size_limit": WRITE_AHEAD_LOG_BYTES,
        }
    return {"ssl" if name == "sslmode" else name: value for name, value in credentials.items()}


def _sqlite_options(settings: Settings) -> dict[str, Any]:
    return {
        "busy_timeout": round(settings.database_timeout_seconds * 1000),
        "synchronous": "FULL",  # commits survive a power failure, as a 202 response promises
    }


def _postgres_options(settings: Settings) -> dict[str, Any]:
    timeout_ms = str(round(settings.database_timeout_seconds * 1000))
    return {
        "minsize": settings.database_pool_min_connections,
        "maxsize": settings.database_pool_max_connections,
        "timeout": min(settings.database_timeout_seconds, MAX_CONNECT_TIMEOUT_SECONDS),
        # This timeout is for a server that does not respond. A server that responds cancels the statement
        # earlier, at `statement_timeout`.
        "command_timeout": settings.database_timeout_seconds + 1,
        "server_settings": {
            "application_name": "monitoring",
            "timezone": "UTC",
            "statement_timeout": timeout_ms,
            "lock_timeout": timeout_ms,
            "idle_in_transaction_session_timeout": "60000",
            # The default, 4, is for spinning disks. With it, PostgreSQL would scan ten thousand rows rather
            # than look up fifty, and would sort all the rows of a team.
            "random_page_cost": "1.1",
        },
    }


_OPTIONS = {"sqlite": _sqlite_options, "asyncpg": _postgres_options}
