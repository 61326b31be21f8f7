"""compose.yaml as an operator runs it: the files of one version, and the commands of its documents."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import orjson

from documented_commands import read_commands
from podman import ENVIRONMENT, ROOT, find_address, inspect, podman
from real_servers import find_free_port
from service_process import wait_until

START_TIMEOUT_SECONDS = 240.0
COMMAND_TIMEOUT_SECONDS = 900.0
RELEASED = ROOT / "contract-tests" / "released"
PROJECT = "monitoring-image-test"
SETTINGS = "settings.env"


def find_previous_release() -> str:
    """Return the last release: its tag, or else the last commit that has the released document."""
    (document,) = RELEASED.glob("openapi-*.yaml")
    version = document.stem.removeprefix("openapi-")
    for tag in (version, f"v{version}"):
        with suppress(subprocess.CalledProcessError):
            return _git("rev-parse", "--verify", "--quiet", f"{tag}^{{commit}}")
    released = _git("hash-object", str(document))
    for commit in _git("rev-list", "HEAD").split():
        if _git("rev-parse", f"{commit}:openapi.yaml") == released:
            return commit
    raise LookupError(f"no commit has {document.name}: the history is incomplete")


def copy_work_tree(folder: Path) -> None:
    """Copy what a commit of this work tree would have."""
    for name in _git("ls-files", "--cached", "--others", "--exclude-standard").splitlines():
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)


def _git(*arguments: str) -> str:
    return subprocess.run(
        ["git", "-C", str(ROOT), *arguments], check=True, capture_output=True, text=True
    ).stdout.strip()


@dataclass
class Composed:
    """A project of compose in a folder; the folder's files are those of one version."""

    folder: Path

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True)
        self.port = find_free_port()
        self.base_url = f"http://127.0.0.1:{self.port}"

    def lay_out(self, commit: str | None = None) -> None:
        """Replace the files by those of a commit, or by this work tree's. What the operator wrote stays."""
        for path in self.folder.iterdir():
            if path.name not in {".env", SETTINGS}:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        if commit:
            archive = subprocess.run(["git", "-C", ROOT, "archive", commit], check=True, capture_output=True)
            subprocess.run(["tar", "--extract"], cwd=self.folder, input=archive.stdout, check=True)
            return
        copy_work_tree(self.folder)

    def start_as_documented(self) -> str:
        """Run the commands of docs/running.md, on a free port. Return what they printed."""
        (commands,) = read_commands(self.folder / "docs/running.md", "### With Docker Compose")
        secrets, _, rest = commands.partition("docker compose up")
        self.run(secrets)
        settings = {
            "PORT": f"127.0.0.1:{self.port}",
            "BASE_URL": self.base_url,
            "TRANSLATOR": "pseudo",
            "ALLOWED_NETWORKS": "10.0.0.0/8",
            "PLANS": "free=10,team=100000,business=1000",
            "RATE_LIMIT_API": "100000/60",
            "RATE_LIMIT_CHECK_NOW": "100000/60",
            "RATE_LIMIT_TOKEN": "100000/60",
        }
        with (self.folder / ".env").open("a") as file:
            file.writelines(f"{name}={value}\n" for name, value in settings.items())
        self.move_settings()
        first, *others = f"docker compose up{rest}".splitlines()
        self.run(first)
        self.wait_until_ready()
        return "".join(self.run(command) for command in others)

    def add_new_secrets(self) -> None:
        """Add to `.env` what this version's documented commands make and `.env` lacks."""
        (commands,) = read_commands(self.folder / "docs/running.md", "### With Docker Compose")
        scratch = self.folder / "new-secrets"
        scratch.mkdir()
        subprocess.run(["bash", "-c", commands.partition("docker compose up")[0]], cwd=scratch, check=True)
        known = {line.partition("=")[0] for line in (self.folder / ".env").read_text().splitlines()}
        made = (scratch / ".env").read_text().splitlines()
        shutil.rmtree(scratch)
        with (self.folder / ".env").open("a") as file:
            file.writelines(f"{line}\n" for line in made if line.partition("=")[0] not in known)

    def move_settings(self) -> None:
        """Move to `settings.env` what compose.yaml itself does not read, if this version reads that file."""
        compose = (self.folder / "compose.yaml").read_text()
        if SETTINGS not in compose:
            return
        own = set(re.findall(r"\$\{(\w+)", compose))
        lines = (self.folder / ".env").read_text().splitlines(keepends=True)
        staying = [line for line in lines if line.partition("=")[0] in own]
        (self.folder / ".env").write_text("".join(staying))
        with (self.folder / SETTINGS).open("a") as file:
            file.writelines(line for line in lines if line not in staying)

    def run(self, commands: str, **variables: str) -> str:
        """Run commands in the folder to their good end and return what they printed."""
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", commands],
            cwd=self.folder,
            env={**ENVIRONMENT, "COMPOSE_PROJECT_NAME": PROJECT, **variables},
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            check=False,
            timeout=COMMAND_TIMEOUT_SECONDS,
        )
        assert done.returncode == 0, f"{commands}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def monitoring(self, *arguments: str) -> Any:
        """Run a command of the service in the API's container and return its JSON."""
        return orjson.loads(podman("exec", self.container("api"), "monitoring", *arguments, "--json"))

    def setting(self, name: str) -> str:
        lines = (self.folder / ".env").read_text().splitlines()
        return next(line.partition("=")[2] for line in lines if line.startswith(f"{name}="))

    def container(self, service: str) -> str:
        (name,) = podman(
            "ps", "--all", "--format={{.Names}}",
            f"--filter=label=com.docker.compose.project={PROJECT}",
            f"--filter=label=com.docker.compose.service={service}",
        ).split()  # fmt: skip
        return name

    def process_id(self, service: str) -> int:
        """Return the id, on this machine, of a container's first process."""
        return int(inspect(self.container(service))["State"]["Pid"])

    @property
    def own_address(self) -> str:
        """Podman's name server lets a container's name be cached for a day, so this is no name."""
        return f"http://{find_address(self.container('api'))}:8000"

    def find_objects(self, article_id: str) -> set[str]:
        found = podman("exec", self.container("s3"), "grep", "-rl", article_id, "/data/blog")
        return {Path(file).name for file in found.splitlines()}

    def kill(self, service: str) -> None:
        """Kill everything in a container at once, as if it had crashed."""
        os.kill(self.process_id(service), signal.SIGKILL)

    def is_healthy(self, service: str) -> bool:
        """Run the health check of a container, as Docker would again and again."""
        command = ["podman", "healthcheck", "run", self.container(service)]
        return subprocess.run(command, env=ENVIRONMENT, capture_output=True, check=False).returncode == 0

    def wait_until_ready(self) -> None:
        """Wait until everything is there, and every container says that it is well."""

        def is_ready() -> bool:
            with suppress(httpx.TransportError):
                answer = httpx.get(f"{self.base_url}/ready", timeout=5)
                return answer.status_code == 200 and {*answer.json().values()} <= {"ready", "ok"}
            return False

        try:
            wait_until(is_ready, START_TIMEOUT_SECONDS)
            for service in ("api", "worker", "checker", "postgres", "valkey", "s3"):
                wait_until(partial(self.is_healthy, service), START_TIMEOUT_SECONDS)
        except AssertionError as error:
            raise AssertionError(self.report()) from error

    def report(self) -> str:
        """Return what the containers said last."""
        return self.run(
            "podman ps --all; for name in $(podman ps --all --format={{.Names}}); "
            "do podman logs --tail=15 $name 2>&1; done"
        )

    def remove(self) -> None:
        """Remove containers, networks and volumes, whatever state they are in."""
        podman("rm", "--all", "--force", "--depend", "--time=0", check=False)
        podman("network", "prune", "--force", check=False)
        podman("volume", "prune", "--force", check=False)
