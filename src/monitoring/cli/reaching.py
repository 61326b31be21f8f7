"""Reads from the environment which service a client command calls, and with which API key."""

from __future__ import annotations

import os

from monitoring.cli.failing import fail


def read_url() -> str:
    """Return `MONITORING_URL`. Ends the command if it is not an http or https URL."""
    url = os.environ.get("MONITORING_URL", "")
    if not url.startswith(("http://", "https://")):
        fail("Set MONITORING_URL to the address of the service, such as https://monitoring.example.com")
    return url


def read_key() -> tuple[str, str]:
    """Return the client_id and client_secret in `MONITORING_API_KEY`. Ends the command if one is missing."""
    client_id, _, client_secret = os.environ.get("MONITORING_API_KEY", "").partition(":")
    if not (client_id and client_secret):
        fail(
            "Set MONITORING_API_KEY to the client_id and the client_secret of an API key,"
            " with a colon between them"
        )
    return client_id, client_secret
