"""The cast.

Alice's team owns the things, Bob's key in it may only read, Charlie's team must see nothing of hers,
and Mallory has no valid credentials.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID, uuid4

import httpx

from monitoring.auth.scopes import DEFAULT_SCOPES
from monitoring.auth.service import create_key, create_team

if TYPE_CHECKING:
    from collections.abc import Sequence

    from monitoring.auth.models import Team
    from running_service import RunningService


class Player(httpx.Client):
    """An HTTP client that calls the service with a bearer token for its own key."""

    team_id: UUID
    client_id: str
    client_secret: str

    def __init__(self, service: RunningService, team: Team, scopes: Sequence[str] = DEFAULT_SCOPES) -> None:
        super().__init__(base_url=service.base_url, timeout=30)
        created = service.run(create_key(team, "A key of the tests", scopes))
        self.team_id = team.id
        self.client_id, self.client_secret = created.key.client_id, created.client_secret
        self.headers["Authorization"] = f"Bearer {self.fetch_token()}"

    def fetch_token(self, **form: str) -> str:
        """Get a token from the token endpoint, as a client does."""
        credentials = {"client_id": self.client_id, "client_secret": self.client_secret}
        answer = httpx.post(f"{self.base_url}/api/oauth/token", data=credentials | form, timeout=30)
        token: str = answer.raise_for_status().json()["access_token"]
        return token


def form_team(service: RunningService, max_monitors: int = 1000) -> Team:
    """Create a team that no other test uses."""
    return service.run(create_team(f"Team {uuid4()}", "free", max_monitors))


def form_readers(service: RunningService, max_monitors: int = 1000) -> Team:
    """Create a team and add it to ARTICLE_TEAMS, as if an operator had done so and restarted the service."""
    team = form_team(service, max_monitors)
    for settings in (service.settings, service.app.backends.settings):
        vars(settings)["article_teams"] = (*settings.article_teams, team.name)
    return team
