"""Runs a real S3 server on a free port.

The server is `rclone serve s3`, which checks signatures and stores objects in a folder. The alternative,
moto, keeps objects in memory and checks no signatures. However, moto supports If-Match, and rclone does not.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from real_servers import find_free_port, wait_for_port

if TYPE_CHECKING:
    from collections.abc import Iterator

BUCKET = "blog"
ACCESS_KEY_ID = "the-access-key-of-the-tests"
SECRET_ACCESS_KEY = "the-secret-access-key-of-the-tests"
UPLOAD_IN_PROGRESS = ".rclone_temp_put_"


@dataclass
class S3Server:
    """An S3 server with a bucket.

    It can be killed, and started again on the same port with the same objects.
    """

    folder: Path
    port: int
    _process: subprocess.Popen[bytes] | None = None
    _numbers: Iterator[int] = field(default_factory=count)

    @property
    def url(self) -> str:
        return f"s3://{BUCKET}"

    @property
    def process_id(self) -> int | None:
        return self._process.pid if self._process else None

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment variables that an operator sets in addition to BLOG_STORAGE_URL."""
        return {
            "AWS_ACCESS_KEY_ID": ACCESS_KEY_ID,
            "AWS_SECRET_ACCESS_KEY": SECRET_ACCESS_KEY,
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port}",
            "AWS_ALLOW_HTTP": "true",
            "AWS_REGION": "us-east-1",
        }

    def start(self) -> None:
        (self.folder / BUCKET).mkdir(parents=True, exist_ok=True)
        rclone = Path(sys.executable).with_name("rclone")
        # fmt: off
        arguments = [
            "serve", "s3", str(self.folder),
            "--addr", f"127.0.0.1:{self.port}",
            "--auth-key", f"{ACCESS_KEY_ID},{SECRET_ACCESS_KEY}",
            "--config", "",  # not the user's own file
            "--log-level", "ERROR",
        ]
        # fmt: on
        self._process = subprocess.Popen([rclone, *arguments], stderr=subprocess.DEVNULL)
        wait_for_port(self.port)

    def stop(self) -> None:
        """Kill the server, whatever it is doing.

        An object that was being replaced may then be missing, because rclone, unlike S3, deletes the old file
        before it renames the new file. The object is never incomplete, and exists again once the PUT is
        repeated.
        """
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None

    def new_location(self) -> str:
        """Return the URL of an empty folder in the bucket."""
        return f"{self.url}/place-{next(self._numbers)}"

    def read_objects(self, prefix: str = "") -> dict[str, bytes]:
        """Return every object under a prefix of the bucket, by path, even while the server is down."""
        bucket = self.folder / BUCKET
        return {
            path.relative_to(bucket).as_posix(): path.read_bytes()
            for path in sorted((bucket / prefix).rglob("*"))
            if path.is_file() and not path.name.startswith(UPLOAD_IN_PROGRESS)
        }


@contextmanager
def running_s3() -> Iterator[S3Server]:
    folder = Path(tempfile.mkdtemp(prefix="s3-"))
    server = S3Server(folder, find_free_port())
    server.start()
    try:
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder)
