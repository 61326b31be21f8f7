"""Operations on notification channels for clients. Each function is one transaction.

Functions with an actor (`by`) record the action in the audit log.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

import orjson

from monitoring.audit.actions import Action
from monitoring.audit.actors import Actor
from monitoring.audit.changes import find_changed_fields, find_changes
from monitoring.auth.models import Team
from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.backends.encryption import UndecryptableError
from monitoring.backends.pages import Page, read_page
from monitoring.by_key.placing import Conditions, Placed, demand_free_key, place
from monitoring.contract.configurations import change, complete, merge
from monitoring.contract.document import Json
from monitoring.contract.entity_tags import is_current, version_of
from monitoring.contract.problems import Problem
from monitoring.notifications.channels import CHANNELS
from monitoring.notifications.configuration import (
    Configuration,
    columns_of,
    complete_routing,
    configuration_of,
    default_configuration,
    required_fields,
    secret_fields,
)
from monitoring.notifications.confirming import ask_reader
from monitoring.notifications.deliveries import end_waiting_deliveries
from monitoring.notifications.models import EMAIL, NotificationChannel
from monitoring.notifications.quiet_hours import check_quiet_hours
from monitoring.notifications.recording import record_act
from monitoring.notifications.secrets import mask_secrets, read_secrets, store_secrets

MAX_CHANNELS_A_TEAM = 20

# The maximum size of a custom channel's body. The size limit on API requests has the same default, but does
# not suffice, because several merge patches can build a body that exceeds it.
MAX_BODY_BYTES = 1_048_576


@dataclass(frozen=True, slots=True)
class ChannelChange:
    """A channel's configuration before and after a change, and the secrets that changed."""

    before: Configuration
    after: Configuration
    renewed: Mapping[str, Json]


async def list_channels(team_id: UUID, limit: int, after_id: UUID | None) -> Page[NotificationChannel]:
    """Return a page of up to `limit` of a team's channels, newest first, starting after `after_id`."""
    return await read_page(NotificationChannel.filter(team_id=team_id), limit, after_id)


async def create_channel(
    team_id: UUID, given: Mapping[str, Json], *, by: Actor | None = None, key: str | None = None
) -> NotificationChannel:
    """Create a channel. If it is an email channel, ask the address's reader to confirm it.

    Raises Problem if the team has too many channels, or if an email channel needs a mail server and none is
    configured.
    """
    if given["type"] == EMAIL and current_backends().settings.email_from is None:
        raise Problem("email_not_configured")
    channel = compose_channel(team_id, given)
    async with transaction():
        # The lock is held while counting and inserting. Concurrent calls therefore cannot exceed the limit,
        # and ids are in the order of commits.
        await Team.lock(team_id)
        if await NotificationChannel.filter(team_id=team_id).count() >= MAX_CHANNELS_A_TEAM:
            raise Problem("notification_channel_limit_reached")
        channel.key = key
        channel.created_at = channel.updated_at = datetime.now(UTC)
        await channel.save(force_create=True)
        if channel.enabled and channel.is_unconfirmed:
            await ask_reader(channel)
        await record_act(channel, Action.CHANNEL_CREATED, by)
        return channel


def compose_channel(team_id: UUID, given: Mapping[str, Json]) -> NotificationChannel:
    """Return a new, unsaved channel. Raises Problem if the time zone of its quiet hours is unknown."""
    kind = CHANNELS[given["type"]]
    configuration = complete(given, default_configuration(given["type"]), kind.default_name)
    configuration = complete_routing(configuration)
    check_quiet_hours(configuration["routing"])
    return NotificationChannel(
        team_id=team_id,
        secret=kind.make_secret(_secrets_in(given)),
        **columns_of(mask_secrets(configuration)),
    )


async def get_channel(team_id: UUID, channel_id: UUID) -> NotificationChannel:
    """Return a team's channel. Raises Problem if the team has no such channel."""
    return _existing(await NotificationChannel.get_or_none(id=channel_id, team_id=team_id))


async def update_channel(
    team_id: UUID,
    channel_id: UUID,
    patch: Mapping[str, Json],
    if_match: str | None = None,
    *,
    by: Actor | None = None,
) -> NotificationChannel:
    """Apply a merge patch to a channel. A patch that changes nothing leaves `updated_at` unchanged.

    If the patch disables the channel, its pending deliveries fail. If the patch enables it, `disabled_reason`
    is cleared. The reader of a new email address is asked to confirm it. Raises Problem if the patch is for
    another channel type, makes the body too large or contains an unknown time zone. Also raises Problem if
    the key is taken, if the channel is missing, or if `if_match` is outdated.
    """
    patch = dict(patch)
    async with transaction():
        if "key" in patch:
            await Team.lock(team_id)
        channel = await _lock_channel(team_id, channel_id, if_match)
        key = patch.pop("key", channel.key)
        changed = change_channel(channel, patch)
        await demand_free_key(channel, key)
        await _store_change(channel, key, changed, by)
        return channel


