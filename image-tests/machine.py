"""A bare Debian with systemd, and an operator who types into it what docs/running.md says."""

from __future__ import annotations

import re
import shlex
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import orjson
import yaml

from composed import copy_work_tree
from documented_commands import read_commands
from podman import ENVIRONMENT, MACHINE, ROOT, find_address, pip_options, podman
from service_process import wait_until

RUNNING = ROOT / "docs" / "running.md"
SERVERS = "### The servers it depends on"
SYSTEMD = "### With systemd"
BACKUP = "## Backup and restore"
UNITS = ("api", "worker", "checker")
CLOUD = "monitoring-bare-machine-s3"
FILES = "/srv/monitoring"
START_TIMEOUT_SECONDS = 240.0
COMMAND_TIMEOUT_SECONDS = 600.0
PASSWORD = "the-password-of-the-role"
CREDENTIALS = {
    "AWS_REGION": "us-east-1",
    "AWS_ACCESS_KEY_ID": "the-key-of-the-bucket",
    "AWS_SECRET_ACCESS_KEY": "the-secret-of-the-bucket",
}

# For systemd to shut units in: mounts of their own (SYS_ADMIN), and no sight of each other (SYS_PTRACE).
CAPABILITIES = "--cap-add=SYS_ADMIN,SYS_PTRACE"


def documented(heading: str, word: str) -> str:
    """Return the one block below a heading that has a word."""
    (block,) = (block for block in read_commands(RUNNING, heading) if word in block)
    return block


def fill_in(commands: str, values: dict[str, str]) -> str:
    """Replace the values of settings that a document shows by an operator's own."""
    for name, value in values.items():
        commands, count = re.subn(rf"^{name}=.*$", f"{name}={value}", commands, flags=re.MULTILINE)
        assert count == 1, name
    return commands


class Machine:
    """A container that is a machine: Debian, systemd, and nothing else until an operator installs it."""

    def __init__(self) -> None:
        podman(
            "run", "--detach", "--systemd=always", f"--name={MACHINE}", CAPABILITIES, *pip_options(), MACHINE
        )
        self._storage = {**CREDENTIALS, "AWS_ENDPOINT_URL": self._start_cloud()}
        with tempfile.TemporaryDirectory() as folder:
            copy_work_tree(Path(folder))
            podman("cp", f"{folder}/.", f"{MACHINE}:{FILES}")
        wait_until(self._has_started, START_TIMEOUT_SECONDS)

    @staticmethod
    def _start_cloud() -> str:
        """Start an S3 server elsewhere and return its address."""
        image = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]["s3"]["image"]
        key = f"{CREDENTIALS['AWS_ACCESS_KEY_ID']},{CREDENTIALS['AWS_SECRET_ACCESS_KEY']}"
        podman(
            "run", "--detach", f"--name={CLOUD}", f'--env=RCLONE_AUTH_KEY="{key}"', image,
            "sh", "-c", "mkdir -p /data && exec rclone serve s3 --addr :8080 /data",
        )  # fmt: skip
        return f"http://{find_address(CLOUD)}:8080"

    @staticmethod
    def _has_started() -> bool:
        return podman("exec", MACHINE, "systemctl", "is-system-running", check=False) == "running"

    def install_as_documented(self) -> None:
        """Make the servers and the bucket, install the package, its settings and units, and start them."""
        packages, role_and_database, bucket = read_commands(RUNNING, SERVERS)
        self.type_in(packages)
        self.type_in(role_and_database, user="postgres", said=f"{PASSWORD}\n{PASSWORD}\n")
        self.type_in(bucket, **self._storage)
        self.type_in(documented(SYSTEMD, "useradd"))
        self.type_in(fill_in(documented(SYSTEMD, "METRICS_PORT"), self._own_values()))
        for file, settings in self._further_settings().items():
            lines = "".join(f"{name}={value}\n" for name, value in settings.items())
            self.type_in(f"cat >> /etc/monitoring/{file}", said=lines)
        self.type_in(documented(SYSTEMD, "systemctl enable"))
        self.wait_until_ready()
        self.type_as_the_service("monitoring teams create Acme --plan team")

    def _own_values(self) -> dict[str, str]:
        return {
            "DATABASE_URL": f"postgresql://monitoring:{PASSWORD}@127.0.0.1/monitoring?sslmode=require",
            "REDIS_URL": "redis://127.0.0.1:6379/0",
            **CREDENTIALS,
        }

    def _further_settings(self) -> dict[str, dict[str, str]]:
        """Return the settings that an operator adds to the files, so that clients elsewhere can be tested."""
        return {
            "environment": {
                "HOST": "0.0.0.0",  # noqa: S104 - of the container's network
                "TRANSLATOR": "pseudo",
                "ALLOWED_NETWORKS": "10.0.0.0/8",
                "RATE_LIMIT_CHECK_NOW": "100000/60",
            },
            "blog-storage.environment": {"AWS_ENDPOINT_URL": self._storage["AWS_ENDPOINT_URL"]},
        }

    def type_in(self, commands: str, user: str = "root", said: str = "", **variables: str) -> str:
        """Run commands to their good end and return what they printed. `said` answers what they ask."""
        options = [f"--env={name}={value}" for name, value in variables.items()]
        folder = FILES if user == "root" else "/"
        done = subprocess.run(
            ["podman", "exec", "--interactive", f"--user={user}", f"--workdir={folder}", *options, MACHINE,
             "bash", "-euo", "pipefail", "-c", commands],
            env=ENVIRONMENT, input=said, capture_output=True, text=True, check=False,
            timeout=COMMAND_TIMEOUT_SECONDS,
        )  # fmt: skip
        assert done.returncode == 0, f"{commands}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def type_as_the_service(self, commands: str, **variables: str) -> str:
        """Run commands in the shell that the document makes for them."""
        return self.type_in(
            documented(SYSTEMD, "runuser -u monitoring -- bash"),
            said=f"set -euo pipefail\n{commands}\n",
            **variables,
        )

    def wait_until_ready(self) -> None:
        """Wait until the API serves, and reaches everything it stands on."""

        def is_ready() -> bool:
            with suppress(httpx.TransportError):
                answer = httpx.get(f"{self.base_url}/ready", timeout=5)
                return answer.status_code == 200 and {*answer.json().values()} <= {"ready", "ok"}
            return False

        try:
            wait_until(is_ready, START_TIMEOUT_SECONDS)
        except AssertionError as error:
            said = podman("exec", MACHINE, "journalctl", "--no-pager", "--lines=60", "--unit=monitoring-*")
            raise AssertionError(said) from error

    def restart(self) -> None:
        """Switch the machine off and on."""
        podman("restart", MACHINE)
        self.wait_until_ready()

    @property
    def base_url(self) -> str:
        return f"http://{find_address(MACHINE)}:8000"

    own_address = base_url

    def run(self, commands: str, **variables: str) -> str:
        return self.type_in(commands, **variables)

    def monitoring(self, *arguments: str) -> Any:
        return orjson.loads(self.type_as_the_service(shlex.join(["monitoring", *arguments, "--json"])))

    def setting(self, name: str) -> str:
        return self.type_as_the_service(f"printenv {name}").strip()

    def find_objects(self, article_id: str) -> set[str]:
        found = podman("exec", CLOUD, "grep", "-rl", article_id, "/data/blog")
        return {Path(file).name for file in found.splitlines()}


def remove() -> None:
    """Remove the machine and its cloud, whatever state they are in."""
    for name in (MACHINE, CLOUD):
        podman("rm", "--force", "--ignore", "--time=0", name, check=False)
