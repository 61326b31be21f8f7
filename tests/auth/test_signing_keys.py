"""Signing keys: what the settings take for one, what is published of it, and by which name."""

from __future__ import annotations

import base64
import json

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from joserfc.jwk import KeySet
from pydantic import SecretStr

from monitoring.auth.signing_keys import Algorithm, generate_signing_key, read_signing_keys
from monitoring.settings.private_keys import PrivateKey, read_private_key

SECRET = "a secret of more than thirty-two characters"
ALGORITHMS = list(Algorithm)

# The key of RFC 8037, appendix A.
RFC_8037_PRIVATE_KEY = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"
RFC_8037_X = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
RFC_8037_THUMBPRINT = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"


def write_pem(key: PrivateKey, password: bytes = b"") -> str:
    encryption = BestAvailableEncryption(password) if password else NoEncryption()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption).decode()


def wrap(text: str, width: int = 76) -> str:
    """Break lines, as `base64` does."""
    return "\n".join(text[start : start + width] for start in range(0, len(text), width))


def jwks_of(*texts: str) -> list[dict[str, str]]:
    keys = read_signing_keys(tuple(map(SecretStr, texts))).values()
    return [dict(key.public_jwk) for key in keys if key.public_jwk]


class TestReadPrivateKey:
    @pytest.mark.parametrize("algorithm", ALGORITHMS)
    def test_what_is_generated_is_one_line_that_a_list_can_carry(self, algorithm: Algorithm) -> None:
        line = generate_signing_key(algorithm)
        assert not {",", "\n", " ", "$", '"'} & set(line)
        assert read_private_key(line)

    @pytest.mark.parametrize("algorithm", ALGORITHMS)
    def test_pem_and_base64_of_any_width_are_the_same_key(self, algorithm: Algorithm) -> None:
        line = generate_signing_key(algorithm)
        pem = base64.b64decode(line).decode()
        [[of_line], [of_pem], [of_wrapped]] = map(jwks_of, (line, pem, wrap(line)))
        assert of_line == of_pem == of_wrapped

    def test_a_secret_is_none(self) -> None:
        assert read_private_key(SECRET) is None

    @pytest.mark.parametrize("cut", [20, 60, 100, -8])
    def test_a_key_that_was_cut_short_is_never_taken_for_a_secret(self, cut: int) -> None:
        line = generate_signing_key(Algorithm.EDDSA)
        for text in (line, base64.b64decode(line).decode()):
            with pytest.raises(ValueError, match="private key that cannot be read") as raised:
                read_private_key(text[:cut])
            assert text[:cut] not in str(raised.value)

    def test_an_encrypted_key_is_refused(self) -> None:
        with pytest.raises(ValueError, match="not encrypted"):
            read_private_key(write_pem(Ed25519PrivateKey.generate(), b"hunter2"))

    def test_a_key_that_can_be_broken_is_refused(self) -> None:
        small = generate_private_key(public_exponent=65537, key_size=1024)  # noqa: S505 - that is the point
        with pytest.raises(ValueError, match="RSA of 2048 to 4096 bits"):
            read_private_key(write_pem(small))


class TestPublicKeys:
    def test_a_key_is_named_by_its_thumbprint(self) -> None:
        key = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(RFC_8037_PRIVATE_KEY))
        assert jwks_of(write_pem(key)) == [
            {
                "kty": "OKP",
                "crv": "Ed25519",
                "x": RFC_8037_X,
                "kid": RFC_8037_THUMBPRINT,
                "use": "sig",
                "alg": "EdDSA",
            }
        ]

    def test_every_name_is_the_one_that_another_library_gives(self) -> None:
        jwks = jwks_of(*map(generate_signing_key, ALGORITHMS))
        assert [jwk["kid"] for jwk in jwks] == [
            key.thumbprint()
            for key in KeySet.import_key_set({"keys": jwks}).keys  # type: ignore[typeddict-item]
        ]

    def test_nothing_private_is_published(self) -> None:
        lines = [generate_signing_key(algorithm) for algorithm in ALGORITHMS]
        published = jwks_of(SECRET, *lines)
        assert {name for jwk in published for name in jwk} == {
            *("kid", "use", "alg", "kty"),
            *("n", "e", "crv", "x"),
        }
        assert SECRET not in json.dumps(published)

    def test_of_a_secret_nothing_is_published(self) -> None:
        assert jwks_of(SECRET) == []

    def test_all_are_in_the_order_of_the_settings(self) -> None:
        lines = [generate_signing_key(Algorithm.EDDSA) for _ in range(3)]
        assert jwks_of(*lines) == [jwk for line in lines for jwk in jwks_of(line)]
