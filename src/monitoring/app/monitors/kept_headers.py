"""Saved credentials in a monitor's form. A user can keep, replace or remove each. Has no side effects.

The form shows each credential separately, without its value, and all other request headers as lines of text.
When the form is submitted, all headers are merged into lines again. A mask stands for each kept credential.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from monitoring.app.visits import Form
from monitoring.backends.encryption import MASK

FIELD = "request_headers"

# Fields whose whole value is a credential.
SECRETS = ("client_certificate", "contract.document_authorization")


class KeptHeader(NamedTuple):
    """A saved request header with a credential. `value` is the new value from the form.

    If `value` is empty and the header is not removed, the saved value is kept.
    """

    name: str
    value: str = ""
    is_removed: bool = False


class ShownHeaders(NamedTuple):
    """A form's request headers: `lines` has those with visible values, and `kept` the saved credentials."""

    lines: str
    kept: Sequence[KeptHeader] = ()


def put_together(form: Form) -> dict[str, str]:
    """Return the form with all request headers merged into the lines of one field.

    A typed line replaces a credential of the same name. A credential with a new value is not removed, even if
    the checkbox that removes it is ticked.
    """
    lines = list(filter(None, form.get(FIELD, "").split("\n")))
    typed = {_name_of(line).lower() for line in lines}
    for number, name in enumerate(form.getlist("kept_header")):
        value = form.get(f"new_header_{number}", "").strip()
        if name.lower() not in typed and (value or not form.get(f"removed_header_{number}")):
            lines.append(f"{name}: {value or MASK}")
    return {**form, FIELD: "\n".join(lines)}


def mask_kept_secrets(form: Form) -> dict[str, str]:
    """Return a mask for each secret field that is kept, because it was neither removed nor filled in."""
    kept = set(form.getlist("kept_secret")) - set(form.getlist("removed_secret"))
    return {name: MASK for name in SECRETS if name in kept and not form.get(name, "").strip()}


def take_apart(text: str, saved: Mapping[str, str]) -> ShownHeaders:
    """Separate a form's request headers into lines of text and credentials.

    `saved` has the monitor's saved headers, in which credentials are masked.
    """
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
