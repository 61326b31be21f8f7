"""What clients do with an installed service: the README's *Use*, and work whose promises are kept in mind."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import httpx
import orjson

from documented_commands import read_commands
from podman import ROOT
from service_process import wait_until

if TYPE_CHECKING:
    import threading

PATIENCE_SECONDS = 240.0


class Installed(Protocol):
    """The service, as an operator has installed it."""

    @property
    def base_url(self) -> str: ...

    @property
    def own_address(self) -> str:
        """Where checkers reach the API: something to watch."""

    def run(self, commands: str, **variables: str) -> str:
        """Run commands to their good end in a folder with this version's files. Return what they printed."""

    def monitoring(self, *arguments: str) -> Any:
        """Run a command of the service and return its JSON."""

    def setting(self, name: str) -> str: ...

    def find_objects(self, article_id: str) -> set[str]:
        """Return the names of an article's objects in the blog storage."""


@dataclass
class Clients:
    """A publisher and a holder of an API key, who write down what was promised to them."""

    installed: Installed
    key: dict[str, Any]
    watched: str
    articles: list[str] = field(default_factory=list)
    monitors: list[str] = field(default_factory=list)

    def fetch_token(self) -> str:
        form = {"client_id": self.key["client_id"], "client_secret": self.key["client_secret"]}
        answer = httpx.post(f"{self.installed.base_url}/api/oauth/token", data=form, timeout=30)
        token: str = answer.raise_for_status().json()["access_token"]
        return token

    def work_until(self, over: threading.Event) -> None:
        """Deliver an article and create a monitor again and again. What gets no answer was not promised."""
        token = ""
        while not over.wait(0.3):
            with suppress(httpx.HTTPError, KeyError):
                token = token or self.fetch_token()
                self.work(token)

    def work(self, token: str) -> None:
        """Deliver an article and create a monitor."""
        number = f"{len(self.articles)} and {len(self.monitors)}"
        self._deliver({"article": {"title": f"While others work: {number}"}})
        self.create({"url": self.watched, "name": f"While others work: {number}"}, token)

    def _deliver(self, delivery: dict[str, Any]) -> None:
        answer = httpx.post(
            f"{self.installed.base_url}/api/webhooks/publisher",
            json=delivery,
            headers={"X-Webhook-Secret": self.installed.setting("WEBHOOK_SECRETS")},
            timeout=30,
        )
        if answer.status_code == 202:
            self.articles.append(answer.json()["article_id"])

    def create(self, monitor: dict[str, Any], token: str) -> None:
        answer = httpx.post(
            f"{self.installed.base_url}/api/monitors",
            json=monitor,
            headers={"Authorization": f"Bearer {token}"},
            timeout=30,
        )
        if answer.status_code == 201:
            self.monitors.append(answer.json()["id"])

    def find_lost(self) -> list[str]:
        """Return what was promised and is not there. Translations get time to be finished."""
        bearer = {"Authorization": f"Bearer {self.fetch_token()}"}
        secret = {"X-Webhook-Secret": self.installed.setting("WEBHOOK_SECRETS")}
        with httpx.Client(base_url=self.installed.base_url, timeout=30) as client:
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


def follow_the_readme(installed: Installed) -> None:
    """Run the commands of the README's *Use*, and see everything come true that it promises."""
    key = installed.monitoring("keys", "create", "Acme", "--name", "a reader")
    values = {
        "URL": installed.base_url,
        "CLIENT_ID": key["client_id"],
        "CLIENT_SECRET": key["client_secret"],
        "SECRET": installed.setting("WEBHOOK_SECRETS"),
    }
    watched = f"{installed.own_address}/health"
    answers: list[Any] = []
    commands = read_commands(ROOT / "README.md", "## Use")[0]
    for command in commands.split("\n\n"):
        curl = "\n".join(line for line in command.splitlines() if not line.startswith("{"))
        values |= {"TOKEN": answers[0]["access_token"]} if answers else {}
        answers.append(orjson.loads(installed.run(curl.replace("https://example.com/", watched), **values)))
    _, monitor, delivery = answers
    bearer = {"Authorization": f"Bearer {values['TOKEN']}"}
    secret = {"X-Webhook-Secret": values["SECRET"]}
    with httpx.Client(base_url=installed.base_url, timeout=30) as client:

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
    locales = {"en", *delivery["locales"]}
    assert installed.find_objects(delivery["article_id"]) == {f"{locale}.json" for locale in locales}
