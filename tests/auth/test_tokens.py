"""Tokens are valid for 24 hours. Any configured key verifies them, and no other."""

from __future__ import annotations

import base64
import hmac
import json
import time
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from monitoring.auth.signing_keys import Algorithm, generate_signing_key, read_signing_keys
from monitoring.auth.tokens import (
    LIFETIME_SECONDS,
    MAX_TOKEN_CHARACTERS,
    InvalidTokenError,
    sign_token,
    verify_token,
)
from running_service import make_settings

if TYPE_CHECKING:
    from monitoring.settings import Settings

FOLDER = Path("/nowhere")
OLD_KEY, NEW_KEY = "old-" + "k" * 32, "new-" + "k" * 32
SETTINGS = make_settings(FOLDER, signing_keys=OLD_KEY)
NOW = int(time.time())

ADDRESS = "https://monitoring.example.com"
PRIVATE_KEYS = {algorithm: generate_signing_key(algorithm) for algorithm in Algorithm}


def make_token(**changes: object) -> str:
    token = sign_token(SETTINGS, "mon_live_a", ["monitors:read"], NOW)
    claims = jwt.decode(token, options={"verify_signature": False}) | changes
    return jwt.encode(claims, OLD_KEY, "HS256", headers={"kid": jwt.get_unverified_header(token)["kid"]})


class TestVerifyToken:
    def test_a_token_names_its_key_and_its_scopes(self) -> None:
        claims = verify_token(SETTINGS, sign_token(SETTINGS, "mon_live_a", ["monitors:read"], NOW))
        assert (claims.client_id, claims.scopes) == ("mon_live_a", frozenset({"monitors:read"}))

    def test_a_token_lives_24_hours_to_the_second(self) -> None:
        claims = jwt.decode(make_token(), options={"verify_signature": False})
        assert claims["exp"] - claims["iat"] == 24 * 60 * 60

    def test_a_new_first_signing_key_leaves_old_tokens_valid(self) -> None:
        rotated = make_settings(FOLDER, signing_keys=f"{NEW_KEY},{OLD_KEY}")
        assert verify_token(rotated, make_token()).client_id == "mon_live_a"
        assert jwt.get_unverified_header(sign_token(rotated, "a", [], NOW)) != jwt.get_unverified_header(
            make_token()
        )

    def test_a_token_too_long_to_be_remembered_is_refused(self) -> None:
        with pytest.raises(InvalidTokenError):
            verify_token(SETTINGS, sign_token(SETTINGS, "mon_live_a", ["s" * MAX_TOKEN_CHARACTERS], NOW))

    def test_a_token_outlives_a_change_of_the_public_address(self) -> None:
        moved = make_settings(FOLDER, signing_keys=OLD_KEY, base_url="https://new.example.com")
        assert verify_token(moved, make_token()).client_id == "mon_live_a"

    def test_a_token_of_a_removed_signing_key_is_refused(self) -> None:
        with pytest.raises(InvalidTokenError):
            verify_token(make_settings(FOLDER, signing_keys=NEW_KEY), make_token())

    @pytest.mark.parametrize(
        "changes",
        [{"exp": NOW - 1}, {"iss": "another-service"}, {"aud": "other"}, {"iat": NOW + 3600}],
        ids=["expired", "another issuer", "another audience", "issued in the future"],
    )
    def test_a_well_signed_token_with_a_wrong_claim_is_refused(self, changes: dict[str, object]) -> None:
        with pytest.raises(InvalidTokenError):
            verify_token(SETTINGS, make_token(**changes))

    def test_a_token_that_was_good_before_ends_when_it_says(self, monkeypatch: pytest.MonkeyPatch) -> None:
        token = make_token()
        verify_token(SETTINGS, token)
        monkeypatch.setattr(time, "time", lambda: NOW + LIFETIME_SECONDS - 1)
        verify_token(SETTINGS, token)
        monkeypatch.setattr(time, "time", lambda: NOW + LIFETIME_SECONDS)
        with pytest.raises(InvalidTokenError):
            verify_token(SETTINGS, token)

    def test_a_token_that_was_good_before_is_refused_without_its_signing_key(self) -> None:
        token = make_token()
        verify_token(SETTINGS, token)
        with pytest.raises(InvalidTokenError):
            verify_token(make_settings(FOLDER, signing_keys=NEW_KEY), token)

    @pytest.mark.parametrize("missing", ["exp", "sub", "aud", "iss", "jti", "scope", "iat"])
    def test_a_token_without_one_of_its_claims_is_refused(self, missing: str) -> None:
        claims = jwt.decode(make_token(), options={"verify_signature": False})
        del claims[missing]
        kid = jwt.get_unverified_header(make_token())["kid"]
        with pytest.raises(InvalidTokenError):
            verify_token(SETTINGS, jwt.encode(claims, OLD_KEY, "HS256", headers={"kid": kid}))

    @pytest.mark.parametrize("algorithm", ["none", "HS384", "HS512"])
    def test_no_other_algorithm_is_believed(self, algorithm: str) -> None:
        claims = jwt.decode(make_token(), options={"verify_signature": False})
        kid = jwt.get_unverified_header(make_token())["kid"]
        forged = jwt.encode(claims, "" if algorithm == "none" else OLD_KEY, algorithm, headers={"kid": kid})
        with pytest.raises(InvalidTokenError):
            verify_token(SETTINGS, forged)

    @pytest.mark.parametrize("garbage", ["", "a", "a.b.c", "....", "e30.e30.e30", "é.é.é"])
    def test_garbage_is_refused(self, garbage: str) -> None:
        with pytest.raises(InvalidTokenError):
            verify_token(SETTINGS, garbage)

    @pytest.mark.parametrize("added", ["=", "==", "\n", "~", "!"])
    @pytest.mark.parametrize("segment", [0, 1, 2])
    def test_a_token_has_one_spelling(self, segment: int, added: str) -> None:
        parts = make_token().split(".")
        parts[segment] += added
        with pytest.raises(InvalidTokenError):
            verify_token(SETTINGS, ".".join(parts))

    def test_every_changed_character_of_a_token_is_noticed(self) -> None:
        token = make_token()
        for index in range(0, len(token) - 1, 7):
            changed = token[:index] + ("A" if token[index] != "A" else "B") + token[index + 1 :]
            with pytest.raises(InvalidTokenError):
                verify_token(SETTINGS, changed)


