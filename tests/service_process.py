"""The service as operators run it: processes of their own, embedded, keeping everything in one folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from running_service import SIGNING_KEY, WEBHOOK_SECRET

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from signal import Signals

MONITORING = (sys.executable, "-c", "from monitoring.cli import main; main()")
LISTENING = re.compile(r"^Listening on (\S+)\n", re.MULTILINE)
TIMEOUT_SECONDS = 60.0


class Installation:
    """A folder with all that the service keeps, and the environment that its commands read."""

    def __init__(self, folder: Path) -> None:
        self.blog = folder / "blog"
        self.database = folder / "monitoring.db"
        self.log = folder / "log"
        self.environment = {
            "PATH": os.environ["PATH"],
            "DATA_DIR": str(folder),
            "BLOG_STORAGE_URL": f"file://{self.blog}",
            "SIGNING_KEYS": SIGNING_KEY,
            "WEBHOOK_SECRETS": WEBHOOK_SECRET,
            "TRANSLATOR": "pseudo",
            "LOCALES": "es,pt,fr,it,ca",
            "PORT": "0",
        }

    def run(self, *arguments: str) -> str:
        """Run a command to its good end and return what it printed."""
        command = [*MONITORING, *arguments]
        return subprocess.run(
            command, env=self.environment, capture_output=True, text=True, check=True, timeout=TIMEOUT_SECONDS
        ).stdout

    @contextmanager
    def serve(self) -> Iterator[ServiceProcess]:
        """Serve until the block ends, or until the block ends it."""
        with self.log.open("w+") as log:
            running = ServiceProcess(
                subprocess.Popen([*MONITORING, "serve"], env=self.environment, stderr=log)
            )
        try:
            wait_until(lambda: LISTENING.search(self.log.read_text()) or running.has_ended)
            listening = LISTENING.search(self.log.read_text())
            assert listening, self.log.read_text()
            running.base_url = listening[1]
            yield running
        finally:
            running.kill()


class ServiceProcess:
    """A process that answers at `base_url`."""

    base_url: str

    def __init__(self, popen: subprocess.Popen[bytes]) -> None:
        self._popen = popen

    @property
    def has_ended(self) -> bool:
        return self._popen.poll() is not None

    def stop(self, *signals: Signals, timeout_seconds: float) -> int:
        """Send signals right after one another and return the exit status, negative for a signal's."""
        for signal in signals:
            self._popen.send_signal(signal)
        return self._popen.wait(timeout_seconds)

    def kill(self) -> None:
        """Give it no chance to tidy up (`kill -9`)."""
        self._popen.kill()
        self._popen.wait(TIMEOUT_SECONDS)


def wait_until(condition: Callable[[], object], timeout_seconds: float = TIMEOUT_SECONDS) -> None:
    """Look again and again; fails when the time is up."""
    deadline = time.monotonic() + timeout_seconds
    while not condition():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.01)
