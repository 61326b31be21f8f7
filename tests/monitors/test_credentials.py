"""Which request headers are credentials."""

from __future__ import annotations

import pytest

from monitoring.backends.encryption import MASK
from monitoring.contract.document import published_document
from monitoring.monitors.credentials import is_credential, unmask

# Put together here, so that no scanner takes them for keys that leaked.
RANDOM = "9f8B7c6D5e4F3a2B1c0D"


@pytest.mark.parametrize(
    "name",
    [
        *("Authorization", "authorization", "X-AUTHORIZATION", "Cookie", "X-Api-Key", "apikey", "X-Auth"),
        *("X-Access-Token", "Private-Token", "X-Secret", "X-Password", "X-Passwd", "X-Session-Id"),
        *("X-Hub-Signature", "Ocp-Apim-Subscription-Key", "CF-Access-Client-Secret", "X-JWT-Assertion"),
    ],
)
def test_a_header_with_such_a_name_is_one(name: str) -> None:
    assert is_credential(name, "x")


@pytest.mark.parametrize(
    "value",
    [
        "Bearer abc",
        "bearer abc",
        "Basic YWxpY2U6c2VjcmV0",
        "Digest username=alice",
        "Token abc",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJl",
        "https://alice:secret@proxy.example.com/",
        "-----BEGIN PRIVATE KEY-----",
        f"ghp_{RANDOM}",
        f"github_pat_{RANDOM}",
        f"glpat-{RANDOM}",
        f"sk_live_{RANDOM}",
        f"sk-{RANDOM}",
        f"xoxb-{RANDOM}",
        f"SG.{RANDOM}",
        "AKIA" + "IOSFODNN7EXAMPLE",
        f"mon_secret_{RANDOM}",
        f"whsec_{RANDOM}",
        f"id=7; key=hf_{RANDOM}",
    ],
)
def test_a_header_with_such_a_value_is_one_whatever_its_name(value: str) -> None:
    assert is_credential("X-Trace", value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Accept", "application/json"),
        ("User-Agent", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36"),
        ("Accept-Language", "de, en;q=0.5"),
        ("Content-Type", "application/json; charset=utf-8"),
        ("If-None-Match", '"33a64df551425fcc55e4d42a148795d9f25f89d4"'),
        ("Referer", "https://shop.example.com/a@b?c=d:e"),
        ("X-Trace", "019a9c3e-5b7a-7c1e-9d42-3f8b6a1e2c70"),
        ("X-Trace", "the bearer of this"),
        ("Authorization", ""),
    ],
)
def test_this_is_none(name: str, value: str) -> None:
    assert not is_credential(name, value)


def test_no_mask_is_ever_sent() -> None:
    assert unmask({"X-Key": MASK, "X-Token": MASK, "Accept": "a"}, {"X-Key": "b"}) == {
        "X-Key": "b",
        "Accept": "a",
    }


def test_the_mask_is_the_documents() -> None:
    document = published_document()
    schemas = document.root["components"]["schemas"]
    assert schemas["RequestHeaderValue"]["not"] == {"const": MASK}
    assert schemas["MaskedRequestHeaders"]["additionalProperties"]["examples"] == [MASK]
