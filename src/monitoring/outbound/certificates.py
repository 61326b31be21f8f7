"""Decides which certificates are trusted, reads their expiry dates, and explains failed handshakes."""

from __future__ import annotations

import ssl
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple

from monitoring.outbound.tls_settings import trust_authority

# From OpenSSL's x509_vfy.h
EXPIRED = 10
_SENTENCES = {
    9: "The certificate is not valid yet",
    EXPIRED: "The certificate, or one of its authorities', has expired",
    18: "The certificate is self-signed",
    19: "The certificate's authority is not one that is trusted",
    20: "The certificate's authority is not known, or the server leaves out an intermediate certificate",
    21: "The certificate's authority is not known, or the server leaves out an intermediate certificate",
    23: "The certificate was revoked",
    62: "The certificate is for another host",
    64: "The certificate is for another host",
    66: "The certificate's key is too short: it needs 2,048 bits, or 224 on an elliptic curve",
    67: "The certificate's authority has a key that is too short: it needs 2,048 bits, or 224 on a curve",
    68: "The certificate, or one of its authorities', is signed with a weak digest: it needs SHA-256",
}

# Python's default cipher suites, and the further suites that Chromium and curl offer. The further suites use
# RSA key exchange, or SHA-1 to authenticate records (not for signatures).
_SUITES = (
    "@SECLEVEL=2:ECDH+AESGCM:ECDH+CHACHA20:ECDH+AES:DHE+AES:kRSA+AESGCM:kRSA+AES:!aNULL:!eNULL:!aDSS:!AESCCM"
)
_ALL_SUITES = "@SECLEVEL=0:ALL:!eNULL"
# Permits connections to servers that do not support RFC 5746, as browsers do. Before Python 3.12, `ssl` has
# no name for this option.
_LEGACY_SERVER_CONNECT = getattr(ssl, "OP_LEGACY_SERVER_CONNECT", 0x4)

NO_TLS = "The server does not speak TLS on this port"
_NO_SAFE_VERSION = "The server speaks no version of TLS that is safe: it needs 1.2 or 1.3"
_NOTHING_SHARED = (
    "The server ended the TLS handshake: it takes none of the cipher suites that are offered, "
    "or demands a certificate of its clients"
)
_NOT_ACCEPTED = "The server does not accept the certificate that was shown to it"
_REASONS = {
    "DH_KEY_TOO_SMALL": "The server exchanges Diffie-Hellman keys that are too short: they need 2,048 bits",
    "HTTP_REQUEST": NO_TLS,
    "PACKET_LENGTH_TOO_LONG": NO_TLS,
    "RECORD_LAYER_FAILURE": NO_TLS,
    "SSLV3_ALERT_HANDSHAKE_FAILURE": _NOTHING_SHARED,
    "TLSV13_ALERT_CERTIFICATE_REQUIRED": "The server demands a certificate of its clients",
    "SSLV3_ALERT_BAD_CERTIFICATE": _NOT_ACCEPTED,
    "SSLV3_ALERT_CERTIFICATE_EXPIRED": _NOT_ACCEPTED,
    "TLSV1_ALERT_INSUFFICIENT_SECURITY": _NOTHING_SHARED,
    "TLSV1_ALERT_PROTOCOL_VERSION": _NO_SAFE_VERSION,
    "TLSV1_ALERT_UNKNOWN_CA": _NOT_ACCEPTED,
    "TLSV1_UNRECOGNIZED_NAME": "The server has no certificate for this host",
    "UNSUPPORTED_PROTOCOL": _NO_SAFE_VERSION,
    "WRONG_VERSION_NUMBER": NO_TLS,
}

_DER = 2  # `_ssl.ENCODING_DER`

_SEQUENCE = 0x30
_VERSION = 0xA0
_UTC_TIME = 0x17
_LONG_LENGTH = 0x80


class Expiry(NamedTuple):
    """The earliest expiry in a chain of certificates.

    `is_of_authority` is whether the certificate that expires first is an authority's, rather than the
    server's own.
    """

    at: datetime
    is_of_authority: bool

    @property
    def subject(self) -> str:
        """The certificate, as the subject of a sentence."""
        return "An authority's certificate in the chain" if self.is_of_authority else "The certificate"


def make_verifying_context(ca_file: str | None, certificate_authority: str | None = None) -> ssl.SSLContext:
    """Return a context that trusts the system's authorities, or those of `ca_file` instead.

    A `certificate_authority` (PEM) replaces both. Raises ValueError or OSError if the certificates cannot
    be read.
    """
    if certificate_authority is None:
        context = ssl.create_default_context(cafile=ca_file)
    else:
        context = ssl.create_default_context(cadata=certificate_authority)
        trust_authority(context, certificate_authority)
    # From version 3.13, Python is stricter about authorities' certificates than browsers are.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    # Only the subject alternative names identify a host (RFC 9525 §6.3).
    context.hostname_checks_common_name = False
    return context


