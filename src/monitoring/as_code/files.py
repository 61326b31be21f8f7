"""Reads and writes files of resources. A file is YAML 1.2, and its rows are identified by keys.

Problems are reported with their line numbers. In a text, `${NAME}` refers to an environment variable, and
`$${` is an escaped `${`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from monitoring.as_code.kinds import CHANNELS, KINDS, MONITORS, WINDOWS, Kind, check_of
from monitoring.contract.problems import Problem

KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_VARIABLE = re.compile(r"\$(\$\{)|\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_NOT_OF_VARIABLES = re.compile(r"[^A-Za-z0-9]+")
# Fields that files may contain, but requests may not: the id of the resource that is given the key, and a
# note for people.
_OF_FILES = ("id", "note")
_SECTIONS = "monitors, notification_channels or maintenance_windows"

Path = tuple[str | int, ...]


class FileProblemsError(Exception):
    """A file has problems. The message has one problem per line."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))


@dataclass(frozen=True, slots=True)
class Wanted:
    """A row of the file: the wanted fields of a resource, without fields that may appear only in files.

    `variables` maps the names of variables in the row to their values, which may be secrets. The value of an
    unset variable is empty.
    """

    kind: Kind
    key: str
    line: int
    fields: dict[str, Any]
    row_id: str | None = None
    monitor_keys: tuple[str, ...] | None = None
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def place(self) -> str:
        """The row's location in the file."""
        return f"{self.kind.section}.{self.key}"


