"""How the service logs: one line a record on standard error, with the request it belongs to."""

from __future__ import annotations

import logging.config

from monitoring.contract.middleware import RequestIdFilter


def configure_logging(level: str) -> None:
    """Set up logging for this process. Libraries speak from warning on."""
    logging.config.dictConfig(
        {
            "version": 1,
            "disable_existing_loggers": False,
            "filters": {"request_id": {"()": RequestIdFilter}},
            "formatters": {
                "line": {"format": "%(asctime)s %(levelname)s %(name)s [%(request_id)s] %(message)s"}
            },
            "handlers": {
                "stderr": {
                    "class": "logging.StreamHandler",
                    "filters": ["request_id"],
                    "formatter": "line",
                }
            },
            "loggers": {"monitoring": {"level": level.upper()}},
            "root": {"level": "WARNING", "handlers": ["stderr"]},
        }
    )
