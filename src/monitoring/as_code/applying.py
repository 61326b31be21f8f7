"""Executes a plan's steps. If a step fails, reports the failure and continues with the remaining steps.

Applying the file again retries the failed steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus
from typing import NamedTuple

from monitoring.as_code.client import Client, RefusedError
from monitoring.as_code.kinds import CHANNELS, MONITORS
from monitoring.as_code.plans import Plan, Step, fields_to_send


class Outcome(NamedTuple):
    """The result of a step."""

    step: Step
    done: str
    """`created`, `changed`, `unchanged` or `deleted`; empty if it failed."""
    problem: str | None = None
    secret: str | None = None
    """The signing secret of a webhook that this step created."""


def apply_plan(client: Client, plan: Plan) -> Iterator[Outcome]:
    """Execute a plan's steps, and yield the result of each.

    A step fails if its resource has changed since the plan was made.
    """
    ids = dict(plan.ids)
    for step in plan.steps:
        try:
            outcome = _delete(client, step) if step.wanted is None else _put(client, step, ids)
        except RefusedError as error:
            again = "; apply the file again" if error.status == HTTPStatus.PRECONDITION_FAILED else ""
            yield Outcome(step, "", f"{step.kind.section}.{step.key}: {error}{again}")
        except KeyError as error:
            yield Outcome(
                step, "", f"{step.kind.section}.{step.key}: the monitor {error.args[0]} does not exist"
            )
        else:
            yield outcome


def _put(client: Client, step: Step, ids: dict[str, str]) -> Outcome:
    assert step.wanted is not None  # noqa: S101 - the caller has checked it
    fields = fields_to_send(step.wanted, ids)
    tag = step.tag if step.has_key else _give_key(client, step)
    condition = {"If-Match": tag} if step.row_id else {"If-None-Match": "*"}
    path = f"{step.kind.path}/by-key/{step.key}"
    answer = client.ask("PUT", path, headers=condition, json=fields)
    row = answer.json()[step.kind.name]
    if step.kind is MONITORS:
        ids[step.key] = row["id"]
    if answer.status_code == HTTPStatus.CREATED:
        return Outcome(step, "created", secret=row.get("secret"))
    is_changed = answer.json()["changed_fields"] or not step.has_key
    return Outcome(step, "changed" if is_changed else "unchanged")


def _give_key(client: Client, step: Step) -> str:
    """Set the file's key on a resource that has no key yet. Return the resource's new ETag."""
    assert step.wanted is not None  # noqa: S101 - as above
    named = {"type": step.wanted.fields["type"]} if step.kind is CHANNELS else {}
    path = f"{step.kind.path}/{step.row_id}"
    answer = client.ask("PATCH", path, headers={"If-Match": step.tag}, json={**named, "key": step.key})
    tag: str = answer.headers["ETag"]
    return tag


def _delete(client: Client, step: Step) -> Outcome:
    client.ask("DELETE", f"{step.kind.path}/{step.row_id}", headers={"If-Match": step.tag})
    return Outcome(step, "deleted")
