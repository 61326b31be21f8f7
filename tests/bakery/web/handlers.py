"""Handlers of the bakery's Service tag, which the contract itself provides."""

from monitoring.web.handlers import (
    get_docs,
    get_document_json,
    get_document_yaml,
    get_health,
    get_readiness,
)

__all__ = ["get_docs", "get_document_json", "get_document_yaml", "get_health", "get_readiness"]
