"""What is kept of an answer that makes a check fail: its status and its headers, without secrets. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from monitoring.backends.encryption import MASK
from monitoring.contract.document import Json
from monitoring.monitors.credentials import find_credentials, is_credential
from monitoring.outbound.exchanges import Exchange

MAX_HEADERS = 40
MAX_NAME_CHARACTERS = 60
MAX_VALUE_CHARACTERS = 200

# Names that sound like a credential, but carry none: they describe how to sign in.
_HARMLESS = {"www-authenticate", "proxy-authenticate"}

# What follows the question mark of an address, such as the token of a redirect.
_QUERY = re.compile(r"\?[^\s<>\"';,]*")


def keep_answer(exchange: Exchange, sent_headers: Mapping[str, str]) -> dict[str, Json]:
    """Return what is kept, small enough to be kept for good. The body is not.

    Masked are values that are or look like credentials, and those that repeat a credential of the request.
    """
    sent = [value for value in find_credentials(sent_headers).values() if value]
    headers: list[Json] = []
    for raw_name, raw_values in list(exchange.headers.items())[:MAX_HEADERS]:
        name = _printable(raw_name)
        value = ", ".join(_printable(each) for each in raw_values)
        if (name not in _HARMLESS and is_credential(name, value)) or any(each in value for each in sent):
            value = MASK
        value = _QUERY.sub("?…", value)
        headers.append([name[:MAX_NAME_CHARACTERS], value[:MAX_VALUE_CHARACTERS]])
    return {"status_code": exchange.status_code, "headers": headers}


def _printable(raw: bytes) -> str:
    return "".join(each if each.isprintable() else " " for each in raw.decode("latin-1"))
