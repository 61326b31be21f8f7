"""Measures all programs, and writes the table, the picture and build/bench/results.json.

make bench                  everything, takes about 20 minutes
make bench QUICK=1          fewer rounds and smaller sizes, takes a few minutes
make bench ONLY=api,checks  some parts; docs/performance.md stays as it is
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeAlias

from articles_webhook import measure_articles
from at_rest import measure_at_rest
from bench import FULL, QUICK, Bench, open_bench
from checks_speed import EXPORTER, measure_checks
from growth import measure_growth
from hostile_articles import measure_hostile_articles
from large_tables import measure_many_monitors, measure_many_results
from monitors_api import measure_monitors_api
from picture import draw_bars
from preconditions import CannotMeasure, demand_files, the_only_run
from rounds import Scenario
from servers import BUILD, PEERS_PYTHON, ROOT, SERVICE_PYTHON
from tables import put_block, write_block
from targets import judge, left_out
from uptime_kuma import measure_uptime_kuma

PAGE = ROOT / "docs" / "performance.md"
PICTURE = ROOT / "docs" / "performance.svg"
RESULTS = BUILD / "results.json"
LOCK = BUILD / "lock"

INSTALL = "`make bench` installs it; if it did so before, delete build/bench/.installed"
NEEDED = {
    SERVICE_PYTHON: INSTALL,
    PEERS_PYTHON: INSTALL,
    EXPORTER: INSTALL,
    Path("/proc/self/stat"): "processor time is read from Linux's /proc",
}
UPTIME_KUMA_NEEDED = {
    SERVICE_PYTHON: INSTALL,
    "server/server.js": "UPTIME_KUMA must name a checkout of Uptime Kuma",
    "node_modules": "docs/performance.md says how to install it",
    "dist/index.html": "docs/performance.md says how to install it",
}
NODE = {Path(shutil.which("node") or "node"): "Uptime Kuma needs Node.js"}

# The scenarios in the picture. The table also contains the others.
PICTURED = ("list", "create", "get", "ingest_postgresql", "ingest_sqlite", "check_http", "check_https")

# A function that measures some scenarios. Results that are not comparisons are returned as sentences.
Part: TypeAlias = Sequence[Callable[[Bench], Sequence[Scenario | str]]]


PARTS: dict[str, Part] = {
    "api": (measure_monitors_api,),
    "articles": (measure_articles,),
    "checks": (measure_checks,),
    "large": (measure_many_monitors, measure_many_results),
    "rest": (measure_at_rest,),
    "growth": (measure_growth,),
    "hostile": (measure_hostile_articles,),
}


def main() -> int:
    """Measure the chosen parts.

    A missed target is printed, but is not a failure, because nothing depends on it.
    """
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", type=_read_parts, default=tuple(PARTS), metavar=",".join(PARTS))
    parser.add_argument("--uptime-kuma", type=Path, help="a checkout that is installed")
    parser.add_argument(
        "--write-page", action="store_true", help="from the results there are; measures nothing"
    )
    options = parser.parse_args()
    if options.write_page:
        write_page()
        return 0
    try:
        demand_files(NEEDED)
        if options.uptime_kuma:
            needed = {options.uptime_kuma / name: why for name, why in UPTIME_KUMA_NEEDED.items()}
            demand_files(needed | NODE)
        with the_only_run(LOCK):
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # stops all started programs
            measure(options)
    except CannotMeasure as reason:
        print(f"Nothing was measured: {reason}", file=sys.stderr)
        return 1
    return 0


def measure(options: argparse.Namespace) -> None:
    """Measure, print the results, and store them."""
    began_at = time.monotonic()
    parts = {name: PARTS[name] for name in options.only}
    if options.uptime_kuma:
        parts["uptime_kuma"] = (partial(measure_uptime_kuma, folder=options.uptime_kuma),)
    command = "make bench" + " QUICK=1" * options.quick + " UPTIME_KUMA=…" * bool(options.uptime_kuma)
    machine = describe_machine()
    scenarios: dict[str, Scenario] = {}
    facts: list[str] = []
    try:
        _measure(parts, scenarios, facts, quick=options.quick)
    finally:  # if a part fails, the others' results are kept
        written = {key: scenario.to_json() for key, scenario in scenarios.items()}
        stored = {"command": command, "machine": machine, "scenarios": written, "facts": facts}
        RESULTS.write_text(json.dumps(stored, indent=1))
    minutes = (time.monotonic() - began_at) / 60
    print("\n" + write_block(command, machine, scenarios, facts))
    _print_verdicts(scenarios)
    print(f"\n{minutes:.0f} minutes; every round is in {RESULTS.relative_to(ROOT)}")
    if not options.quick and set(options.only) == set(PARTS):
        write_page()


def write_page() -> None:
    """Write the table and the picture from the stored results."""
    results = json.loads(RESULTS.read_text())
    scenarios = {key: Scenario.from_json(key, told) for key, told in results["scenarios"].items()}
    put_block(PAGE, write_block(results["command"], results["machine"], scenarios, results["facts"]))
    PICTURE.write_text(draw_bars([scenarios[key] for key in PICTURED if key in scenarios]))


def describe_machine() -> str:
    """Return a description of the machine on one line."""
    information = Path("/proc/cpuinfo").read_text()
    models = re.findall(r"model name\s*: (.+)", information)
    cores = information.count("processor\t")
    memory_gib = int(Path("/proc/meminfo").read_text().split()[1]) / 2**20
    model = models[0] if models else platform.machine()
    measured = subprocess.run([SERVICE_PYTHON, "--version"], capture_output=True, text=True, check=True)
    python = measured.stdout.strip()
    return f"{cores} cores ({model}), {memory_gib:.0f} GiB, Linux {platform.release()}, {python}"


def _measure(
    parts: Mapping[str, Part], scenarios: dict[str, Scenario], facts: list[str], *, quick: bool
) -> None:
    with open_bench(QUICK if quick else FULL) as bench:
        for part, measurements in parts.items():
            for measurement in measurements:
                began_at = time.monotonic()
                for finding in measurement(bench):
                    if isinstance(finding, str):
                        facts.append(finding)
                    else:
                        scenarios[finding.key] = finding
                name = getattr(measurement, "__name__", part)
                print(f"{name}: {time.monotonic() - began_at:.0f} s", file=sys.stderr, flush=True)


def _print_verdicts(scenarios: dict[str, Scenario]) -> None:
    print()
    for verdict in judge(scenarios):
        print(f"{verdict.words:23} {verdict.title}: {verdict.promise}; it is {verdict.measured.median:.2f}")
    for absence in left_out(scenarios):
        print(f"{'not measured':23} {absence}")
    if "check_uptime_kuma" not in scenarios:
        print(f"{'not measured':23} Uptime Kuma takes no part; docs/performance.md has the recipe")


def _read_parts(text: str) -> tuple[str, ...]:
    parts = tuple(text.split(","))
    if unknown := set(parts) - set(PARTS):
        raise argparse.ArgumentTypeError(f"there is no {', '.join(sorted(unknown))}")
    return parts


if __name__ == "__main__":
    sys.exit(main())
