"""Channels to other people's services: what each is sent, and what its answers mean.

The services document which answers there are. `slack.write` and its neighbours name the pages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest

from monitoring.notifications.channels import CHANNELS
from monitoring.notifications.channels.services import UNREADABLE
from monitoring.notifications.models import NotificationChannel
from notifications.addressee import announce_to, create, deliver

if TYPE_CHECKING:
    from notifications.addressee import Addressee

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("backends")]

MONITOR_ID = "019a9c3e-5b7a-7c1e-9d42-3f8b6a1e2c70"
INCIDENT_ID = "019a9c47-1e88-7b0a-a1c6-52f0d9b7e334"

# Whatever one of these services would interpret: mentions, links, formatting, HTML.
HOSTILE = "<!channel> @all *a* _b_ [c](https://d.example) <b>`&e`</b>"

OPENED = {
    "incident": {
        "id": INCIDENT_ID,
        "started_at": "2026-11-20T09:39:50.003000Z",
        "error_message": "Answered 503 instead of 2xx",
    },
    "monitor": {"id": MONITOR_ID, "name": HOSTILE, "url": "https://shop.example.com/health"},
}
LINK = f"http://127.0.0.1:8000/app/monitors/{MONITOR_ID}"
TITLE = f"{HOSTILE} is down"
TEXT = "Answered 503 instead of 2xx. Down since 2026-11-20 09:39:50 UTC."

ESCAPED_TITLE = "&lt;!channel&gt; @all *a* _b_ [c](https://d.example) &lt;b&gt;`&amp;e`&lt;/b&gt; is down"

# By type: the body that opens an incident.
BODIES: dict[str, dict[str, Any]] = {
    "slack": {
        "attachments": [
            {
                "fallback": f"{ESCAPED_TITLE}: {TEXT}",
                "color": "#c62828",
                "title": ESCAPED_TITLE,
                "title_link": LINK,
                "text": TEXT,
                "mrkdwn_in": [],
            }
        ]
    },
    "discord": {
        "embeds": [
            {
                "title": (
                    r"\<!channel\> \@all \*a\* \_b\_ \[c\]\(https\://d.example\)"
                    r" \<b\>\`&e\`\</b\> is down"
                ),
                "url": LINK,
                "description": r"Answered 503 instead of 2xx. Down since 2026\-11\-20 09\:39\:50 UTC.",
                "color": 0xC62828,
            }
        ],
        "allowed_mentions": {"parse": []},
    },
    "microsoft_teams": {
        "type": "message",
        "attachments": [
            {
                "contentType": "application/vnd.microsoft.card.adaptive",
                "contentUrl": None,
                "content": {
                    "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
                    "type": "AdaptiveCard",
                    "version": "1.4",
                    "fallbackText": TITLE,
                    "body": [
                        {
                            "type": "RichTextBlock",
                            "inlines": [
                                {
                                    "type": "TextRun",
                                    "text": TITLE,
                                    "weight": "bolder",
                                    "size": "medium",
                                    "color": "attention",
                                }
                            ],
                        },
                        {"type": "RichTextBlock", "inlines": [{"type": "TextRun", "text": TEXT}]},
                    ],
                    "actions": [{"type": "Action.OpenUrl", "title": "Open", "url": LINK}],
                },
            }
        ],
    },
    "google_chat": {
        "fallbackText": f"{TITLE}: {TEXT}",
        "cardsV2": [
            {
                "cardId": "notification",
                "card": {
                    "sections": [
                        {
                            "widgets": [
                                {
                                    "textParagraph": {
                                        "text": f'<b><font color="#c62828">{ESCAPED_TITLE}</font></b>'
                                    }
                                },
                                {"textParagraph": {"text": TEXT}},
                                {
                                    "buttonList": {
                                        "buttons": [{"text": "Open", "onClick": {"openLink": {"url": LINK}}}]
                                    }
                                },
                            ]
                        }
                    ]
                },
            }
        ],
    },
    "mattermost": {
        "attachments": [
            {
                "fallback": f"{TITLE}: {TEXT}",
                "color": "#c62828",
                "title": (
                    "\\<\\!channel\\> @\u200ball \\*a\\* \\_b\\_ \\[c\\]\\(https\\://d\\.example\\)"
                    " \\<b\\>\\`\\&e\\`\\</b\\> is down"
                ),
                "title_link": LINK,
                "text": "Answered 503 instead of 2xx\\. Down since 2026\\-11\\-20 09\\:39\\:50 UTC\\.",
            }
        ]
    },
}

SUCCESSES = [
    ("slack", (200, b"ok")),
    ("discord", 204),
    ("microsoft_teams", (202, b"")),
    ("google_chat", (200, b'{"name": "spaces/a/messages/b"}')),
    ("mattermost", (200, b"ok")),
]

# An answer, the status of the delivery after it, and what the log says.
OTHERS = [
    (
        "slack",
        (400, b"invalid_payload"),
        "failed",
        "Slack refused the message. Answered 400: invalid_payload",
    ),
    (
        "slack",
        (403, b"action_prohibited"),
        "pending",
        "Slack does not let this channel post. Answered 403: action_prohibited",
    ),
    ("slack", (500, b"rollup_error"), "pending", "Answered 500: rollup_error"),
    (
        "discord",
        (429, b'{"message": "You are being rate limited.",\n "retry_after": 64.57}'),
        "pending",
        (
            "Discord takes no more messages at present. Answered 429: "
            '{"message": "You are being rate limited.", "retry_after": 64.57}'
        ),
    ),
    (
        "discord",
        (401, b'{"message": "Invalid Webhook Token", "code": 50027}'),
        "pending",
        (
            "Discord does not let this channel post. Answered 401: "
            '{"message": "Invalid Webhook Token", "code": 50027}'
        ),
    ),
    ("microsoft_teams", (502, b""), "pending", "Answered 502"),
    (
        "google_chat",
        (400, b'{"error": {"code": 400}}'),
        "failed",
        'Google Chat refused the message. Answered 400: {"error": {"code": 400}}',
    ),
    ("mattermost", (302, b""), "pending", "Answered 302"),
]
GONE = [
    ("slack", (404, b"no_service"), "Slack knows this channel's address no more. Answered 404: no_service"),
    (
        "slack",
        (410, b"channel_is_archived"),
        "Slack knows this channel's address no more. Answered 410: channel_is_archived",
    ),
    (
        "discord",
        (404, b'{"message": "Unknown Webhook", "code": 10015}'),
        (
            "Discord knows this channel's address no more. Answered 404: "
            '{"message": "Unknown Webhook", "code": 10015}'
        ),
    ),
]


async def create_at(addressee: Addressee, channel_type: str) -> NotificationChannel:
    return await create({"type": channel_type, "url": f"{addressee.url}/a-secret-token"})


async def test_every_type_has_its_body_here() -> None:
    assert {"webhook", *BODIES} == CHANNELS.keys()


@pytest.mark.parametrize("channel_type", BODIES)
async def test_it_is_sent_what_the_service_documents_and_nothing_is_interpreted(
    addressee: Addressee, channel_type: str
) -> None:
    channel = await create_at(addressee, channel_type)
    await deliver(await announce_to(channel, OPENED))
    (received,) = addressee.received
    assert received.path == "/hooks/a-secret-token"
    assert received.headers["content-type"] == "application/json"
    assert orjson.loads(received.body) == BODIES[channel_type]


@pytest.mark.parametrize(("channel_type", "answer"), SUCCESSES)
async def test_it_has_delivered_what_the_service_accepts(
    addressee: Addressee, channel_type: str, answer: Any
) -> None:
    addressee.answers.append(answer)
    delivery = await deliver(await announce_to(await create_at(addressee, channel_type), OPENED))
    assert (delivery.status, delivery.error_message) == ("delivered", None)


@pytest.mark.parametrize(("channel_type", "answer", "status", "said"), OTHERS)
async def test_it_says_in_plain_words_what_the_service_says(
    addressee: Addressee, channel_type: str, answer: Any, status: str, said: str
) -> None:
    addressee.answers.append(answer)
    channel = await create_at(addressee, channel_type)
    delivery = await deliver(await announce_to(channel, OPENED))
    assert (delivery.status, delivery.status_code, delivery.error_message) == (status, answer[0], said)
    assert (await NotificationChannel.get(id=channel.id)).enabled


@pytest.mark.parametrize(("channel_type", "answer", "said"), GONE)
async def test_it_is_disabled_if_the_service_knows_its_address_no_more(
    addressee: Addressee, channel_type: str, answer: Any, said: str
) -> None:
    addressee.answers.append(answer)
    channel = await create_at(addressee, channel_type)
    delivery = await deliver(await announce_to(channel, OPENED))
    assert (delivery.status, delivery.error_message) == ("failed", said)
    disabled = await NotificationChannel.get(id=channel.id)
    assert (disabled.enabled, disabled.disabled_reason) == (False, said)


async def test_an_answer_that_repeats_the_secret_is_not_quoted(addressee: Addressee) -> None:
    addressee.answers.append((404, b"Cannot POST /hooks/a-secret-token"))
    delivery = await deliver(await announce_to(await create_at(addressee, "mattermost"), OPENED))
    assert delivery.error_message == "Mattermost knows this channel's address no more. Answered 404"


async def test_an_answer_is_quoted_on_one_line_and_cut(addressee: Addressee) -> None:
    addressee.answers.append((500, b"<html>\r\n\x1b[31m" + b"a" * 10_000))
    delivery = await deliver(await announce_to(await create_at(addressee, "slack"), OPENED))
    assert delivery.error_message == f"Answered 500: <html> [31m{'a' * 89}"


async def test_nothing_is_sent_if_no_key_reads_the_secrets(addressee: Addressee) -> None:
    channel = await create_at(addressee, "slack")
    await NotificationChannel.filter(id=channel.id).update(secret="gAAAAA-of-another-key")
    delivery = await deliver(await announce_to(channel, OPENED))
    assert (delivery.status, delivery.error_message) == ("pending", UNREADABLE)
    assert addressee.received == []