@dataclass(slots=True)
class _Text:
    """A file that is being read, with the line number of each path in it, and its problems."""

    name: str
    lines: dict[Path, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def complain(self, path: Path, problem: str) -> None:
        while path not in self.lines and path:
            path = path[:-1]
        self.problems.append(f"{self.name}:{self.lines.get(path, 1)}: {problem}")


class _Loader(yaml.SafeLoader):
    """Parses YAML by the core schema of YAML 1.2: `22:00`, `2026-11-01`, `yes` and `on` are strings."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag.rpartition(":")[2] in {"null", "merge"}]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:bool", re.compile("^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")
)
_Loader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile("^[-+]?[0-9]+$"), list("-+0123456789"))
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"^[-+]?[0-9]+\.[0-9]*(?:[eE][-+]?[0-9]+)?$"), list("-+0123456789")
)


def read_file(text: str, name: str, *, needs_variables: bool = True) -> list[Wanted]:
    """Return the rows of a file. Raises `FileProblemsError` with all problems.

    If `needs_variables` is false, a field with an unset variable is left out. Otherwise, it is a problem.
    """
    file = _Text(name)
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        if node is not None:
            _note_lines(node, (), file)
        content = None if node is None else loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise FileProblemsError([f"{name}:{line}: {error.problem}"]) from None
    finally:
        loader.dispose()
    rows = _read_sections(content, file, needs_variables=needs_variables)
    if file.problems:
        raise FileProblemsError(file.problems)
    return rows


def write_file(sections: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> str:
    """Return the text of a file with these rows, by section and key. Sections without rows are left out."""
    shown = {name: dict(rows) for name, rows in sections.items() if rows}
    head = "# yaml-language-server: $schema=monitoring.schema.json\n"
    return head + yaml.safe_dump(shown, sort_keys=False, allow_unicode=True, width=120)


def variable(*words: str) -> str:
    """Return a reference to a variable that is named after `words`. It stands for a secret in a file."""
    return f"${{{_NOT_OF_VARIABLES.sub('_', '_'.join(words)).upper()}}}"


def escape(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Escape every text in a value, so that `${` in a text is not read as a variable."""
    return change_texts(value, lambda text: text.replace("${", "$${"))


def change_texts(value: Any, change: Callable[[str], str]) -> Any:  # noqa: ANN401 - JSON
    """Apply `change` to every text in a value, at any depth, but not to field names."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {name: change_texts(each, change) for name, each in value.items()}
    return [change_texts(each, change) for each in value] if isinstance(value, list) else value


def _note_lines(node: yaml.Node, path: Path, file: _Text) -> None:
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            line = key.start_mark.line + 1
            if key.value in seen:
                file.problems.append(
                    f"{file.name}:{line}: {'.'.join(map(str, (*path, key.value)))}: is given twice"
                )
            seen.add(key.value)
            file.lines[*path, key.value] = line
            _note_lines(value, (*path, key.value), file)
    elif isinstance(node, yaml.SequenceNode):
        for number, value in enumerate(node.value):
            file.lines[*path, number] = value.start_mark.line + 1
            _note_lines(value, (*path, number), file)


def _read_sections(content: Any, file: _Text, *, needs_variables: bool) -> list[Wanted]:  # noqa: ANN401 - YAML
    if not isinstance(content, dict):
        file.complain((), f"must have {_SECTIONS}")
        return []
    known = {kind.section: kind for kind in KINDS}
    wanted: list[Wanted] = []
    for section, rows in content.items():
        if section not in known:
            file.complain((section,), f"{section}: must be {_SECTIONS}")
        elif not isinstance(rows, dict):
            file.complain((section,), f"{section}: must have rows by key")
        else:
            read = (_read_row(known[section], key, row, file, needs_variables) for key, row in rows.items())
            wanted += [row for row in read if row]
    rows = content.get(MONITORS.section)
    monitor_keys = rows if isinstance(rows, dict) else {}
    for row in wanted:
        for key in row.monitor_keys or ():
            if key not in monitor_keys:
                file.complain(
                    (row.kind.section, row.key),
                    f"{row.place}: names the monitor {key}, which the file does not have",
                )
    return sorted(wanted, key=lambda row: KINDS.index(row.kind))


def _read_row(kind: Kind, key: Any, row: Any, file: _Text, needs_variables: bool) -> Wanted | None:  # noqa: ANN401, FBT001 - YAML
    path: Path = (kind.section, key)
    place = f"{kind.section}.{key}"
    if not isinstance(key, str) or not KEY.fullmatch(key):
        file.complain(path, f"{place}: must be 1 to 100 letters, digits, dots, hyphens or underscores")
        return None
    if not isinstance(row, dict):
        file.complain(path, f"{place}: must have fields")
        return None
    unset: list[str] = []
    used: dict[str, str] = {}
    fields = _fill_in(row, used, unset)
    if unset and needs_variables:
        file.complain(path, f"{place}: {', '.join(unset)} is not set in the environment")
        return None
    line = file.lines.get(path, 1)
    row_id = fields.pop("id", None)
    fields.pop("note", None)
    fields.setdefault("name", key)
    monitor_keys = _take_monitor_keys(kind, fields)
    try:
        check_of(kind.schema)(fields)
    except Problem as problem:
        parts = [part for part in str(problem.values["field"]).split(".") if part]
        inner = tuple(int(part) if part.isdigit() else part for part in parts)
        file.complain((*path, *inner), f"{'.'.join([place, *parts])}: {problem.values['problem']}")
        return None
    return Wanted(kind, key, line, fields, row_id, monitor_keys, used)


def _take_monitor_keys(kind: Kind, fields: dict[str, Any]) -> tuple[str, ...] | None:
    """Remove `monitor_keys` from the fields and return them, because requests contain monitor ids instead."""
    holder = fields
    if kind is CHANNELS and isinstance(fields.get("routing"), dict):
        holder = fields["routing"]
    elif kind is not WINDOWS:
        return None
    keys = holder.pop("monitor_keys", None)
    return tuple(map(str, keys)) if isinstance(keys, list) else None


def _fill_in(value: Any, used: dict[str, str], unset: list[str]) -> Any:  # noqa: ANN401 - YAML
    """Return a value in which variables are replaced, and texts with an unset variable are left out.

    The variables and their values are added to `used`. The names of unset variables are added to `unset`.
    """
    if isinstance(value, dict):
        filled = {name: _fill_in(each, used, unset) for name, each in value.items()}
        return {name: each for name, each in filled.items() if each is not _UNSET}
    if isinstance(value, list):
        return [each for each in (_fill_in(each, used, unset) for each in value) if each is not _UNSET]
    if not isinstance(value, str):
        return value
    names = [match[2] for match in _VARIABLE.finditer(value) if match[2]]
    used |= {name: os.environ.get(name, "") for name in names}
    missing = [name for name in names if name not in os.environ]
    unset += missing
    if missing:
        return _UNSET
    return _VARIABLE.sub(lambda match: match[1] or os.environ[match[2]], value)


_UNSET = object()
