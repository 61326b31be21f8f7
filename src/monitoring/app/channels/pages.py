"""Settings, notifications: the list of channels, a new one, changing, testing and deleting one."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID, uuid4

from starlette.responses import Response

from monitoring.app.channels import form as channel_form
from monitoring.app.channels.form import WHOLE_FORM, Ticked
from monitoring.app.channels.labels import EVENTS, SHORT_EVENTS, TYPES
from monitoring.app.channels.routing_form import (
    DELAYS,
    REMINDERS,
    describe_routing,
    with_present,
    write_routing,
)
from monitoring.app.live.fingerprints import Shown, Source
from monitoring.app.live.following import live
from monitoring.app.monitors.choices import offer_monitors
from monitoring.app.monitors.form_pages import MENDED_STATUSES
from monitoring.app.routing import for_members
from monitoring.app.sentences import REFUSALS
from monitoring.app.visits import Form, Visit, read_form_id
from monitoring.audit.actions import Action
from monitoring.audit.service import record
from monitoring.auth.limits import count_request
from monitoring.backends.database import transaction
from monitoring.contract.problems import Problem
from monitoring.idempotency.service import act_once
from monitoring.monitors.service import get_monitor
from monitoring.notifications import confirming, deliveries, service
from monitoring.notifications.channels.targets import demand_reachable
from monitoring.notifications.configuration import complete_routing, default_configuration
from monitoring.notifications.models import NotificationChannel, NotificationDelivery
from monitoring.notifications.routing import route_of
from monitoring.notifications.secrets import read_secret
from monitoring.notifications.tasks import nudge
from monitoring.web.replies import Reply

LIST = "/settings/notifications"


@dataclass(frozen=True, slots=True)
class Filled:
    """A form as it is shown: what was typed, and what is wrong with it, by field."""

    type: str
    texts: Mapping[str, str]
    ticked: Ticked
    form_id: str = ""
    errors: Mapping[str, str] = field(default_factory=dict)


async def show_channels(visit: Visit) -> Response:
    """List the team's channels, newest first. A team has so few that one page holds them."""
    page = await service.list_channels(visit.team.id, service.MAX_CHANNELS_A_TEAM, None)
    routes = {each.id: describe_routing(route_of(each).routing) for each in page.rows}
    return visit.render(
        "channels/list.html", channels=page.rows, types=TYPES, events=SHORT_EVENTS, routes=routes
    )


async def show_new_channel(visit: Visit) -> Response:
    """Ask for a type, and then for the fields of that type."""
    channel_type = visit.query.get("type", "")
    if channel_type not in TYPES:
        return visit.render("channels/choose.html", types=TYPES, sends_email=_sends_email(visit))
    events = default_configuration(channel_type)["events"]
    defaults = {each.name: each.default for each in channel_form.fields_of(channel_type)}
    defaults |= write_routing(complete_routing({})["routing"])
    return await _render_new(visit, Filled(channel_type, defaults, Ticked(events), str(uuid4())))


async def create_channel(visit: Visit) -> Response:
    """Create the channel. The same form sent again leads to the same channel."""
    form = await visit.read_form()
    channel_type, ticked = form.get("type", ""), _read_ticked(form)
    if channel_type not in TYPES:
        raise Problem("malformed_request")  # none of our forms says so
    form_id = str(read_form_id(form.get("form_id", "")))
    try:
        given = channel_form.read_form(channel_type, form, ticked)
        await demand_reachable(given)

        async def create() -> Reply:
            channel = await service.create_channel(visit.team.id, given, by=visit.actor)
            return Reply({"channel_id": str(channel.id)}, 201)

        reply = await act_once(visit.team.id, f"app-{form_id}", ("app", "create_channel", given), create)
    except Problem as problem:
        # The form already made a channel and says something else now. With a new id it makes another.
        is_spent = problem.name == "idempotency_key_reused"
        errors = (
            {WHOLE_FORM: REFUSALS["channel_form_spent"]}
            if is_spent
            else await _explain(visit, problem, channel_type, form)
        )
        shown = Filled(channel_type, form, ticked, str(uuid4()) if is_spent else form_id, errors)
        return await _render_new(visit, shown, _status_of(visit, problem))
    channel = await service.get_channel(visit.team.id, UUID(reply.json_value()["channel_id"]))
    secret = read_secret(channel) if channel.type == "webhook" else ""
    return visit.render("channels/created.html", channel=channel, secret=secret)


async def show_channel(visit: Visit) -> Response:
    """Show the form to change a channel. Its secrets are not shown."""
    channel = await _get_channel(visit)
    texts = channel_form.write_form(channel)
    ticked = Ticked(channel.events, route_of(channel).routing["monitor_ids"])
    return await _render_edit(visit, channel, Filled(channel.type, texts, ticked))


async def change_channel(visit: Visit) -> Response:
    """Change the channel as the form says."""
    form, channel = await visit.read_form(), await _get_channel(visit)
    ticked = _read_ticked(form)
    try:
        patch = channel_form.read_patch(channel.type, form, ticked)
        await demand_reachable(patch)
        await service.update_channel(visit.team.id, channel.id, patch, by=visit.actor)
    except Problem as problem:
        errors = await _explain(visit, problem, channel.type, form)
        shown = Filled(channel.type, form, ticked, errors=errors)
        return await _render_edit(visit, channel, shown, _status_of(visit, problem))
    return visit.redirect(LIST, notice="channel_updated")