@pytest.fixture(params=list(Algorithm))
def private_key(request: pytest.FixtureRequest) -> str:
    return PRIVATE_KEYS[request.param]


def settings_of(*signing_keys: str, base_url: str = ADDRESS) -> Settings:
    return make_settings(FOLDER, signing_keys=",".join(signing_keys), base_url=base_url)


def issue(*signing_keys: str, **changes: str) -> str:
    return sign_token(settings_of(*signing_keys, **changes), "mon_live_a", ["monitors:read"], NOW)


def take_apart(token: str) -> tuple[dict[str, Any], dict[str, Any]]:
    return jwt.get_unverified_header(token), jwt.decode(token, options={"verify_signature": False})


def forge(token: str, key: Any, algorithm: str, header: dict[str, Any] | None = None, **claims: Any) -> str:
    """Sign what a token says anew, and change it."""
    old_header, old_claims = take_apart(token)
    new_header = {name: value for name, value in old_header.items() if name != "alg"} | (header or {})
    return jwt.encode(old_claims | claims, key, algorithm, headers=new_header)


class TestPrivateKeys:
    """Tokens that others verify: the profile of RFC 9068."""

    def test_a_token_is_of_the_profile_for_access_tokens(self, private_key: str) -> None:
        header, claims = take_apart(issue(private_key))
        [key] = read_signing_keys(settings_of(private_key).signing_keys).values()
        assert header == {"typ": "at+jwt", "alg": key.algorithm, "kid": key.key_id}
        assert claims.pop("jti")
        assert claims == {
            "iss": ADDRESS,
            "aud": "monitoring-api",
            "sub": "mon_live_a",
            "client_id": "mon_live_a",
            "scope": "monitors:read",
            "iat": NOW,
            "exp": NOW + LIFETIME_SECONDS,
        }

    def test_a_token_is_verified_with_what_is_published(self, private_key: str) -> None:
        [key] = read_signing_keys(settings_of(private_key).signing_keys).values()
        public_key = jwt.PyJWK(dict(key.public_jwk or {}))
        token = issue(private_key)
        assert jwt.decode(token, public_key, [key.algorithm], audience="monitoring-api", issuer=ADDRESS)
        assert verify_token(settings_of(private_key), token).client_id == "mon_live_a"

    def test_a_token_outlives_a_change_of_the_public_address(self, private_key: str) -> None:
        moved = settings_of(private_key, base_url="https://new.example.com")
        assert verify_token(moved, issue(private_key)).issuer == ADDRESS

    def test_a_token_is_short_enough_for_every_key(self) -> None:
        key = generate_private_key(public_exponent=65537, key_size=4096)  # as large as one may be
        pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
        token = issue(pem, base_url=f"https://{'a' * 200}.example.com")
        assert verify_token(settings_of(pem), token)
        assert len(token) < MAX_TOKEN_CHARACTERS / 2


