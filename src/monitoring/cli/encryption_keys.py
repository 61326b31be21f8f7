"""`monitoring encryption-keys`: keys for the setting ENCRYPTION_KEYS."""

from __future__ import annotations

from typing import NamedTuple

import typer

from monitoring.backends.encryption import generate_encryption_key
from monitoring.cli.commands import AsJson, run_command, show_row
from monitoring.cli.failing import fail
from monitoring.idempotency.service import encrypt_stored_answers
from monitoring.monitors.client_certificates import encrypt_client_certificates
from monitoring.monitors.contracts.keeping import encrypt_contract_authorizations
from monitoring.monitors.heartbeats.tokens import encrypt_ping_tokens
from monitoring.monitors.request_headers import encrypt_request_headers
from monitoring.notifications.secrets import encrypt_channel_secrets

app = typer.Typer(no_args_is_help=True, help=__doc__)


@app.command("create")
def create_encryption_key() -> None:
    """Print a new key on one line. The key is not stored."""
    typer.echo(generate_encryption_key())


@app.command("apply")
def apply_encryption_keys(*, as_json: AsJson = False) -> None:
    """Encrypt every stored credential with the first key. Safe to repeat, even while the service runs."""
    encryption = run_command(encrypt_stored_credentials())
    show_row(encryption._asdict(), as_json=as_json)
    if encryption.unreadable:
        fail(
            "Some rows cannot be decrypted with any key of ENCRYPTION_KEYS: add the key that encrypted "
            "them, and run this command again"
        )


class Encryption(NamedTuple):
    """How many rows of each kind were encrypted, and how many cannot be decrypted."""

    monitors: int
    heartbeats: int
    notification_channels: int
    stored_answers: int
    unreadable: int


async def encrypt_stored_credentials() -> Encryption:
    """Encrypt stored credentials that are plain text or encrypted with a key other than the first.

    Idempotent.
    """
    headers, certificates, contracts, heartbeats, webhooks, answers = (
        await encrypt_request_headers(),
        await encrypt_client_certificates(),
        await encrypt_contract_authorizations(),
        await encrypt_ping_tokens(),
        await encrypt_channel_secrets(),
        await encrypt_stored_answers(),
    )
    return Encryption(
        headers.encrypted + certificates.encrypted + contracts.encrypted,
        heartbeats.encrypted,
        webhooks.encrypted,
        answers.encrypted,
        sum(each.unreadable for each in (headers, certificates, contracts, heartbeats, webhooks, answers)),
    )
