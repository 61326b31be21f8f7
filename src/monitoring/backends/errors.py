"""What can go wrong with a backend, in the only distinction callers need: wait, or try again at once."""


class BackendUnavailable(Exception):  # noqa: N818 - a state of affairs, not a mistake of the caller
    """A backend does not answer now. Nothing was decided; the caller is told to come back (503)."""


class DatabaseUnavailable(BackendUnavailable):
    """The database cannot be reached, is starting or stopping, is full, or took too long."""


class StorageUnavailable(BackendUnavailable):
    """The blog storage cannot be reached or refuses to work."""


class StorageChanged(StorageUnavailable):
    """There is something else than what was to be replaced: somebody was faster, or a put came late."""


class QueueUnavailable(BackendUnavailable):
    """The queue cannot be reached. Nothing is lost: the sweeper sends what was not sent."""


class TransactionConflict(DatabaseUnavailable):
    """The database undid the transaction in favour of another one: the same transaction may succeed now."""
