"""Parses the private keys in the setting SIGNING_KEYS: PEM, or PEM in base64 on one line."""

from __future__ import annotations

import base64
from functools import lru_cache
from typing import TypeAlias

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

PrivateKey: TypeAlias = Ed25519PrivateKey | RSAPrivateKey

# Smaller RSA keys can be broken. Larger ones make every token a kilobyte longer, and signing slow.
RSA_BITS = range(2048, 4096 + 1)

_PEM = "-----BEGIN "
_PEM_IN_BASE64 = "LS0tLS1CRUdJTi"


def claims_to_be_private_key(text: str) -> bool:
    """Return whether `text` begins like a private key. If such text cannot be parsed, it is damaged."""
    return text.startswith((_PEM, _PEM_IN_BASE64))


@lru_cache(maxsize=8)  # called when settings are validated and when they are used; parsing RSA takes 50 ms
def read_private_key(text: str) -> PrivateKey | None:
    """Parse a private key. Returns None if the text is a plain secret.

    Text that begins like a private key must be one, so a truncated key is never used as a secret. Raises
    `ValueError` with a message that contains no part of the text.
    """
    if not claims_to_be_private_key(text):
        return None
    try:
        pem = text.encode() if text.startswith(_PEM) else _decode_base64(text)
        key = load_pem_private_key(pem, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):  # TypeError if it is encrypted
        raise ValueError("has a private key that cannot be read: it must be PEM, not encrypted") from None
    if isinstance(key, Ed25519PrivateKey) or (isinstance(key, RSAPrivateKey) and key.key_size in RSA_BITS):
        return key
    raise ValueError("has a private key that is neither Ed25519 nor RSA of 2048 to 4096 bits")


def _decode_base64(text: str) -> bytes:
    """Decode the output of `base64`, which breaks lines by default."""
    return base64.b64decode("".join(text.split()), validate=True)
