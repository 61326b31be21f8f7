"""What a request is answered with that the stopping server cuts off, in place of the server's own error."""


class ServerStopped(Exception):  # noqa: N818 - to the caller it is an answer
    """The server stopped before the answer was ready."""

    def __init__(self) -> None:
        super().__init__("the server stops")
