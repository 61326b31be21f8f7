"""Visitors of the app: people of Alice's team, of another team, and strangers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from app.visitor import Stranger, Visitor
from cast import form_team

if TYPE_CHECKING:
    from collections.abc import Iterator

    from monitoring.auth.models import Team
    from running_service import RunningService


@pytest.fixture
def owner(service: RunningService, team: Team) -> Iterator[Visitor]:
    """Owns Alice's team."""
    with Visitor(service, team) as visitor:
        yield visitor


@pytest.fixture
def member(service: RunningService, team: Team) -> Iterator[Visitor]:
    """Is a member of Alice's team."""
    with Visitor(service, team, "member") as visitor:
        yield visitor


@pytest.fixture
def outsider(service: RunningService) -> Iterator[Visitor]:
    """Owns another team."""
    with Visitor(service, form_team(service)) as visitor:
        yield visitor


@pytest.fixture
def stranger(service: RunningService) -> Iterator[Stranger]:
    """Is not signed in."""
    with Stranger(service) as visitor:
        yield visitor
