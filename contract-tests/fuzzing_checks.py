"""Additional checks for Schemathesis, which loads this module as its hooks.

Environment variables from fuzzing.py describe the run. FUZZING_PERMISSIONS lists what the credentials allow:
scopes and `webhook`. FUZZING_STRANGER is the Authorization header of another team's key. FUZZING_TROUBLE
names the problem that the service was deliberately given, or is empty.
"""

from __future__ import annotations

import os
from functools import cache
from http.client import HTTPConnection
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode, urlsplit
from uuid import uuid4
from zlib import crc32

import orjson
import schemathesis
from schemathesis.core.deserialization import deserialize_yaml
from schemathesis.core.media_types import YAML_MEDIA_TYPES

import quick_fuzzing  # noqa: F401 - Schemathesis loads one module of hooks
from monitoring.articles.storage import SOURCE_LOCALE
from monitoring.auth.scopes import SCOPES
from monitoring.contract.document import METHODS, Operation
from promises import DOCUMENT, EXAMPLE_IDS, JSON, OPERATIONS
from spoken_errors import documented_answers, name_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from schemathesis import Case, CheckContext, DeserializationContext, HookContext, Response

PERMISSIONS = set(os.environ["FUZZING_PERMISSIONS"].split())
EVERY_PERMISSION = {*SCOPES, "webhook"}
TROUBLE = os.environ["FUZZING_TROUBLE"]
IS_EVERYTHING_ALLOWED = PERMISSIONS == EVERY_PERMISSION and not TROUBLE

# Maps each deliberate problem to the error that reports it.
TROUBLES = {
    "low limits": "rate_limited",
    "no database": "service_unavailable",
    "no secret": "webhook_secret_not_configured",
    "no blog storage": "blog_storage_not_configured",
}

# Errors that a valid request never gets.
ABOUT_THE_FORM = {
    "body_required",
    "invalid_field",
    "malformed_form",
    "malformed_json",
    "malformed_request",
    "oauth_body_required",
    "oauth_invalid_field",
    "oauth_malformed_form",
    "oauth_malformed_request",
    "unsupported_media_type",
}

# The other team's key sends thousands of requests. Another HTTP client would take five times the CPU time.
STRANGER = HTTPConnection(urlsplit(os.environ["FUZZING_URL"]).netloc, timeout=30)
HEADERS_OF_STRANGER = {"Authorization": os.environ["FUZZING_STRANGER"], "Content-Type": JSON}

# The resources that the document's examples name exist and are never deleted, because examples are sent most
# often.
THINGS = {"monitor_id", "window_id", "channel_id", "delivery_id", "incident_id", "token"}

# Maps operations whose success reveals data of this team to the parameters with this team's ids.
TELL_IDS = {
    "create_monitor": {"monitor_id"},
    "get_incident": {"incident_id"},
    "acknowledge_incident": {"incident_id"},
    "create_maintenance_window": {"window_id"},
    "end_maintenance_window": {"window_id"},
    "create_notification_channel": {"channel_id"},
    "test_notification_channel": {"channel_id", "delivery_id"},
}

# Maps operations whose success creates a resource to the parameter that takes its id.
MAKE = {
    "create_monitor": "monitor_id",
    "create_maintenance_window": "window_id",
    "create_notification_channel": "channel_id",
    "deliver_article": "article_id",
}

# Resources that were created outside of stateful sequences, by the parameter that takes their id. Requests
# may read or delete them.
MADE: dict[str, list[str]] = {"article_id": [], "monitor_id": [], "window_id": [], "channel_id": []}

# Heartbeats that were created. Requests may renew their ping URLs. The document's heartbeat keeps its ping
# URL, which other requests call.
HEARTBEATS: list[str] = []

SERIAL_NUMBERS = count(1)
KEYS_IN_TURN = count()

# Requests about articles use the newest articles in turn, because the last one may be withdrawn or have no
# text.
ARTICLES_IN_TURN = 5
TURNS = count()

# Bodies with which the other team's key tries to change this team's resources: the default, by parameter and
# by operation.
TAKE_OVER = {"name": "Mine"}
TAKE_OVER_BY_ID = {
    "channel_id": {"type": "webhook", "name": "Mine"},
    "incident_id": {"text": "It is mine"},
}
TAKE_OVER_BY_OPERATION = {"mute_monitor": {"duration_seconds": 3600}}

# Headers that describe the message itself. A generated value would break the message, whatever the schemas
# say.
FRAMING_HEADERS = ("Connection", "Content-Length", "Expect", "Host", "Transfer-Encoding", "Upgrade")

# Errors that are returned before authentication.
BEFORE_SECURITY = {"malformed_request", "method_not_allowed", "not_found"}


