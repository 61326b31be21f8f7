"""What Schemathesis does not check by itself; it loads this module as `hooks` of schemathesis.toml.

The environment tells what a run is like (fuzzing.py): FUZZING_PERMISSIONS is what its credentials allow,
scopes and `webhook`; FUZZING_STRANGER is the Authorization of another team's key; FUZZING_TROUBLE is empty
unless something is wrong with the service on purpose.
"""

from __future__ import annotations

import os
from itertools import count
from typing import TYPE_CHECKING, Any
from uuid import uuid4
from zlib import crc32

import httpx
import schemathesis
from hypothesis import strategies

from monitoring.auth.scopes import SCOPES
from monitoring.contract.document import METHODS, Operation
from promises import DOCUMENT, OPERATIONS
from spoken_errors import documented_answers, name_error

if TYPE_CHECKING:
    from schemathesis import Case, CheckContext, DeserializationContext, HookContext, Response

PERMISSIONS = set(os.environ["FUZZING_PERMISSIONS"].split())
EVERY_PERMISSION = {*SCOPES, "webhook"}
TROUBLE = os.environ["FUZZING_TROUBLE"]

# What is wrong -> the error that tells it.
TROUBLES = {
    "low limits": "rate_limited",
    "no database": "service_unavailable",
    "no secret": "webhook_secret_not_configured",
    "no blog storage": "blog_storage_not_configured",
}

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

STRANGER = httpx.Client(
    base_url=os.environ["FUZZING_URL"], headers={"Authorization": os.environ["FUZZING_STRANGER"]}, timeout=30
)

# The monitor of the document's examples exists and is never deleted: examples are sent most of all.
EXAMPLE_ID = OPERATIONS["get_monitor"].parameters[0]["example"]

SERIAL_NUMBERS = count(1)

TAKE_OVER = {"name": "Mine"}  # which only an update reads

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
    """Lead most valid requests to what exists: refused for what others did, they would test little."""
    operation_id = _operation_of(case).operation_id
    is_in_a_story = case.meta is not None and case.meta.phase.name == "stateful"
    names_a_monitor = "monitor_id" in case.path_parameters and not is_in_a_story
    if _is_valid(case) and not _is_sent_as_made_up(case):
        if "Idempotency-Key" in case.headers:
            case.headers["Idempotency-Key"] = f"fresh-{next(SERIAL_NUMBERS)}"
        if "If-Match" in case.headers:
            case.headers["If-Match"] = "*"
        if names_a_monitor:
            case.path_parameters["monitor_id"] = EXAMPLE_ID
    if operation_id == "create_monitor" and is_in_a_story:
        case.headers.pop("Idempotency-Key", None)  # the first answer may name a monitor deleted since
    if operation_id == "delete_monitor" and case.path_parameters["monitor_id"] == EXAMPLE_ID:
        case.path_parameters["monitor_id"] = str(uuid4())


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
    if response.status_code == 429:
        assert response.headers["retry-after"] == [str(response.json()["retry_after_seconds"])]
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
        assert _name_error(response, case) in {*BEFORE_SECURITY, TROUBLES.get(TROUBLE)}


@schemathesis.check
def strangers_see_and_change_nothing(_: CheckContext, response: Response, case: Case[Any]) -> None:
    """Another team's key is told the same about our monitor as about one that does not exist."""
    if TROUBLE:
        return
    if _operation_of(case).operation_id == "list_monitors" and response.status_code == 200:
        cursor = response.json()["next_cursor"]
        listed = STRANGER.get("/api/monitors", params={"cursor": cursor} if cursor else {})
        assert listed.json() == {"monitors": [], "next_cursor": None}
    if _operation_of(case).operation_id != "create_monitor" or response.status_code != 201:
        return
    for operation in OPERATIONS.values():
        if "{monitor_id}" in operation.path:
            ours, nobodys = (
                STRANGER.request(
                    operation.method, operation.path.format(monitor_id=monitor_id), json=TAKE_OVER
                )
                for monitor_id in (response.json()["id"], uuid4())
            )
            assert (ours.status_code, ours.content) == (nobodys.status_code, nobodys.content)
            assert ours.status_code == 404


@schemathesis.check
class EverySuccessIsSeen:
    """A run that was allowed everything has succeeded with everything: it did not only test refusals."""

    def __init__(self) -> None:
        is_expected = PERMISSIONS == EVERY_PERMISSION and not TROUBLE
        self.unseen = {answer[:2] for answer in documented_answers() if is_expected and answer[1] < 400}

    def after_response(self, _: CheckContext, response: Response, case: Case[Any]) -> None:
        self.unseen.discard((_operation_of(case).operation_id, response.status_code))

    def after_run(self, _: CheckContext) -> None:
        assert not self.unseen, f"never answered: {sorted(self.unseen)}"


@schemathesis.check
class TroubleIsTold:
    """Every operation that meets the trouble tells it; only limits let something pass all the same."""

    def __init__(self) -> None:
        self.error = TROUBLES.get(TROUBLE)
        self.concerned = {
            operation_id for operation_id, _, name in documented_answers() if name == self.error
        }
        self.silent = set(self.concerned)

    def after_response(self, _: CheckContext, response: Response, case: Case[Any]) -> None:
        operation_id = _operation_of(case).operation_id
        if operation_id in self.concerned:
            assert response.status_code >= 400 or TROUBLE == "low limits" or self.is_harmless(response)
            if response.status_code >= 400 and _name_error(response, case) == self.error:
                self.silent.discard(operation_id)

    def is_harmless(self, response: Response) -> bool:
        """Say whether it answers a test delivery, which needs the secret and no database."""
        return TROUBLE == "no database" and response.json().get("status") == "ignored"

    def after_run(self, _: CheckContext) -> None:
        assert not self.silent, f"{TROUBLE}, and never told by {sorted(self.silent)}"


def _operation_of(case: Case[Any]) -> Operation:
    return OPERATIONS[case.operation.definition.raw["operationId"]]


def _is_sent_as_made_up(case: Case[Any]) -> bool:
    """Choose one in eight by what it says, without its token: what is tried again is treated alike."""
    said = f"{case.path_parameters} {case.query} {case.body!r}"
    return crc32(said.encode("utf-8", "surrogatepass")) % 8 == 0


def _is_valid(case: Case[Any]) -> bool:
    """Say whether the schemas allow all of a request."""
    return case.meta is not None and case.meta.generation.mode.is_positive


def _permission_for(operation: Operation) -> set[str]:
    """Return the one permission an operation takes; none if it is open to all."""
    if not operation.definition["security"]:
        return set()
    return {operation.definition.get("x-required-scope", "webhook")}


def _name_error(response: Response, case: Case[Any]) -> str | None:
    return name_error(_operation_of(case).operation_id, response.status_code, response.content)
