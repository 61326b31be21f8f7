"""Compares openapi.yaml with the last release's document.

Changes that can break clients require a new version.

This tool is our own, because no available package was reliable enough. The best-maintained package exists
only as a Go module. The npm packages overlook narrowed bounds and changed patterns, or download a program
during installation.
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
)  # the last release's document, named after its version
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml's loader takes a seventh of the time
METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")


def find_breaking_changes(released: Mapping[str, Json], current: Mapping[str, Json]) -> list[str]:
    """Return a sentence for each breaking change, with the JSON pointer of what was changed or removed."""
    return list(dict.fromkeys(_find(whole(released), whole(current))))


def is_breaking(released: Mapping[str, Json], current: Mapping[str, Json]) -> bool:
    """Return whether there is any breaking change. The comparison stops at the first breaking change."""
    return next(_find(whole(released), whole(current)), None) is not None


def may_break(released_version: str, current_version: str) -> bool:
    """Return whether the new version number permits breaking changes (semantic versioning).

    It does if its major version is higher or, below 1.0.0, if its minor version is higher.
    """
    before, now = _major_and_minor(released_version), _major_and_minor(current_version)
    return now[0] > before[0] or (now[0] == before[0] == 0 and now[1] > before[1])


def read(path: Path) -> dict[str, Json]:
    """Read a YAML document as JSON, in which keys and dates are strings."""
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
        if "x-status" in response.value:  # generated for paths and methods that are not served
            yield from find_response_changes(response, current / "components" / "responses" / name)


def _major_and_minor(version: str) -> tuple[int, int]:
    major, minor = re.findall(r"\d+", version)[:2]
    return int(major), int(minor)


def main() -> None:
    """List every breaking change. Fail if there are any and the version number does not permit them."""
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
