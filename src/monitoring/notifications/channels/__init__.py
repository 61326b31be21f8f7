"""The notification channel types. Each type has its own module, and is registered here."""

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
from monitoring.notifications.channels.account_emails import AccountEmail, send_account_email
from monitoring.notifications.channels.labels import label_monitor, list_facts
from monitoring.notifications.channels.services import ProviderChannel
from monitoring.notifications.channels.webhook_exam import examine

if TYPE_CHECKING:
    from monitoring.notifications.channels.protocol import Channel

__all__ = ["CHANNELS", "AccountEmail", "examine", "label_monitor", "list_facts", "send_account_email"]

# By channel `type`, as in the OpenAPI document.
CHANNELS: Mapping[str, Channel] = {
    "webhook": webhook,
    "slack": ProviderChannel("Slack", slack.write, slack.HOSTS),
    "discord": ProviderChannel("Discord", discord.write, discord.HOSTS),
    "microsoft_teams": ProviderChannel("Microsoft Teams", microsoft_teams.write, microsoft_teams.HOSTS),
    "google_chat": ProviderChannel("Google Chat", google_chat.write, google_chat.HOSTS),
    "mattermost": ProviderChannel("Mattermost", mattermost.write),
    "telegram": ProviderChannel("Telegram", telegram.write, telegram.HOSTS),
    "pagerduty": ProviderChannel("PagerDuty", pagerduty.write, pagerduty.HOSTS),
    "opsgenie": ProviderChannel("Opsgenie", opsgenie.write, opsgenie.HOSTS),
    "email": mail,
    "ntfy": ProviderChannel("ntfy", ntfy.write, ntfy.HOSTS),
    "pushover": ProviderChannel("Pushover", pushover.write, pushover.HOSTS),
    "custom": ProviderChannel("The server", custom.write),
}
