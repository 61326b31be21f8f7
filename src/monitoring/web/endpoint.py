"""The innermost part: reads a request as the document says, calls the handler, sends what it promised."""

import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from monitoring.contract.bodies import RequestBody
from monitoring.contract.document import Document, DocumentError, Operation
from monitoring.contract.parameters import Parameters
from monitoring.contract.problems import Problem
from monitoring.contract.responses import Responses
from monitoring.contract.validation import BrokenPromise, Validation
from monitoring.web.bodies import receive_body
from monitoring.web.replies import Reply, notes_of, send_reply
from monitoring.web.security import caller_of

log = logging.getLogger(__name__)

Handler = Callable[..., Awaitable[Reply]]
H = TypeVar("H", bound=Handler)

PRECONDITION_ARGUMENTS = {"caller", "request"}


def checked_before_body(precondition: Callable[..., Awaitable[None]]) -> Callable[[H], H]:
    """Run a precondition after security and before anything of the request is read or judged.

    It may take the arguments `caller` and `request`, and refuses by raising Problem.
    """

    def attach(handler: H) -> H:
        vars(handler)["precondition"] = precondition
        return handler

    return attach


class Endpoint:
    """One operation: everything that can be prepared is prepared here, once.

    A handler is called with the arguments in its signature. A parameter that was not sent and has no default,
    neither in the document nor in the handler, is None.
    """

    def __init__(
        self, operation: Operation, handler: Handler, document: Document, validation: Validation
    ) -> None:
        self._handler = handler
        self._precondition = getattr(handler, "precondition", None)
        self._parameters = Parameters(operation, document, validation)
        self._body = RequestBody(operation, document, validation)
        self._responses = Responses(operation, document, validation)
        self._operation_id = operation.operation_id
        self._problem_names: Mapping[str, str] = operation.definition.get("x-problem-names", {})
        given = {*self._parameters.names, "body"}
        self._wanted = self._arguments_of(handler, given | PRECONDITION_ARGUMENTS)
        self._unwanted = given - self._wanted
        self._wants_situation = not PRECONDITION_ARGUMENTS.isdisjoint(self._wanted)
        self._absent = dict.fromkeys(_names_without_default(handler))
        self._precondition_wants = (
            self._arguments_of(self._precondition, PRECONDITION_ARGUMENTS)
            if self._precondition
            else frozenset()
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; refusals leave as Problem."""
        if self._precondition:
            await self._precondition(**_situation(scope, receive, self._precondition_wants))
        try:
            arguments = self._absent | self._parameters.read(
                scope.get("path_params", {}), scope["query_string"], scope["headers"]
            )
            if self._body.is_expected:
                arguments["body"] = self._body.read(await receive_body(scope, receive), scope["headers"])
        except Problem as problem:
            raise problem.renamed(self._problem_names) from None
        for name in self._unwanted:
            arguments.pop(name, None)
        if self._wants_situation:
            arguments |= _situation(scope, receive, self._wanted)
        reply = await self._handler(**arguments)
        try:
            header_names = {*notes_of(scope).headers, *reply.headers}
            self._responses.check(reply.status, header_names, reply.media_type, reply.json_value)
        except BrokenPromise as broken:
            log.error("%s answered against the document: %s", self._operation_id, broken)  # noqa: TRY400
            raise Problem("internal_error") from None
        await send_reply(reply, scope, send)

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
