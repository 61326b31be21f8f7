"""Settings, notifications: the list of channels, a new one, its test, and deleting one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

from monitoring.app import channel_form
from monitoring.app.channel_form import WHOLE_FORM
from monitoring.app.channel_words import EVENTS, TYPES
from monitoring.app.pages.monitor_forms import MENDED_STATUSES
from monitoring.app.routing import for_members
from monitoring.app.sentences import REFUSALS
from monitoring.app.visits import read_form_id
from monitoring.audit.actions import Action
from monitoring.audit.service import record
from monitoring.auth.limits import count_request
from monitoring.backends.database import transaction
from monitoring.contract.problems import Problem
from monitoring.contract.replies import Reply
from monitoring.idempotency.service import act_once
from monitoring.notifications import deliveries, service
from monitoring.notifications.configuration import default_configuration
from monitoring.notifications.handlers import TEST_PATIENCE
from monitoring.notifications.secrets import read_secret
from monitoring.notifications.tasks import nudge

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.responses import Response

    from monitoring.app.visits import Visit
    from monitoring.notifications.models import NotificationChannel

LIST = "/settings/notifications"


@dataclass(frozen=True, slots=True)
class Shown:
    """A form for a new channel, as it is shown: what was typed, and what is wrong with it, by field."""

    type: str
    texts: Mapping[str, str]
    events: Sequence[str]
    form_id: str
    errors: Mapping[str, str] = field(default_factory=dict)


async def show_channels(visit: Visit) -> Response:
    """List the team's channels, newest first. A team has so few that one page holds them."""
    page = await service.list_channels(visit.team.id, service.MAX_CHANNELS_A_TEAM, None)
    return visit.render("channels/list.html", channels=page.rows, types=TYPES, events=EVENTS)


async def show_new_channel(visit: Visit) -> Response:
    """Ask for a type, and then for the fields of that type."""
    channel_type = visit.query.get("type", "")
    if channel_type not in TYPES:
        return visit.render("channels/choose.html", types=TYPES)
    events = default_configuration(channel_type)["events"]
    defaults = {each.name: each.default for each in channel_form.fields_of(channel_type)}
    return _render_new(visit, Shown(channel_type, defaults, events, str(uuid4())))


async def create_channel(visit: Visit) -> Response:
    """Create the channel. The same form sent again leads to the same channel."""
    form = await visit.read_form()
    channel_type, events = form.get("type", ""), form.getlist("events")
    if channel_type not in TYPES:
        raise Problem("malformed_request")  # none of our forms says so
    form_id = str(read_form_id(form.get("form_id", "")))
    try:
        given = channel_form.read_form(channel_type, form, events)

        async def create() -> Reply:
            channel = await service.create_channel(visit.team.id, given)
            await record(visit.team.id, visit.actor, Action.CHANNEL_CREATED, channel.name, channel.id)
            return Reply({"channel_id": str(channel.id)}, 201)

        reply = await act_once(visit.team.id, f"app-{form_id}", ("app", "create_channel", given), create)
    except Problem as problem:
        # The form already made a channel and says something else now. With a new id it makes another.
        is_spent = problem.name == "idempotency_key_reused"
        errors = (
            {WHOLE_FORM: REFUSALS["channel_form_spent"]}
            if is_spent
            else _explain(visit, problem, channel_type)
        )
        shown = Shown(channel_type, form, events, str(uuid4()) if is_spent else form_id, errors)
        return _render_new(visit, shown, _status_of(visit, problem))
    channel = await service.get_channel(visit.team.id, UUID(reply.json_value()["channel_id"]))
    secret = read_secret(channel) if channel.type == "webhook" else ""
    return visit.render("channels/created.html", channel=channel, secret=secret)


async def test_channel(visit: Visit) -> Response:
    """Send a test, within the rate limit that the team's keys share, and show what came of it."""
    await count_request(visit.request, visit.settings.rate_limit_notifications, str(visit.team.id))
    async with transaction():
        channel = await _get_channel(visit)
        delivery = await deliveries.queue_test(visit.team.id, channel.id)
        await record(visit.team.id, visit.actor, Action.CHANNEL_TESTED, channel.name, channel.id)
    await nudge([delivery.id])
    tried = await deliveries.wait_for_attempt(delivery.id, TEST_PATIENCE)
    return visit.render("channels/tested.html", channel=channel, delivery=tried or delivery)


async def ask_to_delete(visit: Visit) -> Response:
    """Ask before deleting."""
    return visit.render("channels/delete.html", channel=await _get_channel(visit), types=TYPES)


async def delete_channel(visit: Visit) -> Response:
    """Delete the channel for good."""
    async with transaction():
        channel = await _get_channel(visit)
        await service.delete_channel(visit.team.id, channel.id)
        await record(visit.team.id, visit.actor, Action.CHANNEL_DELETED, channel.name, channel.id)
    return visit.redirect(LIST, notice="channel_deleted")


async def _get_channel(visit: Visit) -> NotificationChannel:
    return await service.get_channel(visit.team.id, visit.read_id("channel_id"))


def _explain(visit: Visit, problem: Problem, channel_type: str) -> Mapping[str, str]:
    if _status_of(visit, problem) not in MENDED_STATUSES:
        raise problem
    return channel_form.place_problem(problem, visit.catalogue, channel_type)


def _status_of(visit: Visit, problem: Problem) -> int:
    return visit.catalogue.templates[problem.name].status


def _render_new(visit: Visit, shown: Shown, status: int = 200) -> Response:
    title, hint = TYPES[shown.type]
    fields = channel_form.fields_of(shown.type)
    return visit.render(
        "channels/new.html", status, asked=shown, title=title, hint=hint, fields=fields, events=EVENTS
    )


ROUTES = (
    for_members(LIST, get=show_channels),
    for_members(f"{LIST}/new", get=show_new_channel, post=create_channel),
    for_members(f"{LIST}/{{channel_id}}/test", post=test_channel),
    for_members(f"{LIST}/{{channel_id}}/delete", get=ask_to_delete, post=delete_channel),
)
