"""Channels: the ways in which notifications leave. Each is one file, registered here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from monitoring.notifications.channels import (
    custom,
    discord,
    google_chat,
    mail,
    mattermost,
    microsoft_teams,
    ntfy,
    opsgenie,
    pagerduty,
    pushover,
    slack,
    telegram,
    webhook,
)
from monitoring.notifications.channels.letters import Letter, send_letter
from monitoring.notifications.channels.services import Service

if TYPE_CHECKING:
    from monitoring.notifications.channels.protocol import Channel

__all__ = ["CHANNELS", "Letter", "send_letter"]

# By the `type` of the document.
CHANNELS: Mapping[str, Channel] = {
    "webhook": webhook,
    "slack": Service("Slack", slack.write, slack.HOSTS),
    "discord": Service("Discord", discord.write, discord.HOSTS),
    "microsoft_teams": Service("Microsoft Teams", microsoft_teams.write, microsoft_teams.HOSTS),
    "google_chat": Service("Google Chat", google_chat.write, google_chat.HOSTS),
    "mattermost": Service("Mattermost", mattermost.write),
    "telegram": Service("Telegram", telegram.write, telegram.HOSTS),
    "pagerduty": Service("PagerDuty", pagerduty.write, pagerduty.HOSTS),
    "opsgenie": Service("Opsgenie", opsgenie.write, opsgenie.HOSTS),
    "email": mail,
    "ntfy": Service("ntfy", ntfy.write, ntfy.HOSTS),
    "pushover": Service("Pushover", pushover.write, pushover.HOSTS),
    "custom": Service("The server", custom.write),
}
