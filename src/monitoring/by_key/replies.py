"""The response to a PUT to a key's URL."""

from __future__ import annotations

from typing import Any

from monitoring.by_key.placing import Placed
from monitoring.web.replies import Reply


def represent_placed(placed: Placed[Any], name: str, shown: Reply, location: str) -> Reply:
    """Return the response to a PUT: the names of the changed fields, and the row in a member called `name`.

    `shown` is the response to a GET of the row. Its headers are reused, so a PUT and a GET return the same
    ETag.
    """
    body = {"changed_fields": list(placed.changed_fields), name: shown.body}
    if placed.is_new:
        return Reply(body, 201, {**shown.headers, "Location": location})
    return Reply(body, 200, shown.headers)
