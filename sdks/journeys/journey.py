"""A monitor's life, its notifications and an article's way, through the SDK of openapi-python-client."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from uuid import UUID, uuid4

from monitoring_client import AuthenticatedClient, Client
from monitoring_client.api.articles import deliver_article, get_article
from monitoring_client.api.auth import issue_token
from monitoring_client.api.checks import check_monitor_now, get_response_times, get_uptime, list_checks
from monitoring_client.api.incidents import list_incidents
from monitoring_client.api.monitors import (
    create_monitor,
    delete_monitor,
    get_monitor,
    list_monitors,
    update_monitor,
)
from monitoring_client.api.notifications import (
    create_notification_channel,
    delete_notification_channel,
    list_notification_deliveries,
    test_notification_channel,
    update_notification_channel,
)
from monitoring_client.models import (
    AccessToken,
    Article,
    ArticleAccepted,
    ArticleContent,
    ArticleSubmission,
    CheckError,
    CheckList,
    CheckRequested,
    IncidentList,
    IncidentResolution,
    IncidentState,
    Monitor,
    MonitorChangedError,
    MonitorCreate,
    MonitorList,
    MonitorNotFoundError,
    MonitorStatus,
    MonitorUpdate,
    NotificationChannelSilentError,
    NotificationDelivery,
    NotificationDeliveryList,
    NotificationEvent,
    NotificationType,
    ResponseTimes,
    SubmissionStatus,
    TokenRequest,
    TranslationStatus,
    Uptime,
    WebhookChannel,
    WebhookChannelCreate,
    WebhookChannelCreated,
    WebhookChannelCreateType,
    WebhookChannelUpdate,
    WebhookChannelUpdateType,
    Window,
)
from monitoring_client.types import UNSET

BASE_URL = os.environ["BASE_URL"]


def log_in() -> AuthenticatedClient:
    credentials = TokenRequest(client_id=os.environ["CLIENT_ID"], client_secret=os.environ["CLIENT_SECRET"])
    token = issue_token.sync(client=Client(base_url=BASE_URL), body=credentials)
    assert isinstance(token, AccessToken)
    return AuthenticatedClient(base_url=BASE_URL, token=token.access_token)


def live_a_monitors_life(client: AuthenticatedClient) -> None:
    ids = []
    for number in range(3):
        wanted = MonitorCreate(url=f"https://shop.example.com/{number}", tags=["shop"])
        key = str(uuid4())
        created = create_monitor.sync(client=client, body=wanted, idempotency_key=key)
        repeated = create_monitor.sync(client=client, body=wanted, idempotency_key=key)
        assert isinstance(created, Monitor)
        assert created == repeated
        assert created.status is MonitorStatus.PENDING
        assert created.interval_seconds == 300
        ids.append(created.id)

    first = get_monitor.sync_detailed(ids[0], client=client)
    etag = first.headers["ETag"]
    changed = update_monitor.sync(
        ids[0], client=client, body=MonitorUpdate(interval_seconds=600), if_match=etag
    )
    assert isinstance(first.parsed, Monitor)
    assert isinstance(changed, Monitor)
    assert (changed.interval_seconds, changed.tags) == (600, first.parsed.tags)
    default = update_monitor.sync(ids[0], client=client, body=MonitorUpdate(interval_seconds=None))
    assert isinstance(default, Monitor)
    assert default.interval_seconds == 300
    stale = delete_monitor.sync(ids[0], client=client, if_match=etag)
    assert isinstance(stale, MonitorChangedError)

    assert list_ids(client) == list(reversed(ids))

    ask_how_it_is(client, ids[0])

    for monitor_id in ids:
        deleted = delete_monitor.sync_detailed(monitor_id, client=client)
        assert deleted.status_code is HTTPStatus.NO_CONTENT
    gone = get_monitor.sync(ids[0], client=client)
    assert isinstance(gone, MonitorNotFoundError)
    assert gone.error == "Monitor not found"


def list_ids(client: AuthenticatedClient) -> list[UUID]:
    ids: list[UUID] = []
    cursor: str | None = None
    while True:
        page = list_monitors.sync(client=client, limit=2, cursor=cursor or UNSET, tag="shop")
        assert isinstance(page, MonitorList)
        ids += [monitor.id for monitor in page.monitors]
        cursor = page.next_cursor
        if cursor is None:
            return ids


def ask_how_it_is(client: AuthenticatedClient, monitor_id: UUID) -> None:
    requested = check_monitor_now.sync(monitor_id, client=client)
    assert isinstance(requested, CheckRequested)
    assert requested.monitor_id == monitor_id

    now = datetime.now(UTC)
    week_ago = now - timedelta(days=7)
    uptime = get_uptime.sync(monitor_id, client=client, from_=week_ago, to=now, window=Window.DAY)
    assert isinstance(uptime, Uptime)
    assert uptime.uptime_ratio is None  # no check yet
    assert (uptime.windows[0].starts_at, uptime.windows[-1].ends_at) == (week_ago, now)

    times = get_response_times.sync(monitor_id, client=client)
    assert isinstance(times, ResponseTimes)
    assert (times.check_count, times.p95_ms, times.windows) == (0, None, [])


def learn_what_is_down(client: AuthenticatedClient) -> None:
    page = list_incidents.sync(client=client, state=IncidentState.OPEN)
    assert isinstance(page, IncidentList)
    (incident,) = page.incidents
    assert incident.error is CheckError.UNEXPECTED_STATUS
    assert incident.resolution is None

    page = list_incidents.sync(client=client, monitor_id=incident.monitor_id)
    assert isinstance(page, IncidentList)
    assert [each.resolution for each in page.incidents] == [None, IncidentResolution.RECOVERED]

    checks = list_checks.sync(incident.monitor_id, client=client)
    assert isinstance(checks, CheckList)
    assert [check.error for check in checks.checks] == [CheckError.UNEXPECTED_STATUS, None]


def be_told_of_incidents(client: AuthenticatedClient) -> None:
    wanted = WebhookChannelCreate(
        type_=WebhookChannelCreateType.WEBHOOK,
        url="https://pager.example.com/hooks",
        events=[NotificationEvent.INCIDENT_OPENED],
    )
    webhook = create_notification_channel.sync(client=client, body=wanted)
    assert isinstance(webhook, WebhookChannelCreated)
    assert webhook.events == [NotificationEvent.INCIDENT_OPENED]
    assert webhook.secret.startswith("whsec_")

    sent = test_notification_channel.sync(webhook.id, client=client)
    assert isinstance(sent, NotificationDelivery)
    assert sent.event is NotificationType.TEST
    page = list_notification_deliveries.sync(webhook.id, client=client)
    assert isinstance(page, NotificationDeliveryList)
    assert [delivery.id for delivery in page.deliveries] == [sent.id]

    off = WebhookChannelUpdate(type_=WebhookChannelUpdateType.WEBHOOK, enabled=False)
    disabled = update_notification_channel.sync(webhook.id, client=client, body=off)
    assert isinstance(disabled, WebhookChannel)
    assert not disabled.enabled
    refused = test_notification_channel.sync(webhook.id, client=client)
    assert isinstance(refused, NotificationChannelSilentError)
    assert refused.error == "Notification channel is disabled"

    deleted = delete_notification_channel.sync_detailed(webhook.id, client=client)
    assert deleted.status_code is HTTPStatus.NO_CONTENT


def follow_an_article() -> None:
    client = AuthenticatedClient(
        base_url=BASE_URL,
        token=os.environ["WEBHOOK_SECRET"],
        prefix="",
        auth_header_name="X-Webhook-Secret",
    )
    content = ArticleContent(title="Shoes", content="# Fit first", format_="markdown", slug="python")
    content["author"] = "Ada"  # fields that the document does not name are kept
    accepted = deliver_article.sync(client=client, body=ArticleSubmission(article=content))
    assert isinstance(accepted, ArticleAccepted)
    assert accepted.status is SubmissionStatus.ACCEPTED
    assert accepted.article_id

    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        article = get_article.sync(accepted.article_id, client=client)
        assert isinstance(article, Article)
        assert {each.locale for each in article.translations} == set(accepted.locales)
        if all(each.status is TranslationStatus.TRANSLATED for each in article.translations):
            return
        time.sleep(0.05)
    raise AssertionError("the article was never translated")


if __name__ == "__main__":
    monitoring = log_in()
    live_a_monitors_life(monitoring)
    learn_what_is_down(monitoring)
    be_told_of_incidents(monitoring)
    follow_an_article()