def make_browsing_context(ca_file: str | None, certificate_authority: str | None = None) -> ssl.SSLContext:
    """Return a context like that of `make_verifying_context`, but with the TLS options of browsers."""
    context = make_verifying_context(ca_file, certificate_authority)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(_SUITES)
    context.options |= _LEGACY_SERVER_CONNECT
    return context


def make_trusting_context() -> ssl.SSLContext:
    """Return a context that verifies nothing, and works with any server that OpenSSL can connect to.

    It also accepts weak encryption.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
    context.set_ciphers(_ALL_SUITES)
    context.options |= _LEGACY_SERVER_CONNECT
    return context


def explain(error: ssl.SSLError, expired: Expiry | None = None) -> str:
    """Return a sentence that explains why a handshake failed.

    If the reason is an expired certificate and `expired` is given, the sentence contains its expiry date.
    """
    if isinstance(error, ssl.SSLCertVerificationError):
        if error.verify_code == EXPIRED and expired:
            return f"{expired.subject} expired on {expired.at:%Y-%m-%d}"
        return _SENTENCES.get(error.verify_code, "The certificate cannot be trusted")
    reason = getattr(error, "reason", None) or ""  # errors that `ssl` itself raises have no `reason`
    return _REASONS.get(reason, "The TLS handshake failed")


@lru_cache(maxsize=2048)
def expiry_of(certificate: bytes) -> datetime | None:
    """Return the notAfter of a DER certificate (RFC 5280 §4.1). None if it cannot be found.

    This function parses the certificate itself, because `ssl` returns the date only for verified
    certificates, and the date is easy to find.
    """
    try:
        fields = _Elements(_Elements(_Elements(certificate).enter(_SEQUENCE)).enter(_SEQUENCE))
        if fields.next_tag() == _VERSION:
            fields.take()
        for _ in ("serialNumber", "signature", "issuer"):
            fields.take()
        validity = _Elements(fields.enter(_SEQUENCE))
        validity.take()  # notBefore
        tag, written = validity.take()
        return _read_time(tag, written.decode("ascii"))
    except (IndexError, ValueError):
        return None


def find_first_expiry(chain: Sequence[bytes]) -> Expiry | None:
    """Return the earliest expiry in a chain of DER certificates. None if no expiry can be read.

    `chain` begins with the server's own certificate.
    """
    expiries = [Expiry(at, number > 0) for number, each in enumerate(chain) if (at := expiry_of(each))]
    return min(expiries, default=None)


def read_chain(tls: ssl.SSLObject) -> list[bytes]:
    """Return the DER certificates after a handshake, the server's own first.

    If the server was verified, this is the verified chain, including the authority's certificate. Otherwise,
    these are the certificates that the server sent.
    """
    is_verified = tls.context.verify_mode is ssl.CERT_REQUIRED
    if sys.version_info >= (3, 13):
        return tls.get_verified_chain() if is_verified else tls.get_unverified_chain()
    # Before Python 3.13, only the undocumented inner object has these methods.
    within = tls._sslobj  # type: ignore[attr-defined]  # noqa: SLF001
    chain = within.get_verified_chain() if is_verified else within.get_unverified_chain()
    return [certificate.public_bytes(_DER) for certificate in chain or ()]


def read_names(certificate: bytes) -> list[str]:
    """Return the host names that a DER certificate covers: its DNS alternative names (RFC 5280 §4.2.1.6)."""
    from cryptography import x509  # noqa: PLC0415 - few monitors check names

    try:
        extensions = x509.load_der_x509_certificate(certificate).extensions
        names = extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (ValueError, x509.ExtensionNotFound):
        return []
    return names.get_values_for_type(x509.DNSName)


def covers(name: str, host: str) -> bool:
    """Return whether a certificate's name covers a host. A `*` matches one label (RFC 9525 §6.3)."""
    name, host = name.lower(), host.lower()
    label, _, domain = host.partition(".")
    return name == host or (bool(label) and name == f"*.{domain}")


class _Elements:
    """Reads the elements of a constructed value in order (X.690 §8.1)."""

    def __init__(self, encoded: bytes) -> None:
        self._encoded = encoded
        self._position = 0

    def next_tag(self) -> int:
        return self._encoded[self._position]

    def take(self) -> tuple[int, bytes]:
        tag, length = self._encoded[self._position], self._encoded[self._position + 1]
        start = self._position + 2
        if length & _LONG_LENGTH:
            octets = length & ~_LONG_LENGTH
            length = int.from_bytes(self._encoded[start : start + octets], "big")
            start += octets
        self._position = start + length
        return tag, self._encoded[start : self._position]

    def enter(self, expected_tag: int) -> bytes:
        tag, content = self.take()
        if tag != expected_tag:
            raise ValueError("not a certificate")
        return content


def _read_time(tag: int, written: str) -> datetime:
    """Parse a UTCTime, whose years are 1950 to 2049, or a GeneralizedTime (RFC 5280 §4.1.2.5)."""
    if tag == _UTC_TIME:
        written = ("19" if written >= "50" else "20") + written
    return datetime.strptime(written, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC)
