"""Pages with a form that makes something, or changes it: what all of them do alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Collection, Mapping
from http import HTTPStatus
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar
from uuid import UUID

from starlette.responses import Response

from monitoring.app.form_fields import WHOLE_FORM
from monitoring.app.sentences import REFUSALS
from monitoring.app.visits import Form, Visit, read_form_id
from monitoring.backends.fields import uuid7
from monitoring.contract.document import Json
from monitoring.contract.problems import Problem
from monitoring.idempotency.service import act_once
from monitoring.web.replies import Reply

Typed = TypeVar("Typed")
Row = TypeVar("Row")

# A person can fix these problems in the form; every other one gets an error page.
FIXABLE_STATUSES = frozenset({400, 403, 409, 412, 422})


class InvalidForm(Exception):  # noqa: N818 - the form is shown again
    """Says by field what is wrong with a form that the document has no schema for."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        super().__init__()
        self.errors = errors


class Faults(NamedTuple):
    """What is wrong with a form that was sent, by field, and the status of the page that says so."""

    errors: Mapping[str, str]
    status: int


NO_FAULTS = Faults({}, HTTPStatus.OK)


class Created(NamedTuple):
    """What a form has made. `is_new` is false if the same form was sent before."""

    id: UUID
    is_new: bool


async def create_once(
    visit: Visit, form_id: UUID, request: tuple[Json, ...], create: Callable[[], Awaitable[UUID]]
) -> Created:
    """Create something, unless the form has done so. Raises Problem if it had another `request` then."""
    is_new = False

    async def act() -> Reply:
        nonlocal is_new
        is_new = True
        return Reply({"id": str(await create())}, 201)

    reply = await act_once(visit.team.id, f"app-{form_id}", ("app", *request), act)
    [created_id] = reply.json_value().values()  # the release before called it `monitor_id` and the like
    return Created(UUID(created_id), is_new)


class CreateForm(ABC, Generic[Typed]):
    """The pages of a form that creates something. Each feature says what differs.

    The form has an id in its address: sent twice, it creates one row, and going back shows the form that
    was sent. `Typed` is what was typed, however wrong.
    """

    path: ClassVar[str]
    new_template: ClassVar[str]
    fixable: ClassVar[Collection[int]] = FIXABLE_STATUSES
    spent: ClassVar[str] = ""  # the refusal's name, if it has created something and says something else now

    @abstractmethod
    async def blank(self, visit: Visit) -> Typed:
        """Return what a new form begins with."""

    @abstractmethod
    def echo(self, form: Form) -> Typed:
        """Return what was typed."""

    @abstractmethod
    async def make(self, visit: Visit, typed: Typed, form_id: UUID) -> Response:
        """Create what the form says, once, and answer. Raises Problem or InvalidForm."""

    @abstractmethod
    async def context(self, visit: Visit, typed: Typed) -> Mapping[str, Any]:
        """Return what the templates need besides `typed` and `errors`."""

    @abstractmethod
    async def explain(self, visit: Visit, problem: Problem, typed: Typed) -> Mapping[str, str]:
        """Return the sentences of a problem and its `others`, by field."""

    def query(self, visit: Visit, typed: Typed) -> Mapping[str, str]:  # noqa: ARG002 - a hook
        """Return the query of a new form's address, beside its id."""
        return {}

    async def show_new(self, visit: Visit) -> Response:
        """Show an empty form, under an address of its own."""
        typed = await self.blank(visit)
        form_id = visit.find_form_id()
        if form_id is None:
            return visit.redirect(self.path, **self.query(visit, typed), form=str(uuid7()))
        return await self.render_new(visit, typed, form_id)

    async def create(self, visit: Visit) -> Response:
        """Create what the form says. If it cannot be, show the form with what is wrong."""
        form = await visit.read_form()
        form_id, typed = read_form_id(form.get("form_id", "")), self.echo(form)
        try:
            return await self.make(visit, typed, form_id)
        except (Problem, InvalidForm) as refused:
            faults = await self.find_faults(visit, refused, typed)
            return await self.render_new(visit, typed, uuid7() if _is_spent(refused) else form_id, faults)

    async def render_new(
        self, visit: Visit, typed: Typed, form_id: UUID, faults: Faults = NO_FAULTS, **context: object
    ) -> Response:
        """Render the form."""
        if visit.is_form:  # the answer has no address to come back to, but the form has
            context["place"] = visit.locate(self.path, **self.query(visit, typed), form=str(form_id))
        return await self.render(visit, self.new_template, typed, faults, form_id=form_id, **context)

    async def render(
        self, visit: Visit, template: str, typed: Typed, faults: Faults, **context: object
    ) -> Response:
        """Render a template of the form."""
        given = {**await self.context(visit, typed), **context}
        return visit.render(template, faults.status, typed=typed, errors=faults.errors, **given)

    async def find_faults(self, visit: Visit, refused: Problem | InvalidForm, typed: Typed) -> Faults:
        """Return what is wrong. Raises the problem if nobody can fix it in the form."""
        if isinstance(refused, InvalidForm):
            return Faults(refused.errors, HTTPStatus.BAD_REQUEST)
        status = visit.catalogue.templates[refused.name].status
        if _is_spent(refused):
            return Faults({WHOLE_FORM: REFUSALS[self.spent]}, status)
        if status not in self.fixable:
            raise refused
        return Faults(await self.explain(visit, refused, typed), status)


class EditForm(CreateForm[Typed], Generic[Typed, Row]):
    """The pages of a form that creates something, and changes it later."""

    edit_template: ClassVar[str]

    @abstractmethod
    async def find(self, visit: Visit) -> Row:
        """Return the row that the URL names. Raises Problem."""

    @abstractmethod
    def write(self, row: Row) -> Typed:
        """Return the form before anything is changed."""

    @abstractmethod
    async def save(self, visit: Visit, row: Row, typed: Typed) -> Response:
        """Change what the form says, and answer. Raises Problem."""

    def echo_edit(self, form: Form, row: Row) -> Typed:  # noqa: ARG002 - a hook
        """Return what was typed into the form that changes a row."""
        return self.echo(form)

    async def show_edit(self, visit: Visit) -> Response:
        """Show the form with what is saved."""
        row = await self.find(visit)
        return await self.render_edit(visit, row, self.write(row))

    async def change(self, visit: Visit) -> Response:
        """Change what the form says. If it cannot be, show the form with what is wrong."""
        row = await self.find(visit)
        typed = self.echo_edit(await visit.read_form(), row)
        try:
            return await self.save(visit, row, typed)
        except Problem as problem:
            return await self.render_edit(visit, row, typed, await self.find_faults(visit, problem, typed))

    async def render_edit(
        self, visit: Visit, row: Row, typed: Typed, faults: Faults = NO_FAULTS, **context: object
    ) -> Response:
        """Render the form."""
        return await self.render(visit, self.edit_template, typed, faults, row=row, **context)


def _is_spent(refused: Problem | InvalidForm) -> bool:
    return isinstance(refused, Problem) and refused.name == "idempotency_key_reused"
