"""Client authentication at the token endpoint, by form fields or HTTP Basic (RFC 6749 §2.3.1)."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote_plus

from monitoring.contract.problems import Problem


@dataclass(frozen=True, slots=True)
class ClientCredentials:
    """Unverified client credentials. Missing values are empty strings."""

    client_id: str
    client_secret: str


def read_client_credentials(authorization: str | None, form: Mapping[str, str]) -> ClientCredentials:
    """Return the credentials of a token request.

    Raises `Problem("oauth_two_authentications")` if both the header and the form have credentials. A form
    field `client_id` that equals the header's is accepted, because some clients always send it.
    """
    in_form = ClientCredentials(form.get("client_id", ""), form.get("client_secret", ""))
    scheme, _, encoded = (authorization or "").partition(" ")
    if scheme.lower() != "basic":
        return in_form
    in_header = _decode_basic(encoded)
    if in_form.client_secret or in_form.client_id not in ("", in_header.client_id):
        raise Problem("oauth_two_authentications")
    return in_header


def _decode_basic(encoded: str) -> ClientCredentials:
    """Decode HTTP Basic credentials, whose parts are form-encoded. Malformed credentials count as empty."""
    try:
        client_id, _, client_secret = base64.b64decode(encoded.strip(), validate=True).decode().partition(":")
    except ValueError:  # not ASCII, not base64 or not UTF-8
        return ClientCredentials("", "")
    return ClientCredentials(unquote_plus(client_id), unquote_plus(client_secret))
