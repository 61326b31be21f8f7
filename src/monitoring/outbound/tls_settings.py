"""TLS settings of one request: which authorities it trusts, and which certificate it presents."""

from __future__ import annotations

import os
import ssl
from typing import NamedTuple


class TlsSettings(NamedTuple):
    """Certificates in PEM. None means the default.

    `certificate_authority` replaces the trusted authorities. `client_certificate` is a certificate, with its
    chain and its unencrypted private key, for servers that request one. `protocols` are offered to the server
    (ALPN, RFC 7301).
    """

    certificate_authority: str | None = None
    client_certificate: str | None = None
    protocols: tuple[str, ...] = ()


AS_USUAL = TlsSettings()


def trust_authority(context: ssl.SSLContext, certificate_authority: str) -> None:
    """Make `context` also trust these PEM certificates. Raises ValueError or OSError if none can be read."""
    if not certificate_authority.isascii():
        raise ValueError("not PEM")
    context.load_verify_locations(cadata=certificate_authority)
    # Users may have the certificate that signed their servers' certificates, but not the root certificate.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN


def show_certificate(context: ssl.SSLContext, client_certificate: str) -> None:
    """Make `context` present a certificate to servers that request one.

    `ssl` reads certificates only from files, so this creates a file in memory. Raises ValueError or OSError
    if the certificate is unreadable.
    """
    descriptor = os.memfd_create("client-certificate")
    try:
        with os.fdopen(descriptor, "wb", closefd=False) as file:
            file.write(client_certificate.encode())
        # If no password were given, OpenSSL would prompt for one at the terminal if the key is encrypted.
        context.load_cert_chain(f"/proc/self/fd/{descriptor}", password="")
    finally:
        os.close(descriptor)


def is_readable(settings: TlsSettings) -> bool:
    """Return whether OpenSSL can read the certificates, and the key matches the client certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        if settings.certificate_authority is not None:
            trust_authority(context, settings.certificate_authority)
        if settings.client_certificate is not None:
            show_certificate(context, settings.client_certificate)
    except (OSError, ValueError):  # includes ssl.SSLError
        return False
    return True
