"""What the document's Auth schemas look like on the wire."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from monitoring.auth.scopes import SCOPES
from monitoring.auth.tokens import LIFETIME_SECONDS

if TYPE_CHECKING:
    from collections.abc import Sequence


def represent_token(token: str, scopes: Sequence[str]) -> dict[str, Any]:
    """Write an `AccessToken`."""
    return {
        "access_token": token,
        "token_type": "Bearer",
        "expires_in": LIFETIME_SECONDS,
        "scope": " ".join(scopes),
    }


def represent_metadata(base_url: str) -> dict[str, Any]:
    """Write an `AuthorizationServerMetadata`."""
    return {
        "issuer": base_url,
        "token_endpoint": f"{base_url}/api/oauth/token",
        "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
        "grant_types_supported": ["client_credentials"],
        "response_types_supported": [],
        "scopes_supported": list(SCOPES),
        "service_documentation": f"{base_url}/docs",
    }
