"""The settings pages that list, create, change, test and delete notification channels."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from http import HTTPStatus
from uuid import UUID

from starlette.responses import Response

from monitoring.app.channels import form as channel_form
from monitoring.app.channels.form import ChannelForm
from monitoring.app.channels.labels import EVENTS, SHORT_EVENTS, TYPES
from monitoring.app.channels.routing_form import (
    DELAYS,
    REMINDERS,
    describe_routing,
)
from monitoring.app.form_fields import include_present
from monitoring.app.forms import FIXABLE_STATUSES, EditForm, create_once
from monitoring.app.live.fingerprints import Shown, Source
from monitoring.app.live.following import live
from monitoring.app.monitors.choices import list_monitor_choices
from monitoring.app.routing import for_members
from monitoring.app.visits import Form, Visit
from monitoring.audit.actions import Action
from monitoring.audit.service import record
from monitoring.auth.limits import count_request
from monitoring.backends.database import transaction
from monitoring.contract.document import Json
from monitoring.contract.problems import Problem
from monitoring.monitors.service import get_monitor
from monitoring.notifications import confirming, deliveries, service
from monitoring.notifications.alert_coverage import find_alerted_channels
from monitoring.notifications.channels.protocol import AttemptResult
from monitoring.notifications.channels.targets import demand_reachable
from monitoring.notifications.models import WEBHOOK, NotificationChannel, NotificationDelivery
from monitoring.notifications.routing import route_of
from monitoring.notifications.secrets import read_secret
from monitoring.notifications.tasks import nudge
from monitoring.notifications.unsaved_channels import try_channel

LIST = "/settings/notifications"


async def show_channels(visit: Visit) -> Response:
    """List the team's channels, newest first. At most `MAX_CHANNELS_A_TEAM` exist, so one page is enough."""
    page = await service.list_channels(visit.team.id, service.MAX_CHANNELS_A_TEAM, None)
    routes = {each.id: describe_routing(route_of(each).routing) for each in page.rows}
    return visit.render(
        "channels/list.html", channels=page.rows, types=TYPES, events=SHORT_EVENTS, routes=routes
    )


class ChannelForms(EditForm[ChannelForm, NotificationChannel]):
    """The form for a channel, whose fields depend on the channel's type.

    The form's *Send a test* button sends a test with the typed settings and shows the outcome, but saves
    nothing.
    """

    path = f"{LIST}/new"
    new_template = "channels/new.html"
    edit_template = "channels/edit.html"
    fixable = FIXABLE_STATUSES | {HTTPStatus.TOO_MANY_REQUESTS}  # tests have a rate limit
    spent = "channel_form_spent"

    async def show_new(self, visit: Visit) -> Response:
        """Show the form of the channel type in the query. Without a known type, list all types."""
        if visit.query.get("type") not in TYPES:
            return visit.render("channels/choose.html", types=TYPES, sends_email=_sends_email(visit))
        return await super().show_new(visit)

    async def blank(self, visit: Visit) -> ChannelForm:
        """Return a form with the defaults of the channel type in the query."""
        return channel_form.write_new_form(visit.query["type"])

    def echo(self, form: Form) -> ChannelForm:
        """Return the submitted values. Raises Problem for an unknown type."""
        channel_type = form.get("type", "")
        if channel_type not in TYPES:
            raise Problem("malformed_request")
        return _echo(form, channel_type)

    def echo_edit(self, form: Form, row: NotificationChannel) -> ChannelForm:
        """Return the submitted values. A channel's type never changes."""
        return _echo(form, row.type)

    async def make(self, visit: Visit, typed: ChannelForm, form_id: UUID) -> Response:
        """Create the channel. If *Send a test* was pressed, only send a test.

        The secret of a new webhook is shown once. If the form is resubmitted, it is not shown again.
        """
        given = channel_form.read_form(typed)
        await demand_reachable(visit.team.id, given)
        if (await visit.read_form()).get("try"):
            tried = await _try(visit, given)
            return await self.render_new(visit, typed, form_id, tried=tried, is_kept=True)

        async def create() -> UUID:
            return (await service.create_channel(visit.team.id, given, by=visit.actor)).id

        created = await create_once(visit, form_id, ("create_channel", given), create)
        channel = await service.get_channel(visit.team.id, created.id)
        secret = read_secret(channel) if channel.type == WEBHOOK and created.is_new else ""
        return visit.render(
            "channels/created.html", channel=channel, secret=secret, is_repeated=not created.is_new
        )

    async def find(self, visit: Visit) -> NotificationChannel:
        """Return the channel that the URL names. Raises Problem if it does not exist."""
        return await _get_channel(visit)

    def write(self, row: NotificationChannel) -> ChannelForm:
        """Return a channel's form, without its secrets."""
        return channel_form.write_form(row)

    async def save(self, visit: Visit, row: NotificationChannel, typed: ChannelForm) -> Response:
        """Change the channel. If *Send a test* was pressed, only send a test."""
        patch = channel_form.read_patch(typed)
        await demand_reachable(visit.team.id, patch)
        if (await visit.read_form()).get("try"):
            tried = await _try(visit, patch, row.id)
            return await self.render_edit(visit, row, typed, tried=tried, is_kept=True)
        await service.update_channel(visit.team.id, row.id, patch, by=visit.actor)
        return visit.redirect(LIST, notice="channel_updated")

    async def explain(self, visit: Visit, problem: Problem, typed: ChannelForm) -> dict[str, str]:
        """Return the errors by field.

        The URL is also checked here, because `make` and `save` do not check it if another field is invalid.
        """
        errors = channel_form.place_problem(problem, visit.catalogue, typed.type)
        try:
            url = "" if "url" in errors else typed.texts.get("url", "").strip()
            await demand_reachable(visit.team.id, {"url": url})
        except Problem as refused:
            return errors | channel_form.place_problem(refused, visit.catalogue, typed.type)
        return errors

    async def context(self, visit: Visit, typed: ChannelForm) -> dict[str, object]:
        """Return the templates' variables: the type's name and hint, its fields, and their options."""
        title, hint = TYPES[typed.type]
        return {
            "title": title,
            "hint": hint,
            "fields": channel_form.fields_of(typed.type),
            "tried": None,
            "events": EVENTS,
            "offered": await list_monitor_choices(visit.team.id, typed.monitor_ids),
            "delays": include_present(DELAYS, typed.texts.get("routing_delay_seconds", "")),
            "reminders": include_present(REMINDERS, typed.texts.get("routing_reminder_interval_seconds", "")),
        }

    def query(self, _: Visit, typed: ChannelForm) -> dict[str, str]:
        """Return the query parameter that names the channel type."""
        return {"type": typed.type}


