"""Tests that the document and its pages are cacheable and compressed.

Also tests that any origin may read the documents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import promises

if TYPE_CHECKING:
    from running_service import RunningService

DOCUMENTS = (
    "get_document_yaml",
    "get_document_json",
    "get_derived_document",
    "get_fuzzing_configuration",
    "get_workflows",
)
ONE_PACKET_BYTES = 1_400  # compressing a text that fits into one packet has no benefit
PAGES = ("get_docs", "get_entrance", "get_guide")


def read(service: RunningService, operation_id: str, *headers: str) -> promises.Answer:
    """Request a text, and validate the response against the document."""
    operation = promises.OPERATIONS[operation_id]
    answer = promises.ask(service, "GET", operation.path.format_map(promises.EXAMPLE_IDS), *headers)
    promises.judge(answer, operation.responses)
    return answer


@pytest.mark.parametrize("operation_id", [*DOCUMENTS, *PAGES])
class TestText:
    def test_is_compressed_only_for_clients_that_accept_it(
        self, service: RunningService, operation_id: str
    ) -> None:
        plain = read(service, operation_id)
        refusing = read(service, operation_id, "Accept-Encoding: gzip;q=0, br")
        compressed = read(service, operation_id, "Accept-Encoding: br, gzip")
        assert "content-encoding" not in plain.headers
        assert refusing.body == plain.body
        assert compressed.headers["content-encoding"] == "gzip"
        assert compressed.text == plain.body
        assert len(compressed.body) < max(len(plain.body) / 2, ONE_PACKET_BYTES)

    @pytest.mark.parametrize("encoding", ["gzip", "identity"])
    def test_is_not_sent_again_to_who_has_it(
        self, service: RunningService, operation_id: str, encoding: str
    ) -> None:
        accept = f"Accept-Encoding: {encoding}"
        tag = read(service, operation_id, accept).headers["etag"]
        again = read(service, operation_id, accept, f'If-None-Match: "other", W/{tag}')
        assert (again.status, again.body, again.headers["etag"]) == (304, b"", tag)
        assert read(service, operation_id, accept, "If-None-Match: *").status == 304
        assert read(service, operation_id, accept, 'If-None-Match: "other"').status == 200

    def test_has_a_tag_for_each_representation(self, service: RunningService, operation_id: str) -> None:
        plain, compressed = (
            read(service, operation_id, f"Accept-Encoding: {encoding}") for encoding in ("identity", "gzip")
        )
        assert plain.headers["etag"] != compressed.headers["etag"]


def test_only_the_documents_are_read_from_other_origins(service: RunningService) -> None:
    origin = "Origin: https://editor.example"
    for operation_id in DOCUMENTS:
        assert read(service, operation_id, origin).headers["access-control-allow-origin"] == "*"
    others = [name for name, operation in promises.OPERATIONS.items() if operation.method == "get"]
    for operation_id in set(others) - set(DOCUMENTS):
        assert "access-control-allow-origin" not in read(service, operation_id, origin).headers
