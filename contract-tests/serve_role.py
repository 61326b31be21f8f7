"""Serves the service with the role of a fuzzing run, so that the failed run's curl commands work unchanged.

The failure's message contains the command to start it, such as `make contract-serve ROLE="full key"
PORT=41635`. Credentials, the signing key and the document's monitor are the same in every run. Resources that
the failed run created are missing.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import uvicorn

import chosen_backends
from fuzzing import ROLES, credentials_of
from monitoring.asgi import MonitoringService
from monitoring.web.uvicorn_bridge import protocol_for
from running_service import make_settings, running_service


def main() -> None:
    """Create the role's key, and serve until interrupted."""
    roles = {role.name: role for role in ROLES}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("role", choices=roles)
    parser.add_argument("port", type=int)
    parser.add_argument("--backends", choices=chosen_backends.KINDS, default="embedded")
    arguments = parser.parse_args()
    chosen_backends.choose(arguments.backends)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with running_service(folder) as service:
            credentials_of(service, roles[arguments.role])
        readers = service.settings.article_teams
        app = MonitoringService(make_settings(folder, article_teams=readers))
        uvicorn.run(app, port=arguments.port, http=protocol_for(app.contract.catalogue), ws="none")
    chosen_backends.close()


if __name__ == "__main__":
    main()
