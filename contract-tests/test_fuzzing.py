"""Schemathesis fuzzes the running service with every kind of credentials, and with none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fuzzing import FULL_KEY, IS_WHOLE, ROLES, Role, credentials_of, fuzz, fuzzed_service

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.long(seconds=40)
OTHER_ROLE = pytest.mark.night("the full key reaches more of the service")
ONCE = pytest.mark.embedded("what a role must not do is refused above the backends")


def marks_of(role: Role) -> list[pytest.MarkDecorator]:
    if role == FULL_KEY:
        return [pytest.mark.long(seconds=240)]
    return [OTHER_ROLE] if IS_WHOLE else [OTHER_ROLE, ONCE]


@pytest.mark.parametrize("role", [pytest.param(role, id=role.name, marks=marks_of(role)) for role in ROLES])
def test_the_service_keeps_every_promise_of_the_document(role: Role, tmp_path: Path) -> None:
    with fuzzed_service(tmp_path) as service:
        fuzz(service, role, credentials_of(service, role))
