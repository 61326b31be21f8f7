"""Problem, the exception that ends a request with a documented error."""

from collections.abc import Mapping, Sequence


class Problem(Exception):  # noqa: N818 - it is a response, and not always an error of the service
    """Ends a request with the documented error `name`.

    `values` fill the message's variables or replace body fields. `headers` are added to the documented ones.
    """

    def __init__(self, name: str, /, *, headers: Mapping[str, str] | None = None, **values: object) -> None:
        super().__init__(name)
        self.name = name
        self.headers = headers or {}
        self.values = values
        self.others: Sequence[Problem] = ()
        """The other problems of the same form, so that the app can show them all. Empty in the API."""

    def renamed(self, names: Mapping[str, str]) -> "Problem":
        """Return the same problem under the operation-specific name in `names`, if there is one."""
        return Problem(names.get(self.name, self.name), headers=self.headers, **self.values)
