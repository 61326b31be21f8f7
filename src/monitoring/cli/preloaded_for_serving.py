"""What children that serve need beside `preloaded`: the application, its handlers and the document."""

from __future__ import annotations

from importlib import import_module

from monitoring.cli.loading import loading

with loading():
    import_module("monitoring.asgi")
    from monitoring.contract.document import published_document

    for room in {operation.room for operation in published_document().operations.values()}:
        import_module(f"monitoring.{room}.handlers")
