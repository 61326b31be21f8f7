"""What one request costs any server that runs already: for peers that are no part of `make bench`.

    python benchmarks/one_server.py PID http://127.0.0.1:8000/path [--header 'X-Api-Key: …'] [--body FILE]

CPU of the process and its children, the median of the rounds. Without a URL: of what it does by itself.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from statistics import quantiles
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from load import Load, running_client
from processor_time import cpu_seconds


def main() -> None:
    """Measure, and print one line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pid", type=int)
    parser.add_argument("url", nargs="?")
    parser.add_argument("--header", action="append", default=[])
    parser.add_argument("--body", type=Path)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--connections", type=int, default=8)
    options = parser.parse_args()
    figures = _ask(options) if options.url else _watch(options)
    low, middle, high = quantiles(figures, n=4, method="inclusive")
    unit = "us a request" if options.url else "us a second"
    print(f"{middle:,.0f} {unit} ({low:,.0f} to {high:,.0f})")


def _ask(options: argparse.Namespace) -> list[float]:
    body = options.body.read_bytes() if options.body else b""
    headers = dict(header.split(": ", 1) for header in options.header)
    request = Request(options.url, body or None, headers)  # noqa: S310 - the reader's own server
    with urlopen(request) as answer:  # noqa: S310
        length = len(answer.read())
    parts = urlsplit(options.url)
    fields = {"Host": parts.netloc, **headers} | ({"Content-Length": str(len(body))} if body else {})
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    target = f"{parts.path}?{parts.query}" if parts.query else parts.path
    text = f"{'POST' if body else 'GET'} {target} HTTP/1.1\r\n{head}\r\n{body.decode('latin-1')}"
    bounds = (length - 100, length + 100)
    load = Load([parts.port or 80], [text], bounds, options.connections, options.seconds)
    figures = []
    with running_client() as client:
        client.run(load)
        for _ in range(options.rounds):
            before = cpu_seconds(options.pid)
            answered = client.run(load)
            figures.append((cpu_seconds(options.pid) - before) / answered.count * 1e6)
    return figures


def _watch(options: argparse.Namespace) -> list[float]:
    figures = []
    for _ in range(options.rounds):
        before, began_at = cpu_seconds(options.pid), time.perf_counter()
        time.sleep(options.seconds)
        figures.append((cpu_seconds(options.pid) - before) / (time.perf_counter() - began_at) * 1e6)
    return figures


if __name__ == "__main__":
    main()
