"""Problem: the one exception that ends a request with an error of the document."""

from collections.abc import Mapping, Sequence


class Problem(Exception):  # noqa: N818 - it is an answer, not always an error of ours
    """Ends the request with the document's error of this name.

    Values fill the sentence's variables or replace fields of the body; headers come on top of the fixed ones.
    """

    def __init__(self, name: str, /, *, headers: Mapping[str, str] | None = None, **values: object) -> None:
        super().__init__(name)
        self.name = name
        self.headers = headers or {}
        self.values = values
        self.others: Sequence[Problem] = ()
        """What else is wrong, where somebody can mend everything at once: in a form of the app."""

    def renamed(self, names: Mapping[str, str]) -> "Problem":
        """Return the same problem under the name an operation gives it."""
        return Problem(names.get(self.name, self.name), headers=self.headers, **self.values)
