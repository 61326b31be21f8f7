"""Lies in the code of checks, incidents and notifications."""

from __future__ import annotations

from catchers import INCIDENTS, LISTS, SAYS, SENTENCES
from planting import Edit, Lie

SRC = "src/monitoring"

UNVALIDATED = Edit(
    f"{SRC}/contract/endpoint.py", "self._responses.check(reply, reply_headers(scope))", "pass"
)
BREAKS_AND_HEALS = f"{INCIDENTS}::TestWatchedServer::test_breaks_and_heals_and_all_of_it_is_told"

ABOUT_CHECKS = [
    Lie(
        "A check that nobody will make is promised",
        (Edit(f"{SRC}/checks/requests.py", 'raise Problem("monitor_paused")', "return"),),
        f"{SAYS}[check_monitor_now-monitor_paused]",
        "202 is not 409",
    ),
    Lie(
        "A team can ask for as many checks as it likes",
        (
            Edit(
                f"{SRC}/checks/handlers.py",
                "    await count_request(request, current_backends().settings.rate_limit_check_now, "
                "str(caller.team_id))\n",
                "",
            ),
        ),
        f"{SENTENCES}::test_a_team_that_asks_for_many_checks_is_told_when_to_come_back",
        "202 is not 429",
    ),
    Lie(
        "The last check of a page is the first of the next one",
        (Edit(f"{SRC}/checks/representations.py", "page[-1].checked_at", "page[-2].checked_at"),),
        f"{LISTS}::test_whoever_turns_the_pages_meets_every_row_once[list_checks]",
        "AssertionError",
    ),
    Lie(
        "The end of a range is in it",
        (Edit(f"{SRC}/checks/results.py", '"checked_at <"', '"checked_at <="'),),
        f"{LISTS}::test_a_filter_leaves_out_what_it_does_not_say[list_checks-to-{{newest_moment}}]",
        "AssertionError",
    ),
    Lie(
        "Uptime is a percentage, and answers are not validated",
        (UNVALIDATED, Edit(f"{SRC}/checks/timeline.py", "self.up_seconds / counted_seconds", "100.0")),
        BREAKS_AND_HEALS,
        "100.0 is greater than the maximum of 1",
    ),
    Lie(
        "Pending time is up",
        (
            Edit(
                f"{SRC}/checks/timeline.py",
                "up_seconds=sums[State.UP] / 1_000_000",
                "up_seconds=(sums[State.UP] + sums[State.PENDING]) / 1_000_000",
            ),
        ),
        BREAKS_AND_HEALS,
        "AssertionError",
    ),
    Lie(
        "One failure is enough",
        (Edit(f"{SRC}/monitors/health.py", "if is_contrary and streak < threshold:", "if False:"),),
        BREAKS_AND_HEALS,
        "'down' != 'validating'",
    ),
    Lie(
        "An incident begins when it is certain",
        (
            Edit(
                f"{SRC}/checks/storing.py",
                "started_at=observation.opened_at,",
                "started_at=result.checked_at,",
            ),
        ),
        BREAKS_AND_HEALS,
        "AssertionError",
    ),
    Lie(
        "Another team's incident can be read",
        (
            Edit(
                f"{SRC}/incidents/service.py",
                "Incident.get_or_none(id=incident_id, team_id=team_id)",
                "Incident.get_or_none(id=incident_id)",
            ),
        ),
        f"{INCIDENTS}::TestIncident::test_is_not_there_for_another_team",
        "assert 200 == 404",
    ),
    Lie(
        "A state of incidents filters nothing",
        (Edit(f"{SRC}/incidents/service.py", "    if state:\n", "    if not team_id:\n"),),
        f"{LISTS}::test_a_filter_finds_what_it_says[list_incidents-state-open]",
        "AssertionError",
    ),
    Lie(
        "Another team's webhook can be read",
        (
            Edit(
                f"{SRC}/notifications/service.py",
                "await NotificationWebhook.get_or_none(id=webhook_id, team_id=team_id)",
                "await NotificationWebhook.get_or_none(id=webhook_id)",
            ),
        ),
        f"{INCIDENTS}::TestNotificationWebhook::test_is_not_there_for_another_team",
        "{200, 404}",
    ),
    Lie(
        "A webhook's secret is told again, and answers are not validated",
        (
            UNVALIDATED,
            Edit(
                f"{SRC}/notifications/representations.py",
                "        **configuration_of(webhook),\n",
                '        **configuration_of(webhook),\n        "secret": webhook.secret,\n',
            ),
        ),
        f"{INCIDENTS}::TestNotificationWebhook::test_tells_its_secret_once",
        "('secret' was unexpected)",
    ),
    Lie(
        "A team can have one webhook more",
        (Edit(f"{SRC}/notifications/service.py", ">= MAX_WEBHOOKS_A_TEAM", "> MAX_WEBHOOKS_A_TEAM"),),
        f"{SAYS}[create_notification_webhook-notification_webhook_limit_reached]",
        "201 is not 409",
    ),
    Lie(
        "A test is promised to a webhook that is disabled",
        (
            Edit(
                f"{SRC}/notifications/deliveries.py", "    if not webhook.enabled:", "    if not webhook_id:"
            ),
        ),
        f"{SAYS}[test_notification_webhook-notification_webhook_disabled]",
        "202 is not 409",
    ),
    Lie(
        "A delivery that is not there is called a webhook",
        (
            Edit(
                f"{SRC}/notifications/deliveries.py",
                'raise Problem("notification_delivery_not_found")',
                'raise Problem("notification_webhook_not_found")',
            ),
        ),
        f"{SAYS}[redeliver_notification-notification_delivery_not_found]",
        "'Notification webhook not found' does not match '^Notification delivery not found$'",
    ),
    Lie(
        "What is sent again is another message",
        (
            Edit(
                f"{SRC}/notifications/signing.py",
                '"webhook-id": str(message_id)',
                '"webhook-id": str(attempted_at)',
            ),
            Edit(f"{SRC}/notifications/signing.py", ".sign(str(message_id), ", ".sign(str(attempted_at), "),
        ),
        f"{INCIDENTS}::TestNotificationWebhook::test_lives_until_it_is_deleted",
        "AssertionError",
    ),
    Lie(
        "Notifications are signed with a secret that nobody was told",
        (Edit(f"{SRC}/notifications/signing.py", "Webhook(secret)", "Webhook(generate_secret())"),),
        f"{INCIDENTS}::TestNotificationWebhook::test_lives_until_it_is_deleted",
        "No matching signature found",
    ),
]
