"""Compares openapi.yaml with the last release's. Changes that can break clients need a new version.

We wrote our own because no registry had one to rely on. The best-kept one is a Go module only. Those on npm
overlook narrowed bounds and changed patterns, or download a program when they are installed.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from operation_changes import find_operation_changes, find_response_changes
from places import Json, Place, whole
from webhook_changes import find_webhook_changes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

CURRENT = Path(__file__).parent.parent / "openapi.yaml"
[RELEASED] = (Path(__file__).parent / "released").glob(
    "openapi-*.yaml"
)  # the last release's, under its version
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml's takes a seventh of the time
METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")


def find_breaking_changes(released: Mapping[str, Json], current: Mapping[str, Json]) -> list[str]:
    """Return a sentence for each change, with the JSON pointer of what was changed or removed."""
    return list(dict.fromkeys(_find(whole(released), whole(current))))


def is_breaking(released: Mapping[str, Json], current: Mapping[str, Json]) -> bool:
    """Say whether there is a change that breaks; it stops at the first."""
    return next(_find(whole(released), whole(current)), None) is not None


def may_break(released_version: str, current_version: str) -> bool:
    """Say whether the major version moved, or below 1.0.0 the minor one (semantic versioning)."""
    before, now = _major_and_minor(released_version), _major_and_minor(current_version)
    return now[0] > before[0] or (now[0] == before[0] == 0 and now[1] > before[1])


def read(path: Path) -> dict[str, Json]:
    """Read a document as JSON: keys are text, and so are dates."""
    loaded = yaml.load(path.read_bytes(), LOADER)  # noqa: S506 - a SafeLoader
    document: dict[str, Json] = json.loads(json.dumps(loaded, default=str))
    return document


def _find(released: Place, current: Place) -> Iterator[str]:
    addresses = [server.value["url"] for server in (current / "servers").items()]
    for server in (released / "servers").items():
        if server.value["url"] not in addresses:
            yield f"{server.pointer}: {server.value['url']} is gone"
    for path, operations in (released / "paths").children().items():
        for method in METHODS:
            if method in operations.value:
                yield from find_operation_changes(operations, current / "paths" / path, method)
    yield from find_webhook_changes(released / "webhooks", current / "webhooks")
    for name, response in (released / "components" / "responses").children().items():
        if "x-status" in response.value:  # of paths and methods that nobody serves
            yield from find_response_changes(response, current / "components" / "responses" / name)


def _major_and_minor(version: str) -> tuple[int, int]:
    major, minor = re.findall(r"\d+", version)[:2]
    return int(major), int(minor)


def main() -> None:
    """List every breaking change; fail if there is one and the version does not announce it."""
    released, current = read(RELEASED), read(CURRENT)
    versions = released["info"]["version"], current["info"]["version"]
    if changes := find_breaking_changes(released, current):
        sentence = "openapi.yaml breaks clients of {} and calls itself {}:".format(*versions)
        report = "\n".join([sentence, *changes])
        if not may_break(*versions):
            sys.exit(report)
        print(report)  # noqa: T201 - for whoever writes the changelog


if __name__ == "__main__":
    main()
