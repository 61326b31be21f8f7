"""Serve what a role was fuzzed with, so that the curl lines of a failed run can be repeated as they are.

`make contract-serve ROLE="full key" PORT=41635`: a failure says it. Credentials and signing key are
the same in every run, and so is the document's monitor; what a run created is not there.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import uvicorn

import engine_room
from fuzzing import ROLES, credentials_of
from monitoring.app import MonitoringApp
from monitoring.contract.server import protocol_for
from running_service import make_settings, running_service


def main() -> None:
    """Make the role's key, and serve until interrupted."""
    roles = {role.name: role for role in ROLES}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("role", choices=roles)
    parser.add_argument("port", type=int)
    parser.add_argument("--backends", choices=engine_room.KINDS, default="embedded")
    arguments = parser.parse_args()
    engine_room.choose(arguments.backends)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with running_service(folder) as service:
            credentials_of(service, roles[arguments.role])
        app = MonitoringApp(make_settings(folder))
        uvicorn.run(app, port=arguments.port, http=protocol_for(app.contract.catalogue), ws="none")
    engine_room.close()


if __name__ == "__main__":
    main()
