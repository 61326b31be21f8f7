"""Builds the URL of a contract's operation from a monitor's URL and the operation's path.

Has no side effects.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote, urlencode

from monitoring.contract.document import Json

_VARIABLE = re.compile(r"\{([^{}]+)\}")


class MissingParameterError(Exception):
    """A variable in a path has no value among the parameters."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def write_address(url: str, path: str, parameters: Mapping[str, Json] | None) -> str:
    """Return the URL to request: `url` itself if `parameters` is None.

    Otherwise `url` is the server's base URL, and the path is appended to it with its variables filled in.
    Parameters without a variable in the path go into the query. Raises MissingParameterError.
    """
    if parameters is None:
        return url
    texts = {name: _write(value) for name, value in parameters.items()}

    def fill(variable: re.Match[str]) -> str:
        if (name := variable[1]) not in texts:
            raise MissingParameterError(name)
        return quote(texts[name], safe="")

    filled = _VARIABLE.sub(fill, path)
    in_path = set(_VARIABLE.findall(path))
    query = urlencode({name: text for name, text in texts.items() if name not in in_path})
    return f"{url.partition('?')[0].rstrip('/')}{filled}{query and '?'}{query}"


def _write(value: Json) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