@schemathesis.hook
def before_load_schema(_: HookContext, raw_schema: dict[str, Any]) -> None:
    """Generate times by their pattern alone, which matches exactly the values that their format permits.

    Otherwise, Schemathesis would spend 16 seconds per run looking for a value that violates only the format,
    which does not exist.
    """
    raw_schema["components"]["schemas"]["Moment"].pop("format")


@schemathesis.hook("before_call")
def leave_framing_to_the_client(_: HookContext, case: Case[Any], _kwargs: dict[str, Any]) -> None:
    """Remove generated framing headers.

    Schemathesis may consider them valid, because schemas do not restrict headers.
    """
    for name in FRAMING_HEADERS:
        case.headers.pop(name, None)


@schemathesis.hook
def before_call(_: HookContext, case: Case[Any], _kwargs: dict[str, Any]) -> None:
    """Change most valid requests to use existing resources, because requests for missing ones test little."""
    operation_id = _operation_of(case).operation_id
    is_in_a_story = _is_in_a_story(case)
    if _is_valid(case) and not _is_sent_as_made_up(case):
        if "Idempotency-Key" in case.headers:
            case.headers["Idempotency-Key"] = f"fresh-{next(SERIAL_NUMBERS)}"
        if "If-Match" in case.headers:
            case.headers["If-Match"] = "*"
        if not is_in_a_story:
            case.path_parameters.update(_find_existing(operation_id, case.path_parameters))
    spoilt = _thing_spoilt_by(case)
    if spoilt and case.path_parameters[spoilt] == EXAMPLE_IDS[spoilt]:
        case.path_parameters[spoilt] = (MADE[spoilt] or [str(uuid4())])[-1]  # other requests still need it
    if operation_id in TELL_IDS and is_in_a_story:
        case.headers.pop("Idempotency-Key", None)  # the stored response may name a deleted resource
    if case.operation.method == "delete" and operation_id != "unmute_monitor":
        for name in case.path_parameters:
            if case.path_parameters[name] == EXAMPLE_IDS[name]:
                case.path_parameters[name] = MADE[name].pop() if MADE[name] else str(uuid4())


@schemathesis.hook
def after_call(_: HookContext, case: Case[Any], response: Response) -> None:
    """Remember created resources, unless they belong to a stateful sequence, and forget deleted articles."""
    operation_id = _operation_of(case).operation_id
    name = MAKE.get(operation_id)
    if name and response.status_code < 300 and not _is_in_a_story(case):
        made = response.json()
        made_id = made["article_id" if name == "article_id" else "id"]
        kept = HEARTBEATS if made.get("type") == "heartbeat" else MADE[name]
        kept += [made_id] if made_id else []
    if operation_id == "delete_article" and response.status_code < 300:
        gone = case.path_parameters["article_id"]
        MADE["article_id"] = [article_id for article_id in MADE["article_id"] if article_id != gone]


@schemathesis.deserializer("text/html", "application/toml")
def read_text(_: DeserializationContext, response: Response) -> str:
    return response.content.decode()


@schemathesis.deserializer(*YAML_MEDIA_TYPES)  # the first of the family reads them all
def read_yaml(_: DeserializationContext, response: Response) -> object:
    return _read_yaml(response.content)


@cache
def _read_yaml(content: bytes) -> object:
    """Parse a published document once. Parsing it for every response would take a tenth of a run."""
    return deserialize_yaml(content)


@schemathesis.check
def errors_are_the_documents(_: CheckContext, response: Response, case: Case[Any]) -> None:
    """Check that every error is documented, and that only malformed requests get errors about their form."""
    if response.status_code < 400 or response.request.method == "HEAD":
        return
    assert response.headers["content-type"] == ["application/json"]
    assert "x-request-id" in response.headers
    name = _name_error(response, case)
    assert name, "the document has no such error here"
    if response.status_code == 429:
        assert response.headers["retry-after"] == [str(response.json()["retry_after_seconds"])]
        assert TROUBLE == "low limits", "limits are out of reach"
    if _is_valid(case):
        assert name not in ABOUT_THE_FORM, f"the schemas allow this request, and yet: {name}"


@schemathesis.check
def unknown_methods_are_told_all_known_ones(_: CheckContext, response: Response, case: Case[Any]) -> None:
    """Check that a response with status 405 lists exactly the path's methods in Allow."""
    if response.status_code == 405:
        written = DOCUMENT.root["paths"][case.path].keys() & set(METHODS)
        known = {method.upper() for method in written | ({"head"} if "get" in written else set())}
        assert response.request.method not in known
        assert sorted(response.headers["allow"][0].split(", ")) == sorted(known)


