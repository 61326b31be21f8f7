"""Channels to other people's services: what each is sent, and what its answers mean.

The services document which answers there are. `slack.write` and its neighbours name the pages.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import orjson
import pytest

from monitoring.notifications.channels import CHANNELS
from monitoring.notifications.channels.services import UNREADABLE
from monitoring.notifications.models import NotificationChannel, NotificationDelivery
from monitoring.notifications.service import update_channel
from monitoring.outbound.client import open_configured_client
from notifications.addressee import announce_to, create, deliver, make_due
from outbound.scripted_servers import forever, scripted_server, then_silence

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from monitoring.backends.assembly import Backends
    from monitoring.notifications.channels.sender import Sender
    from monitoring.outbound.exchanges import BodyReader, Exchange, OutboundRequest
    from notifications.addressee import Addressee
    from outbound.scripted_servers import ScriptedServer

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("backends")]

MONITOR_ID = "019a9c3e-5b7a-7c1e-9d42-3f8b6a1e2c70"
INCIDENT_ID = "019a9c47-1e88-7b0a-a1c6-52f0d9b7e334"

# The token of the link by which a reader acknowledges the incident.
TOKEN = re.compile(rb"(?<=token=)[A-Za-z0-9_.-]+")

# The name of a test's team, as some services have it escaped.
TEAM = re.compile(rb"Team [0-9a-f]{8}(?:\\*-[0-9a-f]{4,12}){4}")

# Whatever one of these services would interpret: mentions, links, formatting, HTML.
HOSTILE = "<!channel> @all *a* _b_ [c](https://d.example) <b>`&e`</b>"

OPENED: dict[str, Any] = {
    "incident": {
        "id": INCIDENT_ID,
        "started_at": "2026-11-20T09:39:50.003000Z",
        "error_message": "Answered 503 instead of 2xx",
    },
    "monitor": {
        "id": MONITOR_ID,
        "name": HOSTILE,
        "url": "https://shop.example.com/health?key=secret",
        "tags": ["eu", "shop"],
    },
}
ENDED = {
    **OPENED,
    "incident": {
        **OPENED["incident"],
        "resolution": "recovered",
        "resolved_at": "2026-11-20T10:40:00.000000Z",
    },
}
LINK = f"http://127.0.0.1:8000/app/incidents/{INCIDENT_ID}"
ACKNOWLEDGE = "http://127.0.0.1:8000/app/acknowledge?token="
TITLE = f"{HOSTILE} is down"
NO_MENTION = "@\u200b"
FACTS = "\nURL: https://shop.example.com/health?key=********\nTeam: {team}\nTags: eu, shop"
TEXT = f"Answered 503 instead of 2xx. Down since 2026-11-20 09:39:50 UTC, for 10 seconds.{FACTS}"

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
                "actions": [
                    {"type": "button", "text": "Open", "url": LINK},
                    {"type": "button", "text": "Acknowledge", "url": ACKNOWLEDGE},
                ],
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
                "description": (
                    r"Answered 503 instead of 2xx. Down since 2026\-11\-20 09\:39\:50 UTC, for 10 seconds."
                    "\n"
                    r"URL\: https\://shop.example.com/health?key=\*\*\*\*\*\*\*\*"
                    "\n"
                    r"Team\: {team}"
                    "\n"
                    r"Tags\: eu, shop"
                    f"\n[Acknowledge]({ACKNOWLEDGE})"
                ),
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
                    "actions": [
                        {"type": "Action.OpenUrl", "title": "Open", "url": LINK},
                        {"type": "Action.OpenUrl", "title": "Acknowledge", "url": ACKNOWLEDGE},
                    ],
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
                                        "buttons": [
                                            {"text": "Open", "onClick": {"openLink": {"url": LINK}}},
                                            {
                                                "text": "Acknowledge",
                                                "onClick": {"openLink": {"url": ACKNOWLEDGE}},
                                            },
                                        ]
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
                "text": (
                    "Answered 503 instead of 2xx\\."
                    " Down since 2026\\-11\\-20 09\\:39\\:50 UTC, for 10 seconds\\."
                    "\nURL\\: https\\://shop\\.example\\.com/health?key=\\*\\*\\*\\*\\*\\*\\*\\*"
                    "\nTeam\\: {team}"
                    "\nTags\\: eu, shop"
                    f"\n[Acknowledge]({ACKNOWLEDGE})"
                ),
            }
        ]
    },
    "telegram": {
        "chat_id": "-1001234567890",
        "text": f"{TITLE.replace('@', NO_MENTION)}\n{TEXT}\nOpen: {LINK}\nAcknowledge: {ACKNOWLEDGE}",
        "link_preview_options": {"is_disabled": True},
    },
    "pagerduty": {
        "routing_key": "R0123456789ABCDEFGHIJKLMNOPQRSTU",
        "event_action": "trigger",
        "dedup_key": INCIDENT_ID,
        "payload": {
            "summary": TITLE,
            "source": "shop.example.com",
            "severity": "critical",
            "class": "incident.opened",
            "custom_details": {"text": TEXT},
        },
        "links": [{"href": LINK, "text": "Open"}],
    },
    "opsgenie": {
        "message": TITLE,
        "alias": INCIDENT_ID,
        "description": f"{TEXT}\n{LINK}",
        "source": "shop.example.com",
        "priority": "P1",
    },
    "ntfy": {
        "topic": "a-secret-topic",
        "title": TITLE,
        "message": TEXT,
        "priority": 5,
        "tags": ["rotating_light"],
        "click": LINK,
        "actions": [
            {"action": "view", "label": "Open", "url": LINK},
            {"action": "view", "label": "Acknowledge", "url": ACKNOWLEDGE},
        ],
    },
    "pushover": {
        "token": "azGDORePK8gMaC0QOYAMyEEuzJnyUi",
        "user": "uQiRzpo4DXghDmr9QzzfQu27cmVRsG",
        "title": TITLE,
        "message": f"{TEXT}\nAcknowledge: {ACKNOWLEDGE}",
        "priority": 1,
        "url": LINK,
        "url_title": "Open",
    },
    "custom": {
        "summary": TITLE,
        "details": [{"en": f"{TEXT} {LINK}"}, "incident.opened", INCIDENT_ID, "{{unknown}}"],
        "take": ACKNOWLEDGE,
        "urgency": 1,
    },
}

# By type: where a channel posts whose address its team gives.
ADDRESSES = {
    "discord": "https://discord.com/api/webhooks/1/a-secret-token",
    "google_chat": "https://chat.googleapis.com/v1/spaces/a/messages?key=a-secret-token",
    "mattermost": "https://chat.example.com/hooks/a-secret-token",
    "microsoft_teams": "https://prod-12.westeurope.logic.azure.com/workflows/a-secret-token",
    "slack": "https://hooks.slack.com/services/T0/a-secret-token",
}

# What the document calls fields of these types.
GIVEN: dict[str, dict[str, Any]] = {
    "telegram": {
        "bot_token": "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw0",
        "chat_id": "-1001234567890",
    },
    "pagerduty": {"routing_key": "R0123456789ABCDEFGHIJKLMNOPQRSTU", "region": "eu"},
    "opsgenie": {"api_key": "eb243592-faa2-4ba2-a551-1afdf565c889", "region": "jira"},
    "ntfy": {
        "url": "https://ntfy.sh",
        "topic": "a-secret-topic",
        "token": "tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2",
    },
    "pushover": {
        "app_token": "azGDORePK8gMaC0QOYAMyEEuzJnyUi",
        "user_key": "uQiRzpo4DXghDmr9QzzfQu27cmVRsG",
    },
    "custom": {
        "url": "https://api.example.com/tickets",
        "method": "PUT",
        "headers": [{"name": "X-Key", "value": "a-secret-key"}],
        "body": {
            "summary": "{{title}}",
            "details": [{"en": "{{text}} {{link}}"}, "{{event}}", "{{id}}", "{{unknown}}"],
            "take": "{{acknowledge_link}}",
            "urgency": 1,
        },
    },
}

# Where a message goes, and what its headers say beside the type of its body.
WHERE: dict[str, tuple[str, dict[str, str]]] = {
    "telegram": (
        "POST https://api.telegram.org/bot110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw0/sendMessage",
        {},
    ),
    "pagerduty": ("POST https://events.eu.pagerduty.com/v2/enqueue", {}),
    "opsgenie": (
        "POST https://api.atlassian.com/jsm/ops/integration/v2/alerts",
        {"authorization": "GenieKey eb243592-faa2-4ba2-a551-1afdf565c889"},
    ),
    "ntfy": ("POST https://ntfy.sh/", {"authorization": "Bearer tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2"}),
    "pushover": ("POST https://api.pushover.net/1/messages.json", {}),
    "custom": ("PUT https://api.example.com/tickets", {"x-key": "a-secret-key"}),
    **{channel_type: (f"POST {url}", {}) for channel_type, url in ADDRESSES.items()},
}

# By type: the body that ends the incident, where that is another action.
ENDINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "pagerduty": (
        "POST https://events.eu.pagerduty.com/v2/enqueue",
        {"event_action": "resolve", "dedup_key": INCIDENT_ID},
    ),
    "opsgenie": (
        (
            "POST https://api.atlassian.com/jsm/ops/integration/v2/alerts/"
            f"{INCIDENT_ID}/close?identifierType=alias"
        ),
        {
            "source": "shop.example.com",
            "note": (
                f"{HOSTILE} is up again.\nIt was down for 1 hour, since 2026-11-20 09:39:50 UTC:"
                f" Answered 503 instead of 2xx.{FACTS}"
            ),
        },
    ),
}

# By type: the body that acknowledges there.
ACKNOWLEDGEMENTS: dict[str, tuple[str, dict[str, Any]]] = {
    "pagerduty": (
        "POST https://events.eu.pagerduty.com/v2/enqueue",
        {"event_action": "acknowledge", "dedup_key": INCIDENT_ID},
    ),
    "opsgenie": (
        (
            "POST https://api.atlassian.com/jsm/ops/integration/v2/alerts/"
            f"{INCIDENT_ID}/acknowledge?identifierType=alias"
        ),
        {"source": "shop.example.com"},
    ),
}

SUCCESSES = [
    ("slack", (200, b"ok")),
    ("discord", 204),
    ("microsoft_teams", (202, b"")),
    ("google_chat", (200, b'{"name": "spaces/a/messages/b"}')),
    ("mattermost", (200, b"ok")),
    ("telegram", (200, b'{"ok":true,"result":{"message_id":7}}')),
    ("pagerduty", (202, b'{"status":"success","message":"Event processed"}')),
    ("opsgenie", (202, b'{"result":"Request will be processed"}')),
    ("ntfy", (200, b'{"id":"hwQ2YpKdmg","event":"message"}')),
    ("pushover", (200, b'{"status":1,"request":"647d2300-702c-4b38-8b2f-d56326ae460b"}')),
    ("custom", (201, b"")),
]

# An answer, the status of the delivery after it, and what the log says.
OTHERS: list[tuple[str, tuple[int, bytes], tuple[str, str]]] = [
    (
        "slack",
        (400, b"invalid_payload"),
        ("failed", "Slack refused the message. Answered 400: invalid_payload"),
    ),
    (
        "slack",
        (403, b"action_prohibited"),
        ("pending", "Slack does not let this channel post. Answered 403: action_prohibited"),
    ),
    ("slack", (500, b"rollup_error"), ("pending", "Answered 500: rollup_error")),
    (
        "discord",
        (429, b'{"message": "You are being rate limited.",\n "retry_after": 64.57}'),
        (
            "pending",
            (
                "Discord takes no more messages at present. Answered 429: "
                '{"message": "You are being rate limited.", "retry_after": 64.57}'
            ),
        ),
    ),
    (
        "discord",
        (401, b'{"message": "Invalid Webhook Token", "code": 50027}'),
        (
            "pending",
            (
                "Discord does not let this channel post. Answered 401: "
                '{"message": "Invalid Webhook Token", "code": 50027}'
            ),
        ),
    ),
    ("microsoft_teams", (502, b""), ("pending", "Answered 502")),
    (
        "google_chat",
        (400, b'{"error": {"code": 400}}'),
        ("failed", 'Google Chat refused the message. Answered 400: {"error": {"code": 400}}'),
    ),
    ("mattermost", (302, b""), ("pending", "Answered 302")),
    (
        "telegram",
        (401, b'{"ok":false,"error_code":401,"description":"Unauthorized"}'),
        (
            "pending",
            (
                "Telegram does not let this channel post. Answered 401: "
                '{"ok":false,"error_code":401,"description":"Unauthorized"}'
            ),
        ),
    ),
    (
        "pagerduty",
        (400, b'{"status":"invalid event","message":"Event object is invalid"}'),
        (
            "failed",
            (
                "PagerDuty refused the message. Answered 400: "
                '{"status":"invalid event","message":"Event object is invalid"}'
            ),
        ),
    ),
    ("pagerduty", (429, b""), ("pending", "PagerDuty takes no more messages at present. Answered 429")),
    (
        "opsgenie",
        (422, b'{"message":"Request body is not processable"}'),
        (
            "failed",
            'Opsgenie refused the message. Answered 422: {"message":"Request body is not processable"}',
        ),
    ),
    (
        "ntfy",
        (403, b'{"code":40301,"http":403,"error":"forbidden"}'),
        (
            "pending",
            (
                "ntfy does not let this channel post. Answered 403: "
                '{"code":40301,"http":403,"error":"forbidden"}'
            ),
        ),
    ),
    (
        "pushover",
        (400, b'{"user":"invalid","errors":["user identifier is invalid"],"status":0}'),
        (
            "failed",
            (
                "Pushover refused the message. Answered 400: "
                '{"user":"invalid","errors":["user identifier is invalid"],"status":0}'
            ),
        ),
    ),
]
GONE = [
    ("slack", (404, b"no_service"), "Slack no longer knows this channel's address. Answered 404: no_service"),
    (
        "slack",
        (410, b"channel_is_archived"),
        "Slack no longer knows this channel's address. Answered 410: channel_is_archived",
    ),
    (
        "discord",
        (404, b'{"message": "Unknown Webhook", "code": 10015}'),
        (
            "Discord no longer knows this channel's address. Answered 404: "
            '{"message": "Unknown Webhook", "code": 10015}'
        ),
    ),
]


class Rerouted:
    """Sends every request to the addressee, by a real client, and remembers where it was to go."""

    def __init__(self, client: Sender, addressee: Addressee | ScriptedServer) -> None:
        self._client, self._addressee = client, addressee
        self.went: list[str] = []

    async def send(self, request: OutboundRequest, body_reader: BodyReader | None = None) -> Exchange:
        self.went.append(f"{request.method} {request.url}")
        parts = urlsplit(request.url)
        here = parts._replace(scheme="http", netloc=urlsplit(self._addressee.url).netloc)
        return await self._client.send(replace(request, url=here.geturl()), body_reader)


@pytest.fixture
async def sender(backends: Backends, addressee: Addressee) -> AsyncIterator[Rerouted]:
    async with open_configured_client(backends.settings) as client:
        yield Rerouted(client, addressee)


async def create_one(channel_type: str, **fields: Any) -> NotificationChannel:
    given = GIVEN.get(channel_type) or {"url": ADDRESSES.get(channel_type, "https://example.com/hooks")}
    return await create({"type": channel_type, **given, **fields})


async def test_every_type_has_its_body_here() -> None:
    assert {"webhook", "email", *BODIES} == CHANNELS.keys()


@pytest.mark.parametrize("channel_type", BODIES)
async def test_it_is_sent_what_the_service_documents_and_nothing_is_interpreted(
    addressee: Addressee, sender: Rerouted, channel_type: str
) -> None:
    await deliver(await announce_to(await create_one(channel_type), OPENED), sender)
    where, headers = WHERE[channel_type]
    (received,) = addressee.received
    assert sender.went == [where]
    assert received.headers["content-type"] == "application/json"
    assert received.headers.items() >= headers.items()
    body = TEAM.sub(b"{team}", TOKEN.sub(b"", received.body))
    assert orjson.loads(body) == BODIES[channel_type]


@pytest.mark.parametrize("channel_type", ENDINGS)
async def test_it_ends_at_the_service_what_it_began_there(
    addressee: Addressee, sender: Rerouted, channel_type: str
) -> None:
    channel = await create_one(channel_type)
    await deliver(await announce_to(channel, ENDED, "incident.resolved"), sender)
    where, ending = ENDINGS[channel_type]
    (received,) = addressee.received
    assert sender.went == [where]
    assert orjson.loads(TEAM.sub(b"{team}", received.body)).items() >= ending.items()


@pytest.mark.parametrize("channel_type", ACKNOWLEDGEMENTS)
async def test_it_says_at_the_service_that_somebody_takes_care(
    addressee: Addressee, sender: Rerouted, channel_type: str
) -> None:
    acknowledged = {**OPENED, "incident": {**OPENED["incident"], "acknowledged_by": "Alice"}}
    channel = await create_one(channel_type, events=["incident.acknowledged"])
    await deliver(await announce_to(channel, acknowledged, "incident.acknowledged"), sender)
    where, expected = ACKNOWLEDGEMENTS[channel_type]
    (received,) = addressee.received
    assert sender.went == [where]
    assert orjson.loads(received.body).items() >= expected.items()


@pytest.mark.parametrize("channel_type", ["discord", "webhook"])
async def test_it_waits_as_long_as_the_service_asks(
    addressee: Addressee, sender: Rerouted, channel_type: str
) -> None:
    addressee.answers.append(429)
    addressee.retry_after = "64"
    before = datetime.now(UTC)
    delivery = await deliver(await announce_to(await create_one(channel_type), OPENED), sender)
    assert delivery.status == "pending"
    assert delivery.due_at
    assert timedelta(seconds=64) <= delivery.due_at - before < timedelta(seconds=100)


@pytest.mark.parametrize(("channel_type", "answer"), SUCCESSES)
async def test_it_has_delivered_what_the_service_accepts(
    addressee: Addressee, sender: Rerouted, channel_type: str, answer: Any
) -> None:
    addressee.answers.append(answer)
    delivery = await deliver(await announce_to(await create_one(channel_type), OPENED), sender)
    assert (delivery.status, delivery.error_message) == ("delivered", None)


async def test_it_has_delivered_what_the_service_accepts_though_the_answer_never_ends(
    backends: Backends,
) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"
    async with scripted_server() as server, open_configured_client(backends.settings) as client:
        server.scripts["/services/T0/a-secret-token"] = then_silence(head, b"ok")
        delivery = await deliver(
            await announce_to(await create_one("slack"), OPENED), Rerouted(client, server)
        )
    assert (delivery.status, delivery.error_message) == ("delivered", None)


async def test_it_quotes_a_refusal_that_never_ends(backends: Backends) -> None:
    head = b"HTTP/1.1 400 Bad Request\r\nTransfer-Encoding: chunked\r\n\r\n"
    async with scripted_server() as server, open_configured_client(backends.settings) as client:
        server.scripts["/services/T0/a-secret-token"] = forever(head, b"9\r\nno_text. \r\n")
        delivery = await deliver(
            await announce_to(await create_one("slack"), OPENED), Rerouted(client, server)
        )
    assert delivery.status == "failed"
    assert delivery.error_message
    assert delivery.error_message.startswith("Slack refused the message. Answered 400: no_text. no_text.")


@pytest.mark.parametrize(("channel_type", "answer", "expected"), OTHERS)
async def test_it_says_in_plain_words_what_the_service_says(
    addressee: Addressee, sender: Rerouted, channel_type: str, answer: Any, expected: tuple[str, str]
) -> None:
    addressee.answers.append(answer)
    channel = await create_one(channel_type)
    delivery = await deliver(await announce_to(channel, OPENED), sender)
    assert ((delivery.status, delivery.error_message), delivery.status_code) == (expected, answer[0])
    assert (await NotificationChannel.get(id=channel.id)).enabled


@pytest.mark.parametrize(("channel_type", "answer", "said"), GONE)
async def test_it_is_disabled_if_the_service_knows_its_address_no_more(
    addressee: Addressee, sender: Rerouted, channel_type: str, answer: Any, said: str
) -> None:
    addressee.answers.append(answer)
    channel = await create_one(channel_type)
    delivery = await deliver(await announce_to(channel, OPENED), sender)
    assert (delivery.status, delivery.error_message) == ("failed", said)
    disabled = await NotificationChannel.get(id=channel.id)
    assert (disabled.enabled, disabled.disabled_reason) == (False, said)


@pytest.mark.parametrize(
    ("channel_type", "answer", "said"),
    [
        (
            "slack",
            b"Cannot POST /services/T0/a-secret-token",
            "Slack no longer knows this channel's address. Answered 404",
        ),
        (
            "telegram",
            b"No bot AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw0",
            "Telegram no longer knows this channel's address. Answered 404",
        ),
    ],
)
async def test_an_answer_that_repeats_a_secret_is_not_quoted(
    addressee: Addressee, sender: Rerouted, channel_type: str, answer: bytes, said: str
) -> None:
    addressee.answers.append((404, answer))
    delivery = await deliver(await announce_to(await create_one(channel_type), OPENED), sender)
    assert delivery.error_message == said


@pytest.mark.parametrize("channel_type", ["webhook", "custom", "ntfy", *ADDRESSES])
@pytest.mark.parametrize("status", [200, 302, 400, 401, 404, 410, 429, 500])
async def test_what_a_host_of_the_team_s_choice_answers_is_kept_nowhere(
    addressee: Addressee, backends: Backends, channel_type: str, status: int
) -> None:
    """It could be an internal service. Channels of the other types post to hosts that nobody chooses."""
    addressee.answers.append((status, b"root:x:0:0 of an internal service"))
    channel = await create_one(channel_type, url=addressee.url)
    delivery = await announce_to(channel, OPENED)
    async with open_configured_client(backends.settings) as client:
        await deliver(delivery, client)
    assert len(addressee.received) == 1
    rows = await NotificationDelivery.all().values(), await NotificationChannel.all().values()
    assert "root:x" not in str(rows)


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.slack.com/services/a",
        "https://hooks.slack.com.example/services/a",
        "https://internal.example/hooks.slack.com",
        "https://internal.example/?https://hooks.slack.com",
        "https://not-hooks.slack.com/services/a",
    ],
)
async def test_only_the_provider_s_own_hosts_are_quoted_over_https(
    addressee: Addressee, sender: Rerouted, url: str
) -> None:
    addressee.answers.append((500, b"no_service"))
    channel = await create({"type": "slack", "url": url})
    assert (await deliver(await announce_to(channel, OPENED), sender)).error_message == "Answered 500"


async def test_a_custom_channel_is_not_quoted_wherever_it_posts(
    addressee: Addressee, sender: Rerouted
) -> None:
    addressee.answers.append((400, b"invalid_payload"))
    channel = await create_one("custom", url=ADDRESSES["slack"])
    delivery = await deliver(await announce_to(channel, OPENED), sender)
    assert delivery.error_message == "The server refused the message. Answered 400"


async def test_an_answer_is_quoted_on_one_line_and_cut(addressee: Addressee, sender: Rerouted) -> None:
    addressee.answers.append((500, b"<html>\r\n\x1b[31m" + b"a" * 10_000))
    delivery = await deliver(await announce_to(await create_one("slack"), OPENED), sender)
    assert delivery.error_message == f"Answered 500: <html> [31m{'a' * 89}"


async def test_nothing_is_sent_if_no_key_reads_the_secrets(addressee: Addressee, sender: Rerouted) -> None:
    channel = await create_one("slack")
    await NotificationChannel.filter(id=channel.id).update(secret="gAAAAA-of-another-key")
    delivery = await deliver(await announce_to(channel, OPENED), sender)
    assert (delivery.status, delivery.error_message) == ("pending", UNREADABLE)
    assert addressee.received == []


async def test_a_type_of_the_body_that_a_custom_channel_names_is_the_only_one(
    addressee: Addressee, sender: Rerouted
) -> None:
    header = {"name": "content-TYPE", "value": "application/vnd.tickets+json"}
    channel = await create({"type": "custom", **GIVEN["custom"], "headers": [header]})
    await deliver(await announce_to(channel, OPENED), sender)
    assert addressee.received[0].headers["content-type"] == "application/vnd.tickets+json"


MOVED = orjson.dumps(
    {
        "ok": False,
        "error_code": 400,
        "description": "Bad Request: group chat was upgraded to a supergroup chat",
        "parameters": {"migrate_to_chat_id": -1002345678901},
    }
)


async def test_a_group_that_became_a_supergroup_is_followed(addressee: Addressee, sender: Rerouted) -> None:
    addressee.answers.append((400, MOVED))
    channel = await create_one("telegram")
    delivery = await deliver(await announce_to(channel, OPENED), sender)
    assert (delivery.status, delivery.status_code) == ("pending", 400)
    assert delivery.error_message == "Telegram says that the chat has another id now: -1002345678901"
    await make_due(delivery.id)
    assert (await deliver(delivery, sender)).status == "delivered"
    await deliver(await announce_to(channel, OPENED), sender)
    chats = [orjson.loads(received.body)["chat_id"] for received in addressee.received]
    assert chats == ["-1001234567890", "-1002345678901", "-1002345678901"]
    moved = await NotificationChannel.get(id=channel.id)
    assert (moved.settings["chat_id"], moved.enabled) == ("-1002345678901", True)
    assert moved.updated_at > channel.updated_at


async def test_a_chat_that_somebody_chose_meanwhile_stays(addressee: Addressee, sender: Rerouted) -> None:
    addressee.answers.append((400, MOVED))
    channel = await create_one("telegram")
    delivery = await announce_to(channel, OPENED)
    chosen = {"type": "telegram", "chat_id": "@ops_of_acme"}

    class Changed:
        async def send(self, request: OutboundRequest, body_reader: BodyReader | None = None) -> Exchange:
            await update_channel(channel.team_id, channel.id, chosen)
            return await sender.send(request, body_reader)

    await deliver(delivery, Changed())
    assert (await NotificationChannel.get(id=channel.id)).settings["chat_id"] == "@ops_of_acme"


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"null", b'{"parameters": null}', b'{"parameters": {"migrate_to_chat_id": "-1"}}', b"\xff"],
)
async def test_a_refusal_that_names_no_other_chat_is_final(
    addressee: Addressee, sender: Rerouted, body: bytes
) -> None:
    addressee.answers.append((400, body))
    channel = await create_one("telegram")
    assert (await deliver(await announce_to(channel, OPENED), sender)).status == "failed"
    assert (await NotificationChannel.get(id=channel.id)).settings == channel.settings


async def test_a_service_without_chats_moves_nowhere(addressee: Addressee, sender: Rerouted) -> None:
    addressee.answers.append((400, MOVED))
    channel = await create_one("slack")
    await deliver(await announce_to(channel, OPENED), sender)
    assert (await NotificationChannel.get(id=channel.id)).settings == channel.settings
