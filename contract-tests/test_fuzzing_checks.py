"""Tests of the behaviour of Schemathesis that this project's own checks rely on."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis.strategies import from_regex
from schemathesis.core import NOT_SET
from schemathesis.core.deserialization import deserialize_response

from promises import DOCUMENT, judge_value

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("name", ["openapi.yaml", "arazzo.yaml"])
def test_a_published_document_is_read_once_a_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Schemathesis has its own YAML readers, which would parse the document for every response."""
    for variable in ("PERMISSIONS", "STRANGER", "TROUBLE"):
        monkeypatch.setenv(f"FUZZING_{variable}", "")
    monkeypatch.setenv("FUZZING_URL", "http://127.0.0.1:1")
    import_module("fuzzing_checks")

    content = (ROOT / name).read_bytes()

    def read() -> object:
        answer: Any = SimpleNamespace(_deserialized=NOT_SET, content=content, encoding="utf-8")
        context: Any = SimpleNamespace()
        return deserialize_response(answer, "application/yaml", context=context)

    assert read() is read()


@given(from_regex(DOCUMENT.root["components"]["schemas"]["Moment"]["pattern"], fullmatch=True))
def test_whatever_the_pattern_of_moments_allows_is_a_date_time(moment: str) -> None:
    """Every value that the pattern allows is valid, so fuzzing by the pattern alone omits nothing."""
    judge_value(moment, {"type": "string", "format": "date-time"})
