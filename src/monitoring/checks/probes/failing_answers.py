"""Extracts what to store from a response that fails a check: its status and headers, without secrets.

Has no side effects.
"""

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

# Headers that are not masked although their names look like credentials. Their values only describe how to
# authenticate.
_HARMLESS = {"www-authenticate", "proxy-authenticate"}

# Matches a URL's query, which may contain secrets, such as a token in a redirect.
_QUERY = re.compile(r"\?[^\s<>\"';,]*")


def keep_answer(exchange: Exchange, sent_headers: Mapping[str, str]) -> dict[str, Json]:
    """Return a response's status and headers, limited in size so that they can be stored permanently.

    A header's value is masked if the header looks like a credential, or if the value contains a credential of
    the request.
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
