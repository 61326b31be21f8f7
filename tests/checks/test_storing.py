from __future__ import annotations

import asyncio
import logging
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from tortoise.exceptions import IntegrityError

from checks.rounds import (
    DEGRADED,
    DOWN,
    HOUR,
    MINUTE,
    NOON,
    SECOND,
    UNKNOWN,
    UP,
    claim_one,
    found,
    make_due,
    read_states,
)
from incidents.breakdowns import open_incident
from monitoring.checks.claims import claim_due
from monitoring.checks.probes.protocol import Finding
from monitoring.checks.requests import request_check
from monitoring.checks.slots import next_slot
from monitoring.checks.storing import store
from monitoring.history.queries import list_results
from monitoring.incidents.models import Incident
from monitoring.monitors.check_state import check_changed
from monitoring.monitors.health import GRACE, Outcome
from monitoring.monitors.models import CheckState, Monitor
from monitoring.monitors.service import delete_monitor, update_monitor
from monitoring.notifications.models import NotificationDelivery
from monitoring.notifications.service import create_channel
from monitoring.outbound.stopwatch import Timings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from monitoring.contract.document import Json

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("backends")]

INTERVAL = 300


async def check(finding: Finding, now: datetime = NOON) -> None:
    """Check the only monitor, which has become due."""
    await CheckState.all().update(due_at=now, next_check_at=now)
    await store(found([await claim_one(now)], finding, now), now)


async def check_every_minute(findings: Sequence[Finding]) -> list[datetime]:
    moments = [NOON + number * MINUTE for number in range(len(findings))]
    for now, finding in zip(moments, findings, strict=True):
        await check(finding, now)
    return moments


async def read_watch(monitor: Monitor) -> CheckState:
    return await CheckState.get(monitor_id=monitor.id)


async def read_status(monitor: Monitor) -> tuple[str, datetime]:
    stored = await Monitor.get(id=monitor.id)
    return stored.status, stored.status_changed_at


class TestResult:
    async def test_is_what_was_found_in_whole_milliseconds(self) -> None:
        [monitor] = await make_due()
        timings = Timings(dns_ms=0.4, connect_ms=15.5, tls_ms=-0.7, first_byte_ms=31.49, total_ms=95.6)
        message = "Answered 503 instead of 2xx"
        finding = Finding(Outcome.DOWN, "unexpected_status", message, status_code=503, timings=timings)
        await store(found([await claim_one()], finding, NOON + SECOND), NOON + 2 * SECOND)
        [result] = await list_results(monitor.id, limit=10)
        assert (result.checked_at, result.outcome, result.status_code) == (NOON + SECOND, "down", 503)
        assert (result.dns_ms, result.connect_ms, result.tls_ms, result.first_byte_ms) == (0, 16, 0, 31)
        assert (result.response_time_ms, result.error) == (96, "unexpected_status")
        assert result.error_message == "Answered 503 instead of 2xx"

    async def test_is_shown_by_the_monitor_too(self) -> None:
        [monitor] = await make_due()
        await check(DEGRADED)
        check_state = await read_watch(monitor)
        assert (check_state.last_checked_at, check_state.last_response_time_ms, check_state.last_error) == (
            NOON,
            96,
            "slow",
        )
        await check(UP, NOON + MINUTE)
        assert (await read_watch(monitor)).last_error is None

    async def test_takes_a_message_of_any_length_and_without_what_databases_refuse(self) -> None:
        [monitor] = await make_due()
        await check(Finding(Outcome.DOWN, "tls_invalid", "no\0" + "é" * 1000))
        [result] = await list_results(monitor.id, limit=10)
        assert result.error_message == "no" + "é" * 253


class TestWhatIsKept:
    async def test_of_a_failing_answer_is_kept_with_the_incident_that_it_confirms(self) -> None:
        [monitor] = await make_due(failure_threshold=2)
        answer: dict[str, Json] = {"status_code": 503, "headers": [["retry-after", "9"]]}
        refused = Finding(Outcome.DOWN, "unexpected_status", "Answered 503", 503)
        await check(refused)
        await check(refused._replace(answer=answer), NOON + MINUTE)
        assert (await Incident.get(monitor_id=monitor.id)).answer == answer

    async def test_of_a_certificate_is_when_it_expires_until_another_one_is_seen_or_the_monitor_changes(
        self,
    ) -> None:
        [monitor] = await make_due()
        earlier, later = NOON + 30 * timedelta(days=1), NOON + 90 * timedelta(days=1)
        await check(UP._replace(certificate_expires_at=earlier))
        await check(DOWN, NOON + MINUTE)
        assert (await read_watch(monitor)).certificate_expires_at == earlier
        await check(UP._replace(certificate_expires_at=later), NOON + 2 * MINUTE)
        check_state = await read_watch(monitor)
        assert check_state.certificate_expires_at == later
        monitor.remember(check_state)
        await check_changed(monitor, NOON + 3 * MINUTE)
        assert (await read_watch(monitor)).certificate_expires_at is None


