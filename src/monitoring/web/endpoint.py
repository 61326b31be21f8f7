"""The innermost layer: validates a request, calls its handler, and sends the validated reply."""

import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from monitoring.contract.bodies import RequestBody
from monitoring.contract.document import Document, DocumentError, Json, Operation
from monitoring.contract.parameters import Parameters, argument_name
from monitoring.contract.problems import Problem
from monitoring.contract.responses import Responses
from monitoring.contract.validation import BrokenPromise, Validation
from monitoring.web.bodies import receive_beginning, receive_body
from monitoring.web.replies import Reply, notes_of, send_reply
from monitoring.web.security import caller_of

log = logging.getLogger(__name__)

Handler = Callable[..., Awaitable[Reply]]
H = TypeVar("H", bound=Handler)

Act = Callable[[], Awaitable[Reply]]
ActOnce = Callable[[Act], Awaitable[Reply]]
Idempotency = Callable[[Any, str | None, tuple[Json, ...], Act], Awaitable[Reply]]
"""Runs the action, or returns the stored reply if the caller sent the same request with this key before."""

PRECONDITION_ARGUMENTS = {"caller", "request"}
IDEMPOTENCY_KEY = argument_name("Idempotency-Key")
IF_NONE_MATCH = argument_name("If-None-Match")


def checked_before_body(precondition: Callable[..., Awaitable[None]]) -> Callable[[H], H]:
    """Return a decorator for handlers whose requests must first fulfil `precondition`.

    The precondition runs after authentication, and before parameters and body are read or validated. It may
    take the arguments `caller` and `request`. It raises Problem to refuse the request.
    """

    def attach(handler: H) -> H:
        vars(handler)["precondition"] = precondition
        return handler

    return attach


class Endpoint:
    """The ASGI app of one operation, prepared once.

    A handler is called with the arguments in its signature. A parameter that was not sent and has no default,
    neither in the document nor in the handler, is None.

    If the operation declares an `Idempotency-Key` header, the handler runs in the transaction that stores its
    reply for the key. A handler that does some work outside this transaction takes the argument `act_once`
    instead, and calls it with the function to run in the transaction.

    If the operation declares an `If-None-Match` header, a reply whose ETag the client already has becomes a
    304.
    """

    def __init__(
        self,
        operation: Operation,
        handler: Handler,
        document: Document,
        validation: Validation,
        idempotency: Idempotency | None,
    ) -> None:
        self._handler = handler
        self._precondition = getattr(handler, "precondition", None)
        self._parameters = Parameters(operation, document, validation)
        self._body = RequestBody(operation, document, validation)
        self._responses = Responses(operation, document, validation)
        self._operation_id = operation.operation_id
        self._problem_names: Mapping[str, str] = operation.definition.get("x-problem-names", {})
        given = [*self._parameters.names, *(["body"] if self._body.is_expected else [])]
        self._asked = [name for name in given if name != IDEMPOTENCY_KEY]
        self._idempotency = idempotency if IDEMPOTENCY_KEY in given else None
        if IDEMPOTENCY_KEY in given and idempotency is None:
            raise DocumentError(f"nothing makes {self._operation_id} act once for an Idempotency-Key")
        known = {*self._asked, *PRECONDITION_ARGUMENTS, *(("act_once",) if self._idempotency else ())}
        self._wanted = self._arguments_of(handler, known)
        self._absent = dict.fromkeys(_names_without_default(handler))
        self._precondition_wants = (
            self._arguments_of(self._precondition, PRECONDITION_ARGUMENTS)
            if self._precondition
            else frozenset()
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request. Raises Problem if it is refused."""
        if self._precondition:
            await self._precondition(**_situation(scope, receive, self._precondition_wants))
        try:
            arguments = self._parameters.read(scope["path_params"], scope["query_string"], scope["headers"])
            if self._body.kept_bytes is not None:
                arguments["body"] = await receive_beginning(receive, self._body.kept_bytes)
            elif self._body.is_expected:
                arguments["body"] = self._body.read(await receive_body(scope, receive), scope["headers"])
        except Problem as problem:
            raise problem.renamed(self._problem_names) from None
        reply = await self._act(arguments, scope, receive)
        reply = reply.unless_known(arguments.get(IF_NONE_MATCH))
        header_names = {*notes_of(scope).headers, *reply.headers}
        try:
            self._responses.check(reply.status, header_names, reply.media_type, reply.json_value)
        except BrokenPromise as broken:
            log.error("the response of %s violates the OpenAPI document: %s", self._operation_id, broken)  # noqa: TRY400
            raise Problem("internal_error") from None
        await send_reply(reply, scope, send)

    async def _act(self, arguments: Mapping[str, Json], scope: Scope, receive: Receive) -> Reply:
        given = self._absent | {name: value for name, value in arguments.items() if name in self._wanted}
        given |= _situation(scope, receive, self._wanted)
        if self._idempotency is None:
            return await self._handler(**given)
        asked = self._operation_id, *(arguments.get(name) for name in self._asked)
        act_once = partial(self._idempotency, caller_of(scope), arguments.get(IDEMPOTENCY_KEY), asked)
        if "act_once" in self._wanted:
            return await self._handler(**given | {"act_once": act_once})
        return await act_once(partial(self._handler, **given))

    def _arguments_of(self, function: Callable[..., Any], known: set[str]) -> frozenset[str]:
        named = frozenset(inspect.signature(function).parameters)
        if unknown := named - known:
            raise DocumentError(f"{self._operation_id} is given no {', '.join(sorted(unknown))}")
        return named


def _names_without_default(function: Callable[..., Any]) -> list[str]:
    parameters = inspect.signature(function).parameters.values()
    return [parameter.name for parameter in parameters if parameter.default is parameter.empty]


def _situation(scope: Scope, receive: Receive, wanted: frozenset[str]) -> dict[str, Any]:
    situation: dict[str, Any] = {}
    if "caller" in wanted:
        situation["caller"] = caller_of(scope)
    if "request" in wanted:
        situation["request"] = Request(scope, receive)
    return situation
