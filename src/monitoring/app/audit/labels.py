"""Labels for the actions and fields of the audit log."""

from __future__ import annotations

from monitoring.app.formatting import capitalize
from monitoring.app.monitors.labels import LABELS
from monitoring.audit.actions import Action

KINDS = {
    "": "everything",
    "monitor": "monitors",
    "incident": "incidents",
    "channel": "notification channels",
    "maintenance": "maintenance",
    "article": "articles",
    "key": "API keys",
    "member": "members",
    "invitation": "withdrawn invitations",
    "password": "passwords",
    "session": "signing in and out",
    "team": "the team and its plan",
}
"""Titles of the kinds of entries, by the part of an action before its dot."""

_WORDS = {
    Action.TEAM_CREATED: "created the team",
    Action.PLAN_CHANGED: "moved the team to the plan",
    Action.MEMBER_INVITED: "invited",
    Action.INVITATION_WITHDRAWN: "withdrew the invitation of",
    Action.MEMBER_JOINED: "joined the team as",
    Action.MEMBER_REMOVED: "removed the member",
    Action.ROLE_CHANGED: "changed the role of",
    Action.RESET_CODE_MADE: "created a code for a new password of",
    Action.NAME_CHANGED: "changed the name of",
    Action.PASSWORD_CHANGED: "changed their password",
    Action.PASSWORD_RESET: "set a new password with a code",
    Action.PASSWORD_LINK_ASKED: "asked by email for a new password of",
    Action.PASSWORD_RESET_BY_LINK: "set a new password with a link by email",
    Action.SIGNED_IN: "signed in",
    Action.SIGN_IN_REFUSED: "tried a wrong password for",
    Action.SIGN_IN_LIMITED: "used up the attempts to sign in as",
    Action.SIGNED_OUT: "signed out",
    Action.SESSION_ENDED: "signed out another browser",
    Action.SIGNED_OUT_EVERYWHERE: "signed out everywhere",
    Action.KEY_CREATED: "created the API key",
    Action.KEY_REVOKED: "revoked the API key",
    Action.MONITOR_CREATED: "created the monitor",
    Action.MONITOR_UPDATED: "changed the monitor",
    Action.MONITOR_PAUSED: "paused the monitor",
    Action.MONITOR_RESUMED: "resumed the monitor",
    Action.MONITOR_DELETED: "deleted the monitor",
    Action.MONITOR_KEPT: "undid the deletion of the monitor",
    Action.MONITOR_MUTED: "muted the monitor",
    Action.MONITOR_UNMUTED: "unmuted the monitor",
    Action.PING_URL_RENEWED: "renewed the ping URL of the monitor",
    Action.INCIDENT_ACKNOWLEDGED: "acknowledged an incident of",
    Action.INCIDENT_NOTED: "wrote a note about an incident of",
    Action.INCIDENT_TOLD: "sent the alert about an incident of",
    Action.CHANNEL_CREATED: "created the notification channel",
    Action.CHANNEL_UPDATED: "changed the notification channel",
    Action.CHANNEL_TESTED: "tested the notification channel",
    Action.CHANNEL_EXAMINED: "had the receiver of the notification channel examined",
    Action.CHANNEL_DELETED: "deleted the notification channel",
    Action.CHANNEL_SENT_AGAIN: "sent a notification again to the channel",
    Action.MAINTENANCE_CREATED: "started or planned the maintenance",
    Action.MAINTENANCE_UPDATED: "changed the maintenance",
    Action.MAINTENANCE_ENDED: "ended the maintenance",
    Action.MAINTENANCE_DELETED: "deleted the maintenance",
    Action.CHANNEL_ASKED: "asked the reader to confirm the notification channel",
    Action.CHANNEL_CONFIRMED: "confirmed the notification channel",
    Action.CHANNEL_UNSUBSCRIBED: "unsubscribed from the notification channel",
    Action.INCIDENT_MADE: "asked for an incident of the monitor",
    Action.SANDBOX_RESET: "emptied the sandbox",
    Action.CHECK_REQUESTED: "requested a check of the monitor",
    Action.TRANSLATIONS_RETRIED: "retried translations of the article",
    Action.TRANSLATION_CORRECTED: "corrected a translation of the article",
    Action.ARTICLE_RETRANSLATED: "had the article translated again",
    Action.ARTICLE_PUBLISHED: "republished the article",
    Action.ARTICLE_UNPUBLISHED: "unpublished the article",
    Action.ARTICLE_DELETED: "deleted the article",
}

# Fields that contain header names, which are shown unchanged because users choose them.
_HEADERS = ("request_headers", "headers")


def name_field(name: str) -> str:
    """Return a field's label, such as `Interval in seconds`, `Request headers: Accept` or `Routing: tags`."""
    if name in LABELS:
        return LABELS[name]
    whole, dot, part = name.partition(".")
    if whole not in _HEADERS:
        part = part.replace(".", ": ").replace("_", " ")
    label = LABELS.get(whole) or capitalize(whole.replace("_", " "))
    return f"{label}: {part}" if dot else label


def describe_action(action: str, subject: str = "") -> str:
    """Return the words to show between an action's actor and subject, such as "changed the role of".

    Without a subject, a final "of" is dropped. An unknown action, which a different release recorded, is
    returned unchanged.
    """
    words = _WORDS[Action(action)] if action in list(Action) else action
    return words if subject else words.removesuffix(" of")
