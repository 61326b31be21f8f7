"""Names answers as the document does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from monitoring.contract.catalogue import FIRST_ERROR_STATUS, Catalogue
from monitoring.contract.document import JSON, load_document
from monitoring.contract.validation import BrokenPromise, Validation

if TYPE_CHECKING:
    import httpx

    from monitoring.contract.document import Node, Operation

DOCUMENT = load_document()


class UndocumentedAnswer(Exception):  # noqa: N818 - it describes the service
    """An answer that the document does not allow. The sentence says why."""


class Answers:
    """The answers that the document promises for every operation."""

    def __init__(self) -> None:
        self._templates = Catalogue(DOCUMENT).templates
        self._validation = Validation(DOCUMENT)

    def name(self, operation: Operation, answer: httpx.Response) -> str:
        """Name a success by its status and an error by the document's name. Raises `UndocumentedAnswer`."""
        promised = operation.responses.get(str(answer.status_code))
        if promised is None:
            raise UndocumentedAnswer(f"{operation.operation_id} documents no {answer.status_code}")
        [(media_type, content)] = promised["content"].items()
        self._check_headers(promised, media_type, answer)
        if media_type != JSON:
            return str(answer.status_code)
        try:
            body = answer.json()
            self._validation.response_check(content["schema"])(body)
        except (ValueError, BrokenPromise) as error:
            raise UndocumentedAnswer(f"the body is not the document's: {error}") from None
        if answer.status_code < FIRST_ERROR_STATUS:
            return str(answer.status_code)
        for name in content["examples"]:
            if self._templates[name].body == body:
                return f"{answer.status_code} {name}"
        raise UndocumentedAnswer(f"the document has no such sentence: {answer.text[:200]}")

    def _check_headers(self, promised: Node, media_type: str, answer: httpx.Response) -> None:
        if answer.headers.get("content-type") != media_type:
            raise UndocumentedAnswer(f"Content-Type is {answer.headers.get('content-type')}")
        for name, reference in promised.get("headers", {}).items():
            header = DOCUMENT.follow(reference)
            if header.get("required") and name not in answer.headers:
                raise UndocumentedAnswer(f"{answer.status_code} without {name}")
