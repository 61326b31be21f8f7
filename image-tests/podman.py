"""Podman with its own configuration and images in `build/image`, and what stands in for registries."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import yaml

MACHINE = "monitoring-bare-machine"
ROOT = Path(__file__).parent.parent
HOME = ROOT / "build" / "image"
STAND_INS = Path(__file__).parent / "stand-ins"

# Debian 13 has the Python of the Dockerfile's base, and the PostgreSQL and the Valkey of compose.yaml.
DEBIAN = "trixie"
OF_A_PYTHON_IMAGE = "ca-certificates,python-is-python3,python3,python3-pip"
OF_A_MACHINE = "ca-certificates,systemd-sysv"

# runc, cgroupfs and no systemd, because the machine may be a container itself. Its own limits may be lower
# than those that podman would ask for.
CONTAINERS_CONF = f"""
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "runc"
[network]
network_backend = "netavark"
network_config_dir = "{HOME}/networks"
[containers]
default_ulimits = ["nofile=20000:20000", "nproc=4096:4096"]
"""
STORAGE_CONF = f"""
[storage]
driver = "overlay"
graphroot = "{HOME}/images"
runroot = "{HOME}/run"
"""
ENVIRONMENT = {
    **os.environ,
    "PATH": f"{HOME}/bin:{os.environ['PATH']}",
    "BUILDAH_FORMAT": "docker",  # the other format has no HEALTHCHECK
    "CONTAINERS_CONF": str(HOME / "containers.conf"),
    "CONTAINERS_STORAGE_CONF": str(HOME / "storage.conf"),
    "DISABLE_HC_SYSTEMD": "true",  # the tests run the health checks themselves
}

# How `docker compose` is spelt here. Builds get packages by the machine's own settings of pip.
DOCKER = """\
#!/bin/sh
shift # compose
COMPOSE_PARALLEL_LIMIT=1 exec {HOME}/venv/bin/podman-compose --podman-path={HOME}/bin/podman-of-compose \\
    --podman-build-args="{build_options}" "$@"
"""
# Podman 4.3 starts no container whose `--requires` names one that has ended, as the migration has.
# podman-compose waits for what a container depends on anyway.
PODMAN_OF_COMPOSE = """\
#!/bin/bash
arguments=()
for argument; do [[ $argument == --requires=* ]] || arguments+=("$argument"); done
exec podman "${arguments[@]}"
"""


def podman(*arguments: str, check: bool = True) -> str:
    """Run podman and return what it printed."""
    done = subprocess.run(
        ["podman", *arguments], env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 or not check, done.stdout + done.stderr
    return done.stdout.strip()


def inspect(name: str) -> Any:
    """Return what podman knows of a container or an image."""
    (found,) = orjson.loads(podman("inspect", name))
    return found


def find_address(name: str) -> str:
    """Return the address of a container that has one network."""
    (network,) = inspect(name)["NetworkSettings"]["Networks"].values()
    address: str = network["IPAddress"]
    return address


def prepare() -> None:
    """Configure podman, and make the images that compose.yaml and the Dockerfile take from a registry."""
    (HOME / "bin").mkdir(parents=True, exist_ok=True)
    (HOME / "containers.conf").write_text(CONTAINERS_CONF)
    (HOME / "storage.conf").write_text(STORAGE_CONF)
    (HOME / "pip.conf").write_text("\n".join(["[global]", *_read_pip_settings()]))
    _write_program("docker", DOCKER.format(HOME=HOME, build_options=" ".join(build_options())))
    _write_program("podman-of-compose", PODMAN_OF_COMPOSE)
    # Debian 13 stands in for 12, too, whose Python is older than that of the image.
    for base in set(re.findall(r"^FROM (\S+:\S+) AS", (ROOT / "Dockerfile").read_text(), re.MULTILINE)):
        _import_debian(f"docker.io/library/{base}", OF_A_PYTHON_IMAGE)
    _import_debian(f"docker.io/library/debian:{DEBIAN}", OF_A_MACHINE)
    _build_stand_ins()


def build_options() -> list[str]:
    """Return the options that let a build take its base from here, and packages as this machine does."""
    return ["--pull-never", "--network=host", *pip_options()]


def pip_options() -> list[str]:
    """Return the options that let pip in a container find packages as this machine does."""
    settings = [HOME / "pip.conf", *_named_paths()]
    targets = [Path("/etc/pip.conf"), *_named_paths()]
    return [f"--volume={source}:{target}:ro" for source, target in zip(settings, targets, strict=True)]


def _write_program(name: str, text: str) -> None:
    program = HOME / "bin" / name
    program.write_text(text)
    program.chmod(0o755)


def _read_pip_settings() -> list[str]:
    """Return this machine's settings of pip, whether they come from a file or from a variable."""
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True
    ).stdout
    settings = dict(re.findall(r"^(?:global|install|:env:)\.(\S+?)='(.*)'$", listed, re.MULTILINE))
    return [f"{name} = {value}" for name, value in settings.items()]


def _named_paths() -> list[Path]:
    """Return the paths that the settings of pip name. An index lies beside its files."""
    named = re.findall(r"(?<![\w/])(?:file://)?(/[\w./-]+)", "\n".join(_read_pip_settings()))
    paths = [Path(path) for path in named if Path(path).exists()]
    return sorted({path.parent if path.name == "simple" else path for path in paths})


def _import_debian(name: str, packages: str) -> None:
    if subprocess.run(["podman", "image", "exists", name], env=ENVIRONMENT, check=False).returncode == 0:
        return
    made = subprocess.Popen(
        ["mmdebstrap", "--quiet", "--variant=minbase", f"--include={packages}", DEBIAN, "-"],
        stdout=subprocess.PIPE,
    )
    subprocess.run(["podman", "import", "--quiet", "-", name], env=ENVIRONMENT, stdin=made.stdout, check=True)
    assert made.wait() == 0


def _build_stand_ins() -> None:
    context = HOME / "stand-ins"
    shutil.copytree(STAND_INS, context, dirs_exist_ok=True)
    shutil.copy2(Path(sys.executable).with_name("rclone"), context)
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    for name in ("postgres", "valkey", "s3"):
        image = services[name]["image"]
        address = f"docker.io/{image}" if "/" in image else f"docker.io/library/{image}"
        podman("build", *build_options(), f"--target={name}", f"--tag={address}", str(context))
    podman("build", *build_options(), "--target=machine", f"--tag={MACHINE}", str(context))
