"""What webhooks are told about articles, and which of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import orjson
import pytest

import chosen_backends
from articles.desk import ObedientEngine, deliver, make_due, translate, translation_of
from backends.dump import dump_database
from monitoring.articles.claims import claim_translation
from monitoring.articles.models import PublicationStatus
from monitoring.articles.translation.engines.protocol import PermanentEngineError
from monitoring.articles.withdrawal import PUBLISHER, withdraw_article
from monitoring.auth.service import create_team
from monitoring.notifications.models import NotificationChannel, NotificationDelivery
from monitoring.notifications.service import create_channel
from temporary_backends import temporary_backends

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from monitoring.backends.assembly import Backends

pytestmark = pytest.mark.anyio

EVERYTHING = ["article.translated", "article.failed", "article.unpublished"]


@pytest.fixture
async def backends(tmp_path: Path) -> AsyncIterator[Backends]:
    async with temporary_backends(
        tmp_path,
        locales="es,pt-BR",
        translator="pseudo",
        translation_max_attempts=1,
        translation_lease_seconds=5,
        article_teams="Writers",
    ) as opened:
        yield opened


@pytest.fixture
async def webhook(backends: Backends) -> NotificationChannel:  # noqa: ARG001 - it has to be open
    """Register a webhook of a team that may read articles, beside two that are told nothing of them."""
    writers, others = [await create_team(name, "free", 10) for name in ("Writers", "Others")]
    address = {"type": "webhook", "url": "https://site.example.com/hooks"}
    await create_channel(writers.id, address)
    await create_channel(others.id, address | {"events": EVERYTHING})
    return await create_channel(writers.id, address | {"events": EVERYTHING})


async def messages_to(webhook: NotificationChannel) -> list[dict[str, Any]]:
    """Return what is to be sent to this webhook, and see that nothing is to be sent to any other."""
    deliveries = await NotificationDelivery.all().order_by("id")
    assert {delivery.channel_id for delivery in deliveries} <= {webhook.id}
    return [orjson.loads(delivery.payload) for delivery in deliveries]


async def test_every_translation_that_is_stored_is_announced(webhook: NotificationChannel) -> None:
    article = await deliver("Shoes", slug="shoes")
    await translate(article)
    messages = await messages_to(webhook)
    assert [message["type"] for message in messages] == ["article.translated"] * 2
    about = {"id": str(article.id), "slug": "shoes", "status": "published", "revision": 1}
    assert [message["data"]["article"] for message in messages] == [about] * 2
    told = [message["data"]["translation"] for message in messages]
    assert {(row["locale"], row["status"]) for row in told} == {("es", "translated"), ("pt-BR", "translated")}


async def test_a_translation_that_is_not_stored_is_not_announced(
    webhook: NotificationChannel, tmp_path: Path
) -> None:
    article = await deliver()
    await claim_translation(article.id)  # the other one stays with a worker that does nothing
    with chosen_backends.blog_storage_away(tmp_path):
        await translate(article)
    assert "article.translated" not in [message["type"] for message in await messages_to(webhook)]


async def test_a_translation_that_is_given_up_is_announced_with_its_reason(
    webhook: NotificationChannel,
) -> None:
    def refuse(_: str) -> None:
        raise PermanentEngineError("Not today")

    await translate(await deliver(), ObedientEngine(refuse))
    messages = await messages_to(webhook)
    assert [message["type"] for message in messages] == ["article.failed"] * 2
    assert {message["data"]["translation"]["reason"] for message in messages} == {"Not today"}


async def test_a_translation_whose_workers_were_killed_is_announced_as_failed(
    webhook: NotificationChannel,
) -> None:
    article = await deliver()
    while await claim_translation(article.id):
        pass
    await make_due(article)
    assert await claim_translation(article.id) is None
    messages = await messages_to(webhook)
    assert [message["type"] for message in messages] == ["article.failed"] * 2
    reasons = {message["data"]["translation"]["reason"] for message in messages}
    assert reasons == {(await translation_of(article)).reason}


@pytest.mark.parametrize("status", [PublicationStatus.UNPUBLISHED, PublicationStatus.DELETED])
async def test_an_article_that_is_taken_back_is_announced_once(
    webhook: NotificationChannel, status: PublicationStatus
) -> None:
    article = await deliver("Shoes", slug="shoes")
    for _ in range(2):
        await withdraw_article(article.id, status, PUBLISHER)
    [message] = await messages_to(webhook)
    assert message["type"] == "article.unpublished"
    about = {"id": str(article.id), "slug": "shoes", "status": status, "revision": 1}
    assert (message["data"]["article"], message["data"].keys()) == (about, {"article", "team"})


@pytest.mark.usefixtures("webhook")
async def test_nothing_of_its_text_outlives_a_deleted_article() -> None:
    article = await deliver("Quagga headline", slug="shoes", content="Okapi body.")
    await translate(article, ObedientEngine())
    before = await dump_database()
    assert "es: Quagga headline" in before
    assert "es: Okapi body." in before
    await withdraw_article(article.id, PublicationStatus.DELETED, PUBLISHER)
    kept = await dump_database()
    assert str(article.id) in kept
    assert not re.search("quagga|okapi", kept, re.IGNORECASE)
