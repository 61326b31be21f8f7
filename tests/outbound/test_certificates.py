from __future__ import annotations

import ssl
from datetime import UTC, datetime
from typing import Any

import pytest
import trustme
from hypothesis import given
from hypothesis import strategies as st

from monitoring.outbound.certificates import Expiry, expiry_of, explain

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


def certificate(not_after: datetime, **given: Any) -> bytes:
    issued = trustme.CA().issue_cert("shop.example", not_after=not_after, **given)
    return ssl.PEM_cert_to_DER_cert(issued.cert_chain_pems[0].bytes().decode())


class TestExpiry:
    @pytest.mark.parametrize(
        "not_after",
        [
            datetime(2026, 11, 1, 23, 59, 59, tzinfo=UTC),
            datetime(2049, 12, 31, tzinfo=UTC),  # the last year of a UTCTime
            datetime(2050, 1, 1, tzinfo=UTC),
            datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC),
        ],
    )
    def test_is_read_to_the_second(self, not_after: datetime) -> None:
        assert expiry_of(certificate(not_after)) == not_after

    def test_is_found_behind_long_fields(self) -> None:
        assert expiry_of(certificate(NOW, organization_name="o" * 60, organization_unit_name="u" * 60)) == NOW

    @given(st.binary(max_size=100))
    def test_of_what_is_no_certificate_is_unknown(self, encoded: bytes) -> None:
        assert expiry_of(encoded) is None

    def test_of_half_a_certificate_is_unknown(self) -> None:
        whole = certificate(NOW)
        assert all(expiry_of(whole[:length]) in (None, NOW) for length in range(len(whole)))


class TestExplanation:
    def test_names_the_day_and_whose_certificate_expired_if_that_is_known(self) -> None:
        error = ssl.SSLCertVerificationError()
        error.verify_code = 10
        assert explain(error, Expiry(NOW, is_of_authority=False)) == "The certificate expired on 2026-11-20"
        assert explain(error, Expiry(NOW, is_of_authority=True)).endswith(
            "in the chain expired on 2026-11-20"
        )
        assert explain(error) == "The certificate, or one of its authorities', has expired"

    @pytest.mark.parametrize("verify_code", range(100))
    def test_is_there_for_every_reason(self, verify_code: int) -> None:
        error = ssl.SSLCertVerificationError()
        error.verify_code = verify_code
        assert explain(error).startswith("The certificate")

    def test_is_there_for_an_error_without_a_reason(self) -> None:
        assert explain(ssl.SSLError("whatever OpenSSL says")) == "The TLS handshake failed"
