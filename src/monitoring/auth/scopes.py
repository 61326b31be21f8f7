"""What a key or a token may do."""

from __future__ import annotations

SCOPES = ("monitors:read", "monitors:write", "articles:read", "articles:write")

# The default scopes of a key. Articles belong to no team, so their scopes have to be requested.
DEFAULT_SCOPES = ("monitors:read", "monitors:write")


def narrow_scopes(granted: list[str], requested: str | None) -> list[str] | None:
    """Return the scopes a token gets, in the key's order; None if it asks for more than the key has.

    An empty request means all scopes of the key (RFC 6749 §3.3).
    """
    wanted = set((requested or "").split(" ")) - {""}
    if not wanted:
        return granted
    return [scope for scope in granted if scope in wanted] if wanted <= set(granted) else None
