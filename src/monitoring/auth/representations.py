"""JSON representations of the document's Auth schemas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from monitoring.auth.scopes import SCOPES
from monitoring.auth.tokens import AUDIENCE, LIFETIME_SECONDS, TokenClaims

_CLIENT_AUTHENTICATION = ["client_secret_basic", "client_secret_post"]


def represent_token(token: str, scopes: Sequence[str]) -> dict[str, Any]:
    """Render an `AccessToken`."""
    return {
        "access_token": token,
        "token_type": "Bearer",
        "expires_in": LIFETIME_SECONDS,
        "scope": " ".join(scopes),
    }


def represent_introspection(claims: TokenClaims | None) -> dict[str, Any]:
    """Render an `Introspection`. It reveals nothing about an inactive token."""
    if claims is None:
        return {"active": False}
    return {
        "active": True,
        "scope": " ".join(scope for scope in SCOPES if scope in claims.scopes),
        "client_id": claims.client_id,
        "token_type": "Bearer",
        "exp": claims.expires_at_seconds,
        "iat": claims.issued_at_seconds,
        "sub": claims.client_id,
        "aud": AUDIENCE,
        "iss": claims.issuer,
        "jti": claims.token_id,
    }


def represent_keys(public_jwks: Iterable[Mapping[str, str]]) -> dict[str, Any]:
    """Render a `JsonWebKeySet`."""
    return {"keys": list(public_jwks)}


def represent_metadata(base_url: str) -> dict[str, Any]:
    """Render an `AuthorizationServerMetadata`."""
    return {
        "issuer": base_url,
        "token_endpoint": f"{base_url}/api/oauth/token",
        "token_endpoint_auth_methods_supported": _CLIENT_AUTHENTICATION,
        "jwks_uri": f"{base_url}/.well-known/jwks.json",
        "introspection_endpoint": f"{base_url}/api/oauth/introspect",
        "introspection_endpoint_auth_methods_supported": _CLIENT_AUTHENTICATION,
        "revocation_endpoint": f"{base_url}/api/oauth/revoke",
        "revocation_endpoint_auth_methods_supported": _CLIENT_AUTHENTICATION,
        "grant_types_supported": ["client_credentials"],
        "response_types_supported": [],
        "scopes_supported": list(SCOPES),
        "service_documentation": f"{base_url}/docs",
    }
