"""Finds breaking changes of callbacks, which the service sends to a client's own server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from operation_changes import find_changes_of_sent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from places import Place


def find_webhook_changes(former: Place, present: Place) -> Iterator[str]:
    """Yield every breaking change of the document's webhooks. Their requests are treated as responses are."""
    for name, path in former.children().items():
        for method, call in path.children().items():
            yield from _compare_calls(call, present / name / method)


def _compare_calls(former: Place, present: Place) -> Iterator[str]:
    if present.value is None:
        yield f"{former.pointer}: is not called any more"
        return
    yield from find_changes_of_sent(_parameters(former), _parameters(present), "{name} is not sent any more")
    yield from find_changes_of_sent(_bodies(former), _bodies(present), "is not sent any more")
    for status, response in (former / "responses").children().items():
        if (present / "responses" / status).value is None:
            yield f"{response.pointer}: is not understood any more"


def _bodies(call: Place) -> dict[str, Place]:
    return (call / "requestBody" / "content").children()


def _parameters(call: Place) -> dict[tuple[str, str], Place]:
    places = (call / "parameters").items()
    return {(place.value["in"], place.value["name"].lower()): place for place in places}
