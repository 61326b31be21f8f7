"""Schemathesis fuzzes the running service with every kind of credentials, and with none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fuzzing import ROLES, Role, credentials_of, fuzz, fuzzed_service

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)
def test_the_service_keeps_every_promise_of_the_document(role: Role, tmp_path: Path) -> None:
    with fuzzed_service(tmp_path) as service:
        fuzz(service, role, credentials_of(service, role))
