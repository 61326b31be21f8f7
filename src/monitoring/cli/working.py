"""The work of a process of `monitoring worker`."""

from __future__ import annotations

import logging
from multiprocessing.connection import Connection

from monitoring.articles.chosen_engine import make_engine
from monitoring.cli.background import run_in_background
from monitoring.cli.migrating import demand_migrated_database
from monitoring.settings import Settings
from monitoring.worker import run_worker

log = logging.getLogger(__name__)


def demand_what_tasks_need(settings: Settings) -> None:
    """End the command if the schema is too old or too new. Warn if no translation engine is configured.

    Raises `SettingsError` if the engine's settings are invalid.
    """
    demand_migrated_database(settings)
    demand_working_engine(settings)
    if settings.translator == "none":
        log.warning("TRANSLATOR is none: articles stay queued and are not translated")


def demand_working_engine(settings: Settings) -> None:
    """Raise `SettingsError` if the translation engine's settings are invalid.

    Otherwise the engine would fail later, with a traceback.
    """
    if engine := make_engine(settings):
        engine.close()


def work(settings: Settings, threads: int, lifeline: Connection | None = None) -> None:
    """Run tasks until the process is stopped.

    At most `threads` tasks of each queue run at once, unless the tasks set `at_once`. `lifeline` is a child's
    connection to its supervisor, or None without one.
    """
    settings = settings.model_copy(update={"worker_threads": threads})
    run_in_background(settings, run_worker, lifeline)
