"""What a client's own server is called with, when it is called in another way than before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schema_changes import Way, find_schema_changes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from places import Place


def find_callback_changes(former: Place, present: Place) -> Iterator[str]:
    """Say every change of an operation's callbacks that breaks; what they send is an answer to nobody."""
    for name, callback in former.children().items():
        for expression, path in callback.children().items():
            for method, call in path.children().items():
                yield from _compare_calls(call, present / name / expression / method)


def _compare_calls(former: Place, present: Place) -> Iterator[str]:
    if present.value is None:
        yield f"{former.pointer}: is not called any more"
        return
    sent = _parameters(present)
    for key, parameter in _parameters(former).items():
        if key not in sent:
            yield f"{parameter.pointer}: {parameter.value['name']} is not sent any more"
            continue
        if parameter.value.get("required") and not sent[key].value.get("required"):
            yield f"{sent[key].pointer}: may be missing now"
        yield from find_schema_changes(parameter / "schema", sent[key] / "schema", Way.OUTPUT)
    for media_type, media in (former / "requestBody" / "content").children().items():
        body = present / "requestBody" / "content" / media_type
        if body.value is None:
            yield f"{media.pointer}: is not sent any more"
            continue
        yield from find_schema_changes(media / "schema", body / "schema", Way.OUTPUT)
    for status, response in (former / "responses").children().items():
        if (present / "responses" / status).value is None:
            yield f"{response.pointer}: is not understood any more"


def _parameters(call: Place) -> dict[tuple[str, str], Place]:
    places = (call / "parameters").items()
    return {(place.value["in"], place.value["name"].lower()): place for place in places}
