"""Which modules commands load."""

from __future__ import annotations

import subprocess
import sys

TELL_WHETHER_CONNEXION_IS_LOADED = "import monitoring.cli, sys; print('connexion' in sys.modules)"


def test_commands_that_serve_nothing_do_without_the_web_framework() -> None:
    told = subprocess.run(
        [sys.executable, "-c", TELL_WHETHER_CONNEXION_IS_LOADED], capture_output=True, text=True, check=True
    )
    assert told.stdout == "False\n"
