"""The fingerprints of what live pages show move with every change of it, and with no other team's."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from articles.desk import deliver as deliver_article
from articles.desk import translate
from checks.rounds import UP, found, make_due
from incidents.breakdowns import break_down, resolve
from monitoring.app.live.fingerprints import EVERYWHERE, Shown, Source, read_fingerprints
from monitoring.articles.models import PublicationStatus
from monitoring.articles.retranslation import TranslationFilter, retranslate
from monitoring.articles.withdrawal import withdraw_article
from monitoring.audit.actors import Actor
from monitoring.backends.database import transaction
from monitoring.checks.claims import claim_due
from monitoring.checks.requests import request_check
from monitoring.checks.storing import store
from monitoring.incidents.models import Incident
from monitoring.incidents.responding import acknowledge, write_note
from monitoring.monitors.maintenance.service import create_window
from monitoring.monitors.service import delete_monitor, update_monitor
from monitoring.notifications.claims import claim_delivery
from monitoring.notifications.deliveries import redeliver
from monitoring.notifications.models import DeliveryStatus, NotificationDelivery
from monitoring.notifications.muting import store_mutes
from monitoring.notifications.service import create_channel, list_channels, update_channel
from temporary_backends import temporary_backends

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from monitoring.monitors.models import Monitor

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("_backends")]

ALICE = Actor("alice@example.com")


@pytest.fixture
async def _backends(tmp_path: Path) -> AsyncIterator[None]:
    async with temporary_backends(tmp_path, locales="es", translator="pseudo"):
        yield


async def watch() -> Monitor:
    """Make a team with a channel and a monitor that is down and was never checked."""
    [monitor] = await make_due(since=datetime.now(UTC))
    await create_channel(monitor.team_id, {"type": "webhook", "url": "https://pager.example.com/"})
    await break_down(monitor)
    return monitor


async def incident_of(monitor: Monitor) -> Incident:
    return await Incident.get(monitor_id=monitor.id, resolved_at=None)


async def check(monitor: Monitor) -> None:
    now = datetime.now(UTC)
    await store(
        found([each for each in await claim_due(now, 9) if each.monitor_id == monitor.id], UP, now), now
    )


async def check_now(monitor: Monitor) -> None:
    await request_check(monitor.id, datetime.now(UTC))


async def recover(monitor: Monitor) -> None:
    await resolve(monitor)


async def acknowledge_it(monitor: Monitor) -> None:
    await acknowledge(monitor.team_id, (await incident_of(monitor)).id, ALICE)


async def note(monitor: Monitor) -> None:
    await write_note(monitor.team_id, (await incident_of(monitor)).id, ALICE, "I am on it")


async def deliver(monitor: Monitor) -> None:
    delivery = await NotificationDelivery.get(subject_id=(await incident_of(monitor)).id)
    claim = await claim_delivery(delivery.id)
    assert claim
    now = datetime.now(UTC)
    await claim.end(status=DeliveryStatus.DELIVERED, attempted_at=now, delivered_at=now, due_at=None)


async def rename(monitor: Monitor) -> None:
    await update_monitor(monitor.team_id, monitor.id, {"name": "Another"})


async def pause(monitor: Monitor) -> None:
    await update_monitor(monitor.team_id, monitor.id, {"paused": True})


async def delete(monitor: Monitor) -> None:
    await delete_monitor(monitor.team_id, monitor.id)


async def begin_maintenance(monitor: Monitor) -> None:
    given = {"name": "Deployment", "duration_seconds": 3600, "monitor_ids": [str(monitor.id)]}
    await create_window(monitor.team_id, given)


async def disable_channel(monitor: Monitor) -> None:
    [channel] = (await list_channels(monitor.team_id, 1, None)).rows
    await update_channel(monitor.team_id, channel.id, {"type": "webhook", "enabled": False})


async def mute(monitor: Monitor) -> None:
    async with transaction():
        await store_mutes(monitor.team_id, [monitor.id], None, ALICE.name)


TEAM, CHECKS, MONITOR, INCIDENT = Source.TEAM, Source.CHECKS, Source.MONITOR, Source.INCIDENT
TOLD, CHANNELS, CHANNEL, WINDOWS = Source.DELIVERIES, Source.CHANNELS, Source.CHANNEL, Source.WINDOWS


async def test_what_is_sent_again_and_delivered_between_two_looks_moves_its_fingerprints() -> None:
    monitor = await watch()
    await deliver(monitor)
    incident = await incident_of(monitor)
    delivery = await NotificationDelivery.get(subject_id=incident.id)
    shown = [Shown(TOLD, incident.id), Shown(CHANNEL, delivery.channel_id)]
    before = await read_fingerprints(shown)
    await redeliver(monitor.team_id, delivery.channel_id, delivery.id)
    await deliver(monitor)
    after = await read_fingerprints(shown)
    assert [after[each] != before[each] for each in shown] == [True, True]


@pytest.mark.parametrize(
    ("change", "least"),
    [
        (check, {CHECKS, MONITOR}),
        (check_now, {MONITOR}),
        (recover, {TEAM, TOLD, CHANNEL}),
        (acknowledge_it, {TEAM}),
        (note, {INCIDENT}),
        (deliver, {TOLD, CHANNEL}),
        (rename, {TEAM}),
        (pause, {TEAM, MONITOR}),
        (delete, {TEAM}),
        (mute, {TEAM}),
        (begin_maintenance, {TEAM, MONITOR, WINDOWS}),
        (disable_channel, {CHANNELS}),
    ],
)
async def test_a_change_moves_the_fingerprints_of_its_team_and_of_no_other(
    change: Callable[[Monitor], Awaitable[None]], least: set[Source]
) -> None:
    async def shown_of(monitor: Monitor) -> list[Shown]:
        incident = await incident_of(monitor)
        [channel] = (await list_channels(monitor.team_id, 1, None)).rows
        ids = {TEAM: monitor.team_id, CHECKS: monitor.team_id, MONITOR: monitor.id, INCIDENT: incident.id}
        ids |= {TOLD: incident.id, CHANNELS: monitor.team_id, CHANNEL: channel.id, WINDOWS: monitor.team_id}
        return [Shown(source, id_) for source, id_ in ids.items()]

    mine, others = await watch(), await watch()
    mine_shown, theirs_shown = await shown_of(mine), await shown_of(others)
    before = await read_fingerprints(mine_shown + theirs_shown)
    assert before == await read_fingerprints(mine_shown + theirs_shown)
    await change(mine)
    after = await read_fingerprints(mine_shown + theirs_shown)
    assert least <= {each.source for each in mine_shown if after[each] != before[each]}
    assert [each for each in theirs_shown if after[each] != before[each]] == []


async def test_the_fingerprints_of_articles_move_with_all_that_happens_to_one() -> None:
    article, other = await deliver_article(), await deliver_article("Other shoes", id="art_2")
    everything, mine, others = (
        Shown(Source.ARTICLES, EVERYWHERE),
        Shown(Source.ARTICLE, article.id),
        Shown(Source.ARTICLE, other.id),
    )

    async def look() -> dict[Shown, str]:
        return await read_fingerprints([everything, mine, others])

    async def translate_again() -> None:
        async with transaction():
            await retranslate(TranslationFilter(article.id, None), forgets_memory=False)

    happenings: list[Callable[[], Awaitable[object]]] = [
        lambda: translate(article),
        translate_again,
        lambda: deliver_article("Better shoes"),
        lambda: withdraw_article(article.id, PublicationStatus.UNPUBLISHED, ALICE),
    ]
    before = await look()
    for happen in happenings:
        await happen()
        after = await look()
        assert {each for each in after if after[each] != before[each]} == {everything, mine}
        before = after


async def test_the_fingerprint_of_what_engines_were_asked_moves_with_it() -> None:
    usage = Shown(Source.USAGE, EVERYWHERE)
    before = await read_fingerprints([usage])
    await translate(await deliver_article())
    assert await read_fingerprints([usage]) != before
