"""A document that cannot be served prevents the start."""

from collections.abc import Callable
from typing import Any

import pytest
import yaml
from connexion.exceptions import ResolverError

from bakery.service import bakery_document, build_bakery
from monitoring.contract.document import Document, DocumentError

Root = dict[str, Any]


def document_with(change: Callable[[Root], object]) -> Document:
    root: Root = yaml.safe_load(bakery_document().yaml_bytes)
    change(root)
    return Document(yaml.safe_dump(root).encode())


def bake(root: Root) -> Root:
    operation: Root = root["paths"]["/loaves"]["post"]
    return operation


class TestADocumentStopsTheStart:
    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            (lambda root: bake(root).update(operationId="get_loaf"), "get_loaf is given twice"),
            (
                lambda root: root["components"]["responses"]["NotFound"].pop("x-status"),
                "NotFound .* no x-status",
            ),
            (lambda root: root["components"]["responses"].pop("Crash"), "no error internal_error"),
            (
                lambda root: root["paths"]["/receipts"]["post"]["x-problem-names"].update(x="receipt_lost"),
                "no error receipt_lost",
            ),
            (lambda root: root["x-problem-templates"].pop("default"), "no default"),
            (
                lambda root: root["components"]["securitySchemes"].update(
                    basicAuth={"type": "http", "scheme": "basic"}
                ),
                "basicAuth has no handler",
            ),
            (
                lambda root: root["paths"]["/shelves/{shelf_number}"]["get"].update(parameters=[]),
                "given no shelf_number",
            ),
            (
                lambda root: bake(root).update(
                    parameters=[{"name": "Idempotency-Key", "in": "header", "schema": {"type": "string"}}]
                ),
                "nothing makes bake_loaf act once",
            ),
        ],
    )
    def test_and_says_why(self, change: Callable[[Root], object], reason: str) -> None:
        with pytest.raises(DocumentError, match=reason):
            build_bakery(document_with(change))

    def test_when_an_operation_has_no_function(self) -> None:
        with pytest.raises(ResolverError, match="knead"):
            build_bakery(document_with(lambda root: bake(root).update(operationId="knead")))


def test_allowed_methods_are_those_of_every_template_that_fits() -> None:
    document = document_with(
        lambda root: root["paths"].update({"/loaves/best": {"put": bake(root) | {"operationId": "praise"}}})
    )
    assert document.allowed_methods("/loaves/best") == ["DELETE", "GET", "HEAD", "PUT"]
    assert document.allowed_methods("/loaves/best/of/all") == []


def test_a_date_in_the_document_stays_text() -> None:
    assert document_with(lambda root: root["info"].update(x=1)).root["info"]["x"] == 1
    written = bakery_document().yaml_bytes + b"\nx-since: 2026-01-01\n"
    assert Document(written).root["x-since"] == "2026-01-01"
