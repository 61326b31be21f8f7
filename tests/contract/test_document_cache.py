"""What a document says is kept beside Python's bytecode, and never believed of another document."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
import pytest

from monitoring.contract.document import Document, published_document
from monitoring.contract.document_cache import path_of_cache, read_through_cache
from monitoring.contract.yaml_reading import read_yaml

if TYPE_CHECKING:
    from collections.abc import Callable

    from monitoring.contract.document import Json

ROOT = Path(__file__).parents[2]
YAML = b"answers: {200: fine, 0.5: half}\nsince: 2026-01-01\n"
SAYS = {"answers": {"200": "fine", "0.5": "half"}, "since": "2026-01-01"}


class Reader:
    """Reads a YAML file, and counts how often the YAML itself was read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.times = 0

    def read(self, yaml_bytes: bytes = YAML) -> Json:
        return read_through_cache(self.path, yaml_bytes, self._read_yaml)

    def _read_yaml(self, yaml_bytes: bytes) -> Json:
        self.times += 1
        return read_yaml(yaml_bytes)


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Reader:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    return Reader(tmp_path / "openapi.yaml")


def test_yaml_is_read_once(reader: Reader) -> None:
    assert [reader.read(), reader.read()] == [SAYS, SAYS]
    assert reader.times == 1
    assert [path.name for path in reader.path.parent.iterdir()] == ["__pycache__"]
    assert list(path_of_cache(reader.path).parent.iterdir()) == [path_of_cache(reader.path)]


def test_another_document_is_read_and_kept(reader: Reader) -> None:
    reader.read(b"before: 1")
    assert [reader.read(), reader.read()] == [SAYS, SAYS]
    assert reader.times == 2


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:0],
        lambda content: content[:-1],
        lambda content: content.replace(b"fine", b"fina"),
        lambda content: content.partition(b"\n")[2],
        lambda content: content.partition(b"\n")[0],
        lambda content: b"\xff" * len(content),
    ],
    ids=["empty", "cut off", "changed", "without its digest", "nothing but its digest", "no text"],
)
def test_a_damaged_file_is_replaced(reader: Reader, damage: Callable[[bytes], bytes]) -> None:
    reader.read()
    kept = path_of_cache(reader.path)
    whole = kept.read_bytes()
    kept.write_bytes(damage(whole))
    assert reader.read() == SAYS
    assert (reader.times, kept.read_bytes()) == (2, whole)


def test_a_folder_that_cannot_be_written_is_no_error(reader: Reader) -> None:
    (reader.path.parent / "__pycache__").touch()
    assert [reader.read(), reader.read()] == [SAYS, SAYS]
    assert reader.times == 2


def test_nothing_is_written_where_python_writes_no_bytecode(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert [reader.read(), reader.read()] == [SAYS, SAYS]
    assert not list(reader.path.parent.iterdir())


def test_it_lies_where_python_is_told_to_keep_bytecode(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = reader.path.parent / "elsewhere"
    monkeypatch.setattr(sys, "pycache_prefix", str(elsewhere))
    assert [reader.read(), reader.read()] == [SAYS, SAYS]
    assert reader.times == 1
    assert path_of_cache(reader.path).is_relative_to(elsewhere)


def test_others_may_read_what_the_installing_user_wrote(reader: Reader) -> None:
    reader.read()
    module = reader.path.parent / "as_python_has_it"
    module.touch()
    assert path_of_cache(reader.path).stat().st_mode == module.stat().st_mode


@pytest.mark.parametrize("name", ["Dockerfile", "docs/running.md"])
def test_whoever_installs_for_another_user_makes_the_file(name: str, tmp_path: Path) -> None:
    [command] = re.findall(r"/opt/monitoring/bin/python (-c '.+')", (ROOT / name).read_text())
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(tmp_path)
    subprocess.run([sys.executable, *shlex.split(command)], env=environment, check=True)
    assert list(tmp_path.rglob("openapi.*.json"))


def test_the_published_document_is_what_its_yaml_says(reader: Reader) -> None:
    """Texts are compared because in Python `True` is 1 and 1.0."""
    published = published_document()
    afresh = Document(published.yaml_bytes).root
    reader.read(published.yaml_bytes)
    kept = reader.read(published.yaml_bytes)
    assert reader.times == 1
    assert repr(kept) == repr(afresh)
    assert orjson.dumps(published.root) == orjson.dumps(afresh)
