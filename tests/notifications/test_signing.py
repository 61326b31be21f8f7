from __future__ import annotations

import base64
import hashlib
import hmac
from datetime import UTC, datetime
from uuid import UUID

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from monitoring.notifications.signing import generate_secret, sign

MESSAGE_ID = UUID("019a9c47-2a11-7d5c-8f0e-94c3b6a7d810")
PAYLOAD = '{"type":"test","timestamp":"2026-11-20T09:40:00.183000Z","data":{"name":"Bücher"}}'


class TestSecret:
    def test_is_32_random_bytes_in_base64_behind_its_prefix(self) -> None:
        prefix, _, text = generate_secret().partition("_")
        assert prefix == "whsec"
        assert len(base64.b64decode(text, validate=True)) == 32

    def test_is_another_one_each_time(self) -> None:
        assert generate_secret() != generate_secret()


class TestSignature:
    def test_is_an_hmac_of_id_time_and_body_under_the_decoded_secret(self) -> None:
        """Written out from the specification, without the library."""
        attempted_at = datetime(2026, 11, 20, 9, 40, 0, 999999, tzinfo=UTC)
        secret = "whsec_bW9uaXRvcmluZy1leGFtcGxlLXNlY3JldC0wMDAxMjM0NQ=="
        key = b"monitoring-example-secret-00012345"
        signed = f"019a9c47-2a11-7d5c-8f0e-94c3b6a7d810.1795167600.{PAYLOAD}".encode()
        digest = base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
        assert sign(secret, MESSAGE_ID, attempted_at, PAYLOAD) == {
            "webhook-id": "019a9c47-2a11-7d5c-8f0e-94c3b6a7d810",
            "webhook-timestamp": "1795167600",
            "webhook-signature": f"v1,{digest}",
        }

    def test_convinces_the_receivers_library_and_only_with_the_body_that_was_signed(self) -> None:
        secret = generate_secret()
        headers = sign(secret, MESSAGE_ID, datetime.now(UTC), PAYLOAD)
        Webhook(secret).verify(PAYLOAD.encode(), headers)
        with pytest.raises(WebhookVerificationError):
            Webhook(secret).verify(PAYLOAD.replace("test", "best"), headers)
        with pytest.raises(WebhookVerificationError):
            Webhook(generate_secret()).verify(PAYLOAD, headers)
