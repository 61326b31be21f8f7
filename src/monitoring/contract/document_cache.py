"""What a YAML file says, kept as JSON beside Python's bytecode: reading YAML takes thirty times as long.

A folder that may not be written is no error, as with bytecode, and the variables PYTHONPYCACHEPREFIX and
PYTHONDONTWRITEBYTECODE count.
"""

from __future__ import annotations

import sys
from hashlib import sha256
from importlib.machinery import SourceFileLoader
from importlib.util import cache_from_source
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

if TYPE_CHECKING:
    from collections.abc import Callable

    from monitoring.contract.document import Json


def read_through_cache(path: Path, yaml_bytes: bytes, read_yaml: Callable[[bytes], Json]) -> Json:
    """Return what the bytes of a YAML file say: from the cache, if that was made of the very same bytes."""
    cache_path = path_of_cache(path)
    try:
        digest, _, json_bytes = cache_path.read_bytes().partition(b"\n")
    except OSError:
        pass
    else:
        if digest == _digest(yaml_bytes, json_bytes):
            return orjson.loads(json_bytes)
    root = read_yaml(yaml_bytes)
    if not sys.dont_write_bytecode:
        json_bytes = orjson.dumps(root)
        _write_like_bytecode(path, cache_path, _digest(yaml_bytes, json_bytes) + b"\n" + json_bytes)
    return root


def path_of_cache(path: Path) -> Path:
    """Return where the JSON of a YAML file is kept."""
    return Path(cache_from_source(str(path))).with_suffix(".json")


def _digest(yaml_bytes: bytes, json_bytes: bytes) -> bytes:
    """Return what changes with the YAML, and with any damage to the JSON."""
    return sha256(yaml_bytes + json_bytes).hexdigest().encode()


def _write_like_bytecode(path: Path, cache_path: Path, content: bytes) -> None:
    """Make missing folders and write all or nothing. A folder that may not be written is no error."""
    SourceFileLoader(path.stem, str(path)).set_data(str(cache_path), content)
