"""Callers of the API besides the publishers: one revokes keys, one creates monitors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cluster import TEAM
from replicas import PATIENCE_SECONDS

if TYPE_CHECKING:
    from random import Random
    from threading import Event

    from cluster import Operated
    from replicas import Replicas

REFUSED = "401 api_key_invalid"

Headers = dict[str, str]


class KeyHolder:
    """Makes keys, uses them everywhere and revokes them. Then every replica must refuse them at once."""

    def __init__(self, cluster: Operated, replicas: Replicas) -> None:
        self._cluster = cluster
        self._replicas = replicas
        self._revoked: list[Headers] = []

    def rotate(self, over: Event, pause_seconds: float) -> None:
        """Go on until the run is over."""
        while not over.wait(pause_seconds):
            client_id, headers = self.make_key()
            for replica in self._replicas.all:
                self._replicas.insist("list_monitors", "200", at=replica, headers=headers)
            self._insist_on_command("keys", "revoke", client_id)
            self._revoked.append(headers)
            for replica in self._replicas.all:
                self._replicas.insist("list_monitors", REFUSED, at=replica, headers=headers)
            self._replicas.journal.count("Keys and monitors", "keys revoked and refused by every replica")

    def make_key(self, team: str = TEAM, *scopes: str) -> tuple[str, Headers]:
        """Create a key and get a token. Return the client_id and the header with the token."""
        options = [word for scope in scopes for word in ("--scope", scope)]
        key = self._insist_on_command("keys", "create", team, *options)
        form = {"client_id": key["client_id"], "client_secret": key["client_secret"]}
        token = self._replicas.insist("issue_token", "200", data=form).json()["access_token"]
        return key["client_id"], {"Authorization": f"Bearer {token}"}

    def check_again(self) -> None:
        """Demand that every key revoked during the run is still refused."""
        for headers in self._revoked:
            for replica in self._replicas.all:
                self._replicas.insist("list_monitors", REFUSED, at=replica, headers=headers)

    def _insist_on_command(self, *arguments: str) -> Any:
        """Repeat a command until it succeeds. A failed attempt may have had its effect all the same."""
        for _ in range(round(PATIENCE_SECONDS)):
            done = self._cluster.try_command(*arguments)
            if done is not None:
                return done
        raise RuntimeError(f"`monitoring {' '.join(arguments)}` fails all the time")


class MonitorOwner:
    """Creates monitors, each with an Idempotency-Key, and repeats a request when in doubt."""

    def __init__(self, replicas: Replicas, headers: Headers, chance: Random) -> None:
        self._replicas = replicas
        self._headers = headers
        self._chance = chance
        self._created: dict[str, str] = {}

    def create(self, over: Event, pause_seconds: float) -> None:
        """Go on until the run is over."""
        while not over.wait(self._chance.uniform(0, 2 * pause_seconds)):
            url = f"https://shop.example.com/{len(self._created)}"
            self._created[url] = self._create(url)
            repeated = self._chance.choice(sorted(self._created))
            if self._create(repeated) != self._created[repeated]:
                self._replicas.journal.record_violation(f"the monitor of {repeated} was created twice")

    def check(self) -> None:
        """Demand that the team has exactly the monitors that the answers named."""
        found: dict[str, str] = {}
        query: dict[str, Any] = {"limit": 100}
        while True:
            answer = self._replicas.insist("list_monitors", "200", headers=self._headers, params=query)
            page = answer.json()
            found |= {monitor["id"]: monitor["url"] for monitor in page["monitors"]}
            if page["next_cursor"] is None:
                break
            query["cursor"] = page["next_cursor"]
        expected = {monitor_id: url for url, monitor_id in self._created.items()}
        for monitor_id in found.keys() ^ expected.keys():
            where = "nobody was told of" if monitor_id in found else "was created and is not there:"
            self._replicas.journal.record_violation(
                f"a monitor {where} {monitor_id}, {found.get(monitor_id) or expected[monitor_id]}"
            )
        self._replicas.journal.count("Keys and monitors", "monitors created, each once", len(found))

    def _create(self, url: str) -> str:
        headers = self._headers | {"Idempotency-Key": url}
        answer = self._replicas.insist("create_monitor", "201", headers=headers, json={"url": url})
        monitor_id: str = answer.json()["id"]
        return monitor_id
