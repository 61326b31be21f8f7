from __future__ import annotations

import subprocess
import sys

import pytest

SERVING = {"uvicorn", "connexion", "jsonschema_rs", "monitoring.app"}
ARTICLES = {"monitoring.articles", "markdown_it"}
DATABASE = {"tortoise", "monitoring.backends.database"}
STORAGE = {"obstore"}
SELDOM = {
    *("nh3", "zxcvbn_rs_py", "tortoise.migrations.executor", "mcp"),
}
TOKENS = {"jwt"}
SENDING = {"aiodns", "monitoring.outbound.client"}


def modules_after(importing: str) -> set[str]:
    code = f"import sys; {importing}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(loaded.stdout.split())


@pytest.mark.parametrize(
    ("module", "unused"),
    [
        pytest.param(
            "monitoring.cli.processes", SERVING | ARTICLES | DATABASE | STORAGE | SELDOM, id="a parent"
        ),
        pytest.param("monitoring.cli.checking", SERVING | ARTICLES | STORAGE | SELDOM, id="a checker"),
        pytest.param(
            "monitoring.cli.working", SERVING | STORAGE | SELDOM | TOKENS | SENDING | {"yaml"}, id="a worker"
        ),
        pytest.param(
            "monitoring.asgi",
            {"monitoring.worker"} | STORAGE | SELDOM,
            id="a process that serves",
        ),
        pytest.param(
            "monitoring.agents.server", SERVING - {"uvicorn"} | DATABASE | STORAGE, id="agents' tools"
        ),
    ],
)
def test_a_process_loads_nothing_that_it_does_not_use_at_once(module: str, unused: set[str]) -> None:
    assert modules_after(f"import {module}") & unused == set()


def test_the_help_of_one_command_loads_no_other() -> None:
    importing = "from monitoring.cli import app; app(['keys', '--help'], standalone_mode=False)"
    assert {"monitoring.cli.keys", "monitoring.cli.users", "monitoring.cli.processes"} & modules_after(
        importing
    ) == {"monitoring.cli.keys"}