class TestRotation:
    """Each step of docs/running.md: nobody's token is refused."""

    def test_from_a_secret_to_a_private_key(self, private_key: str) -> None:
        under_secret, published, signing = (
            settings_of(OLD_KEY),
            settings_of(OLD_KEY, private_key),
            settings_of(private_key, OLD_KEY),
        )
        old, new = issue(OLD_KEY), issue(private_key, OLD_KEY)
        assert [verify_token(each, old) for each in (under_secret, published, signing)]
        assert [verify_token(each, new) for each in (published, signing, settings_of(private_key))]
        with pytest.raises(InvalidTokenError):
            verify_token(settings_of(private_key), old)

    def test_a_token_of_the_version_before_is_good_until_it_ends(self, private_key: str) -> None:
        claims = {
            "iss": "monitoring-service",
            "aud": "monitoring-api",
            "sub": "mon_live_a",
            "iat": NOW - 60,
            "exp": NOW + 3600,
            "jti": "6f1c0f1e8a0b4f0e9c592d3d9a1f7b11",
            "scope": "monitors:read",
        }
        kid = sha256(f"kid:{OLD_KEY}".encode()).hexdigest()[:16]
        token = jwt.encode(claims, OLD_KEY, "HS256", headers={"kid": kid})
        assert verify_token(settings_of(private_key, OLD_KEY), token).token_id == claims["jti"]

    def test_the_version_before_takes_the_tokens_of_this_one_while_a_secret_signs(self) -> None:
        header, claims = take_apart(issue(OLD_KEY))
        kid = sha256(f"kid:{OLD_KEY}".encode()).hexdigest()[:16]
        assert (header["alg"], header["kid"], claims["iss"]) == ("HS256", kid, "monitoring-service")


