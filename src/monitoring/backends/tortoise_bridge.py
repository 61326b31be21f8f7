"""The names of Tortoise 1.1 that it does not document, but for its clients (`database_clients/`).

tests/backends/test_tortoise_assumptions.py checks each of them:

- `Model._meta` has `db_table`, `fields_map`, and in `fields_db_projection` the columns that are stored.
- `ModelMeta.__new__` reads no source of a model that has `_no_comments`. That saves a fourteenth of what
  loading costs. Tortoise's own model lacks it, and is made without a source if `inspect.getsource` finds
  none. That saves a twentieth.
- `tortoise.validators` compiles a pattern for domain names when it is loaded, and only searches with it. No
  column of ours is validated so. Compiling it later, if ever, saves a twentieth.
- `Model._saved_in_db` says whether `save` inserts or updates; `_await_when_save` has values still to come.
- `tortoise.context._current_context` is the context variable from which models learn their database.
- `MigrationExecutor._schema_editor` makes what makes tables. The table `tortoise_migrations` has the names of
  the migrations that were applied.
"""

from __future__ import annotations

import inspect
import re
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tortoise.backends.base.client import BaseDBAsyncClient
    from tortoise.context import TortoiseContext
    from tortoise.fields.base import Field
    from tortoise.migrations.executor import MigrationExecutor


@contextmanager
def _hiding_classes() -> Iterator[None]:
    """Make `inspect.getsource` find no class, because Tortoise would parse its source for comments."""
    find = inspect.getsource

    def find_unless_class(whose: Any) -> str:  # noqa: ANN401 - whatever has a source
        if isinstance(whose, type):
            raise OSError("the source is hidden")
        return find(whose)

    inspect.getsource = find_unless_class  # type: ignore[assignment]  # takes whatever has a source
    try:
        yield
    finally:
        inspect.getsource = find


@contextmanager
def _leaving_domain_names() -> Iterator[None]:
    """Compile a pattern with nearly all characters when somebody searches with it."""
    compile_now = re.compile

    def compile_unless_vast(pattern: Any, flags: Any = 0) -> Any:  # noqa: ANN401 - whatever has a pattern
        if isinstance(pattern, str) and "\uffff" in pattern:
            return SimpleNamespace(search=lambda text: re.search(pattern, text, flags))
        return compile_now(pattern, flags)

    re.compile = compile_unless_vast
    try:
        yield
    finally:
        re.compile = compile_now


with _hiding_classes(), _leaving_domain_names():
    from tortoise import context as tortoise_context
    from tortoise.models import Model as TortoiseModel
    from tortoise.models import ModelMeta

Row = TypeVar("Row", bound=TortoiseModel)


class _WithoutComments(ModelMeta):
    """Makes models without looking for comments that describe columns, for which each file is parsed."""

    def __new__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, Any]) -> ModelMeta:
        return super().__new__(cls, name, bases, attrs | {"_no_comments": True})


class Model(TortoiseModel, metaclass=_WithoutComments):
    """What every model of ours is."""

    class Meta:
        abstract = True


@contextmanager
def activated(context: TortoiseContext) -> Iterator[None]:
    """Make this the context of the models, in this task and those it starts.

    TortoiseContext's own `with` keeps its token on the object: two requests at once would mix them up.
    """
    token = tortoise_context._current_context.set(context)  # noqa: SLF001
    try:
        yield
    finally:
        tortoise_context._current_context.reset(token)  # noqa: SLF001


async def make_table_of_migrations(executor: MigrationExecutor) -> None:
    """Make the table of applied migrations if it is missing.

    The executor would read it before making it, and that error would end PostgreSQL's transaction.
    """
    await executor.recorder.ensure_schema(executor._schema_editor(atomic=False))  # noqa: SLF001


async def find_applied_migrations(connection: BaseDBAsyncClient) -> set[str]:
    """Return the names of the migrations that were applied. Raises OperationalError if none ever was.

    An executor would load all migrations, and take any error for "none".
    """
    rows = await connection.execute_query_dict('SELECT "name" FROM "tortoise_migrations"')
    return {row["name"] for row in rows}


def table_of(model: type[TortoiseModel]) -> str:
    """Name the table of a model."""
    return model._meta.db_table  # noqa: SLF001


def columns_of(model: type[TortoiseModel]) -> list[str]:
    """Name the columns of a model, which are the names of its fields."""
    return list(model._meta.fields_db_projection)  # noqa: SLF001


def field_of(model: type[TortoiseModel], name: str) -> Field[Any]:
    """Return the field of this name."""
    return model._meta.fields_map[name]  # noqa: SLF001


def make_row(model: type[Row], defaults: Mapping[str, Any], values: Mapping[str, Any]) -> Row:
    """Make a row with these attributes, none of which is checked."""
    row = model.__new__(model)
    vars(row).update(defaults, _await_when_save={})
    vars(row).update(values)
    return row


def note_saved(row: TortoiseModel) -> None:
    """Let a row know that it is stored, as `save` does."""
    row._saved_in_db = True  # noqa: SLF001
