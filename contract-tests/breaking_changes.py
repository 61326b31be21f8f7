"""Compares openapi.yaml with the last release's: what can break a client fails, unless the version allows it.

Our own, since no registry had one to rely on: the one that is kept well comes as a Go module alone, and those
from npm overlook narrowed bounds and changed patterns, or download a program when they are installed.
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

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

CURRENT = Path(__file__).parent.parent / "openapi.yaml"
RELEASED = Path(__file__).parent / "released" / "openapi.yaml"
METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")


def find_breaking_changes(released: Mapping[str, Json], current: Mapping[str, Json]) -> list[str]:
    """Return a sentence a change, each with the JSON pointer of what was written or is gone."""
    return list(dict.fromkeys(_find(whole(released), whole(current))))


def may_break(released_version: str, current_version: str) -> bool:
    """Semantic versioning: the major version must have moved, below 1.0.0 the minor."""
    before, now = _major_and_minor(released_version), _major_and_minor(current_version)
    return now[0] > before[0] or (now[0] == before[0] == 0 and now[1] > before[1])


def read(path: Path) -> dict[str, Json]:
    """Read a document as JSON knows it: keys are text, and so are dates."""
    document: dict[str, Json] = json.loads(json.dumps(yaml.safe_load(path.read_bytes()), default=str))
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
    for name, response in (released / "components" / "responses").children().items():
        if "x-status" in response.value:  # of paths and methods that nobody serves
            yield from find_response_changes(response, current / "components" / "responses" / name)


def _major_and_minor(version: str) -> tuple[int, int]:
    major, minor = re.findall(r"\d+", version)[:2]
    return int(major), int(minor)


def main() -> None:
    """Fail with every breaking change, unless the version says that there are some."""
    released, current = read(RELEASED), read(CURRENT)
    versions = released["info"]["version"], current["info"]["version"]
    changes = find_breaking_changes(released, current)
    if changes and not may_break(*versions):
        sys.exit(
            "\n".join(["openapi.yaml breaks clients of {} and calls itself {}:".format(*versions), *changes])
        )


if __name__ == "__main__":
    main()
