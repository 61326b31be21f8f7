"""A monitor's life and an article's way, through the SDK of openapi-python-client."""

from __future__ import annotations

import os
import time
from http import HTTPStatus
from uuid import UUID, uuid4

from monitoring_client import AuthenticatedClient, Client
from monitoring_client.api.articles import deliver_article, get_article
from monitoring_client.api.auth import issue_token
from monitoring_client.api.monitors import (
    create_monitor,
    delete_monitor,
    get_monitor,
    list_monitors,
    update_monitor,
)
from monitoring_client.models import (
    AccessToken,
    Article,
    ArticleAccepted,
    ArticleContent,
    ArticleDelivery,
    DeliveryStatus,
    Monitor,
    MonitorChangedError,
    MonitorCreate,
    MonitorList,
    MonitorNotFoundError,
    MonitorStatus,
    MonitorUpdate,
    TokenRequest,
    TranslationStatus,
)
from monitoring_client.types import UNSET

BASE_URL = os.environ["BASE_URL"]


def live_a_monitors_life() -> None:
    credentials = TokenRequest(client_id=os.environ["CLIENT_ID"], client_secret=os.environ["CLIENT_SECRET"])
    token = issue_token.sync(client=Client(base_url=BASE_URL), body=credentials)
    assert isinstance(token, AccessToken)
    client = AuthenticatedClient(base_url=BASE_URL, token=token.access_token)

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
        page = list_monitors.sync(client=client, limit=2, cursor=cursor or UNSET)
        assert isinstance(page, MonitorList)
        ids += [monitor.id for monitor in page.monitors]
        cursor = page.next_cursor
        if cursor is None:
            return ids


def follow_an_article() -> None:
    client = AuthenticatedClient(
        base_url=BASE_URL,
        token=os.environ["WEBHOOK_SECRET"],
        prefix="",
        auth_header_name="X-Webhook-Secret",
    )
    content = ArticleContent(title="Shoes", content="# Fit first", format_="markdown", slug="python")
    content["author"] = "Ada"  # fields that the document does not name are kept
    accepted = deliver_article.sync(client=client, body=ArticleDelivery(article=content))
    assert isinstance(accepted, ArticleAccepted)
    assert accepted.status is DeliveryStatus.ACCEPTED
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
    live_a_monitors_life()
    follow_an_article()
