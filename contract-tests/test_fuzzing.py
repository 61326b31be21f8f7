"""The running service fuzzed by Schemathesis, as everybody who may call it and as those who may not.

FUZZING_SEED repeats a run; FUZZING_EXAMPLES says how many requests are made up for each operation.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cast import Player, form_team
from monitoring.auth.credentials import hash_secret
from monitoring.auth.models import ApiKey
from monitoring.auth.scopes import SCOPES
from monitoring.auth.service import revoke_key
from monitoring.contract.document import load_document
from running_service import WEBHOOK_SECRET, RunningService, running_service

if TYPE_CHECKING:
    from collections.abc import Sequence

HERE = Path(__file__).parent
DOCUMENT = HERE.parent / "openapi.yaml"
EXAMPLES = os.environ.get("FUZZING_EXAMPLES", "100")
TIMEOUT_SECONDS = 60 + 5 * int(EXAMPLES)
MAX_MONITORS = 1_000_000  # the plan's limit would hide everything behind it


@dataclass(frozen=True, slots=True)
class Role:
    """What somebody holds: a key's scopes, and a webhook secret."""

    scopes: Sequence[str] = ()
    is_revoked: bool = False
    webhook_secret: str = WEBHOOK_SECRET

    @property
    def permissions(self) -> str:
        """What that allows, as fuzzing_checks.py reads it."""
        scopes = () if self.is_revoked else self.scopes
        return " ".join([*scopes, *(["webhook"] if self.webhook_secret == WEBHOOK_SECRET else [])])


ROLES = {
    "full key": Role(SCOPES),
    "read-only key": Role(["monitors:read"]),
    "write-only key and a wrong secret": Role(["monitors:write"], webhook_secret="a-wrong-webhook-secret"),
    "revoked key": Role(SCOPES, is_revoked=True),
    "nothing": Role(webhook_secret=""),
}


@pytest.mark.parametrize("role", ROLES.values(), ids=ROLES.keys())
def test_the_service_keeps_every_promise_of_the_document(role: Role, tmp_path: Path) -> None:
    with running_service(tmp_path) as service:
        token = get_token(service, role)
        fuzzing = subprocess.run(
            [
                *(sys.executable, "-m", "schemathesis.cli", "--config-file", HERE / "schemathesis.toml"),
                *("run", DOCUMENT, "--url", service.base_url),
                *("--seed", os.environ["FUZZING_SEED"], "--max-examples", EXAMPLES, "--no-color"),
            ],
            env=os.environ
            | {
                "FUZZING_PERMISSIONS": role.permissions,
                "FUZZING_TOKEN": token,
                "FUZZING_WEBHOOK_SECRET": role.webhook_secret,
                "PYTHONPATH": str(HERE),
            },
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    if fuzzing.returncode != 0:
        pytest.fail(fuzzing.stdout + fuzzing.stderr, pytrace=False)


def get_token(service: RunningService, role: Role) -> str:
    """Get a token at the token endpoint; without scopes there is no key, and no token."""
    if not role.scopes:
        return ""
    with Player(service, form_team(service, MAX_MONITORS), role.scopes) as player:
        service.run(use_the_documents_credentials(player))
        token = player.fetch_token()
        if role.is_revoked:
            service.run(revoke_key(player.client_id))
    return token


async def use_the_documents_credentials(player: Player) -> None:
    """Give the player's key the credentials of the document's example, so that the fuzzer knows them."""
    token_request = load_document().operations["issue_token"].definition["requestBody"]["content"]
    example = token_request["application/x-www-form-urlencoded"]["examples"]["credentials_in_the_form"][
        "value"
    ]
    client_id, client_secret = example["client_id"], example["client_secret"]
    await ApiKey.filter(client_id=player.client_id).update(
        client_id=client_id, secret_sha256=hash_secret(client_secret)
    )
    player.client_id, player.client_secret = client_id, client_secret