class TestNextCheck:
    async def test_is_on_the_monitors_grid_and_the_monitor_is_free(self) -> None:
        [monitor] = await make_due(interval_seconds=INTERVAL)
        await store(found([await claim_one()], UP, NOON + SECOND), NOON + 20 * SECOND)
        check_state = await read_watch(monitor)
        assert check_state.claim is None
        assert (
            check_state.due_at == check_state.next_check_at == next_slot(monitor.id, INTERVAL, NOON + SECOND)
        )
        assert check_state.seen_until == NOON + SECOND + timedelta(seconds=INTERVAL) + GRACE

    async def test_is_at_once_when_a_client_asked_for_it_while_this_one_was_made(self) -> None:
        [monitor] = await make_due(interval_seconds=86_400)
        claimed = await claim_one()
        await request_check(monitor.id, NOON + SECOND)
        await store(found([claimed], UP, NOON), NOON + 2 * SECOND)
        check_state = await read_watch(monitor)
        assert check_state.due_at == check_state.next_check_at == NOON + SECOND

    @pytest.mark.parametrize("retry_interval_seconds", [5, 10, 600])
    async def test_of_a_failure_that_is_not_confirmed_is_after_the_retry_interval(
        self, retry_interval_seconds: int
    ) -> None:
        [monitor] = await make_due(interval_seconds=86_400, retry_interval_seconds=retry_interval_seconds)
        await store(found([await claim_one()], DOWN, NOON), NOON + 20 * SECOND)
        check_state = await read_watch(monitor)
        retried_at = NOON + (20 + retry_interval_seconds) * SECOND
        assert check_state.due_at == check_state.next_check_at == retried_at

    async def test_is_due_then_and_not_before(self) -> None:
        [monitor] = await make_due()
        await check(UP)
        slot = next_slot(monitor.id, INTERVAL, NOON)
        assert await claim_due(slot - timedelta(microseconds=1), 10) == []
        assert len(await claim_due(slot, 10)) == 1


class TestLostClaim:
    async def test_stores_nothing(self) -> None:
        [monitor] = await make_due()
        lost = await claim_one()
        held = await claim_one(lost.lease_ends_at)
        assert await store(found([lost], DOWN), NOON) == []
        check_state = await read_watch(monitor)
        assert (check_state.claim, check_state.last_checked_at) == (held.claim, None)
        assert await list_results(monitor.id, limit=10) == []

    async def test_takes_no_other_result_along(self) -> None:
        one, other = await make_due(2)
        claimed = {each.monitor_id: each for each in await claim_due(NOON, 10)}
        await update_monitor(one.team_id, one.id, {"paused": True})
        assert await store(found(claimed.values(), UP), NOON) == [other.id]
        assert len(await list_results(other.id, limit=10)) == 1

    async def test_pausing_during_a_check_drops_its_result(self) -> None:
        [monitor] = await make_due(failure_threshold=1)
        claimed = await claim_one()
        await update_monitor(monitor.team_id, monitor.id, {"paused": True})
        await store(found([claimed], DOWN, NOON + SECOND), NOON + SECOND)
        assert (await read_status(monitor))[0] == "paused"
        assert (await read_watch(monitor)).due_at is None
        assert await Incident.all().count() == 0
        assert await list_results(monitor.id, limit=10) == []

    async def test_deleting_during_a_check_drops_its_result(self) -> None:
        [monitor] = await make_due()
        claimed = await claim_one()
        await delete_monitor(monitor.team_id, monitor.id)
        assert await store(found([claimed], UP), NOON) == []

    async def test_a_second_storing_of_the_same_does_nothing(self) -> None:
        [monitor] = await make_due(failure_threshold=1)
        outcomes = found([await claim_one()], DOWN)
        assert await store(outcomes, NOON) == [monitor.id]
        before = await read_watch(monitor)
        assert await store(outcomes, NOON + MINUTE) == []
        after = await read_watch(monitor)
        assert (after.due_at, after.streak, after.claim) == (before.due_at, before.streak, None)
        assert len(await list_results(monitor.id, limit=10)) == 1
        assert await Incident.all().count() == 1

    async def test_two_storings_of_the_same_at_once_store_once(self) -> None:
        monitors = await make_due(50, failure_threshold=1)
        outcomes = found(await claim_due(NOON, 100), DOWN)
        shares = await asyncio.gather(*(store(outcomes, NOON) for _ in range(4)))
        assert sum(map(len, shares)) == len(monitors)
        assert await Incident.all().count() == len(monitors)


