"""The actions that the audit log records."""

from __future__ import annotations

from enum import StrEnum


class Action(StrEnum):
    """One name for each kind of action. The names are stored: add new ones, but rename none."""

    TEAM_CREATED = "team.created"
    PLAN_CHANGED = "team.plan_changed"
    MEMBER_INVITED = "member.invited"
    INVITATION_WITHDRAWN = "invitation.withdrawn"
    MEMBER_JOINED = "member.joined"
    MEMBER_REMOVED = "member.removed"
    ROLE_CHANGED = "member.role_changed"
    RESET_CODE_MADE = "member.reset_code_made"
    PASSWORD_CHANGED = "password.changed"  # noqa: S105 - what was done
    PASSWORD_RESET = "password.reset"  # noqa: S105 - what was done
    PASSWORD_LINK_ASKED = "password.link_asked"  # noqa: S105 - what was done
    PASSWORD_RESET_BY_LINK = "password.reset_by_link"  # noqa: S105 - what was done
    SIGNED_IN = "session.signed_in"
    SIGN_IN_REFUSED = "session.sign_in_refused"
    SIGN_IN_LIMITED = "session.sign_in_limited"
    SIGNED_OUT = "session.signed_out"
    SESSION_ENDED = "session.ended"
    SIGNED_OUT_EVERYWHERE = "session.signed_out_everywhere"
    KEY_CREATED = "key.created"
    KEY_REVOKED = "key.revoked"
    MONITOR_CREATED = "monitor.created"
    MONITOR_UPDATED = "monitor.updated"
    MONITOR_PAUSED = "monitor.paused"
    MONITOR_RESUMED = "monitor.resumed"
    MONITOR_DELETED = "monitor.deleted"
    MONITOR_KEPT = "monitor.kept"
    MONITOR_MUTED = "monitor.muted"
    MONITOR_UNMUTED = "monitor.unmuted"
    PING_URL_RENEWED = "monitor.ping_url_renewed"
    CHECK_REQUESTED = "monitor.check_requested"
    INCIDENT_ACKNOWLEDGED = "incident.acknowledged"
    INCIDENT_NOTED = "incident.noted"
    INCIDENT_TOLD = "incident.told"
    INCIDENT_MADE = "incident.made"
    CHANNEL_CREATED = "channel.created"
    CHANNEL_UPDATED = "channel.updated"
    CHANNEL_TESTED = "channel.tested"
    CHANNEL_EXAMINED = "channel.examined"
    CHANNEL_DELETED = "channel.deleted"
    CHANNEL_SENT_AGAIN = "channel.sent_again"
    MAINTENANCE_CREATED = "maintenance.created"
    MAINTENANCE_UPDATED = "maintenance.updated"
    MAINTENANCE_ENDED = "maintenance.ended"
    MAINTENANCE_DELETED = "maintenance.deleted"
    CHANNEL_ASKED = "channel.asked"
    CHANNEL_CONFIRMED = "channel.confirmed"
    CHANNEL_UNSUBSCRIBED = "channel.unsubscribed"
    TRANSLATIONS_RETRIED = "article.translations_retried"
    ARTICLE_RETRANSLATED = "article.retranslated"
    TRANSLATION_CORRECTED = "article.translation_corrected"
    ARTICLE_PUBLISHED = "article.published"
    ARTICLE_UNPUBLISHED = "article.unpublished"
    ARTICLE_DELETED = "article.deleted"
    SANDBOX_RESET = "sandbox.reset"
