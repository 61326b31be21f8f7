"""`monitoring signing-keys`: keys for the setting SIGNING_KEYS."""

from __future__ import annotations

from typing import Annotated

import typer

from monitoring.auth.signing_keys import Algorithm, generate_signing_key

app = typer.Typer(no_args_is_help=True, help=__doc__)


@app.command("create")
def create_signing_key(
    algorithm: Annotated[
        Algorithm, typer.Option(help="RS256 is supported by every verifier; EdDSA makes tokens shorter.")
    ] = Algorithm.RS256,
) -> None:
    """Print a new private key on one line. The key is not stored."""
    typer.echo(generate_signing_key(algorithm))
