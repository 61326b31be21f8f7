"""What can go wrong with a backend. Callers need one distinction only: wait, or try again at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from monitoring.backends.outage import Outage

MAX_REASON_CHARACTERS = 200


class BackendUnavailable(Exception):  # noqa: N818 - a state of affairs, not a mistake of the caller
    """A backend does not answer now. Nothing was decided; the caller is told to come back (503).

    `outage` is the outage that it belongs to, which is logged once and counts what it refuses. Without one
    the backend is there, and only this piece of work cannot be done.
    """

    def __init__(self, reason: str, outage: Outage | None = None) -> None:
        super().__init__(reason)
        self.outage = outage


class DatabaseUnavailable(BackendUnavailable):
    """The database cannot be reached, is starting or stopping, is full, or took too long."""


class StorageUnavailable(BackendUnavailable):
    """The blog storage cannot be reached or refuses to work."""


class StorageChanged(StorageUnavailable):
    """Something else is stored than what was to be replaced: another put was faster, or this one is late."""


class QueueUnavailable(BackendUnavailable):
    """The queue cannot be reached. Nothing is lost: the sweeper sends what was not sent."""


class TransactionConflict(DatabaseUnavailable):
    """The database undid the transaction in favour of another one: the same transaction may succeed now."""


class TablesInUse(DatabaseUnavailable):
    """A migration found no moment in which nobody else used the tables. Nothing was changed."""


def describe_error(error: Exception) -> str:
    """Say in one line what kind of error it is, and what it says."""
    if isinstance(error, BackendUnavailable):
        return str(error)
    if isinstance(error, TimeoutError) and not str(error):
        return "no answer in time"
    text = str(error).partition("\n")[0][:MAX_REASON_CHARACTERS]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
