"""Tokens: 24 hours, any configured key verifies, and nothing else is believed."""

from __future__ import annotations

import time
from pathlib import Path

import jwt
import pytest

from monitoring.auth.tokens import (
    LIFETIME_SECONDS,
    MAX_TOKEN_CHARACTERS,
    InvalidTokenError,
    sign_token,
    verify_token,
)
from running_service import make_settings

FOLDER = Path("/nowhere")
OLD_KEY, NEW_KEY = "old-" + "k" * 32, "new-" + "k" * 32
SETTINGS = make_settings(FOLDER, signing_keys=OLD_KEY)
NOW = int(time.time())


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

    def test_every_changed_character_of_a_token_is_noticed(self) -> None:
        token = make_token()
        for index in range(0, len(token) - 1, 7):
            changed = token[:index] + ("A" if token[index] != "A" else "B") + token[index + 1 :]
            with pytest.raises(InvalidTokenError):
                verify_token(SETTINGS, changed)
