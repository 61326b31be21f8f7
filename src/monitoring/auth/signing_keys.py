"""The keys that sign tokens. The first key signs, all keys verify, and public keys are published.

The key alone determines the signature algorithm. The algorithm in a token's header is ignored.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

import orjson
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from jwt.algorithms import OKPAlgorithm, RSAAlgorithm
from pydantic import SecretStr

from monitoring.settings.private_keys import PrivateKey, read_private_key

HS256 = "HS256"

_NEW_RSA_BITS = 2048

# The JWK members that a thumbprint covers (RFC 7638 §3.2, and RFC 8037 §2 for Ed25519).
_THUMBPRINT_MEMBERS = {"RSA": ("e", "kty", "n"), "OKP": ("crv", "kty", "x")}


class Algorithm(StrEnum):
    """A private key's signature algorithm. Every conforming verifier must support RS256 (RFC 9068 §2.1)."""

    RS256 = "RS256"
    EDDSA = "EdDSA"


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A key from the settings. `public_jwk` is its public key as a JWK (RFC 7517), or None for a secret."""

    key_id: str
    algorithm: str
    signing: Any
    verifying: Any
    public_jwk: Mapping[str, str] | None


@lru_cache(maxsize=8)  # an installation has one list; tests run several services in one process
def read_signing_keys(signing_keys: tuple[SecretStr, ...]) -> dict[str, SigningKey]:
    """Return the keys by id, in the order of the settings. The first one signs."""
    keys = [_read_signing_key(secret.get_secret_value()) for secret in signing_keys]
    return {key.key_id: key for key in keys}


def generate_signing_key(algorithm: Algorithm) -> str:
    """Generate a private key for `SIGNING_KEYS`, as base64-encoded PKCS #8 PEM on one line."""
    key: PrivateKey = (
        Ed25519PrivateKey.generate()
        if algorithm is Algorithm.EDDSA
        else generate_private_key(public_exponent=65537, key_size=_NEW_RSA_BITS)
    )
    return base64.b64encode(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())).decode()


def _read_signing_key(text: str) -> SigningKey:
    private_key = read_private_key(text)
    if private_key is None:
        # The key id is a hash, which reveals nothing about the secret.
        key_id = hashlib.sha256(f"kid:{text}".encode()).hexdigest()[:16]
        return SigningKey(key_id, HS256, text, text, None)
    public_key = private_key.public_key()
    if isinstance(public_key, RSAPublicKey):
        algorithm, jwk = Algorithm.RS256, RSAAlgorithm.to_jwk(public_key, as_dict=True)
    else:
        algorithm, jwk = Algorithm.EDDSA, OKPAlgorithm.to_jwk(public_key, as_dict=True)
    public = {name: jwk[name] for name in _THUMBPRINT_MEMBERS[jwk["kty"]]}
    key_id = _thumbprint(public)
    public_jwk = {"kid": key_id, "use": "sig", "alg": algorithm.value, **public}
    return SigningKey(key_id, algorithm.value, private_key, public_key, public_jwk)


def _thumbprint(public: Mapping[str, str]) -> str:
    """Return a public key's thumbprint (RFC 7638), which is its globally unique id."""
    digest = hashlib.sha256(orjson.dumps(public, option=orjson.OPT_SORT_KEYS)).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