class TestTransitions:
    async def test_the_first_success_counts_as_up_from_then_on(self) -> None:
        [monitor] = await make_due()
        await check(UP, NOON + MINUTE)
        assert await read_states(monitor) == [(NOON, "pending"), (NOON + MINUTE, "up")]
        assert await read_status(monitor) == ("up", NOON + MINUTE)

    async def test_a_check_that_changes_nothing_touches_no_monitor(self) -> None:
        [monitor] = await make_due()
        await check(UP)
        await Monitor.all().update(status="untouched")
        await CheckState.all().update(due_at=NOON + MINUTE)
        [claimed] = await claim_due(NOON + MINUTE, 10)
        as_before = found([claimed._replace(status="up")], UP, NOON + MINUTE)
        await store(as_before, NOON + MINUTE)
        assert (await read_status(monitor))[0] == "untouched"

    async def test_a_failure_is_validated_first_and_costs_nothing_if_it_passes(self) -> None:
        [monitor] = await make_due(failure_threshold=3)
        await check_every_minute([UP, DOWN, DOWN])
        assert await read_status(monitor) == ("validating", NOON + MINUTE)
        await check(UP, NOON + 3 * MINUTE)
        assert await read_status(monitor) == ("up", NOON + 3 * MINUTE)
        assert await read_states(monitor) == [(NOON, "up")]
        assert await Incident.all().count() == 0

    async def test_failures_in_a_row_open_one_incident_that_began_with_the_first(self) -> None:
        [monitor] = await make_due(failure_threshold=2)
        moments = await check_every_minute([UP, DOWN, DOWN, DOWN, DOWN])
        [incident] = await Incident.all()
        assert (incident.started_at, incident.confirmed_at) == (moments[1], moments[2])
        assert (incident.error, incident.error_message) == ("timeout", DOWN.message)
        assert (incident.monitor_id, incident.team_id) == (monitor.id, monitor.team_id)
        assert await read_status(monitor) == ("down", moments[2])
        assert await read_states(monitor) == [(moments[0], "up"), (moments[1], "down")]

    async def test_successes_in_a_row_resolve_it_at_the_first(self) -> None:
        [monitor] = await make_due(failure_threshold=1, recovery_threshold=2)
        moments = await check_every_minute([DOWN, UP, DOWN, UP, UP, UP])
        [incident] = await Incident.all()
        assert (incident.started_at, incident.resolved_at) == (moments[0], moments[3])
        assert incident.resolution == "recovered"
        assert await read_states(monitor) == [(moments[0], "down"), (moments[3], "up")]
        assert await read_status(monitor) == ("up", moments[4])

    async def test_an_outage_after_the_first_is_an_incident_of_its_own(self) -> None:
        await make_due(failure_threshold=1, recovery_threshold=1)
        await check_every_minute([DOWN, UP, DOWN])
        assert await Incident.filter(resolved_at=None).count() == 1
        assert await Incident.all().count() == 2

    async def test_blindness_counts_as_unknown_and_opens_nothing(self) -> None:
        [monitor] = await make_due(failure_threshold=2)
        moments = await check_every_minute([UP, DOWN, UNKNOWN, UNKNOWN, DOWN, UP])
        assert await Incident.all().count() == 0
        assert await read_states(monitor) == [
            (moments[0], "up"),
            (moments[2], "unknown"),
            (moments[4], "up"),
        ]
        results = await list_results(monitor.id, limit=10, outcome="unknown")
        assert [(result.error, result.response_time_ms) for result in results] == [(None, None)] * 2

    async def test_blindness_in_an_incident_neither_ends_it_nor_opens_another(self) -> None:
        await make_due(failure_threshold=1)
        await check_every_minute([DOWN, UNKNOWN, DOWN])
        [incident] = await Incident.all()
        assert incident.resolved_at is None

    async def test_time_in_which_nobody_looked_counts_as_unknown(self) -> None:
        [monitor] = await make_due(interval_seconds=INTERVAL)
        await check(UP, NOON)
        await check(UP, NOON + HOUR)
        seen_until = NOON + timedelta(seconds=INTERVAL) + GRACE
        assert await read_states(monitor) == [(NOON, "up"), (seen_until, "unknown"), (NOON + HOUR, "up")]

    async def test_a_monitor_that_is_slow_is_up_and_degraded(self) -> None:
        [monitor] = await make_due()
        await check_every_minute([UP, DEGRADED])
        assert await read_status(monitor) == ("degraded", NOON + MINUTE)
        assert await read_states(monitor) == [(NOON, "up")]

    async def test_a_check_is_no_edit_and_spoils_nobodys_if_match(self) -> None:
        [monitor] = await make_due(failure_threshold=1)
        await check_every_minute([UP, DOWN])
        stored = await Monitor.get(id=monitor.id)
        assert (stored.version, stored.updated_at) == (monitor.version, monitor.updated_at)


