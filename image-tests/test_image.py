"""The image and compose.yaml are built, run, upgraded and broken, with the very commands of the documents."""

from __future__ import annotations

import shutil
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from clean_logs import find_traceback
from composed import PROJECT, Composed, find_previous_release
from journey import PATIENCE_SECONDS, Clients, follow_the_readme
from podman import HOME, inspect, podman, prepare
from service_process import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

OWN = ("api", "worker", "checker")
SERVERS = ("postgres", "valkey", "s3")
CREDENTIAL = "Bearer of-a-monitor-that-is-older-than-the-upgrade"


@dataclass(frozen=True)
class Upgraded:
    """A project that was installed as the previous release and has become this work tree's."""

    composed: Composed
    clients: Clients
    previous_image: str
    promised_before: int


@pytest.fixture(scope="module")
def upgraded() -> Iterator[Upgraded]:
    """Install the previous release as its documents say, and upgrade it as ours say, with traffic on."""
    prepare()
    folder = HOME / "project"
    shutil.rmtree(folder, ignore_errors=True)
    composed = Composed(folder)
    composed.remove()
    composed.lay_out(find_previous_release())
    composed.start_as_documented()
    key = composed.monitoring("keys", "create", "Acme", "--name", "tests")
    clients = Clients(composed, key, watched="http://api:8000/health")
    with_credential = {"url": clients.watched, "request_headers": {"Authorization": CREDENTIAL}}
    clients.create(with_credential, clients.fetch_token())
    over = threading.Event()
    traffic = threading.Thread(target=clients.work_until, args=(over,))
    traffic.start()
    try:
        wait_until(lambda: len(clients.monitors) > 5, PATIENCE_SECONDS)
        previous_image = inspect(composed.container("api"))["Image"]
        composed.lay_out()
        composed.add_new_secrets()
        composed.move_settings()
        promised_before = len(clients.monitors)
        # Unlike Docker, podman-compose keeps a container although its image is another by now.
        composed.run("docker compose up --build --detach --force-recreate")
        composed.wait_until_ready()
        promised_then = len(clients.monitors)
        wait_until(lambda: len(clients.monitors) > promised_then + 5, PATIENCE_SECONDS)
    finally:
        over.set()
        traffic.join()
    yield Upgraded(composed, clients, previous_image, promised_before)
    composed.remove()


@pytest.fixture(scope="module")
def composed(upgraded: Upgraded) -> Composed:
    return upgraded.composed


def test_an_upgrade_from_the_previous_release_under_traffic_loses_nothing(upgraded: Upgraded) -> None:
    assert inspect(upgraded.composed.container("api"))["Image"] != upgraded.previous_image
    assert 0 < upgraded.promised_before < len(upgraded.clients.monitors)
    assert upgraded.clients.articles
    assert upgraded.clients.find_lost() == []


# Until 0.2.0 is the previous release.
def test_the_documented_command_encrypts_what_the_previous_release_stored_plain(upgraded: Upgraded) -> None:
    composed = upgraded.composed
    assert CREDENTIAL in dump_monitors(composed)
    assert composed.monitoring("encryption-keys", "apply")["unreadable"] == 0
    assert CREDENTIAL not in dump_monitors(composed)


def dump_monitors(composed: Composed) -> str:
    dump = "PGPASSWORD=$POSTGRES_PASSWORD pg_dump --host=127.0.0.1 --table=monitors --username=monitoring"
    return podman("exec", composed.container("postgres"), "sh", "-c", dump)


HELLO = """
import ssl
hello = ssl.MemoryBIO()
context = ssl.create_default_context()
try:
    context.wrap_bio(ssl.MemoryBIO(), hello, server_hostname="a.example").do_handshake()
except ssl.SSLWantReadError:
    print(ssl.OPENSSL_VERSION_INFO >= (3, 5), hello.pending > 1000, context.get_ciphers()[0]["name"])
"""


def test_tls_offers_a_post_quantum_key_and_orders_its_suites_as_browsers_do(composed: Composed) -> None:
    told = podman("exec", composed.container("checker"), "python", "-c", HELLO)
    assert told == "True True TLS_AES_128_GCM_SHA256"


@pytest.mark.parametrize("service", OWN)
class TestEachContainer:
    def test_runs_everything_as_nobody_in_particular_and_without_capabilities(
        self, service: str, composed: Composed
    ) -> None:
        processes = podman("top", composed.container(service), "hpid").split()[1:]
        assert len(processes) > 2
        for process in processes:
            status = dict(
                line.split(":\t", 1)
                for line in Path(f"/proc/{process}/status").read_text().splitlines()
                if ":\t" in line
            )
            assert {*status["Uid"].split(), *status["Gid"].split()} == {"10001"}
            assert {int(status[name], 16) for name in ("CapEff", "CapPrm", "CapBnd", "CapAmb")} == {0}
            assert status["NoNewPrivs"] == "1"

    def test_keeps_what_it_writes_in_memory_alone(self, service: str, composed: Composed) -> None:
        container = composed.container(service)
        mounts = [line.split() for line in podman("exec", container, "cat", "/proc/mounts").splitlines()]
        kinds = {place: (kind, options.split(",")) for _, place, kind, options, *_ in mounts}
        assert "ro" in kinds["/"][1]
        assert kinds["/tmp"][0] == kinds["/data"][0] == "tmpfs"  # noqa: S108 - the container's
        podman("exec", container, "touch", "/tmp/a-file")  # noqa: S108 - the container's


@pytest.mark.parametrize("service", [*OWN, *SERVERS])
def test_a_container_that_is_replaced_leaves_the_others_working(service: str, upgraded: Upgraded) -> None:
    composed = upgraded.composed
    before = composed.container(service)
    first = inspect(before)["Id"]
    podman("rm", "--force", "--time=0", before)
    composed.run(f"docker compose up --detach --no-deps {service}")
    composed.wait_until_ready()
    assert inspect(composed.container(service))["Id"] != first
    assert upgraded.clients.find_lost() == []
    follow_the_readme(composed)


@pytest.mark.parametrize("service", [*OWN, *SERVERS])
def test_a_container_that_is_killed_comes_back_and_nothing_is_lost(service: str, upgraded: Upgraded) -> None:
    composed, clients = upgraded.composed, upgraded.clients
    over = threading.Event()
    traffic = threading.Thread(target=clients.work_until, args=(over,))
    traffic.start()
    try:
        promised = len(clients.monitors)
        wait_until(lambda: len(clients.monitors) > promised + 3, PATIENCE_SECONDS)
        killed = composed.process_id(service)
        composed.kill(service)
        wait_until(lambda: composed.process_id(service) not in {0, killed}, PATIENCE_SECONDS)
        composed.wait_until_ready()
    finally:
        over.set()
        traffic.join()
    assert clients.find_lost() == []


def test_the_readme_comes_true_in_containers(composed: Composed) -> None:
    follow_the_readme(composed)


def test_compose_names_every_container_that_runs(composed: Composed) -> None:
    running = podman(
        "ps", "--format={{.Names}}", f"--filter=label=com.docker.compose.project={PROJECT}"
    ).split()
    assert sorted(running) == sorted(composed.container(service) for service in [*OWN, *SERVERS])
    assert inspect(composed.container("migrate"))["State"]["ExitCode"] == 0


@pytest.mark.parametrize("service", OWN)
def test_a_container_has_logged_no_traceback_in_all_that(service: str, composed: Composed) -> None:
    log = composed.run(f"podman logs {composed.container(service)} 2>&1")
    assert log
    assert find_traceback(log) == ""
