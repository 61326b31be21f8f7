"""What the audit log's actions are called in plain words."""

from __future__ import annotations

from monitoring.audit.actions import Action

_DEEDS = {
    Action.TEAM_CREATED: "created the team",
    Action.PLAN_CHANGED: "moved the team to the plan",
    Action.MEMBER_INVITED: "invited",
    Action.INVITATION_WITHDRAWN: "withdrew the invitation of",
    Action.MEMBER_JOINED: "joined the team as",
    Action.MEMBER_REMOVED: "removed the member",
    Action.ROLE_CHANGED: "changed the role of",
    Action.RESET_CODE_MADE: "made a code for a new password of",
    Action.PASSWORD_CHANGED: "changed their password",
    Action.PASSWORD_RESET: "set a new password with a code",
    Action.SIGNED_IN: "signed in",
    Action.SIGNED_OUT: "signed out",
    Action.SIGNED_OUT_EVERYWHERE: "signed out everywhere",
    Action.KEY_CREATED: "created the API key",
    Action.KEY_REVOKED: "revoked the API key",
    Action.MONITOR_CREATED: "created the monitor",
    Action.MONITOR_UPDATED: "changed the monitor",
    Action.MONITOR_PAUSED: "paused the monitor",
    Action.MONITOR_RESUMED: "resumed the monitor",
    Action.MONITOR_DELETED: "deleted the monitor",
    Action.CHECK_REQUESTED: "asked for a check of the monitor",
    Action.TRANSLATIONS_RETRIED: "had translations retried of the article",
}


def tell_deed(action: str) -> str:
    """Say what was done, to be read between who did it and what it was about.

    An action that this version does not know, from before or after it, stands for itself.
    """
    return _DEEDS[Action(action)] if action in list(Action) else action
