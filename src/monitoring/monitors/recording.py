"""Records changes to monitors in the audit log, in the caller's transaction."""

from __future__ import annotations

from collections.abc import Mapping

from monitoring.audit.actions import Action
from monitoring.audit.actors import Actor
from monitoring.audit.changes import find_changed_fields, find_changes
from monitoring.audit.models import AuditEntry
from monitoring.audit.service import make_entry, record
from monitoring.backends.encryption import MASK
from monitoring.contract.document import Json
from monitoring.monitors.configuration import Configuration
from monitoring.monitors.contracts.keeping import conceal_contract
from monitoring.monitors.models import Monitor
from monitoring.monitors.request_headers import show_headers


async def record_act(monitor: Monitor, action: Action, by: Actor | None) -> None:
    """Record an action on a monitor in the audit log. Without an actor (`by`), do nothing."""
    if by:
        await record(monitor.team_id, by, action, monitor.name, monitor.id)


def entries_of(monitor: Monitor, action: Action, by: Actor | None) -> list[AuditEntry]:
    """Return a list with the entry that `record_act` would insert, or an empty list without an actor."""
    return [make_entry(monitor.team_id, by, action, monitor.name, monitor.id)] if by else []


async def record_change(
    monitor: Monitor, before: Configuration, after: Configuration, by: Actor | None
) -> None:
    """Record in the audit log how a monitor's configuration changed. Without an actor, do nothing.

    Both configurations must contain the real credentials, not masks.
    """
    if by is None:
        return
    changed = find_changed_fields(before, after)
    if changed == {"paused"}:
        action = Action.MONITOR_PAUSED if after["paused"] else Action.MONITOR_RESUMED
        await record_act(monitor, action, by)
        return
    changes = find_changes(_show(before), _show(after), renewed=changed)
    await record(monitor.team_id, by, Action.MONITOR_UPDATED, monitor.name, monitor.id, changes)


def name_changed_fields(before: Configuration, after: Configuration) -> list[str]:
    """Return the dotted names of the changed fields, sorted.

    Both configurations must contain the real credentials, not masks. If only the contract's document has
    changed, the field `contract` counts as changed.
    """
    old, new = ({**each, "contract": conceal_contract(each["contract"])} for each in (before, after))
    changed = find_changed_fields(old, new)
    if before["contract"] != after["contract"] and not any(name.startswith("contract") for name in changed):
        changed.add("contract")
    return sorted(changed)


def _show(configuration: Configuration) -> Mapping[str, Json]:
    """Return a configuration for the audit log. Credentials and the data that checks send are masked.

    The data is masked because it may contain passwords and tokens, and the audit log is permanent.
    """
    hidden = {name: MASK if configuration[name] else None for name in ("request_body", "client_certificate")}
    headers = show_headers(configuration["request_headers"])
    contract = conceal_contract(configuration["contract"])
    shown = {**configuration, **hidden, "request_headers": headers, "contract": contract}
    settings = configuration.get(configuration["type"], {})
    return {**shown, configuration["type"]: {**settings, "send": MASK}} if settings.get("send") else shown
