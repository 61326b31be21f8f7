"""The image and compose.yaml are built, run, upgraded and broken, with the very commands of the documents."""

from __future__ import annotations

import shutil
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import orjson
import pytest

from composed import PROJECT, Composed, find_previous_release
from documented_commands import read_commands
from podman import HOME, ROOT, inspect, podman, prepare
from service_process import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

OWN = ("api", "worker", "checker")
SERVERS = ("postgres", "valkey", "s3")
PATIENCE_SECONDS = 240.0
WATCHED = "http://api:8000/health"


@dataclass
class Clients:
    """A publisher and a holder of an API key, who write down what was promised to them."""

    composed: Composed
    key: dict[str, Any]
    articles: list[str] = field(default_factory=list)
    monitors: list[str] = field(default_factory=list)

    def fetch_token(self) -> str:
        form = {"client_id": self.key["client_id"], "client_secret": self.key["client_secret"]}
        answer = httpx.post(f"{self.composed.base_url}/api/oauth/token", data=form, timeout=30)
        token: str = answer.raise_for_status().json()["access_token"]
        return token

    def work_until(self, over: threading.Event) -> None:
        """Deliver an article and create a monitor again and again. What gets no answer was not promised."""
        token = ""
        while not over.wait(0.3):
            with suppress(httpx.HTTPError, KeyError):
                token = token or self.fetch_token()
                number = f"{len(self.articles)} and {len(self.monitors)}"
                self._deliver({"article": {"title": f"While others work: {number}"}})
                self._create({"url": WATCHED, "name": f"While others work: {number}"}, token)

    def _deliver(self, delivery: dict[str, Any]) -> None:
        answer = httpx.post(
            f"{self.composed.base_url}/api/webhooks/publisher",
            json=delivery,
            headers={"X-Webhook-Secret": self.composed.setting("WEBHOOK_SECRETS")},
            timeout=30,
        )
        if answer.status_code == 202:
            self.articles.append(answer.json()["article_id"])

    def _create(self, monitor: dict[str, Any], token: str) -> None:
        answer = httpx.post(
            f"{self.composed.base_url}/api/monitors",
            json=monitor,
            headers={"Authorization": f"Bearer {token}"},
            timeout=30,
        )
        if answer.status_code == 201:
            self.monitors.append(answer.json()["id"])

    def find_lost(self) -> list[str]:
        """Return what was promised and is not there. Translations get time to be finished."""
        bearer = {"Authorization": f"Bearer {self.fetch_token()}"}
        secret = {"X-Webhook-Secret": self.composed.setting("WEBHOOK_SECRETS")}
        with httpx.Client(base_url=self.composed.base_url, timeout=30) as client:
            lost = [
                f"monitor {monitor}"
                for monitor in self.monitors
                if client.get(f"/api/monitors/{monitor}", headers=bearer).status_code != 200
            ]

            def is_translated(article: str) -> bool:
                answer = client.get(f"/api/articles/{article}", headers=secret)
                return answer.status_code == 404 or all(
                    one["status"] == "translated" for one in answer.raise_for_status().json()["translations"]
                )

            for article in self.articles:
                wait_until(partial(is_translated, article), PATIENCE_SECONDS)
                if client.get(f"/api/articles/{article}", headers=secret).status_code != 200:
                    lost.append(f"article {article}")
        return lost


@dataclass(frozen=True)
class Upgraded:
    """A project that was installed as the previous release and has become this work tree's."""

    composed: Composed
    clients: Clients
    previous_image: str
    promised_before: int


@pytest.fixture(scope="session")
def upgraded() -> Iterator[Upgraded]:
    """Install the previous release as its documents say, and upgrade it as ours say, with traffic on."""
    prepare()
    folder = HOME / "project"
    shutil.rmtree(folder, ignore_errors=True)
    composed = Composed(folder)
    composed.remove()
    composed.lay_out(find_previous_release())
    composed.start_as_documented()
    clients = Clients(composed, composed.monitoring("keys", "create", "Acme", "--name", "tests"))
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


@pytest.fixture(scope="session")
def composed(upgraded: Upgraded) -> Composed:
    return upgraded.composed


def test_an_upgrade_from_the_previous_release_under_traffic_loses_nothing(upgraded: Upgraded) -> None:
    assert inspect(upgraded.composed.container("api"))["Image"] != upgraded.previous_image
    assert 0 < upgraded.promised_before < len(upgraded.clients.monitors)
    assert upgraded.clients.find_lost() == []


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

    def test_that_is_replaced_leaves_the_others_working(self, service: str, composed: Composed) -> None:
        before = composed.container(service)
        first = inspect(before)["Id"]
        podman("rm", "--force", "--time=0", before)
        composed.run(f"docker compose up --detach --no-deps {service}")
        composed.wait_until_ready()
        assert inspect(composed.container(service))["Id"] != first
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


def follow_the_readme(composed: Composed) -> None:
    """Run the commands of the README's *Use*, and see everything come true that it promises."""
    key = composed.monitoring("keys", "create", "Acme", "--name", "a reader")
    values = {
        "URL": composed.base_url,
        "CLIENT_ID": key["client_id"],
        "CLIENT_SECRET": key["client_secret"],
        "SECRET": composed.setting("WEBHOOK_SECRETS"),
    }
    watched = f"http://{composed.address('api')}:8000/health"
    answers: list[Any] = []
    commands = read_commands(ROOT / "README.md", "## Use")[0]
    for command in commands.split("\n\n"):
        curl = "\n".join(line for line in command.splitlines() if not line.startswith("{"))
        values |= {"TOKEN": answers[0]["access_token"]} if answers else {}
        answers.append(orjson.loads(composed.run(curl.replace("https://example.com/", watched), **values)))
    _, monitor, delivery = answers
    bearer = {"Authorization": f"Bearer {values['TOKEN']}"}
    secret = {"X-Webhook-Secret": values["SECRET"]}
    with httpx.Client(base_url=composed.base_url, timeout=30) as client:

        def has_been_checked() -> bool:
            address = f"/api/monitors/{monitor['id']}"
            client.post(f"{address}/check", headers=bearer).raise_for_status()
            return bool(client.get(address, headers=bearer).raise_for_status().json()["status"] == "up")

        def is_translated() -> bool:
            found = client.get(f"/api/articles/{delivery['article_id']}", headers=secret)
            translations = found.raise_for_status().json()["translations"]
            return {one["status"] for one in translations} == {"translated"}

        wait_until(is_translated, PATIENCE_SECONDS)
        wait_until(has_been_checked, PATIENCE_SECONDS)
        assert "<form" in client.get("/app/sign-in").raise_for_status().text
    of_article = podman("exec", composed.container("s3"), "grep", "-rl", delivery["article_id"], "/data/blog")
    assert {Path(file).stem for file in of_article.splitlines()} == {"en", *delivery["locales"]}


def test_the_readme_comes_true_in_containers(composed: Composed) -> None:
    follow_the_readme(composed)


def test_compose_names_every_container_that_runs(composed: Composed) -> None:
    running = podman(
        "ps", "--format={{.Names}}", f"--filter=label=com.docker.compose.project={PROJECT}"
    ).split()
    assert sorted(running) == sorted(composed.container(service) for service in [*OWN, *SERVERS])
    assert inspect(composed.container("migrate"))["State"]["ExitCode"] == 0
