"""The form for a new API key, as it was sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from monitoring.app.sentences import REFUSALS
from monitoring.auth.names import is_name
from monitoring.auth.scopes import SCOPES

SCOPE_WORDS = {
    "monitors:read": (
        "Read",
        "See monitors, their checks, uptime and incidents, and notification channels with their deliveries.",
    ),
    "monitors:write": (
        "Change",
        "Create, change, pause, check and delete monitors and notification channels.",
    ),
    "articles:read": (
        "Read articles",
        "Read articles and their translations, if whoever runs the service lets your team.",
    ),
    "articles:write": (
        "Correct translations",
        "Correct translations segment by segment, if whoever runs the service lets your team.",
    ),
}
"""What each scope allows, in words: a title and a sentence."""


@dataclass(frozen=True, slots=True)
class KeyForm:
    """What was typed. `form_id` will be the key's id; `old` is the client_id of the key it replaces."""

    form_id: str
    name: str
    scopes: Sequence[str]
    old: str

    @property
    def scopes_in_order(self) -> list[str]:
        """The scopes in their usual order, without repetitions."""
        return [scope for scope in SCOPES if scope in self.scopes]

    def judge(self) -> dict[str, str]:
        """Return what is wrong, by field."""
        errors = {}
        if not is_name(self.name.strip()):
            errors["name"] = REFUSALS["name_invalid"]
        if not self.scopes:
            errors["scopes"] = REFUSALS["scope_missing"]
        elif set(self.scopes) - set(SCOPES):
            errors["scopes"] = REFUSALS["scope_unknown"]
        return errors
