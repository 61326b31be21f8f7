"""Saved credentials in a monitor's form, headers and others: kept, replaced or removed. Pure.

The form shows each credential separately, without its value, and all other headers as lines of text. The
submitted parts are merged into lines again, in which a mask stands for a kept credential.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from monitoring.app.visits import Form
from monitoring.backends.encryption import MASK

FIELD = "request_headers"

# Credentials that have their own fields.
SECRETS = ("client_certificate", "contract.document_authorization")


class KeptHeader(NamedTuple):
    """A saved credential header. `value` is its replacement; if empty, the header is kept unless removed."""

    name: str
    value: str = ""
    is_removed: bool = False


class ShownHeaders(NamedTuple):
    """A form's headers: the visible ones as lines, and the saved credentials."""

    lines: str
    kept: Sequence[KeptHeader] = ()


def put_together(form: Form) -> dict[str, str]:
    """Return the form with all headers merged into one text.

    A typed line overrides a credential of the same name, and a new value overrides the removal.
    """
    lines = list(filter(None, form.get(FIELD, "").split("\n")))
    typed = {_name_of(line).lower() for line in lines}
    for number, name in enumerate(form.getlist("kept_header")):
        value = form.get(f"new_header_{number}", "").strip()
        if name.lower() not in typed and (value or not form.get(f"removed_header_{number}")):
            lines.append(f"{name}: {value or MASK}")
    return {**form, FIELD: "\n".join(lines)}


def mask_kept_secrets(form: Form) -> dict[str, str]:
    """Return a mask for each kept secret field: one neither removed nor replaced with new text."""
    kept = set(form.getlist("kept_secret")) - set(form.getlist("removed_secret"))
    return {name: MASK for name in SECRETS if name in kept and not form.get(name, "").strip()}


def take_apart(text: str, saved: Mapping[str, str]) -> ShownHeaders:
    """Separate a form's headers into lines and credentials. `saved` has the monitor's headers, masked."""
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
