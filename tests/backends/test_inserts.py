"""Making new rows. The tests of their users show how they are inserted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from monitoring.backends.inserts import new_row
from monitoring.monitors.models import Monitor, StateChange, Watch

if TYPE_CHECKING:
    from tortoise.models import Model

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("model", [Monitor, StateChange, Watch])
class TestNewRow:
    async def test_shares_nothing_with_another_that_can_be_changed(self, model: type[Model]) -> None:
        one, another = vars(new_row(model)), vars(new_row(model))
        assert one["id"] != another["id"]
        shared = [value for name, value in one.items() if value is another[name]]
        assert [value for value in shared if type(value).__hash__ is None] == []

    async def test_is_what_construct_makes(self, model: type[Model]) -> None:
        made, constructed = new_row(model), model.construct()
        vars(made)["id"] = vars(constructed)["id"]
        assert vars(made) == vars(constructed)
