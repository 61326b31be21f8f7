"""What is encrypted is readable with every key of the setting, and says when it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from monitoring.backends.encryption import (
    UndecryptableError,
    decrypt,
    encrypt,
    generate_encryption_key,
    is_encrypted,
    is_up_to_date,
)
from temporary_backends import ENCRYPTION_KEY, temporary_backends

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio

NEW_KEY = generate_encryption_key()


async def test_text_comes_back_and_is_not_to_be_seen(tmp_path: Path) -> None:
    async with temporary_backends(tmp_path):
        stored = encrypt("Bearer ünseen")
        assert decrypt(stored) == "Bearer ünseen"
        assert is_encrypted(stored)
        assert "Bearer" not in stored


async def test_the_same_text_is_never_stored_alike(tmp_path: Path) -> None:
    async with temporary_backends(tmp_path):
        assert encrypt("a") != encrypt("a")


@pytest.mark.parametrize("plain", ["", "whsec_bW9uaXRvcmluZw==", '{"id":1}'])
async def test_text_that_an_earlier_release_stored_plain_is_read(tmp_path: Path, plain: str) -> None:
    async with temporary_backends(tmp_path):
        assert decrypt(plain) == plain
        assert not is_encrypted(plain)


async def test_the_first_key_encrypts_and_the_others_still_decrypt(tmp_path: Path) -> None:
    async with temporary_backends(tmp_path):
        old = encrypt("a")
    async with temporary_backends(tmp_path, encryption_keys=f"{NEW_KEY},{ENCRYPTION_KEY}"):
        new = encrypt("b")
        assert (decrypt(old), decrypt(new)) == ("a", "b")
        assert (is_up_to_date(old), is_up_to_date(new)) == (False, True)
    async with temporary_backends(tmp_path, encryption_keys=NEW_KEY):
        assert decrypt(new) == "b"
        with pytest.raises(UndecryptableError):
            decrypt(old)


async def test_what_was_tampered_with_is_refused(tmp_path: Path) -> None:
    async with temporary_backends(tmp_path):
        stored = encrypt("a")
        with pytest.raises(UndecryptableError):
            decrypt(f"{stored[:-5]}AAAA=")
