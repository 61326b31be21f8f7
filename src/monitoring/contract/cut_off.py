"""A request that the stopping server cuts off gets an error of the document, not the server's own."""

from asyncio import CancelledError

RAISED_BY_REQUESTS = (Exception, CancelledError)


class ServerStopped(Exception):  # noqa: N818 - to the caller it is an answer
    """The server stopped before the answer was ready."""


def error_to_answer(raised: BaseException) -> Exception:
    """Return `ServerStopped` for a request that was cancelled, and any other exception as it is."""
    return raised if isinstance(raised, Exception) else ServerStopped("the server stops")
