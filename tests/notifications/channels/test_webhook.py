from __future__ import annotations

import base64
import hashlib
import hmac
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from monitoring.contract.configurations import change, complete
from monitoring.notifications.channels.protocol import Reception
from monitoring.notifications.channels.webhook import GONE, default_name, generate_secret, judge, sign
from monitoring.notifications.models import DeliveryStatus
from monitoring.notifications.retries import MAX_ATTEMPTS, conclude
from monitoring.outbound.exchanges import Exchange
from monitoring.outbound.failures import Failure, FailureCode

MESSAGE_ID = UUID("019a9c47-2a11-7d5c-8f0e-94c3b6a7d810")
PAYLOAD = '{"type":"test","timestamp":"2026-11-20T09:40:00.183000Z","data":{"name":"Bücher"}}'

DEFAULTS = {"events": ["incident.opened", "incident.resolved"], "enabled": True}
PAGER = {"name": "Pager", "url": "https://pager.example.com/hooks", **DEFAULTS}
BLOCKED = Failure(FailureCode.BLOCKED_ADDRESS, "Not there")


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


class TestAttempt:
    @pytest.mark.parametrize("status_code", [200, 202, 204, 299])
    def test_that_was_answered_2xx_has_delivered(self, status_code: int) -> None:
        result = judge(Exchange(status_code=status_code))
        assert (result.reception, result.status_code) == (Reception.DELIVERED, status_code)
        assert (result.error_message, result.disabled_reason) == (None, None)
        conclusion = conclude(result, 1, chance=0)
        assert (conclusion.status, conclusion.wait) == (DeliveryStatus.DELIVERED, None)
        assert conclusion.outcome == "delivered"

    @pytest.mark.parametrize("status_code", [100, 199, 300, 302, 304, 400, 404, 429, 500, 503, 999])
    def test_that_was_answered_otherwise_is_made_again(self, status_code: int) -> None:
        result = judge(Exchange(status_code=status_code))
        assert (result.reception, result.status_code) == (Reception.TRY_AGAIN, status_code)
        assert (result.error_message, result.disabled_reason) == (f"Answered {status_code}", None)
        conclusion = conclude(result, 2, chance=0)
        assert (conclusion.status, conclusion.wait) == (DeliveryStatus.PENDING, timedelta(minutes=5))
        assert conclusion.outcome == "retried"

    def test_that_failed_is_made_again_and_says_why(self) -> None:
        result = judge(Exchange(failure=BLOCKED))
        assert (result.reception, result.status_code) == (Reception.TRY_AGAIN, None)
        assert (result.error_message, result.disabled_reason) == ("Not there", None)
        conclusion = conclude(result, 1, chance=0)
        assert (conclusion.status, conclusion.wait) == (DeliveryStatus.PENDING, timedelta(seconds=5))

    @pytest.mark.parametrize("exchange", [Exchange(status_code=500), Exchange(failure=BLOCKED)])
    def test_is_the_last_one_when_it_is_the_eighth(self, exchange: Exchange) -> None:
        result = judge(exchange)
        conclusion = conclude(result, MAX_ATTEMPTS, chance=0)
        assert (conclusion.status, conclusion.wait) == (DeliveryStatus.FAILED, None)
        assert conclusion.outcome == "failed"
        assert result.error_message

    def test_that_was_answered_410_is_the_last_one_and_unwelcome(self) -> None:
        result = judge(Exchange(status_code=410))
        assert (result.reception, result.disabled_reason) == (Reception.REFUSED, GONE)
        assert (result.status_code, result.error_message) == (410, "Answered 410")
        conclusion = conclude(result, 1, chance=0)
        assert (conclusion.status, conclusion.wait) == (DeliveryStatus.FAILED, None)


class TestConfiguration:
    @pytest.mark.parametrize(
        ("url", "name"),
        [
            ("https://pager.example.com/hooks", "pager.example.com"),
            ("https://[2001:db8::7]:8443/", "2001:db8::7"),
            (f"https://{'a' * 63}.{'b' * 63}.example", f"{'a' * 63}.{'b' * 36}"),
        ],
    )
    def test_is_named_like_its_host_cut_to_100_characters(self, url: str, name: str) -> None:
        assert complete({"url": url}, DEFAULTS, default_name) == {"name": name, "url": url, **DEFAULTS}

    @pytest.mark.parametrize(
        ("patch", "changes"),
        [
            ({"name": "Phone"}, {"name": "Phone"}),
            ({"name": None}, {"name": "pager.example.com"}),
            ({"name": None, "url": "https://phone.example.com"}, {"name": "phone.example.com"}),
            ({"url": "https://phone.example.com"}, {"name": "Pager"}),
            ({"events": ["incident.opened"]}, {"events": ["incident.opened"]}),
            ({"events": None}, {"events": DEFAULTS["events"]}),
            ({"enabled": False}, {"enabled": False}),
            ({"enabled": None}, {"enabled": True}),
        ],
    )
    def test_changes_as_a_merge_patch_says(self, patch: dict[str, Any], changes: dict[str, Any]) -> None:
        changed = change(PAGER, patch, DEFAULTS, default_name)
        assert changed == {**PAGER, "url": patch.get("url", PAGER["url"]), **changes}