@schemathesis.check
def nobody_does_what_is_not_allowed(_: CheckContext, response: Response, case: Case[Any]) -> None:
    """Check that requests without permission get 401 or 403, whatever else is wrong with them."""
    ways_in = _permissions_for(_operation_of(case))
    if ways_in and not ways_in & PERMISSIONS and response.status_code not in (401, 403):
        assert response.status_code >= 400
        assert _name_error(response, case) in {*BEFORE_SECURITY, TROUBLES.get(TROUBLE)}


@schemathesis.check
def strangers_see_nothing_in_lists(_: CheckContext, response: Response, case: Case[Any]) -> None:
    """Check that another team's key finds none of this team's resources in lists, whatever it asks for."""
    operation = _operation_of(case)
    if TROUBLE or response.status_code != 200 or not operation.definition["security"]:
        return
    if _ids_taken(operation) or "next_cursor" not in response.json():
        return
    cursor = response.json()["next_cursor"]
    ours = {"monitor_id": EXAMPLE_IDS["monitor_id"]} if operation.operation_id == "list_incidents" else {}
    path = operation.path.format_map(case.path_parameters or {})
    listed = _ask_as_stranger("GET", f"{path}?{urlencode(ours | ({'cursor': cursor} if cursor else {}))}")
    if operation.definition["x-required-scope"].startswith("articles:"):
        assert listed.status == 403
        return
    rows_by_name = orjson.loads(listed.body)
    assert {name: rows or None for name, rows in rows_by_name.items()} == dict.fromkeys(response.json())


@schemathesis.check
def strangers_see_and_change_nothing(_: CheckContext, response: Response, case: Case[Any]) -> None:
    """Check that another team's key gets the same response for this team's resources as for missing ones."""
    ids = TELL_IDS.get(_operation_of(case).operation_id)
    if TROUBLE or not ids or response.status_code >= 300:
        return
    told = {name: case.path_parameters.get(name) or response.json()["id"] for name in ids}
    for operation in OPERATIONS.values():
        if _ids_taken(operation) == ids:
            answer = _try_as_stranger(operation, told)
            assert answer == _answer_about_nobodys(operation.operation_id)
            assert answer.status == 404


@schemathesis.check
class EverySuccessIsSeen:
    """Check that a run with all permissions saw every operation succeed and did not test only refusals.

    The run's key is live, so operations that only a sandbox has refuse it and are left out.
    """

    def __init__(self) -> None:
        self.unseen = {
            answer[:2]
            for answer in documented_answers()
            if IS_EVERYTHING_ALLOWED and answer[1] < 300 and OPERATIONS[answer[0]].room != "sandbox"
        }

    def after_response(self, _: CheckContext, response: Response, case: Case[Any]) -> None:
        self.unseen.discard((_operation_of(case).operation_id, response.status_code))

    def after_run(self, _: CheckContext) -> None:
        assert not self.unseen, f"never answered: {sorted(self.unseen)}"


@schemathesis.check
class EveryBoundIsTried:
    """Check that a run with all permissions sent every minimum and maximum of a number in a request body.

    The `coverage` phase sends them. For a schema with an `if` that an absent field satisfies, this phase
    silently generates hardly any bodies.
    """

    def __init__(self) -> None:
        self.untried = set(_bounds_of_bodies()) if IS_EVERYTHING_ALLOWED else set()

    def after_response(self, _: CheckContext, _response: Response, case: Case[Any]) -> None:
        if self.untried and isinstance(case.body, dict):
            operation_id = _operation_of(case).operation_id
            self.untried -= {
                (operation_id, name, value) for name, value in case.body.items() if isinstance(value, int)
            }

    def after_run(self, _: CheckContext) -> None:
        assert not self.untried, f"never sent: {sorted(self.untried)}"


@schemathesis.check
class TroubleIsTold:
    """Check that every operation affected by the deliberate problem reports it.

    Only low limits let some requests succeed.
    """

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
        """Return whether this is a response to a test submission, which needs the secret but no database."""
        return TROUBLE == "no database" and response.json().get("status") == "ignored"

    def after_run(self, _: CheckContext) -> None:
        assert not self.silent, f"{TROUBLE}, and never told by {sorted(self.silent)}"


def _bounds_of_bodies() -> Iterator[tuple[str, str, int]]:
    """Yield each operation with a numeric field of its JSON body, and a bound of this field.

    Creating a monitor is left out, because the `coverage` phase generates few bodies for a schema with many
    rules about combinations of fields. The operation that changes a monitor has the same bounds and is
    checked.
    """
    for operation_id, operation in OPERATIONS.items():
        if operation_id in {"create_monitor", "put_monitor_by_key"}:
            continue
        body = DOCUMENT.follow(operation.definition.get("requestBody", {}))
        schema = DOCUMENT.follow(body.get("content", {}).get(JSON, {}).get("schema", {}))
        for name, field in schema.get("properties", {}).items():
            rules = DOCUMENT.follow(field)
            for keyword in rules.keys() & {"minimum", "maximum"}:
                yield operation_id, name, rules[keyword]