async def test_channel(visit: Visit) -> Response:
    """Send a test to the channel, and show its outcome."""
    channel = await _get_channel(visit)
    delivery = await _wait_for_attempt(await _queue_test(visit, channel))
    return visit.render("channels/tested.html", channel=channel, delivery=delivery)


async def test_routes(visit: Visit) -> Response:
    """Send a test to every channel that gets alerts about a monitor, and show the outcomes."""
    monitor = await get_monitor(visit.team.id, visit.read_id("monitor_id"))
    told = await find_alerted_channels(visit.team.id, monitor.id)
    queued = [await _queue_test(visit, channel) for channel in told]
    tried = await asyncio.gather(*(_wait_for_attempt(delivery) for delivery in queued))
    return visit.render(
        "channels/tested_routes.html", monitor=monitor, tests=list(zip(told, tried, strict=True))
    )


async def ask_reader(visit: Visit) -> Response:
    """Send an email channel's confirmation link again, if the channel is enabled and unconfirmed."""
    async with transaction():
        channel = await _get_channel(visit)
        if channel.enabled and channel.is_unconfirmed:
            await confirming.ask_reader(channel)
            await record(visit.team.id, visit.actor, Action.CHANNEL_ASKED, channel.name, channel.id)
    return visit.redirect(LIST, notice="channel_asked")


async def ask_to_delete(visit: Visit) -> Response:
    """Ask for confirmation before deleting a channel."""
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
    """Queue a test. It counts against the team's rate limit for notifications."""
    await count_request(visit.request, visit.settings.rate_limit_notifications, str(visit.team.id))
    delivery = await deliveries.queue_test(visit.team.id, channel.id, by=visit.actor)
    await nudge([delivery.id])
    return delivery


async def _try(visit: Visit, given: Mapping[str, Json], channel_id: UUID | None = None) -> AttemptResult:
    """Send a test with the typed settings. It counts against the team's rate limit for notifications."""
    await count_request(visit.request, visit.settings.rate_limit_notifications, str(visit.team.id))
    return await try_channel(visit.team.id, given, channel_id, by=visit.actor)


async def _wait_for_attempt(delivery: NotificationDelivery) -> NotificationDelivery:
    return await deliveries.wait_for_attempt(delivery.id) or delivery


def _echo(form: Form, channel_type: str) -> ChannelForm:
    return ChannelForm(channel_type, form, form.getlist("events"), form.getlist("routing_monitor_ids"))


async def _name_sources(visit: Visit) -> list[Shown]:
    return [Shown(Source.CHANNELS, visit.team.id)]


FORMS = ChannelForms()

ROUTES = (
    for_members(LIST, get=live(_name_sources, show_channels)),
    for_members(FORMS.path, get=FORMS.show_new, post=FORMS.create),
    for_members(f"{LIST}/{{channel_id}}", get=FORMS.show_edit, post=FORMS.change),
    for_members(f"{LIST}/{{channel_id}}/test", post=test_channel),
    for_members(f"{LIST}/{{channel_id}}/ask", post=ask_reader),
    for_members("/monitors/{monitor_id}/test-notifications", post=test_routes),
    for_members(f"{LIST}/{{channel_id}}/delete", get=ask_to_delete, post=delete_channel),
)
