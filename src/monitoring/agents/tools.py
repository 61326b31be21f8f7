"""The tools and their descriptions for models. Each tool is an operation of the document, with its name.

Descriptions are short, because a model reads all of them. Articles are omitted: they belong to no team.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Purpose:
    """A tool's description and properties.

    `is_destructive` is set if the tool removes something, or stops alerts that people rely on. If another
    tool describes the same fields, `fields_as` is its name, and this tool only lists them.
    """

    description: str
    is_destructive: bool = False
    fields_as: str | None = None


# By `operationId`.
PURPOSES: Mapping[str, Purpose] = {
    "list_monitors": Purpose(
        "List the team's monitors with their present status. Start here: other tools need a monitor's id. "
        "`status=down` finds what is broken now."
    ),
    "get_monitor": Purpose("Get a monitor's configuration, status and last error."),
    "create_monitor": Purpose(
        "Begin to watch something. Give `url`, or `type: heartbeat` with `heartbeat`. Everything else has a "
        "default. Look with list_monitors first whether it is watched already."
    ),
    "update_monitor": Purpose(
        "Change fields of a monitor, which create_monitor describes. What you leave out stays, and null "
        "restores the default. `paused: true` stops its checks.",
        is_destructive=True,
        fields_as="create_monitor",
    ),
    "delete_monitor": Purpose("Delete a monitor with its history. Pausing is gentler.", is_destructive=True),
    "mute_monitor": Purpose(
        "Send nobody a message about a monitor, for `duration_seconds` or until it is unmuted. Checks go on.",
        is_destructive=True,
    ),
    "unmute_monitor": Purpose("Send messages about a monitor again."),
    "check_monitor_now": Purpose(
        "Have a monitor checked at once. The result is in list_checks some seconds later. Tightly limited."
    ),
    "list_checks": Purpose("List single checks of a monitor, newest first: outcome, times, error."),
    "get_uptime": Purpose("Get how much of a time a monitor was up, and its downtime. By default 30 days."),
    "get_response_times": Purpose("Get a monitor's response times (ms). By default the last 24 hours."),
    "list_pings": Purpose("List the pings of a monitor of type heartbeat, newest first."),
    "list_incidents": Purpose(
        "List incidents, newest first. `state=open` finds those that last. Each says what failed since when."
    ),
    "get_incident": Purpose("Get an incident: its cause, its times and who acknowledged it."),
    "acknowledge_incident": Purpose(
        "Acknowledge an open incident. It ends reminders and what waits for nobody to "
        "have acknowledged, so do it only if you are asked to.",
        is_destructive=True,
    ),
    "list_incident_notes": Purpose("List what was noted about an incident."),
    "create_incident_note": Purpose("Write a note about an incident, for people to read."),
    "list_maintenance_windows": Purpose("List maintenance windows: when failures alert nobody."),
    "create_maintenance_window": Purpose(
        "Start or plan maintenance, during which monitors alert nobody: those of `monitor_ids` and `tags`, "
        "or all of the team if you name none.",
        is_destructive=True,
    ),
    "update_maintenance_window": Purpose(
        "Change a maintenance window, by the fields of create_maintenance_window. What you leave out stays.",
        is_destructive=True,
        fields_as="create_maintenance_window",
    ),
    "delete_maintenance_window": Purpose("Delete a maintenance window.", is_destructive=True),
    "end_maintenance_window": Purpose("End maintenance that is going on. Alerts are sent again."),
    "list_notification_channels": Purpose(
        "List where the team is alerted. With `monitor_id`, only where an incident of it would be told."
    ),
    "create_notification_channel": Purpose(
        "Add a place to be alerted at. Needs `type` and the fields of that type. Secrets are shown once."
    ),
    "update_notification_channel": Purpose(
        "Change a channel, by the fields of create_notification_channel. Name its own `type`. What you leave "
        "out stays. `enabled: false` turns it off.",
        is_destructive=True,
        fields_as="create_notification_channel",
    ),
    "delete_notification_channel": Purpose("Delete a channel with its log.", is_destructive=True),
    "test_notification_channel": Purpose("Send a real test message to a channel, and see what came of it."),
    "examine_notification_channel": Purpose(
        "Examine the server behind a channel of type webhook: sends it seven test messages, good and forged, "
        "and says what its answers mean. Takes up to half a minute."
    ),
    "list_notification_deliveries": Purpose(
        "List what was sent to a channel and how its receiver answered, newest first."
    ),
}