def _find_existing(operation_id: str, names: Iterable[str]) -> dict[str, str]:
    """Return the ids of existing resources, by the parameters that take them."""
    existing = {name: EXAMPLE_IDS[name] for name in {*THINGS, "locale", "key"}}
    if "key" in names and (number := next(KEYS_IN_TURN)) % 2:  # use an existing key in every second request
        existing["key"] = f"fresh-{number}"
    if articles := MADE["article_id"]:
        # The newest article may have no segments yet, because its translation is still in progress.
        has_time = operation_id == "list_translation_segments"
        turns = len(articles) if has_time else min(len(articles), ARTICLES_IN_TURN)
        existing["article_id"] = articles[-1 - next(TURNS) % turns]
    if operation_id == "get_article_translation":
        existing["locale"] = SOURCE_LOCALE  # other locales may not be translated yet
    if operation_id == "correct_translation_segment":
        # Its segment has no codes, as made-up text has none.
        existing |= {name: EXAMPLE_IDS[name] for name in ("article_id", "segment_id")}
    if operation_id == "renew_ping_url" and HEARTBEATS:
        existing["monitor_id"] = HEARTBEATS[-1]
    return {name: existing[name] for name in names if name in existing}


class StrangersAnswer(NamedTuple):
    """The response that another team's key got."""

    status: int
    body: bytes


@cache
def _answer_about_nobodys(operation_id: str) -> StrangersAnswer:
    operation = OPERATIONS[operation_id]
    return _try_as_stranger(operation, {name: str(uuid4()) for name in _ids_taken(operation)})


def _try_as_stranger(operation: Operation, ids: Mapping[str, str]) -> StrangersAnswer:
    by_id = next((TAKE_OVER_BY_ID[name] for name in ids if name in TAKE_OVER_BY_ID), TAKE_OVER)
    body = TAKE_OVER_BY_OPERATION.get(operation.operation_id, by_id)
    return _ask_as_stranger(operation.method.upper(), operation.path.format_map(ids), orjson.dumps(body))


def _ask_as_stranger(method: str, target: str, body: bytes | None = None) -> StrangersAnswer:
    try:
        return _exchange_as_stranger(method, target, body)
    except ConnectionError:  # the service closes idle connections
        STRANGER.close()
        return _exchange_as_stranger(method, target, body)


def _exchange_as_stranger(method: str, target: str, body: bytes | None) -> StrangersAnswer:
    STRANGER.request(method, target, body, HEADERS_OF_STRANGER)
    answer = STRANGER.getresponse()
    return StrangersAnswer(answer.status, answer.read())


def _ids_taken(operation: Operation) -> set[str]:
    return {parameter["name"] for parameter in operation.parameters if parameter["in"] == "path"} & THINGS


def _operation_of(case: Case[Any]) -> Operation:
    return OPERATIONS[case.operation.definition.raw["operationId"]]


def _is_sent_as_made_up(case: Case[Any]) -> bool:
    """Return whether to leave a request as it was generated, which is the case for one request in eight.

    The choice depends on the content without the token, so repeated requests are treated alike.
    """
    said = f"{case.path_parameters} {case.query} {case.body!r}"
    return crc32(said.encode("utf-8", "surrogatepass")) % 8 == 0


def _is_in_a_story(case: Case[Any]) -> bool:
    """Return whether a request was generated from the response to a previous request."""
    return case.meta is not None and case.meta.phase.name == "stateful"


def _thing_spoilt_by(case: Case[Any]) -> str | None:
    """Return the parameter with the id of a resource that the request may make useless for other requests."""
    operation_id = _operation_of(case).operation_id
    if operation_id == "end_maintenance_window":
        return "window_id"
    is_disabled = isinstance(case.body, dict) and case.body.get("enabled") is False
    return "channel_id" if operation_id == "update_notification_channel" and is_disabled else None


def _is_valid(case: Case[Any]) -> bool:
    """Return whether the complete request is valid according to the schemas."""
    return case.meta is not None and case.meta.generation.mode.is_positive


def _permissions_for(operation: Operation) -> set[str]:
    """Return the permissions of which an operation requires at least one.

    The set is empty if it is public.
    """
    of_tokens = {"bearerAuth": operation.definition.get("x-required-scope", "")}
    schemes = [scheme for alternative in operation.definition["security"] for scheme in alternative]
    return {of_tokens.get(scheme, "webhook") for scheme in schemes}


def _name_error(response: Response, case: Case[Any]) -> str | None:
    return name_error(_operation_of(case).operation_id, response.status_code, response.content)
