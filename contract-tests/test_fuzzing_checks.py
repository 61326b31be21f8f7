"""What our own checks must get from Schemathesis."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from schemathesis.core import NOT_SET
from schemathesis.core.deserialization import deserialize_response

from promises import PUBLISHED

if TYPE_CHECKING:
    import pytest


def test_the_published_document_is_read_once_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Schemathesis has readers of YAML, too, and they would read it at each answer."""
    for name in ("PERMISSIONS", "STRANGER", "TROUBLE"):
        monkeypatch.setenv(f"FUZZING_{name}", "")
    monkeypatch.setenv("FUZZING_URL", "http://127.0.0.1:1")
    import_module("fuzzing_checks")

    def read() -> object:
        answer: Any = SimpleNamespace(_deserialized=NOT_SET, content=PUBLISHED.read_bytes(), encoding="utf-8")
        context: Any = SimpleNamespace()
        return deserialize_response(answer, "application/yaml", context=context)

    assert read() is read()
