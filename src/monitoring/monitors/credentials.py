"""Determines which request headers are credentials, and masks their values. Has no side effects.

If a patch contains the mask as a value, the stored value is kept.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from monitoring.backends.encryption import MASK

# Words in the names of headers that contain credentials, such as Authorization, Cookie and X-Api-Key.
_NAME = re.compile("auth|cookie|credential|jwt|key|passw|pwd|secret|session|signature|token", re.IGNORECASE)

_VALUE = re.compile(
    # Authorization schemes (RFC 9110 §11.4), in any header
    r"^(?i:apikey|basic|bearer|digest|negotiate|ntlm|token|aws4-hmac-sha256) +\S"
    r"|eyJ[\w-]{5,}\.[\w-]{5,}\.[\w-]*"  # a JWT: base64 of `{"`
    r"|://[^\s/:@]*:[^\s/@]+@"  # a password in a URL
    r"|-----BEGIN "  # PEM
    # Prefixes of the keys of AWS, GitHub, GitLab, Google, Hugging Face, npm, OpenAI, PyPI, SendGrid, Slack,
    # Stripe and Shopify, of Standard Webhooks, and of this service
    r"|\b(?:A[KS]IA[A-Z0-9]{16}|gh[oprsu]_\w{20}|github_pat_\w{20}|gl[a-z]{2,5}-[\w-]{20}|AIza[\w-]{20}"
    r"|ya29\.[\w-]{10}|hf_\w{20}|npm_\w{20}|sk-[\w-]{20}|pypi-\w{20}|SG\.[\w-]{16}|xox[a-z]-[\w-]{10}"
    r"|[rs]k_(?:live|test)_\w{10}|shp[a-z]{2}_\w{20}|whsec_[\w+/]{10}|mon_secret_\w{10})"
)


def is_credential(name: str, value: str) -> bool:
    """Return whether a header's name or value looks like a credential. False for an empty value."""
    return bool(value) and bool(_NAME.search(name) or _VALUE.search(value))


def find_credentials(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers that are credentials."""
    return {name: value for name, value in headers.items() if is_credential(name, value)}


def mask(headers: Mapping[str, str], credentials: Mapping[str, str]) -> dict[str, str]:
    """Return the headers with the values of credentials replaced by the mask."""
    return {name: MASK if name in credentials else value for name, value in headers.items()}


def unmask(headers: Mapping[str, str], credentials: Mapping[str, str]) -> dict[str, str]:
    """Return the headers with each mask replaced by the credential of the same name.

    A masked header for which there is no credential is left out.
    """
    return {
        name: credentials.get(name, value) if value == MASK else value
        for name, value in headers.items()
        if value != MASK or name in credentials
    }
