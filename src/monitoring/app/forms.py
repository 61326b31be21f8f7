"""Base classes for the pages of forms that create or change something."""

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

# Users can fix problems with these statuses in the form. Any other problem is shown on an error page.
FIXABLE_STATUSES = frozenset({400, 403, 409, 412, 422})


class InvalidForm(Exception):  # noqa: N818 - the form is shown again
    """A form breaks rules that are not in the API document. `errors` has the messages by field."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        super().__init__()
        self.errors = errors


class Faults(NamedTuple):
    """The errors of a submitted form, by field, and the status of the page that shows them."""

    errors: Mapping[str, str]
    status: int


NO_FAULTS = Faults({}, HTTPStatus.OK)


class Created(NamedTuple):
    """The row that a form created. `is_new` is false if an earlier submission of the form created it."""

    id: UUID
    is_new: bool


async def create_once(
    visit: Visit, form_id: UUID, request: tuple[Json, ...], create: Callable[[], Awaitable[UUID]]
) -> Created:
    """Create a row, unless an earlier submission with the same form id has created it.

    Raises Problem if the earlier submission had a different `request`.
    """
    is_new = False

    async def act() -> Reply:
        nonlocal is_new
        is_new = True
        return Reply({"id": str(await create())}, 201)

    reply = await act_once(visit.team.id, f"app-{form_id}", ("app", *request), act)
    [created_id] = reply.json_value().values()  # the previous release's key was `monitor_id` or similar
    return Created(UUID(created_id), is_new)


class CreateForm(ABC, Generic[Typed]):
    """Base class for the pages of a form that creates something.

    The form's URL contains a form id. The id ensures that submitting the form twice creates only one row, and
    that the browser's Back button shows the submitted form. `Typed` is the type of the submitted values. They
    may be invalid.
    """

    path: ClassVar[str]
    new_template: ClassVar[str]
    fixable: ClassVar[Collection[int]] = FIXABLE_STATUSES
    spent: ClassVar[str] = ""  # the `REFUSALS` key of the error for a changed form with a used id

    @abstractmethod
    async def blank(self, visit: Visit) -> Typed:
        """Return the initial values of a new form."""

    @abstractmethod
    def echo(self, form: Form) -> Typed:
        """Return the submitted values."""

    @abstractmethod
    async def make(self, visit: Visit, typed: Typed, form_id: UUID) -> Response:
        """Create only one row for each `form_id`, and return the response. Raises Problem or InvalidForm."""

    @abstractmethod
    async def context(self, visit: Visit, typed: Typed) -> Mapping[str, Any]:
        """Return the templates' variables other than `typed` and `errors`."""

    @abstractmethod
    async def explain(self, visit: Visit, problem: Problem, typed: Typed) -> Mapping[str, str]:
        """Return the messages for a problem and its `others`, by field."""

    def query(self, visit: Visit, typed: Typed) -> Mapping[str, str]:  # noqa: ARG002 - a hook
        """Return the query parameters of a new form's URL, without the form id."""
        return {}

    async def show_new(self, visit: Visit) -> Response:
        """Show a new form. Without a form id in the URL, redirect to a URL that has one."""
        typed = await self.blank(visit)
        form_id = visit.find_form_id()
        if form_id is None:
            return visit.redirect(self.path, **self.query(visit, typed), form=str(uuid7()))
        return await self.render_new(visit, typed, form_id)

    async def create(self, visit: Visit) -> Response:
        """Create the row. If the form is refused, show it with its errors."""
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
        """Render the form of a new row."""
        # The Back button cannot reload the response to a POST, so the page's script shows the form's URL.
        if visit.is_form:
            context["place"] = visit.locate(self.path, **self.query(visit, typed), form=str(form_id))
        return await self.render(visit, self.new_template, typed, faults, form_id=form_id, **context)

    async def render(
        self, visit: Visit, template: str, typed: Typed, faults: Faults, **context: object
    ) -> Response:
        """Render a template with the submitted values, their errors, and the variables of `self.context`."""
        given = {**await self.context(visit, typed), **context}
        return visit.render(template, faults.status, typed=typed, errors=faults.errors, **given)

    async def find_faults(self, visit: Visit, refused: Problem | InvalidForm, typed: Typed) -> Faults:
        """Return the errors of a refused form. Raises the problem if the user cannot fix it in the form."""
        if isinstance(refused, InvalidForm):
            return Faults(refused.errors, HTTPStatus.BAD_REQUEST)
        status = visit.catalogue.templates[refused.name].status
        if _is_spent(refused):
            return Faults({WHOLE_FORM: REFUSALS[self.spent]}, status)
        if status not in self.fixable:
            raise refused
        return Faults(await self.explain(visit, refused, typed), status)


class EditForm(CreateForm[Typed], Generic[Typed, Row]):
    """Base class for the pages of a form that creates rows and changes existing ones."""

    edit_template: ClassVar[str]

    @abstractmethod
    async def find(self, visit: Visit) -> Row:
        """Return the row that the URL names. Raises Problem if it does not exist."""

    @abstractmethod
    def write(self, row: Row) -> Typed:
        """Return the form's values for a saved row."""

    @abstractmethod
    async def save(self, visit: Visit, row: Row, typed: Typed) -> Response:
        """Save the submitted values, and return the response. Raises Problem."""

    def echo_edit(self, form: Form, row: Row) -> Typed:  # noqa: ARG002 - a hook
        """Return the submitted values of the form that changes a row."""
        return self.echo(form)

    async def show_edit(self, visit: Visit) -> Response:
        """Show the form with the saved values."""
        row = await self.find(visit)
        return await self.render_edit(visit, row, self.write(row))

    async def change(self, visit: Visit) -> Response:
        """Save the submitted values. If they are refused, show the form with its errors."""
        row = await self.find(visit)
        typed = self.echo_edit(await visit.read_form(), row)
        try:
            return await self.save(visit, row, typed)
        except Problem as problem:
            return await self.render_edit(visit, row, typed, await self.find_faults(visit, problem, typed))

    async def render_edit(
        self, visit: Visit, row: Row, typed: Typed, faults: Faults = NO_FAULTS, **context: object
    ) -> Response:
        """Render the form that changes a row."""
        return await self.render(visit, self.edit_template, typed, faults, row=row, **context)


def _is_spent(refused: Problem | InvalidForm) -> bool:
    return isinstance(refused, Problem) and refused.name == "idempotency_key_reused"