async def test_channel(visit: Visit) -> Response:
    """Send a test, and show what came of it."""
    channel = await _get_channel(visit)
    delivery = await _wait_for_attempt(await _queue_test(visit, channel))
    return visit.render("channels/tested.html", channel=channel, delivery=delivery)


async def test_routes(visit: Visit) -> Response:
    """Send a test to every channel that is told of a monitor, and show what came of each."""
    monitor = await get_monitor(visit.team.id, visit.read_id("monitor_id"))
    told = await service.find_alerted_channels(visit.team.id, monitor.id)
    queued = [await _queue_test(visit, channel) for channel in told]
    tried = await asyncio.gather(*(_wait_for_attempt(delivery) for delivery in queued))
    return visit.render(
        "channels/tested_routes.html", monitor=monitor, tests=list(zip(told, tried, strict=True))
    )


async def ask_reader(visit: Visit) -> Response:
    """Have the link sent again that confirms an email address."""
    async with transaction():
        channel = await _get_channel(visit)
        if channel.enabled and channel.is_unconfirmed:
            await confirming.ask_reader(channel)
            await record(visit.team.id, visit.actor, Action.CHANNEL_ASKED, channel.name, channel.id)
    return visit.redirect(LIST, notice="channel_asked")


async def ask_to_delete(visit: Visit) -> Response:
    """Ask before deleting."""
    return visit.render("channels/delete.html", channel=await _get_channel(visit), types=TYPES)


async def delete_channel(visit: Visit) -> Response:
    """Delete the channel for good."""
    await service.delete_channel(visit.team.id, visit.read_id("channel_id"), by=visit.actor)
    return visit.redirect(LIST, notice="channel_deleted")


async def _get_channel(visit: Visit) -> NotificationChannel:
    return await service.get_channel(visit.team.id, visit.read_id("channel_id"))


def _sends_email(visit: Visit) -> bool:
    return visit.settings.email_from is not None


async def _queue_test(visit: Visit, channel: NotificationChannel) -> NotificationDelivery:
    """Queue a test, within the rate limit that the team's keys share."""
    await count_request(visit.request, visit.settings.rate_limit_notifications, str(visit.team.id))
    delivery = await deliveries.queue_test(visit.team.id, channel.id, by=visit.actor)
    await nudge([delivery.id])
    return delivery


async def _wait_for_attempt(delivery: NotificationDelivery) -> NotificationDelivery:
    return await deliveries.wait_for_attempt(delivery.id) or delivery


async def _explain(
    visit: Visit, problem: Problem, channel_type: str, form: Mapping[str, str]
) -> Mapping[str, str]:
    """Say by field what is wrong, the address included: it is judged last, so nobody has judged it yet."""
    if _status_of(visit, problem) not in MENDED_STATUSES:
        raise problem
    errors = channel_form.place_problem(problem, visit.catalogue, channel_type)
    try:
        await demand_reachable({"url": "" if "url" in errors else form.get("url", "").strip()})
    except Problem as refused:
        return errors | channel_form.place_problem(refused, visit.catalogue, channel_type)
    return errors


def _read_ticked(form: Form) -> Ticked:
    return Ticked(form.getlist("events"), form.getlist("routing_monitor_ids"))


def _status_of(visit: Visit, problem: Problem) -> int:
    return visit.catalogue.templates[problem.name].status


async def _render_new(visit: Visit, shown: Filled, status: int = 200) -> Response:
    title, hint = TYPES[shown.type]
    return await _render_form(visit, "channels/new.html", status, shown, title=title, hint=hint)


async def _render_edit(
    visit: Visit, channel: NotificationChannel, shown: Filled, status: int = 200
) -> Response:
    return await _render_form(visit, "channels/edit.html", status, shown, channel=channel)


async def _render_form(
    visit: Visit, template: str, status: int, shown: Filled, **context: object
) -> Response:
    return visit.render(
        template,
        status,
        asked=shown,
        fields=channel_form.fields_of(shown.type),
        events=EVENTS,
        offered=await offer_monitors(visit.team.id, shown.ticked.monitor_ids),
        delays=with_present(DELAYS, shown.texts.get("routing_delay_seconds", "")),
        reminders=with_present(REMINDERS, shown.texts.get("routing_reminder_interval_seconds", "")),
        **context,
    )


async def _name_sources(visit: Visit) -> list[Shown]:
    return [Shown(Source.CHANNELS, visit.team.id)]


ROUTES = (
    for_members(LIST, get=live(_name_sources, show_channels)),
    for_members(f"{LIST}/new", get=show_new_channel, post=create_channel),
    for_members(f"{LIST}/{{channel_id}}", get=show_channel, post=change_channel),
    for_members(f"{LIST}/{{channel_id}}/test", post=test_channel),
    for_members(f"{LIST}/{{channel_id}}/ask", post=ask_reader),
    for_members("/monitors/{monitor_id}/test-notifications", post=test_routes),
    for_members(f"{LIST}/{{channel_id}}/delete", get=ask_to_delete, post=delete_channel),
)
