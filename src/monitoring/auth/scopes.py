"""The scopes of keys and tokens."""

from __future__ import annotations

SCOPES = ("monitors:read", "monitors:write", "articles:read", "articles:write")

# The default scopes of a key. Articles belong to no team, so their scopes have to be requested.
DEFAULT_SCOPES = ("monitors:read", "monitors:write")


def narrow_scopes(granted: list[str], requested: str | None) -> list[str] | None:
    """Return a new token's scopes, in the key's order. None if the key lacks a requested scope.

    An empty or missing `requested` means all scopes of the key (RFC 6749 §3.3).
    """
    wanted = set((requested or "").split(" ")) - {""}
    if not wanted:
        return granted
    return [scope for scope in granted if scope in wanted] if wanted <= set(granted) else None
