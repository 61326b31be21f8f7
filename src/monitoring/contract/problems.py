"""Problem: the one exception that becomes an answer, and how every other exception becomes one too."""

import logging
from collections.abc import Callable, Mapping, Sequence

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send

from monitoring.contract.catalogue import Catalogue
from monitoring.contract.document import Document, DocumentError
from monitoring.web.answering import ExceptionAnswers
from monitoring.web.replies import Reply, send_reply

log = logging.getLogger(__name__)

NAMES_BY_STATUS = {
    400: "malformed_request",
    404: "not_found",
    405: "method_not_allowed",
    413: "body_too_large",
}

NAMES_RAISED_ANYWHERE = {
    *NAMES_BY_STATUS.values(),
    "invalid_field",
    "internal_error",
    "unsupported_media_type",
}
"""Raised in every service; bodies add `body_required`, `malformed_json` and `malformed_form`."""


class Problem(Exception):  # noqa: N818 - it is an answer, not always an error of ours
    """Ends the request with the document's error of this name.

    Values fill the sentence's variables or replace fields of the body; headers come on top of the fixed ones.
    """

    def __init__(self, name: str, /, *, headers: Mapping[str, str] | None = None, **values: object) -> None:
        super().__init__(name)
        self.name = name
        self.headers = headers or {}
        self.values = values
        self.others: Sequence[Problem] = ()
        """What else is wrong, where somebody can mend everything at once: in a form of the app."""

    def renamed(self, names: Mapping[str, str]) -> "Problem":
        """Return the same problem under the name an operation gives it."""
        return Problem(names.get(self.name, self.name), headers=self.headers, **self.values)


class ProblemReplies:
    """Answers every exception with an error of the document, and none with a traceback.

    `problem_names` says which error answers an exception that is no Problem; `note_refusal` logs it.
    """

    def __init__(
        self,
        document: Document,
        catalogue: Catalogue,
        problem_names: Mapping[type[Exception], str],
        note_refusal: Callable[[Exception], None],
    ) -> None:
        self._document = document
        self._catalogue = catalogue
        self._problem_names = problem_names
        self._note_refusal = note_refusal
        if missing := self._names_needed() - catalogue.templates.keys():
            raise DocumentError(f"the document names no error {', '.join(sorted(missing))}")

    def reply_to(self, error: Exception, path: str) -> Reply:
        """Write the answer, also to exceptions that Starlette and Connexion would answer themselves."""
        problem = self._problem_of(error, path)
        if problem is None:
            log.error("unhandled exception", exc_info=error)
            problem = Problem("internal_error")
        try:
            return self._catalogue.reply(problem.name, problem.headers, problem.values)
        except KeyError as missing:
            log.error("problem %s lacks %s", problem.name, missing, exc_info=error)  # noqa: TRY400
            return self._catalogue.reply("internal_error")

    def _problem_of(self, error: Exception, path: str) -> Problem | None:
        if isinstance(error, Problem):
            return error
        if isinstance(error, HTTPException):
            return self._framework_problem(error, path)
        # The client has gone, so nobody reads this answer; a closed connection is no crash.
        if isinstance(error, ClientDisconnect):
            return Problem("malformed_request")
        for kind, name in self._problem_names.items():
            if isinstance(error, kind):
                self._note_refusal(error)
                return Problem(name)
        return None

    def _framework_problem(self, error: HTTPException, path: str) -> Problem | None:
        name = NAMES_BY_STATUS.get(error.status_code)
        if name == "method_not_allowed":
            # Starlette's own Allow names only the methods of the first route that fits.
            allowed = self._document.allowed_methods(path)
            return Problem(name, headers={"Allow": ", ".join(allowed)})
        return Problem(name) if name else None

    def _names_needed(self) -> set[str]:
        renamed = (
            name
            for operation in self._document.operations.values()
            for name in operation.definition.get("x-problem-names", {}).values()
        )
        return NAMES_RAISED_ANYWHERE | {*renamed, *self._problem_names.values()}


class ProblemAnswers(ExceptionAnswers):
    """Answers exceptions with the document's errors."""

    def __init__(self, app: ASGIApp, *, replies: ProblemReplies) -> None:
        super().__init__(app)
        self._replies = replies

    async def answer(self, error: Exception, scope: Scope, _: Receive, send: Send) -> None:
        """Answer with the document's error."""
        await send_reply(self._replies.reply_to(error, scope["path"]), scope, send)
