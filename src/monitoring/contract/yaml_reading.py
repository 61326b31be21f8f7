"""YAML as a document has it: what JSON can say, and no more."""

from __future__ import annotations

import sys

import yaml

from monitoring.contract.document import Json


def read_yaml(yaml_bytes: bytes) -> Json:
    """Read YAML into what `json.loads` would return. An unquoted date stays the text it is."""
    return _with_text_keys(yaml.load(yaml_bytes, _JsonCompatibleLoader))  # noqa: S506 - a SafeLoader


class _JsonCompatibleLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    yaml_implicit_resolvers = {  # noqa: RUF012 - PyYAML's own class attribute
        first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


def _with_text_keys(node: Json) -> Json:
    """YAML reads an unquoted status as a number; JSON knows only text keys. Equal texts become one."""
    if isinstance(node, dict):
        return {sys.intern(str(key)): _with_text_keys(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_with_text_keys(item) for item in node]
    return sys.intern(node) if isinstance(node, str) else node
