"""The errors in the document, by name. Their status, headers and body come from its named examples."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from monitoring.contract.document import JSON, Document, DocumentError, Node

FIRST_ERROR_STATUS = 400


@dataclass(frozen=True, slots=True)
class ErrorTemplate:
    """A documented error. The `{variables}` in `sentence` and `headers` are filled in for each occurrence."""

    status: int
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    sentence: str | None


@dataclass(frozen=True, slots=True)
class ErrorResponse:
    """An error response for a client."""

    status: int
    headers: Mapping[str, str]
    body: Mapping[str, Any]


class Catalogue:
    """All of the document's errors, by name."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self.templates: dict[str, ErrorTemplate] = {}
        for name, template in self._read_templates():
            if self.templates.setdefault(name, template) != template:
                raise DocumentError(f"error {name} is written twice, in two ways")

    def respond(
        self, name: str, headers: Mapping[str, str] | None = None, values: Mapping[str, Any] | None = None
    ) -> ErrorResponse:
        """Return the response for the error `name`.

        A value with the name of a body field replaces that field. Other values fill the message's variables.
        `Retry-After` is set from the field `retry_after_seconds`. `headers` override the documented ones.
        """
        template, values = self.templates[name], values or {}
        body = {field: values.get(field, example) for field, example in template.body.items()}
        if template.sentence is not None:
            field = "error_description" if "error_description" in body else "error"
            body[field] = template.sentence.format_map(values)
        waits = {"Retry-After": str(body["retry_after_seconds"])} if "retry_after_seconds" in body else {}
        fixed = {header: text.format_map(values) for header, text in template.headers.items()}
        return ErrorResponse(template.status, {**fixed, **waits, **(headers or {})}, body)

    def _read_templates(self) -> Iterator[tuple[str, ErrorTemplate]]:
        for status, response in self._error_responses():
            fixed_headers = dict(self._fixed_headers(response))
            for name, reference in response.get("content", {}).get(JSON, {}).get("examples", {}).items():
                example = self._document.follow(reference)
                headers = {**fixed_headers, **example.get("x-headers", {})}
                yield name, ErrorTemplate(status, headers, example["value"], example.get("x-sentence"))

    def _error_responses(self) -> Iterator[tuple[int, Node]]:
        attached: set[int] = set()
        for operation in self._document.operations.values():
            for status, response in operation.responses.items():
                attached.add(id(response))
                if int(status) >= FIRST_ERROR_STATUS:
                    yield int(status), response
        # The response to an unknown path belongs to no operation, so `x-status` gives its status.
        for name, response in self._document.root.get("components", {}).get("responses", {}).items():
            if id(response) not in attached:
                if "x-status" not in response:
                    raise DocumentError(f"response {name} is used by no operation and has no x-status")
                yield response["x-status"], response

    def _fixed_headers(self, response: Node) -> Iterator[tuple[str, str]]:
        for name, reference in response.get("headers", {}).items():
            header = self._document.follow(reference)
            allowed = self._document.follow(header.get("schema", {})).get("enum", ())
            if "x-value" in header:
                yield name, header["x-value"]
            elif len(allowed) == 1:
                yield name, str(allowed[0])
