"""Acme, a team with something to see on every page."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from browser.acme.articles import deliver_articles
from browser.acme.channels import find_email_token, make_channels, make_delivery
from browser.acme.incidents import answer_incidents, find_acknowledge_token
from browser.acme.maintenance import make_maintenance
from browser.acme.monitors import make_monitors
from browser.acme.people import (
    Member,
    join,
    make_keys,
    make_password_token,
    make_people,
    tell_what_was_done,
)
from monitoring.auth.service import create_team
from monitoring.members.models import Role
from monitoring.members.sessions import list_sessions
from monitoring.notifications.email_links import write_confirmation_link, write_unsubscribe_link

if TYPE_CHECKING:
    from uuid import UUID

    from monitoring.auth.models import Team
    from monitoring.members.invitations import Invited
    from running_service import RunningService

TEAM_NAME = "Acme"


@dataclass(frozen=True, slots=True)
class Acme:
    """The team, people who can sign in, working codes, and ids by what they show.

    `keys` are client ids. The newcomer owns a team that has nothing yet.
    """

    team: Team
    owner: Member
    member: Member
    newcomer: Member
    invited: Invited
    reset: Invited
    keys: dict[str, str]
    key_ids: dict[str, UUID]
    monitors: dict[str, UUID]
    articles: dict[str, str]
    channels: dict[str, UUID]
    incidents: dict[str, UUID]
    acknowledge_token: str
    windows: dict[str, UUID]
    confirmation_token: str
    unsubscribe_token: str
    password_token: str
    session_id: UUID
    delivery_id: UUID


def form_acme(service: RunningService) -> Acme:
    """Make the team. It sees articles if the service's ARTICLE_TEAMS names it."""
    articles = deliver_articles(service)

    async def form() -> Acme:
        team = await create_team(TEAM_NAME, "team", 100)
        monitors = await make_monitors(team, datetime.now(UTC))
        owner, member, invited, reset = await make_people(team)
        keys = await make_keys(team, owner)
        await tell_what_was_done(team, owner, member, monitors)
        channels = await make_channels(team)
        incidents = await answer_incidents(team, owner, member)
        return Acme(
            team=team,
            owner=owner,
            member=member,
            newcomer=await join(await create_team("Newcomers", "free", 10), Role.OWNER, name="Nina Novak"),
            invited=invited,
            reset=reset,
            keys={shows: key.client_id for shows, key in keys.items()},
            key_ids={shows: key.id for shows, key in keys.items()},
            monitors=monitors,
            articles=articles,
            channels=channels,
            incidents=incidents,
            acknowledge_token=await find_acknowledge_token(incidents["open"]),
            windows=await make_maintenance(team, monitors, datetime.now(UTC)),
            confirmation_token=await find_email_token(write_confirmation_link, channels["waits"]),
            delivery_id=await make_delivery(team, channels["chat"]),
            session_id=(await list_sessions(owner.user.id))[-1].id,
            password_token=await make_password_token(member),
            unsubscribe_token=await find_email_token(write_unsubscribe_link, channels["mailbox"]),
        )

    return service.run(form())
