"""A team's possessions: every row that a page could change, and every address that names one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from starlette.routing import Match, Route

from browser.acme.articles import MARKED
from monitoring.app.application import SUBJECTS
from monitoring.app.rendering import ROOT
from monitoring.articles.models import Translation
from monitoring.audit.models import AuditEntry
from monitoring.auth.models import ApiKey
from monitoring.backends.fields import uuid7
from monitoring.incidents.models import Incident, IncidentNote
from monitoring.members.models import Invitation, Session, User
from monitoring.monitors.maintenance.models import MaintenanceWindow
from monitoring.monitors.models import Monitor, PendingDeletion
from monitoring.notifications.models import Mute, NotificationChannel, NotificationDelivery

if TYPE_CHECKING:
    from uuid import UUID

    from browser.acme.team import Acme

_PARAMETER = re.compile(r"\{(\w+)[^}]*\}")


def list_addresses(method: str) -> list[str]:
    """Return the paths, without /app, of all pages that take a method; ids are in braces."""
    return sorted({route.path.removeprefix(ROOT) for route in _routes() if method in (route.methods or ())})


def list_pages() -> list[str]:
    """Return the addresses that a browser shows. It saves the others as files."""
    return [address for address in list_addresses("GET") if not address.endswith(".csv")]


def find_address(method: str, path: str) -> str | None:
    """Return the address of `list_addresses` that matches a path."""
    scope = {"type": "http", "method": method, "path": ROOT + path.partition("?")[0]}
    found = (route for route in _routes() if route.matches(scope)[0] == Match.FULL)
    return next((route.path.removeprefix(ROOT) for route in found), None)


def has_id(path: str) -> bool:
    return _PARAMETER.search(path) is not None


def fill_in(path: str, ids: dict[str, object]) -> str:
    """Put ids into a path. Raises KeyError for an unknown parameter."""
    return _PARAMETER.sub(lambda found: str(ids[found[1]]), path)


def find_ids(acme: Acme) -> dict[str, object]:
    """Return the ids for paths, by the names of their parameters."""
    return {
        "monitor_id": acme.monitors["up"],
        "deletion_id": uuid7(),  # nothing is being deleted
        "article_id": acme.articles["failed"],
        "locale": "es",
        "segment_id": MARKED,
        "delivery_id": acme.delivery_id,
        "channel_id": acme.channels["chat"],
        "window_id": acme.windows["active"],
        "incident_id": acme.incidents["open"],
        "client_id": acme.keys["deploy"],
        "session_id": acme.session_id,
        "user_id": acme.member.user.id,
        "invitation_id": acme.invited.invitation.id,
    }


def _routes() -> list[Route]:
    return [route for subject in SUBJECTS for route in subject.ROUTES]


async def look_at_what_is_stored(team_id: UUID) -> list[Any]:
    """Return everything stored that requests could change and background tasks do not."""
    rows: list[list[Any]] = [
        await Monitor.filter(team_id=team_id).order_by("id").values_list("id", "version", "name", "paused"),
        await PendingDeletion.filter(team_id=team_id).order_by("id").values_list("id"),
        await Mute.filter(team_id=team_id).order_by("id").values_list("id"),
        await ApiKey.filter(team_id=team_id).order_by("id").values_list("id", "name", "revoked_at"),
        await User.filter(team_id=team_id).order_by("id").values_list("id", "role", "name", "password_hash"),
        await Invitation.filter(team_id=team_id).order_by("id").values_list("id", "code_sha256"),
        await Session.filter(user__team_id=team_id).order_by("id").values_list("id", "expires_at"),
        await AuditEntry.filter(team_id=team_id).order_by("id").values_list("id", "action"),
        await Incident.filter(team_id=team_id).order_by("id").values_list("id", "acknowledged_at"),
        await IncidentNote.filter(incident__team_id=team_id).order_by("id").values_list("id"),
        await MaintenanceWindow.filter(team_id=team_id).order_by("id").values_list("id", "name", "ended_at"),
        await NotificationChannel.filter(team_id=team_id).order_by("id").values_list("id", "enabled"),
        await NotificationDelivery.filter(channel__team_id=team_id).order_by("id").values_list("id"),
        await Translation.all().order_by("id").values_list("id", "status", "attempts"),
    ]
    return rows
