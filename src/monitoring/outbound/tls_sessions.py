"""TLS sessions that may be resumed instead of verifying the same certificates again.

Resuming is only ever tried where a full handshake would, as far as anyone here can know, end the same way.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Hashable

# How long a server that exchanged its certificate, and still resumes, can hide it.
MAX_AGE = timedelta(minutes=10)

# OpenSSL takes 12 to 20 KB for each.
MAX_SESSIONS = 4096


class Resumption(NamedTuple):
    """Permission to resume sessions of the same owner.

    The certificates seen last must be valid for longer than `margin`. Where an earlier end is reported to
    people, a renewal is so seen at once.
    """

    owner: Hashable
    margin: timedelta = timedelta()


class Place(NamedTuple):
    """Where a session holds: for its owner, at the judged address, for the name in the certificate."""

    owner: Hashable
    address: str
    port: int
    tls_host: str


class KeptSession(NamedTuple):
    """A session, when its certificates were verified, and when the first of their chain expires."""

    session: ssl.SSLSession
    verified_at: datetime
    valid_until: datetime


class TlsSessions:
    """Sessions of one process and one set of trusted authorities. `now` tells the time."""

    def __init__(self, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self.now = now
        self._kept: dict[Place, KeptSession] = {}  # those used longest ago first

    def take(self, place: Place, margin: timedelta) -> KeptSession | None:
        """Take out a session, if it is not too old and its certificates are judged valid now.

        Whoever got an answer with it gives it back. After any failure it is gone.
        """
        kept = self._kept.pop(place, None)
        now = self.now()
        return kept if kept and not _is_stale(kept, now) and now + margin < kept.valid_until else None

    def keep(self, place: Place, kept: KeptSession) -> None:
        """Keep a session, unless there are too many. Then those in use stay, since all are used in turn."""
        now = self.now()
        while self._kept and _is_stale(self._kept[oldest := next(iter(self._kept))], now):
            del self._kept[oldest]
        if len(self._kept) < MAX_SESSIONS:
            self._kept[place] = kept


def _is_stale(kept: KeptSession, now: datetime) -> bool:
    return not kept.verified_at <= now < kept.verified_at + MAX_AGE
