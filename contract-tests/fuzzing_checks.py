"""What Schemathesis does not check by itself; it loads this module as `hooks` of schemathesis.toml.

The environment's FUZZING_PERMISSIONS says what its credentials allow: scopes, and `webhook`.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import orjson
import schemathesis
from hypothesis import strategies

from monitoring.auth.scopes import SCOPES
from monitoring.contract.catalogue import Catalogue, ErrorTemplate
from monitoring.contract.document import METHODS, Operation, load_document
from monitoring.contract.replies import JSON

if TYPE_CHECKING:
    from collections.abc import Iterable

    from schemathesis import Case, CheckContext, DeserializationContext, HookContext, Response

DOCUMENT = load_document()
CATALOGUE = Catalogue(DOCUMENT)
PERMISSIONS = set(os.environ["FUZZING_PERMISSIONS"].split())
EVERY_PERMISSION = {*SCOPES, "webhook"}

# A request the schemas allow is never told these.
ABOUT_THE_FORM = {
    "body_required",
    "invalid_field",
    "malformed_form",
    "malformed_json",
    "malformed_request",
    "oauth_invalid_field",
    "oauth_malformed_form",
    "oauth_malformed_request",
    "unsupported_media_type",
}

# How the sentence about numbers ends that are no I-JSON (RFC 7493): fields of any name can hold one.
NUMBER_TOO_LARGE = f'{DOCUMENT.root["x-problem-templates"]["numberTooLarge"]}"}}'

# Told before anybody asks who is calling.
BEFORE_SECURITY = {"malformed_request", "method_not_allowed", "not_found"}


# Schemathesis 4.32 makes up no valid header that needs quotes, and counts `If-Match: 0` as one.
schemathesis.openapi.format(
    "entity-tags", strategies.sampled_from(["*", '"1"', 'W/"1"', '"1", "2"', '"", "2"'])
)


@schemathesis.hook
def before_load_schema(_: HookContext, raw_schema: dict[str, Any]) -> None:
    raw_schema["components"]["parameters"]["IfMatch"]["schema"]["format"] = "entity-tags"


@schemathesis.hook
def before_call(_: HookContext, case: Case[Any], _kwargs: dict[str, Any]) -> None:
    """Let no creation of a story be a repetition: its first answer may name a monitor deleted since."""
    is_in_a_story = case.meta is not None and case.meta.phase.name == "stateful"
    if is_in_a_story and _operation_of(case).operation_id == "create_monitor" and _is_valid(case):
        case.headers.pop("Idempotency-Key", None)


@schemathesis.deserializer("text/html")
def read_html(_: DeserializationContext, response: Response) -> str:
    return response.content.decode()


@schemathesis.check
def errors_are_the_documents(_: CheckContext, response: Response, case: Case[Any]) -> None:
    """Every error is a sentence of the document; about the form of a request only where that is wrong."""
    if response.status_code < 400 or response.request.method == "HEAD":
        return
    assert response.headers["content-type"] == ["application/json"]
    assert "x-request-id" in response.headers
    name = _name_error(response, case)
    assert name, "the document has no such error here"
    if _is_valid(case) and not response.text.endswith(NUMBER_TOO_LARGE):
        assert name not in ABOUT_THE_FORM, f"the schemas allow this request, and yet: {name}"


@schemathesis.check
def unknown_methods_are_told_all_known_ones(_: CheckContext, response: Response, case: Case[Any]) -> None:
    """405 comes with every method of the path in Allow, and with no other."""
    if response.status_code == 405:
        written = DOCUMENT.root["paths"][case.path].keys() & set(METHODS)
        known = {method.upper() for method in written | ({"head"} if "get" in written else set())}
        assert response.request.method not in known
        assert sorted(response.headers["allow"][0].split(", ")) == sorted(known)


@schemathesis.check
def nobody_does_what_is_not_allowed(_: CheckContext, response: Response, case: Case[Any]) -> None:
    """Without its permission an operation answers 401 or 403, whatever else is wrong with the request."""
    if _permission_for(_operation_of(case)) - PERMISSIONS and response.status_code not in (401, 403):
        assert response.status_code >= 400
        assert _name_error(response, case) in BEFORE_SECURITY


@schemathesis.check
class EverySuccessIsSeen:
    """A run that was allowed everything has succeeded with everything: it did not only test refusals."""

    def __init__(self) -> None:
        self.unseen = {
            (operation.operation_id, int(status))
            for operation in DOCUMENT.operations.values()
            for status in operation.responses
            if int(status) < 400 and PERMISSIONS == EVERY_PERMISSION
        }

    def after_response(self, _: CheckContext, response: Response, case: Case[Any]) -> None:
        self.unseen.discard((_operation_of(case).operation_id, response.status_code))

    def after_run(self, _: CheckContext) -> None:
        assert not self.unseen, f"never answered: {sorted(self.unseen)}"


def _operation_of(case: Case[Any]) -> Operation:
    return DOCUMENT.operations[case.operation.definition.raw["operationId"]]


def _is_valid(case: Case[Any]) -> bool:
    """Say whether the schemas allow all of a request."""
    return case.meta is not None and case.meta.generation.mode.is_positive


def _permission_for(operation: Operation) -> set[str]:
    """Return the one permission an operation takes; none if it is open to all."""
    if not operation.definition["security"]:
        return set()
    return {operation.definition.get("x-required-scope", "webhook")}


def _name_error(response: Response, case: Case[Any]) -> str | None:
    """Name an answer by its sentence, among those the document has for this operation and status."""
    body = orjson.loads(response.content)
    for name in _names_of_errors(_operation_of(case), response.status_code):
        if _says(CATALOGUE.templates[name], body):
            return name
    return None


def _names_of_errors(operation: Operation, status: int) -> Iterable[str]:
    """Return fixed sentences first: `{field}: {problem}` fits nearly all of them."""
    answers = [operation.responses.get(str(status), {})]
    answers += [
        answer
        for answer in DOCUMENT.root["components"]["responses"].values()
        if answer.get("x-status") == status
    ]
    names = [
        name for answer in answers for name in answer.get("content", {}).get(JSON, {}).get("examples", {})
    ]
    return sorted(names, key=lambda name: (CATALOGUE.templates[name].sentence or "").count("{"))


def _says(template: ErrorTemplate, body: dict[str, object]) -> bool:
    spoken = "error_description" if "error_description" in template.body else "error"
    sentence = template.sentence or template.body[spoken]
    pattern = re.sub(r"\\\{\w+\\\}", ".*", re.escape(sentence))
    return (
        body.keys() == template.body.keys()
        and re.fullmatch(pattern, str(body[spoken])) is not None
        and (spoken == "error" or body["error"] == template.body["error"])
    )
