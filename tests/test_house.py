"""Tests the structure of the code: where SQL, private names of libraries, and HTTP code may be."""

from __future__ import annotations

import ast
import re
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "monitoring"

# Files that may contain SQL in addition to each package's `queries.py`: the shared database code, and the
# detection of changes.
SQL_STANDS_IN = {"backends", "app/live/fingerprints.py"}

# Files that use undocumented names of a library. Each file lists these names.
PRIVATE_NAMES_STAND_IN = {
    "backends/database_clients/asyncpg.py",  # of Tortoise
    "backends/database_clients/sqlite.py",  # of Tortoise
    "backends/tortoise_bridge.py",
    "cli/supervising.py",  # of multiprocessing
    "outbound/certificates.py",  # of ssl, before Python 3.13
}

_SQL = re.compile(
    r"""
    ^\s*(SELECT|INSERT\ INTO|UPDATE|DELETE\ FROM|WITH)\s+[\w"(*$]
    | ^\s*(CREATE|ALTER|DROP|TRUNCATE|LOCK|SET\ LOCAL|PRAGMA)\s+[\w"(*$]
    | \b(SELECT|RETURNING)\s+[a-z(*$]
    | \bFROM\ [a-z_]+\s+(WHERE|JOIN|ORDER)
    | \bON\ CONFLICT\b
    | \bpg_[a-z_]+\(
    """,
    re.VERBOSE,
)

_CHARACTERS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]")
_POSSESSIVE_GROUP = re.compile(r"(?<!\()\)(?:[*+?]|\{\d*,?\d*\})\+")


def test_sql_stands_in_queries_and_backends_alone() -> None:
    assert {
        f"{name}:{text.lineno}"
        for name, tree in _modules()
        if not _is_below(name, SQL_STANDS_IN) and not name.endswith("/queries.py")
        for text in _texts(tree)
        if _is_sql(text)
    } == set()


def test_only_queries_and_backends_ask_which_database_it_is() -> None:
    assert {
        name
        for name, tree in _modules()
        if not _is_below(name, SQL_STANDS_IN) and not name.endswith("/queries.py")
        if "is_postgres" in _names(tree)
    } == set()


def test_sql_is_found_wherever_there_is_any() -> None:
    rooms = {name.split("/")[0] for name, tree in _modules() if any(map(_is_sql, _texts(tree)))}
    assert {"app", "articles", "auth", "backends", "checks", "history", "members", "monitors"} <= rooms


def test_private_names_of_libraries_stand_where_they_are_listed() -> None:
    """Ruff finds private names (SLF001), and RUF100 finds unnecessary exemptions."""
    marked = {name for name in _names_of_files() if "noqa: SLF001" in (SOURCE / name).read_text()}
    assert marked == PRIVATE_NAMES_STAND_IN


def test_no_possessive_quantifier_follows_a_group() -> None:
    """Up to Python 3.11.4, a possessive quantifier may lose what a group matched (gh-106052).

    Atomic groups work.
    """
    assert {
        f"{name}:{text.lineno}"
        for name, tree in _modules()
        for text in _texts(tree)
        if _POSSESSIVE_GROUP.search(_CHARACTERS.sub("", str(text.value)))
    } == set()


def test_services_and_rules_know_no_web() -> None:
    web = ("monitoring.web", "starlette", "uvicorn", "connexion")
    of_the_web = {"idempotency/service.py"}  # it stores responses, and endpoints get it as an argument
    assert {
        f"{name} -> {module}"
        for name, tree in _modules()
        if name.endswith(("/service.py", "/rules.py", "/queries.py", "/models.py")) and name not in of_the_web
        for module in _imports(tree)
        if module.startswith(web)
    } == set()


def _names_of_files() -> list[str]:
    paths = (path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py"))
    return sorted(name for name in paths if "/migrations/" not in name)


def _modules() -> list[tuple[str, ast.Module]]:
    return [(name, ast.parse((SOURCE / name).read_bytes())) for name in _names_of_files()]


def _is_below(name: str, places: set[str]) -> bool:
    return any(name == place or name.startswith(f"{place}/") for place in places)


def _texts(tree: ast.Module) -> list[ast.Constant]:
    """Return all string constants of a module except docstrings."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        node.body[0].value
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    constants = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and node not in docstrings)
    return [node for node in constants if isinstance(node.value, str)]


def _is_sql(text: ast.Constant) -> bool:
    return _SQL.search(str(text.value)) is not None


def _names(tree: ast.Module) -> set[str]:
    return {
        name
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.ImportFrom)
            else [node.attr]
            if isinstance(node, ast.Attribute)
            else []
        )
    }


def _imports(tree: ast.Module) -> set[str]:
    return {
        module
        for node in ast.walk(tree)
        for module in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else []
        )
    }
