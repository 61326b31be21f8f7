"""Planted faults in the code of checks, incidents and notifications."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import wraps
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from catchers import INCIDENTS, LISTS, SAYS, SENTENCES
from lies_in_the_code import UNVALIDATED, of_any_team
from monitoring.backends.current import current_backends
from monitoring.contract.problems import Problem
from monitoring.history.cursors import encode_moment
from monitoring.incidents.models import Incident
from monitoring.monitors.health import State
from monitoring.notifications.models import NotificationChannel
from planting import Lie
from seams import Seam, lying, refusing

if TYPE_CHECKING:
    from uuid import UUID

BREAKS_AND_HEALS = f"{INCIDENTS}::TestWatchedServer::test_breaks_and_heals_and_all_of_it_is_told"


def without_counting_checks(truth: Any) -> Any:
    @wraps(truth)
    async def lie(request: Any, policy: Any, *keys: Any) -> None:
        if policy != current_backends().settings.rate_limit_check_now:
            await truth(request, policy, *keys)

    return lie


def with_a_cursor_too_early(truth: Any) -> Any:
    @wraps(truth)
    def lie(results: Any, limit: int) -> Any:
        page = truth(results, limit)
        again = {"next_cursor": encode_moment(results[limit - 2].checked_at)} if page["next_cursor"] else {}
        return page | again

    return lie


def with_its_secret(truth: Any) -> Any:
    @wraps(truth)
    def lie(channel: NotificationChannel) -> Any:
        return {**truth(channel), "secret": channel.secret}

    return lie


def enabled_or_not(truth: Any) -> Any:
    @wraps(truth)
    async def lie(team_id: UUID, channel_id: UUID) -> Any:
        await NotificationChannel.filter(id=channel_id).update(enabled=True)
        return await truth(team_id, channel_id)

    return lie


ABOUT_CHECKS = [
    Lie(
        "A check that nobody will make is promised",
        (Seam("checks.request_check", refusing("monitor_paused", None)),),
        f"{SAYS}[check_monitor_now-monitor_paused]",
    ),
    Lie(
        "A team can ask for as many checks as it likes",
        (Seam("auth.count_request", without_counting_checks),),
        f"{SENTENCES}::test_a_team_that_asks_for_many_checks_is_told_when_to_come_back",
    ),
    Lie(
        "The last check of a page is the first of the next one",
        (Seam("history.represent_page", with_a_cursor_too_early),),
        f"{LISTS}::test_whoever_turns_the_pages_meets_every_row_once[list_checks]",
    ),
    Lie(
        "The end of a range is in it",
        (
            Seam(
                "history.list_results",
                lying(asked=lambda given: {"end": given["end"] and given["end"] + timedelta(microseconds=1)}),
            ),
        ),
        f"{LISTS}::test_a_filter_leaves_out_what_it_does_not_say[list_checks-to-{{newest_moment}}]",
    ),
    Lie(
        "Uptime is a percentage, and answers are not validated",
        (
            UNVALIDATED,
            Seam(
                "history.represent_uptime", lying(answered=lambda uptime: {**uptime, "uptime_ratio": 100.0})
            ),
        ),
        BREAKS_AND_HEALS,
    ),
    Lie(
        "Pending time is up",
        (
            Seam(
                "history.Timeline.go_on",
                lying(
                    asked=lambda given: {
                        "changes": [
                            (moment, State.UP if state == State.PENDING else state)
                            for moment, state in given["changes"]
                        ]
                    }
                ),
            ),
        ),
        BREAKS_AND_HEALS,
    ),
    Lie(
        "One failure is enough",
        (Seam("monitors.observe", lying(asked=lambda _: {"failure_threshold": 1})),),
        BREAKS_AND_HEALS,
    ),
    Lie(
        "An incident begins when it is certain",
        (
            Seam(
                "incidents.open_incidents",
                lying(
                    asked=lambda given: {
                        "openings": [
                            replace(opening, started_at=opening.confirmed_at) for opening in given["openings"]
                        ]
                    }
                ),
            ),
        ),
        BREAKS_AND_HEALS,
    ),
    Lie(
        "Another team's incident can be read",
        (Seam("incidents.service.get_incident", of_any_team(Incident)),),
        f"{INCIDENTS}::TestIncident::test_is_not_there_for_another_team",
    ),
    Lie(
        "A state of incidents filters nothing",
        (Seam("incidents.service.list_incidents", lying(asked=lambda _: {"state": None})),),
        f"{LISTS}::test_a_filter_finds_what_it_says[list_incidents-state-open]",
    ),
    Lie(
        "Another team's channel can be read",
        (Seam("notifications.get_channel", of_any_team(NotificationChannel)),),
        f"{INCIDENTS}::TestNotificationChannel::test_is_not_there_for_another_team",
    ),
    Lie(
        "A webhook's secret is told again, and answers are not validated",
        (UNVALIDATED, Seam("notifications.represent_channel", with_its_secret)),
        f"{INCIDENTS}::TestNotificationChannel::test_tells_its_secret_once",
    ),
    Lie(
        "A team can have one channel more",
        (Seam("notifications.service.MAX_CHANNELS_A_TEAM", lambda limit: limit + 1),),
        f"{SAYS}[create_notification_channel-notification_channel_limit_reached]",
    ),
    Lie(
        "A test is promised to a channel that is disabled",
        (Seam("notifications.queue_test", enabled_or_not),),
        f"{SAYS}[test_notification_channel-notification_channel_disabled]",
    ),
    Lie(
        "A delivery that is not there is called a channel",
        (
            Seam(
                "notifications.redeliver",
                refusing("notification_delivery_not_found", Problem("notification_channel_not_found")),
            ),
        ),
        f"{SAYS}[redeliver_notification-notification_delivery_not_found]",
    ),
    Lie(
        "What is sent again is another message",
        (Seam("notifications.sign", lying(asked=lambda _: {"message_id": uuid4()})),),
        f"{INCIDENTS}::TestNotificationChannel::test_lives_until_it_is_deleted",
    ),
    Lie(
        "Notifications are signed with a secret that nobody was told",
        (Seam("notifications.sign", lying(asked=lambda given: {"secret": given["secret"][:-4] + "AAA="})),),
        f"{INCIDENTS}::TestNotificationChannel::test_lives_until_it_is_deleted",
    ),
]
