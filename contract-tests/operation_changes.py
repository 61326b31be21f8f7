"""Finds breaking changes of operations: in accepted requests, and in returned responses."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TypeVar

from places import Place, quote, whole
from schema_changes import Way, find_schema_changes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Key = TypeVar("Key")

FIRST_ERROR_STATUS = 400
SCHEME_WORDS = ("type", "scheme", "in", "name", "flows", "openIdConnectUrl")
SERIALIZATION_WORDS = ("style", "explode", "allowReserved", "content")


def find_operation_changes(former_path: Place, present_path: Place, method: str) -> Iterator[str]:
    """Yield every breaking change of one method of a path."""
    former, present = former_path / method, present_path / method
    if present.value is None:
        yield f"{former.pointer}: {former.value['operationId']} is gone"
        return
    for word in ("operationId", "tags"):
        if former.value.get(word) != present.value.get(word):
            yield _tell(former / word, present / word, "SDKs call it by another name")
    yield from _compare_security(former, present)
    yield from _compare_parameters(_parameters(former_path, former), _parameters(present_path, present))
    yield from _compare_request_bodies(former / "requestBody", present / "requestBody")
    for status, response in (former / "responses").children().items():
        yield from find_response_changes(response, present / "responses" / status)
    for status in present.value["responses"].keys() - former.value["responses"].keys():
        if int(status) < FIRST_ERROR_STATUS:
            yield f"{present.pointer}/responses/{status}: is a success that clients do not know"


def find_response_changes(former: Place, present: Place) -> Iterator[str]:
    """Yield every breaking change of one response."""
    if present.value is None:
        yield f"{former.pointer}: is gone"
        return
    yield from find_changes_of_sent(_headers(former), _headers(present), "is gone")
    answers = (present / "content").children()
    yield from find_changes_of_sent((former / "content").children(), answers, "is gone")
    for media_type, media in (former / "content").children().items():
        if media_type in answers:
            yield from _compare_sentences(media / "examples", answers[media_type] / "examples")


def find_changes_of_sent(
    former: Mapping[Key, Place], present: Mapping[Key, Place], gone: str
) -> Iterator[str]:
    """Yield the breaking changes of headers or bodies that the service sends.

    `gone` is the sentence for a removed one, and may contain `{name}`.
    """
    for key, place in former.items():
        if key not in present:
            yield f"{place.pointer}: {gone.format_map(place.value)}"
            continue
        if place.value.get("required") and not present[key].value.get("required"):
            yield f"{present[key].pointer}: may be missing now"
        yield from find_schema_changes(place / "schema", present[key] / "schema", Way.OUTPUT)


def _compare_security(former: Place, present: Place) -> Iterator[str]:
    ways_in = _ways_in(present)
    if not all(any(now <= before for now in ways_in) for before in _ways_in(former)):
        yield _tell(former / "security", present / "security", "credentials that were enough may be refused")
    scope = present / "x-required-scope"
    took_tokens = any('"bearer"' in way for ways in _ways_in(former) for way in ways)
    if took_tokens and scope.value not in (None, former.value.get("x-required-scope")):
        yield _tell(former / "x-required-scope", scope, "keys that were enough may be refused")


def _ways_in(operation: Place) -> list[frozenset[str]]:
    """Return every set of credentials that permits the operation.

    Credentials are identified by how they are sent, not by the name of their scheme.
    """
    document = whole(operation.root)
    schemes = (document / "components" / "securitySchemes").children()
    default = document.value.get("security", [])
    return [
        frozenset(
            json.dumps([*(schemes[name].value.get(word) for word in SCHEME_WORDS), sorted(scopes)])
            for name, scopes in alternative.items()
        )
        for alternative in operation.value.get("security", default) or [{}]
    ]


def _compare_parameters(
    former: Mapping[tuple[str, str], Place], present: Mapping[tuple[str, str], Place]
) -> Iterator[str]:
    for key, parameter in present.items():
        before = former[key].value if key in former else {}
        if parameter.value.get("required") and not before.get("required"):
            yield f"{parameter.pointer}: {parameter.value['name']} is required now"
    for key, parameter in former.items():
        if key not in present:
            yield f"{parameter.pointer}: {parameter.value['name']} is gone"
            continue
        for word in SERIALIZATION_WORDS:
            if parameter.value.get(word) != present[key].value.get(word):
                yield _tell(parameter / word, present[key] / word, "it is written in another way")
        yield from find_schema_changes(parameter / "schema", present[key] / "schema", Way.INPUT)


def _parameters(path: Place, operation: Place) -> dict[tuple[str, str], Place]:
    declared = [*(path / "parameters").items(), *(operation / "parameters").items()]
    return {
        (
            place.value["in"],
            place.value["name"].lower() if place.value["in"] == "header" else place.value["name"],
        ): place
        for place in declared
    }


def _compare_request_bodies(former: Place, present: Place) -> Iterator[str]:
    if present.value is None:
        if former.value is not None:
            yield f"{former.pointer}: is gone"
        return
    if present.value.get("required") and not (former.value or {}).get("required"):
        yield f"{present.pointer}: is required now"
    taken = _taken_media_types(present)
    for media_type, media in _taken_media_types(former).items():
        if media_type in taken:
            yield from find_schema_changes(media / "schema", taken[media_type] / "schema", Way.INPUT)
        else:
            yield f"{media.pointer}: {media_type} is not taken any more"


def _taken_media_types(body: Place) -> dict[str, Place]:
    written = (body / "content").children()
    also = {alias: media for media in written.values() for alias in media.value.get("x-also-as", ())}
    return {**also, **written}


def _compare_sentences(former: Place, present: Place) -> Iterator[str]:
    """Compare the sentences of errors, by which clients distinguish errors.

    Clients never see examples' names.
    """
    said = {name: _sentence(example) for name, example in present.children().items()}
    for name, example in former.children().items():
        before = _sentence(example)
        if before and before not in said.values():
            yield f"{example.pointer}: was {quote(before)}, is {quote(said.get(name))}: sentences are law"


def _sentence(example: Place) -> str | None:
    """Return an error's sentence with its placeholders, or None if the example is not an error."""
    value = example.value.get("value")
    if not isinstance(value, dict) or "error" not in value:
        return None
    texts = [value[field] for field in ("error", "error_description") if field in value]
    return ": ".join([*texts[:-1], example.value.get("x-sentence", texts[-1])])


def _headers(response: Place) -> dict[str, Place]:
    return {name.lower(): header for name, header in (response / "headers").children().items()}


def _tell(former: Place, present: Place, cost: str) -> str:
    return f"{present.pointer}: was {quote(former.value)}, is {quote(present.value)}: {cost}"
