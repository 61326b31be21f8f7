"""Follows a token through the API: its verification, its introspection and its revocation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from joserfc import jwt
from joserfc.jwk import KeySet

from cast import Player, form_team
from exact_errors import demand_exactly, find_error
from monitoring.auth.signing_keys import Algorithm, generate_signing_key
from promises import OPERATIONS
from running_service import SIGNING_KEY, RunningService, running_service
from traveller import Traveller

if TYPE_CHECKING:
    from collections.abc import Iterator

    from links import Exchange

METADATA, KEYS = OPERATIONS["get_oauth_metadata"], OPERATIONS["get_jwks"]
ISSUE, INTROSPECT = OPERATIONS["issue_token"], OPERATIONS["introspect_token"]
REVOKE, LIST = OPERATIONS["revoke_token"], OPERATIONS["list_monitors"]


class Client:
    """A traveller with a key of a new team, and the access token for this key."""

    def __init__(self, service: RunningService) -> None:
        with Player(service, form_team(service)) as player:
            self.credentials = {"client_id": player.client_id, "client_secret": player.client_secret}
        self.traveller = Traveller(service)
        issued = self.traveller.call(ISSUE, self.credentials)
        self.traveller.bear(issued)
        self.token: str = issued.answer.json["access_token"]

    def introspect(self, token: str) -> Any:
        asked = self.traveller.call(INTROSPECT, {"token": token, **self.credentials})
        assert asked.answer.status == 200
        return asked.answer.json

    def revoke(self, token: str) -> Exchange:
        return self.traveller.call(REVOKE, {"token": token, **self.credentials})


@pytest.fixture(scope="module", params=[*Algorithm, "HS256"])
def issuing_service(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    """Start a service for each supported kind of signing key."""
    is_private = isinstance(request.param, Algorithm)
    keys = f"{generate_signing_key(request.param)},{SIGNING_KEY}" if is_private else SIGNING_KEY
    with running_service(tmp_path_factory.mktemp("tokens"), signing_keys=keys) as service:
        yield service


class TestToken:
    @pytest.mark.filterwarnings(
        "ignore:EdDSA is deprecated"
    )  # RFC 9864 has a new name for it, which few libraries know
    def test_is_verified_by_whoever_has_read_the_metadata(self, issuing_service: RunningService) -> None:
        client = Client(issuing_service)
        metadata = client.traveller.call(METADATA).answer.json
        published = client.traveller.call(KEYS).answer.json
        assert metadata["jwks_uri"] == f"{metadata['issuer']}{KEYS.path}"
        if not published["keys"]:
            assert client.introspect(client.token)["iss"] == "monitoring-service"
            return
        algorithms = [key["alg"] for key in published["keys"]]
        verified = jwt.decode(client.token, KeySet.import_key_set(published), algorithms=algorithms)
        assert (verified.header["typ"], verified.claims["iss"]) == ("at+jwt", metadata["issuer"])
        assert client.introspect(client.token) == verified.claims | {"active": True, "token_type": "Bearer"}

    def test_is_refused_once_its_client_revokes_it(self, issuing_service: RunningService) -> None:
        client = Client(issuing_service)
        assert client.traveller.call(LIST).answer.status == 200
        assert client.revoke(client.token).answer.body == b""
        refused = client.traveller.call(LIST).answer
        demand_exactly(refused, find_error(LIST, "token_invalid"), LIST.path, issuing_service.settings)
        assert client.introspect(client.token) == {"active": False}
        client.traveller.bear(client.traveller.call(ISSUE, client.credentials))
        assert client.traveller.call(LIST).answer.status == 200

    def test_is_nothing_to_another_team(self, issuing_service: RunningService) -> None:
        alice, charlie = Client(issuing_service), Client(issuing_service)
        assert charlie.introspect(alice.token) == {"active": False}
        error = find_error(REVOKE, "oauth_another_clients_token")
        demand_exactly(charlie.revoke(alice.token).answer, error, REVOKE.path, issuing_service.settings)
        assert alice.traveller.call(LIST).answer.status == 200
