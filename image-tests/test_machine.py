"""docs/running.md is followed on a bare machine: servers, package, units, and a lost database."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from clean_logs import find_traceback
from journey import Clients, follow_the_readme
from machine import BACKUP, UNITS, Machine, documented, remove
from podman import prepare

if TYPE_CHECKING:
    from collections.abc import Iterator

RCLONE = '--s3-provider=Other --s3-env-auth --s3-endpoint="$AWS_ENDPOINT_URL"'
ALL_UNITS = " ".join(f"monitoring-{name}" for name in UNITS)


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    """Install the service as the document says, on a Debian that has nothing of what it needs."""
    prepare()
    remove()
    machine = Machine()
    machine.install_as_documented()
    machine.type_in(documented(BACKUP, "apt-get install"))
    yield machine
    remove()


@pytest.mark.parametrize("name", UNITS)
def test_a_unit_started_at_once_and_serves_metrics_on_a_port_of_its_own(name: str, machine: Machine) -> None:
    machine.type_in(f"systemctl is-active monitoring-{name} && systemctl is-enabled monitoring-{name}")
    assert machine.type_in(f"systemctl show --property=NRestarts monitoring-{name}") == "NRestarts=0\n"
    metrics = machine.type_in(
        f'. /etc/monitoring/{name}.environment; curl -sSf "127.0.0.1:$METRICS_PORT/metrics"'
    )
    assert "monitoring_" in metrics


def test_debians_redis_drops_no_message(machine: Machine) -> None:
    assert machine.type_in("redis-cli config get maxmemory-policy").split()[1] == "noeviction"


def test_the_readme_comes_true_on_a_machine(machine: Machine) -> None:
    follow_the_readme(machine)


def test_everything_is_back_after_the_machine_was_off(machine: Machine) -> None:
    machine.restart()
    follow_the_readme(machine)


def test_a_lost_database_is_restored_and_what_came_after_the_backup_is_submitted_again(
    machine: Machine,
) -> None:
    key = machine.monitoring("keys", "create", "Acme", "--name", "tests")
    clients = Clients(machine, key, watched=f"{machine.own_address}/health")
    token = clients.fetch_token()
    for _ in range(3):
        clients.work(token)
    machine.type_as_the_service(documented(BACKUP, "pg_dump"))
    assert machine.type_in("stat --format=%A /var/lib/monitoring/monitoring.dump") == "-rw-------\n"
    in_the_backup = replace(clients, articles=[*clients.articles], monitors=[*clients.monitors])
    articles = count_articles(machine)
    for _ in range(3):
        clients.work(token)
    assert len(in_the_backup.articles) == len(in_the_backup.monitors) == 3
    assert count_articles(machine) == articles + 3

    machine.type_in(f"systemctl stop {ALL_UNITS}")
    machine.type_in("dropdb monitoring", user="postgres")
    machine.type_in(documented(BACKUP, "createdb"), user="postgres")
    machine.type_as_the_service(documented(BACKUP, "pg_restore"))
    machine.type_in("systemctl start monitoring-api")
    machine.wait_until_ready()
    assert count_articles(machine) == articles
    machine.type_as_the_service(f"rclone copy :s3:blog blog {RCLONE}")
    machine.type_as_the_service(
        documented(BACKUP, "/api/webhooks/publisher"),
        URL=machine.base_url,
        SECRET=machine.setting("WEBHOOK_SECRETS"),
    )
    assert count_articles(machine) == articles + 3
    machine.type_in(f"systemctl start {ALL_UNITS}")
    assert in_the_backup.find_lost() == []


def count_articles(machine: Machine) -> int:
    return len(machine.monitoring("articles", "list"))


def test_no_unit_has_logged_a_traceback_in_all_that(machine: Machine) -> None:
    log = machine.type_in("journalctl --no-pager --output=cat --unit='monitoring-*'")
    assert log
    assert find_traceback(log) == ""
