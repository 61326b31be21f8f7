"""The tools and their descriptions for models. Each tool calls the API operation of the same name.

Descriptions are short, because a model reads all of them. There are no tools for articles, because articles
belong to no team.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Purpose:
    """A tool's description and properties.

    `is_destructive` is set if the tool removes something, or stops alerts that people rely on. `fields_as`
    names another tool that describes the same fields, so that this tool lists them without descriptions.
    """

    description: str
    is_destructive: bool = False
    fields_as: str | None = None


# The tools by `operationId`.
PURPOSES: Mapping[str, Purpose] = {
    "list_monitors": Purpose(
        "List the team's monitors with their current status. Start here: other tools need a monitor's "
        "id. `status=down` returns the monitors that are down."
    ),
    "get_monitor": Purpose("Get a monitor's configuration, status and last error."),
    "create_monitor": Purpose(
        "Create a monitor. Give `url`, or `type: heartbeat` with `heartbeat`. Everything else has a "
        "default. First use list_monitors to find out whether such a monitor exists already."
    ),
    "update_monitor": Purpose(
        "Change fields of a monitor; create_monitor describes them. Fields that you leave out keep "
        "their values, and null restores the default. `paused: true` stops its checks.",
        is_destructive=True,
        fields_as="create_monitor",
    ),
    "delete_monitor": Purpose(
        "Delete a monitor with its history. To keep the history, pause the monitor instead.",
        is_destructive=True,
    ),
    "mute_monitor": Purpose(
        "Stop notifications about a monitor for `duration_seconds`, or until it is unmuted. Checks continue.",
        is_destructive=True,
    ),
    "unmute_monitor": Purpose("Resume notifications about a monitor."),
    "check_monitor_now": Purpose(
        "Check a monitor now. The result is in list_checks some seconds later. The rate limit is low."
    ),
    "list_checks": Purpose(
        "List the individual checks of a monitor, newest first, with outcome, times and error."
    ),
    "get_uptime": Purpose("Get a monitor's uptime and downtime in a period, by default the last 30 days."),
    "get_response_times": Purpose(
        "Get a monitor's response times in milliseconds, by default of the last 24 hours."
    ),
    "list_pings": Purpose("List the pings of a monitor of type heartbeat, newest first."),
    "list_incidents": Purpose(
        "List incidents, newest first. `state=open` returns those that have not ended. Each says what "
        "failed, and since when."
    ),
    "get_incident": Purpose("Get an incident: its cause, its times and who acknowledged it."),
    "acknowledge_incident": Purpose(
        "Acknowledge an open incident. This stops its reminders, and cancels delayed alerts that are "
        "sent only if nobody acknowledges it. Do it only if you are asked to.",
        is_destructive=True,
    ),
    "list_incident_notes": Purpose("List the notes about an incident."),
    "create_incident_note": Purpose("Add a note about an incident, for people to read."),
    "list_maintenance_windows": Purpose("List maintenance windows: periods in which failures alert nobody."),
    "create_maintenance_window": Purpose(
        "Start or plan maintenance, during which the affected monitors alert nobody. These are the "
        "monitors of `monitor_ids` and those with one of `tags`, or all of the team's if you name none.",
        is_destructive=True,
    ),
    "update_maintenance_window": Purpose(
        "Change fields of a maintenance window; create_maintenance_window describes them. Fields that "
        "you leave out keep their values.",
        is_destructive=True,
        fields_as="create_maintenance_window",
    ),
    "delete_maintenance_window": Purpose("Delete a maintenance window.", is_destructive=True),
    "end_maintenance_window": Purpose("End maintenance that is in progress. Alerts are sent again."),
    "list_notification_channels": Purpose(
        "List the team's notification channels. With `monitor_id`, only those that would be notified "
        "of an incident of this monitor."
    ),
    "create_notification_channel": Purpose(
        "Create a notification channel. Needs `type` and the fields of that type. Secrets are shown once."
    ),
    "update_notification_channel": Purpose(
        "Change fields of a channel; create_notification_channel describes them. Give the `type` that "
        "the channel has. Fields that you leave out keep their values. `enabled: false` turns the "
        "channel off.",
        is_destructive=True,
        fields_as="create_notification_channel",
    ),
    "delete_notification_channel": Purpose(
        "Delete a channel with its log of deliveries.", is_destructive=True
    ),
    "test_notification_channel": Purpose("Send a real test message to a channel, and return the result."),
    "examine_notification_channel": Purpose(
        "Examine the server of a channel of type webhook: send it seven test messages, valid and "
        "forged, and explain its responses. Takes up to half a minute."
    ),
    "list_notification_deliveries": Purpose(
        "List the messages that were sent to a channel, newest first, with the receiver's responses."
    ),
}
