"""Modules that API children need in addition to `preloaded`: the application, handlers and the document."""

from __future__ import annotations

from importlib import import_module

from monitoring.cli.loading import loading
from monitoring.contract.document import published_document

with loading():
    operations = published_document().operations.values()  # first, for the reason in `cli/serving.py`
    import_module("monitoring.cli.serving")
    import_module("monitoring.asgi")
    for room in {operation.room for operation in operations}:
        import_module(f"monitoring.{room}.handlers")