class TestForgeries:
    """What is tried on whoever takes tokens of more than one kind (RFC 8725 §2.1, §3.1)."""

    @pytest.mark.parametrize("form", ["PEM", "DER", "JWK", "x"])
    def test_a_public_key_is_no_secret(self, private_key: str, form: str) -> None:
        settings = settings_of(private_key, OLD_KEY)
        key = next(iter(read_signing_keys(settings.signing_keys).values()))
        public_jwk = dict(key.public_jwk or {})
        secret = {
            "PEM": key.verifying.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
            "DER": key.verifying.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo),
            "JWK": json.dumps(public_jwk).encode(),
            "x": base64.urlsafe_b64decode(public_jwk.get("x", public_jwk.get("n", "")) + "=="),
        }[form]
        header, claims = take_apart(issue(private_key))
        for kid in (key.key_id, *read_signing_keys(settings.signing_keys)):
            forged = sign_by_hand({**header, "alg": "HS256", "kid": kid}, claims, secret)
            with pytest.raises(InvalidTokenError):
                verify_token(settings, forged)

    @pytest.mark.parametrize("algorithm", ["none", "HS256", "RS384", "PS256", "ES256"])
    def test_a_key_has_one_algorithm_whatever_a_header_says(self, private_key: str, algorithm: str) -> None:
        head, payload, signature = issue(private_key).split(".")
        header = json.loads(base64.urlsafe_b64decode(head + "==")) | {"alg": algorithm}
        for end in (signature, ""):
            with pytest.raises(InvalidTokenError):
                verify_token(settings_of(private_key), f"{encode(header)}.{payload}.{end}")

    @pytest.mark.parametrize(
        "kid", [None, "", "../../dev/null", 0, 17, True, ["a"], {"a": "b"}, "a' OR '1'='1", "\x00"]
    )
    def test_a_token_names_a_key_of_ours_or_none(self, private_key: str, kid: object) -> None:
        header, claims = take_apart(issue(private_key))
        for secret in (b"", b"0", OLD_KEY.encode()):
            forged = sign_by_hand({**header, "alg": "HS256", "kid": kid}, claims, secret)
            with pytest.raises(InvalidTokenError):
                verify_token(settings_of(private_key, OLD_KEY), forged)

    def test_a_token_cannot_name_the_key_of_another_kind(self, private_key: str) -> None:
        settings = settings_of(private_key, OLD_KEY)
        private, secret = read_signing_keys(settings.signing_keys).values()
        for signing, algorithm, kid in [
            (OLD_KEY, "HS256", private.key_id),
            (private.signing, private.algorithm, secret.key_id),
        ]:
            with pytest.raises(InvalidTokenError):
                verify_token(settings, forge(issue(private_key), signing, algorithm, {"kid": kid}))

    def test_a_token_cannot_bring_its_own_key(self, private_key: str) -> None:
        foreign = generate_signing_key(Algorithm.EDDSA)
        [key] = read_signing_keys(settings_of(foreign).signing_keys).values()
        kid = take_apart(issue(private_key))[0]["kid"]
        for own in (
            {"jwk": dict(key.public_jwk or {})},
            {"jku": "https://evil.example/jwks.json"},
            {"x5c": ["a"]},
        ):
            for header in ({**own, "kid": key.key_id}, {**own, "kid": kid}):
                with pytest.raises(InvalidTokenError):
                    verify_token(
                        settings_of(private_key), forge(issue(private_key), key.signing, "EdDSA", header)
                    )

    @pytest.mark.parametrize(
        "header", [{"typ": "JWT"}, {"typ": "dpop+jwt"}, {"typ": None}, {"crit": ["b64"]}]
    )
    def test_what_the_key_signed_as_something_else_is_no_token(
        self, private_key: str, header: dict[str, object]
    ) -> None:
        [key] = read_signing_keys(settings_of(private_key).signing_keys).values()
        with pytest.raises(InvalidTokenError):
            verify_token(
                settings_of(private_key), forge(issue(private_key), key.signing, key.algorithm, header)
            )

    @pytest.mark.parametrize(
        "changes",
        [{"exp": NOW - 1}, {"aud": "other"}, {"iat": NOW + 3600}, {"client_id": None}],
    )
    def test_a_well_signed_token_with_a_wrong_claim_is_refused(
        self, private_key: str, changes: dict[str, Any]
    ) -> None:
        [key] = read_signing_keys(settings_of(private_key).signing_keys).values()
        with pytest.raises(InvalidTokenError):
            verify_token(
                settings_of(private_key), forge(issue(private_key), key.signing, key.algorithm, **changes)
            )

    def test_every_changed_character_of_a_token_is_noticed(self, private_key: str) -> None:
        token, settings = issue(private_key), settings_of(private_key)
        for index in range(0, len(token) - 4, 7):
            changed = token[:index] + ("A" if token[index] != "A" else "B") + token[index + 1 :]
            with pytest.raises(InvalidTokenError):
                verify_token(settings, changed)


def encode(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def sign_by_hand(header: dict[str, Any], claims: dict[str, Any], secret: bytes) -> str:
    """Sign under HS256 with anything: PyJWT itself refuses a public key."""
    text = f"{encode(header)}.{encode(claims)}"
    signature = hmac.new(secret, text.encode(), sha256).digest()
    return f"{text}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"
