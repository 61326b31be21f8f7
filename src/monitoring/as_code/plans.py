"""Compares a file with a team's resources, and plans the changes that make the resources match the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from monitoring.as_code.client import Client
from monitoring.as_code.files import Wanted
from monitoring.as_code.kinds import CHANNELS, KINDS, WINDOWS, Kind, defaults_of, secrets_of
from monitoring.audit.changes import flatten
from monitoring.backends.encryption import MASK

Actual = dict[str, dict[str, Any]]  # resources by id


@dataclass(frozen=True, slots=True)
class Difference:
    """A field of a resource that differs from the file."""

    field: str
    old: Any
    new: Any


@dataclass(frozen=True, slots=True)
class Step:
    """A step that creates, changes or deletes one resource.

    A change without differences only sends secrets, which cannot be compared.
    """

    kind: Kind
    key: str
    wanted: Wanted | None  # None if the resource is deleted
    row_id: str | None = None  # None if the resource is created
    tag: str = ""
    has_key: bool = True  # False if this step sets the resource's key
    differences: Sequence[Difference] = ()

    @property
    def sign(self) -> str:
        """The kind of step: `+` creates, `~` changes, `-` deletes, and `=` only sends secrets."""
        if self.wanted is None:
            return "-"
        if self.row_id is None:
            return "+"
        return "~" if self.differences else "="

    @property
    def shows_secret(self) -> bool:
        """Whether the response contains the secret of a new webhook."""
        if self.wanted is None or self.row_id is not None or self.kind is not CHANNELS:
            return False
        return bool(self.wanted.fields["type"] == "webhook")


@dataclass(slots=True)
class Plan:
    """The steps that make a team's resources match a file, in the order of execution."""

    steps: list[Step] = field(default_factory=list)
    unchanged: int = 0
    left_over: list[str] = field(default_factory=list)
    """Objects whose keys are not in the file. They are kept."""
    ids: dict[str, str] = field(default_factory=dict)
    """The ids of monitors by key."""

    @property
    def changes(self) -> list[Step]:
        """All steps except those that only send secrets, because such a step may change nothing."""
        return [step for step in self.steps if step.sign != "="]


def make_plan(client: Client, wanted: Sequence[Wanted], *, prune: bool) -> Plan:
    """Read the team's resources, and return the steps that make them match `wanted`.

    If `prune` is set, resources that have a key and are not in `wanted` are deleted.
    """
    plan = Plan()
    deletions: list[Step] = []
    for kind in KINDS:
        actual = list(client.list(kind))
        by_key = {row["key"]: row for row in actual if row["key"]}
        by_id = {row["id"]: row for row in actual}
        if kind is KINDS[0]:
            plan.ids = {key: row["id"] for key, row in by_key.items()}
        of_kind = {row.key: row for row in wanted if row.kind is kind}
        for row in of_kind.values():
            found = by_key.get(row.key) or _without_key(by_id.get(row.row_id or ""))
            if found is not None:
                plan.ids |= {row.key: found["id"]} if kind is KINDS[0] else {}
            _plan_row(client, plan, row, found)
        for key in by_key.keys() - of_kind.keys():
            if prune:
                _, tag = client.read(kind, by_key[key]["id"])
                deletions.insert(0, Step(kind, key, None, by_key[key]["id"], tag))
            else:
                plan.left_over.append(f"{kind.section}.{key}")
    plan.steps += deletions
    return plan


def _without_key(row: dict[str, Any] | None) -> dict[str, Any] | None:
    return row if row and row["key"] is None else None


def _plan_row(client: Client, plan: Plan, wanted: Wanted, found: dict[str, Any] | None) -> None:
    if found is None:
        plan.steps.append(Step(wanted.kind, wanted.key, wanted))
        return
    if not list(_compare(wanted, found, plan.ids)) and not wanted.variables:
        plan.unchanged += 1
        return
    read, tag = client.read(wanted.kind, found["id"])
    differences = tuple(_compare(wanted, read, plan.ids))
    step = Step(wanted.kind, wanted.key, wanted, read["id"], tag, read["key"] is not None, differences)
    plan.steps.append(step)


def fields_to_send(wanted: Wanted, ids: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields to send, with monitor ids instead of keys. Raises KeyError for an unknown key."""
    if wanted.monitor_keys is None:
        return wanted.fields
    monitor_ids = [ids[key] for key in wanted.monitor_keys]
    if wanted.kind is CHANNELS:
        return {**wanted.fields, "routing": {**wanted.fields["routing"], "monitor_ids": monitor_ids}}
    return {**wanted.fields, "monitor_ids": monitor_ids}


def _compare(wanted: Wanted, found: Mapping[str, Any], ids: Mapping[str, str]) -> Iterator[Difference]:
    """Yield the differences between a row of the file and the resource found.

    Secrets are not compared, and neither are fields that the row omits and that have no default.
    """
    if found["key"] != wanted.key:
        yield Difference("key", found["key"], wanted.key)
    known = {**{key: f"the monitor {key}" for key in wanted.monitor_keys or ()}, **ids}
    asked = fields_to_send(wanted, known)
    defaults = defaults_of(wanted.kind, asked)
    hidden = secrets_of(wanted.kind, asked)
    for name, value in {**defaults, **asked}.items():
        if name in hidden:
            continue
        default = defaults.get(name)
        whole = {**default, **value} if isinstance(default, dict) and isinstance(value, dict) else value
        yield from _compare_field(wanted.kind, name, whole, found.get(name))


def _compare_field(kind: Kind, name: str, new: Any, old: Any) -> Iterator[Difference]:  # noqa: ANN401 - JSON
    if kind is WINDOWS and name == "starts_at":
        if datetime.fromisoformat(new) != datetime.fromisoformat(old):
            yield Difference(name, old, new)
    elif name == "request_headers":
        yield from _compare_headers(new, old)
    elif name == "contract" and new and old:
        yield from (
            Difference(f"contract.{each}", old.get(each), value)
            for each, value in new.items()
            if each not in {"document", "document_authorization"} and old.get(each) != value
        )
    elif isinstance(new, dict) and isinstance(old, dict) and name != "body":
        before, after = flatten(old), flatten(new)
        yield from (
            Difference(f"{name}.{each}", before.get(each), after[each])
            for each in after
            if before.get(each) != after[each]
        )
    elif new != old:
        yield Difference(name, old, new)


def _compare_headers(new: Mapping[str, str], old: Mapping[str, str]) -> Iterator[Difference]:
    """Yield the headers that differ. Masked values are left out, as only the service can compare them."""
    for name in {**old, **new}:
        before, after = old.get(name), new.get(name)
        is_hidden = before == MASK and after is not None
        if before != after and not is_hidden:
            yield Difference(f"request_headers.{name}", before, after)
