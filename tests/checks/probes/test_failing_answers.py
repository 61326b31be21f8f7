"""What is kept of a failing answer: enough to see what went wrong, and no secret."""

from __future__ import annotations

import pytest

from monitoring.backends.encryption import MASK
from monitoring.checks.probes.failing_answers import (
    MAX_HEADERS,
    MAX_NAME_CHARACTERS,
    MAX_VALUE_CHARACTERS,
    keep_answer,
)
from monitoring.outbound.exchanges import Exchange


def keep(headers: dict[bytes, list[bytes]], sent: dict[str, str] | None = None) -> dict[str, str]:
    kept = keep_answer(Exchange(503, headers=headers), sent or {})
    assert kept["status_code"] == 503
    return dict(kept["headers"])


def test_headers_are_kept_as_they_came() -> None:
    headers = {b"content-type": [b"text/html"], b"via": [b"1.1 a", b"1.1 b"]}
    assert keep(headers) == {"content-type": "text/html", "via": "1.1 a, 1.1 b"}


@pytest.mark.parametrize("name", [b"set-cookie", b"authorization", b"x-api-key", b"x-csrf-token"])
def test_a_secret_is_masked(name: bytes) -> None:
    assert keep({name: [b"abc"]}) == {name.decode(): MASK}


def test_a_value_that_looks_like_a_secret_is_masked_whatever_its_name() -> None:
    assert keep({b"x-debug": [b"Bearer abc"]}) == {"x-debug": MASK}


def test_a_credential_of_the_request_that_comes_back_is_masked() -> None:
    sent = {"X-Api-Key": "s3same", "Accept": "text/html"}
    echoed = {b"x-echo": [b"key=s3same"], b"x-accept": [b"text/html"]}
    assert keep(echoed, sent) == {"x-echo": MASK, "x-accept": "text/html"}


def test_what_a_server_asks_for_is_no_secret() -> None:
    challenge = {b"www-authenticate": [b'Basic realm="x"']}
    assert keep(challenge) == {"www-authenticate": 'Basic realm="x"'}


def test_addresses_lose_their_query() -> None:
    link = {b"location": [b"https://a.example/reset?code=123#x"]}
    assert keep(link) == {"location": "https://a.example/reset?…"}


def test_a_long_answer_is_cut() -> None:
    many = {b"x-%d-%s" % (n, b"n" * 100): [b"v" * 65_000] for n in range(MAX_HEADERS + 10)}
    kept = keep(many)
    assert len(kept) == MAX_HEADERS
    assert {len(name) for name in kept} == {MAX_NAME_CHARACTERS}
    assert {len(value) for value in kept.values()} == {MAX_VALUE_CHARACTERS}


def test_bytes_that_are_no_text_are_no_trouble() -> None:
    assert keep({b"x-odd": [b"a\x00b\xff\x1b"]}) == {"x-odd": "a bÿ "}
