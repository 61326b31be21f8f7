"""Parses the settings of the operator's mail server and message sender."""

from __future__ import annotations

import re
from dataclasses import dataclass
from email.errors import HeaderParseError
from email.headerregistry import Address, AddressHeader, BaseHeader, HeaderRegistry
from enum import StrEnum, auto
from typing import cast
from urllib.parse import unquote, urlsplit

_PRINTABLE = re.compile(r"[!-~]+")
# A host name consists of letters, digits, hyphens and dots. An IPv6 address is in brackets.
_HOST = re.compile(r"[A-Za-z0-9_.-]+|[0-9A-Fa-f:.]+")


class Security(StrEnum):
    """How a connection to the mail server is secured."""

    STARTTLS = auto()  # RFC 3207; no message is sent without TLS
    TLS = auto()  # from the first byte, RFC 8314 §3
    NONE = auto()  # for a server on this machine


# The default ports: those of RFC 6409 and RFC 8314, and the usual port of servers without authentication.
_PORTS = {Security.STARTTLS: 587, Security.TLS: 465, Security.NONE: 25}


@dataclass(frozen=True, slots=True)
class MailServer:
    """The server to which messages are submitted. If `user` is None, there is no authentication."""

    host: str
    port: int
    security: Security
    user: str | None
    password: str | None


def read_mail_server(url: str) -> MailServer:
    """Parse smtp://user:password@host:port or smtps://…, with percent-encoded parts (RFC 3986 §2.1).

    Raises ValueError with a message that contains no part of the URL.
    """
    if not _PRINTABLE.fullmatch(url) or not url.startswith(("smtp://", "smtps://")):
        raise ValueError("must start with smtp:// or smtps://")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise ValueError("is not a valid URL") from None
    if not host or not _HOST.fullmatch(host) or port == 0 or parts.path not in {"", "/"} or parts.fragment:
        raise ValueError(
            "must contain a host and optionally a port, such as smtp://user:password@mail.example.com:587"
        )
    security = _read_security(parts.scheme, parts.query)
    if (parts.username is None) != (parts.password is None):
        raise ValueError("must have both a user and a password, or neither")
    if parts.username is not None and security is Security.NONE:
        raise ValueError("must not send a password without TLS")
    user, password = (part and unquote(part) for part in (parts.username, parts.password))
    return MailServer(host, port or _PORTS[security], security, user, password)


def read_sender(text: str) -> Address:
    """Parse an email address with an optional name: `Monitoring <monitoring@example.com>`.

    Raises ValueError.
    """
    problem = ValueError("must be an address, such as Monitoring <monitoring@example.com>")
    try:
        header = cast("AddressHeader", HeaderRegistry()("From", text))
    except (HeaderParseError, IndexError, ValueError):
        raise problem from None
    defects = cast("BaseHeader", header).defects
    if defects or len(header.addresses) != 1 or not text.isprintable():
        raise problem
    sender = header.addresses[0]
    if not sender.username or not sender.domain or not sender.addr_spec.isascii():
        raise problem
    return sender


def _read_security(scheme: str, query: str) -> Security:
    if scheme == "smtps" and not query:
        return Security.TLS
    if scheme == "smtp" and query in {"", "tls=none"}:
        return Security.NONE if query else Security.STARTTLS
    raise ValueError("may have only the option ?tls=none, and only with smtp://")