async def put_channel(
    team_id: UUID, key: str, given: Mapping[str, Json], conditions: Conditions, *, by: Actor | None = None
) -> Placed[NotificationChannel]:
    """Create the channel with this key, or replace its configuration.

    Omitted fields get their defaults. Omitted fields without a default, such as secrets, stay unchanged.
    Raises Problem as `create_channel` and `update_channel` do, and if a new channel lacks a required field.
    """
    given = merge({}, dict(given))  # removes null fields, which mean the default

    async def create() -> NotificationChannel:
        for name in required_fields(given["type"]):
            if name not in given:
                raise Problem("notification_channel_incomplete", field=name)
        return await create_channel(team_id, given, by=by, key=key)

    async def replace(channel_id: UUID) -> tuple[NotificationChannel, Collection[str]]:
        channel = await _lock_channel(team_id, channel_id, conditions.if_match)
        _demand_type(channel, given)
        kind, defaults = CHANNELS[channel.type], default_configuration(channel.type)
        before = configuration_of(channel)
        kept = {name: value for name, value in before.items() if name not in {*defaults, "name", "routing"}}
        changed = complete({**kept, **given}, defaults, kind.default_name)
        return channel, await _store_change(
            channel, key, _configure(channel, changed, _secrets_in(given)), by
        )

    return await place(
        NotificationChannel,
        team_id,
        key,
        conditions,
        create=create,
        replace=replace,
        exists=Problem("notification_channel_exists"),
        changed=Problem("notification_channel_changed"),
    )


def change_channel(channel: NotificationChannel, patch: Mapping[str, Json]) -> ChannelChange:
    """Apply a merge patch to a channel without saving it.

    Raises Problem if the patch is for another channel type, makes the body too large or contains an unknown
    time zone.
    """
    _demand_type(channel, patch)
    kind, defaults = CHANNELS[channel.type], default_configuration(channel.type)
    changed = change(configuration_of(channel), patch, defaults, kind.default_name)
    return _configure(channel, changed, _secrets_in(patch))


def _configure(
    channel: NotificationChannel, changed: Configuration, secrets: Mapping[str, Json]
) -> ChannelChange:
    before = configuration_of(channel)
    changed = mask_secrets(complete_routing(changed))
    after = {name: changed.get(name) for name in before}
    check_quiet_hours(changed["routing"])
    if len(orjson.dumps(after.get("body"))) > MAX_BODY_BYTES:
        raise Problem("notification_channel_body_too_large")
    renewed = secrets if _renew_secrets(channel, secrets) else {}
    channel.update_from_dict(columns_of(after))
    return ChannelChange(before, after, renewed)


async def _store_change(
    channel: NotificationChannel, key: str | None, changed: ChannelChange, by: Actor | None
) -> Collection[str]:
    """Save a changed channel and its key, unless nothing changed. Return the names of the changed fields."""
    before, after, renewed = changed.before, changed.after, changed.renewed
    if not renewed and after == before and key == channel.key:
        return ()
    old_key, channel.key = channel.key, key
    has_new_reader = after.get("address") != before.get("address")
    if has_new_reader:
        channel.confirmed_at = None
    if channel.enabled:
        channel.disabled_reason = None
    elif before["enabled"]:
        await end_waiting_deliveries(channel.id)
    channel.updated_at = datetime.now(UTC)
    await channel.save()
    is_to_be_asked = channel.enabled and (has_new_reader or not before["enabled"])
    if is_to_be_asked and channel.is_unconfirmed:
        await ask_reader(channel)
    changes = find_changes({**before, "key": old_key}, {**after, "key": key}, renewed=renewed)
    await record_act(channel, Action.CHANNEL_UPDATED, by, changes)
    return sorted(find_changed_fields(before, after).union(renewed))


async def delete_channel(
    team_id: UUID, channel_id: UUID, if_match: str | None = None, *, by: Actor | None = None
) -> None:
    """Delete a channel and its deliveries.

    Raises Problem if the channel is missing, or if `if_match` is outdated.
    """
    async with transaction():
        channel = await _lock_channel(team_id, channel_id, if_match)
        await channel.delete()
        await record_act(channel, Action.CHANNEL_DELETED, by)


async def _lock_channel(team_id: UUID, channel_id: UUID, if_match: str | None) -> NotificationChannel:
    """Lock a channel's row until the transaction ends, and return the channel.

    Raises Problem if the channel is missing, or if `if_match` is outdated.
    """
    locked = NotificationChannel.select_for_update(no_key=True)
    channel = _existing(await locked.get_or_none(id=channel_id, team_id=team_id))
    if not is_current(if_match, version_of(channel.updated_at)):
        raise Problem("notification_channel_changed")
    return channel


def _demand_type(channel: NotificationChannel, given: Mapping[str, Json]) -> None:
    if given["type"] != channel.type:
        raise Problem("notification_channel_type_fixed")


def _existing(channel: NotificationChannel | None) -> NotificationChannel:
    if channel is None:
        raise Problem("notification_channel_not_found")
    return channel


def _secrets_in(given: Mapping[str, Json]) -> dict[str, Json]:
    return {name: given[name] for name in secret_fields(given["type"]) if name in given}


def _renew_secrets(channel: NotificationChannel, given: Mapping[str, Json]) -> bool:
    """Merge `given` into the channel's stored secrets, and return whether any secret changed.

    Stored secrets that cannot be decrypted are replaced.
    """
    if not given:
        return False
    try:
        stored = read_secrets(channel)
    except UndecryptableError:
        stored = {}
    renewed = merge(stored, dict(given))
    channel.secret = store_secrets(renewed)
    return bool(renewed != stored)
