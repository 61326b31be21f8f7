"""Saved credentials of a monitor's form, headers and others: kept, replaced or removed. Pure.

The form shows other headers as lines of text, and each credential by itself, without its value. What the form
sends is put together again as all lines, where a mask stands for a credential that is kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from monitoring.app.visits import Form
from monitoring.backends.encryption import MASK

FIELD = "request_headers"

# Credentials that are fields of their own.
SECRETS = ("client_certificate", "contract.document_authorization")


class KeptHeader(NamedTuple):
    """A saved credential. `value` is what is typed in its place; if empty, it is kept."""

    name: str
    value: str = ""
    is_removed: bool = False


class ShownHeaders(NamedTuple):
    """The headers of a form: those that can be read, line by line, and credentials."""

    lines: str
    kept: Sequence[KeptHeader] = ()


def put_together(form: Form) -> dict[str, str]:
    """Return the form with all its headers in one text.

    A line that somebody typed wins over a credential, and a new value over its removal.
    """
    lines = list(filter(None, form.get(FIELD, "").split("\n")))
    typed = {_name_of(line).lower() for line in lines}
    for number, name in enumerate(form.getlist("kept_header")):
        value = form.get(f"new_header_{number}", "").strip()
        if name.lower() not in typed and (value or not form.get(f"removed_header_{number}")):
            lines.append(f"{name}: {value or MASK}")
    return {**form, FIELD: "\n".join(lines)}


def mask_kept_secrets(form: Form) -> dict[str, str]:
    """Return a mask for each secret of the form that is kept, because none is typed and it is not removed."""
    kept = set(form.getlist("kept_secret")) - set(form.getlist("removed_secret"))
    return {name: MASK for name in SECRETS if name in kept and not form.get(name, "").strip()}


def take_apart(text: str, saved: Mapping[str, str]) -> ShownHeaders:
    """Divide the headers of a form. `saved` are those of the monitor, its credentials masked."""
    values: dict[str, str] = {}
    lines = []
    for line in text.split("\n"):
        if saved.get(name := _name_of(line)) == MASK:
            values[name] = line.partition(":")[2].strip()
        else:
            lines.append(line)
    kept = [
        KeptHeader(name, values.get(name, "").removeprefix(MASK), is_removed=name not in values)
        for name, value in saved.items()
        if value == MASK
    ]
    return ShownHeaders("\n".join(lines), kept)


def _name_of(line: str) -> str:
    return line.partition(":")[0].strip(" \t")
