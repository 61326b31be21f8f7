"""Backend errors. Callers only need to know whether to retry later or immediately."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from monitoring.backends.outage import Outage

MAX_REASON_CHARACTERS = 200


class BackendUnavailable(Exception):  # noqa: N818 - a state, not an error of the caller
    """A backend does not respond, so the outcome is unknown. The client gets a 503.

    `outage` is the outage that caused the error. Each outage is logged once, with the number of refused
    requests. `outage` is None if the backend is available but cannot serve this request.
    """

    def __init__(self, reason: str, outage: Outage | None = None) -> None:
        super().__init__(reason)
        self.outage = outage


class DatabaseUnavailable(BackendUnavailable):
    """The database cannot be reached, is starting or stopping, is full, or took too long."""


class StorageUnavailable(BackendUnavailable):
    """The blog storage cannot be reached or refuses requests."""


class StorageChanged(StorageUnavailable):
    """The object was not replaced, because another put changed it first."""


class QueueUnavailable(BackendUnavailable):
    """The queue cannot be reached. No job is lost: the sweep sends missing messages later."""


class TransactionConflict(DatabaseUnavailable):
    """The database rolled back the transaction in favour of another one. A retry may succeed."""


class TablesInUse(DatabaseUnavailable):
    """A migration could not lock the tables, because other sessions used them. Nothing was changed."""


def describe_error(error: Exception) -> str:
    """Return the type and message of an error on one line."""
    if isinstance(error, BackendUnavailable):
        return str(error)
    if isinstance(error, TimeoutError) and not str(error):
        return "no answer in time"
    text = str(error).partition("\n")[0][:MAX_REASON_CHARACTERS]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
