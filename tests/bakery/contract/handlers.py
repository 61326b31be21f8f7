"""The bakery's Service tag is served by the contract itself."""

from monitoring.contract.handlers import (
    get_docs,
    get_document_json,
    get_document_yaml,
    get_health,
    get_readiness,
)

__all__ = ["get_docs", "get_document_json", "get_document_yaml", "get_health", "get_readiness"]
