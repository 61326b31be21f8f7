"""Runs a real Prometheus on a free port.

It scrapes metrics and evaluates this project's rules once a second.
"""

from __future__ import annotations

import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx
import yaml

from debian_programs import find_program
from real_servers import find_free_port, wait_for_port
from service_process import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Prometheus:
    """A running Prometheus server."""

    url: str

    def ask(self, expression: str) -> list[dict[str, Any]]:
        """Return the series that a PromQL expression currently matches.

        Fails if the expression is invalid.
        """
        answer = httpx.get(f"{self.url}/api/v1/query", params={"query": expression}, timeout=30).json()
        assert answer["status"] == "success", f"{answer['error']}: {expression}"
        found: list[dict[str, Any]] = answer["data"]["result"]
        return found

    def read_rules(self) -> list[dict[str, Any]]:
        """Return the rules. The `health` of a rule is `ok` after it was evaluated without an error."""
        groups = httpx.get(f"{self.url}/api/v1/rules", timeout=30).json()["data"]["groups"]
        return [rule for group in groups for rule in group["rules"]]


@contextmanager
def running_prometheus(folder: Path, rules: Path, metrics_urls: Sequence[str]) -> Iterator[Prometheus]:
    """Run a Prometheus that scrapes these URLs until the block ends."""
    targets = [httpx.URL(url).netloc.decode() for url in metrics_urls]
    configuration = {
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(rules)],
        "scrape_configs": [{"job_name": "monitoring", "static_configs": [{"targets": targets}]}],
    }
    (folder / "prometheus.yml").write_text(yaml.safe_dump(configuration))
    port = find_free_port()
    arguments = [
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'prometheus'}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--log.level=error",
    ]
    process = subprocess.Popen([find_program("prometheus"), *arguments])
    try:
        wait_for_port(port)
        url = f"http://127.0.0.1:{port}"
        wait_until(lambda: httpx.get(f"{url}/-/ready").is_success)  # until then, it returns 503
        yield Prometheus(url)
    finally:
        process.terminate()
        process.wait()