class TestIncidents:
    async def test_one_that_is_open_already_goes_on_and_is_told_to_nobody_again(self) -> None:
        """After a restore, a check state may know less than the incidents."""
        [monitor] = await make_due(failure_threshold=1, recovery_threshold=1)
        await create_channel(monitor.team_id, {"type": "webhook", "url": "https://hooks.example.com/"})
        await open_incident(
            monitor, started_at=NOON - HOUR, confirmed_at=NOON, error="timeout", error_message="No answer"
        )
        await check(DOWN)
        assert (await read_watch(monitor)).last_checked_at == NOON
        assert [each.started_at for each in await Incident.all()] == [NOON - HOUR]
        await check(UP, NOON + MINUTE)
        [incident] = await Incident.all()
        assert incident.resolved_at == NOON + MINUTE
        deliveries = await NotificationDelivery.all().order_by("id")
        assert [each.event for each in deliveries] == ["incident.opened", "incident.resolved"]

    async def test_are_told_to_the_teams_webhooks_once_each(self) -> None:
        [monitor] = await make_due(failure_threshold=1, recovery_threshold=1)
        await create_channel(monitor.team_id, {"type": "webhook", "url": "https://hooks.example.com/"})
        await check_every_minute([DOWN, DOWN, UP, UP])
        deliveries = await NotificationDelivery.all().order_by("id")
        assert [each.event for each in deliveries] == ["incident.opened", "incident.resolved"]

    async def test_of_a_large_outage_are_each_told_to_their_own_team(self) -> None:
        thresholds: dict[str, Any] = {"failure_threshold": 1, "recovery_threshold": 1}
        monitors = [*await make_due(20, **thresholds), *await make_due(20, **thresholds)]
        for team_id in {monitor.team_id for monitor in monitors}:
            for _ in range(2):
                await create_channel(team_id, {"type": "webhook", "url": "https://hooks.example.com/"})
        for finding, event in ((DOWN, "incident.opened"), (UP, "incident.resolved")):
            await CheckState.all().update(due_at=NOON, next_check_at=NOON)
            await store(found(await claim_due(NOON, 100), finding), NOON)
            told = await NotificationDelivery.filter(event=event).select_related("channel")
            assert sorted(_told(each) for each in told) == sorted(
                (monitor.team_id, str(monitor.id)) for monitor in monitors for _ in range(2)
            )

    async def test_of_a_large_outage_take_no_more_statements_than_one_does(
        self, own_log: pytest.LogCaptureFixture
    ) -> None:
        counts = []
        for size in (1, 30):
            monitors = await make_due(size, failure_threshold=1, recovery_threshold=1)
            await create_channel(
                monitors[0].team_id, {"type": "webhook", "url": "https://hooks.example.com/"}
            )
            counts.append([await self._count_statements(finding, own_log) for finding in (DOWN, UP)])
            await CheckState.all().update(due_at=None)
        assert counts == [[5, 6], [5, 6]]

    async def _count_statements(self, finding: Finding, own_log: pytest.LogCaptureFixture) -> int:
        """Store what every monitor's check found that is not at rest, and count what incidents took."""
        await CheckState.filter(due_at__isnull=False).update(due_at=NOON, next_check_at=NOON)
        outcomes = found(await claim_due(NOON, 100), finding)
        own_log.clear()
        with own_log.at_level(logging.DEBUG, "tortoise.db_client"):
            await store(outcomes, NOON)
        tables = ("incidents", "notification_channels", "notification_deliveries")
        return sum(any(table in message for table in tables) for message in own_log.messages)

    async def test_what_cannot_be_stored_leaves_nothing_of_the_batch_behind(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        _, other = await make_due(2, failure_threshold=1)

        async def refuse(_: object) -> list[UUID]:
            raise IntegrityError

        monkeypatch.setattr("monitoring.checks.storing.open_incidents", refuse)
        with pytest.raises(IntegrityError):
            await store(found(await claim_due(NOON, 10), DOWN), NOON)
        assert (await read_watch(other)).claim is not None
        assert await list_results(other.id, limit=10) == []


def _told(delivery: NotificationDelivery) -> tuple[UUID, str]:
    return delivery.channel.team_id, orjson.loads(delivery.payload)["data"]["monitor"]["id"]
