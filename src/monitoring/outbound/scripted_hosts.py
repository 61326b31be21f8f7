"""The simulated web of sandboxes: which hosts exist, and how each behaves. Does no I/O.

The hosts' names end in `.test`, a domain that contains no real hosts (RFC 6761 §6.2). The guide *Test mode*
has a table of the same hosts.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import NamedTuple

MAX_DELAY_MS = 90_000
RECEIVER = "receiver.test"

_FLAKY_SECONDS = 30


class Door(Enum):
    """How a host treats connections."""

    OPEN = "answers"
    SHUT = "refuses connections"
    SILENT = "lets nobody connect, and refuses nobody"
    LEAVING = "closes each connection without an answer"


class Proof(Enum):
    """What is wrong with a host's certificate."""

    NOTHING = "nothing"
    EXPIRED = "it has expired"
    UNTRUSTED = "nobody trusts its authority"
    OF_ANOTHER_HOST = "it is for another host"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """How a host behaves at a given time. The defaults are the behaviour of a healthy host.

    `says` is the word that the host's responses contain, and `location` is its redirect target. With
    `has_document`, the host serves an OpenAPI document at `/openapi.json`. According to that document,
    responses contain the word `kept`. The host's certificate expires `certificate_lasts` after the last
    midnight in UTC.
    """

    is_known: bool = True
    is_private: bool = False
    door: Door = Door.OPEN
    delay_ms: int = 0
    status: int = 200
    says: str = "up"
    location: str | None = None
    is_garbled: bool = False
    is_huge: bool = False
    has_document: bool = False
    proof: Proof = Proof.NOTHING
    certificate_lasts: timedelta = timedelta(days=90)

    def certificate_expires_at(self, now: datetime) -> datetime:
        """Return when the host's certificate expires, or has expired."""
        return now.replace(hour=0, minute=0, second=0, microsecond=0) + self.certificate_lasts


class Role(NamedTuple):
    """A kind of simulated host.

    `example` is the name of such a host, and `does` describes its behaviour. `name` matches the names of all
    such hosts, and `play` returns a host's behaviour at a given time.
    """

    example: str
    does: str
    name: re.Pattern[str]
    play: Callable[[re.Match[str], datetime], Part]


def _role(example: str, does: str, part: Part) -> Role:
    return Role(example, does, re.compile(re.escape(example)), lambda _matched, _now: part)


def _play_status(matched: re.Match[str], _: datetime) -> Part:
    return Part(status=int(matched[1]), says=matched[1])


def _play_slow(matched: re.Match[str], _: datetime) -> Part:
    return Part(delay_ms=min(int(matched[1]), MAX_DELAY_MS))


def _play_words(matched: re.Match[str], _: datetime) -> Part:
    return Part(says=matched[1])


def _play_flaky(_: re.Match[str], now: datetime) -> Part:
    return Part(door=Door.SHUT if now.second < _FLAKY_SECONDS else Door.OPEN)


ROLES = (
    _role("up.test", "is well: it answers 200 at once", Part()),
    _role("down.test", "refuses connections", Part(door=Door.SHUT)),
    Role("status-503.test", "answers this status", re.compile(r"status-([2-5][0-9]{2})\.test"), _play_status),
    Role("slow-2500ms.test", "answers after so long", re.compile(r"slow-([0-9]{1,5})ms\.test"), _play_slow),
    _role("timeout.test", "neither lets anybody connect nor refuses", Part(door=Door.SILENT)),
    _role("closing.test", "closes each connection without an answer", Part(door=Door.LEAVING)),
    Role(
        "flaky.test",
        "refuses connections in the first half of each minute, and is well in the second",
        re.compile(r"flaky\.test"),
        _play_flaky,
    ),
    Role("says-sold-out.test", "says this word", re.compile(r"says-([a-z0-9-]+)\.test"), _play_words),
    _role("moved.test", "redirects to up.test", Part(status=301, location="//up.test/")),
    _role("loop.test", "redirects to itself", Part(status=302, location="/")),
    _role(
        "contract.test",
        "has an OpenAPI document at `/openapi.json`, and answers as it promises",
        Part(has_document=True, says="kept"),
    ),
    _role(
        "broken-contract.test",
        "has the same document, and breaks its promise",
        Part(has_document=True, says="broken"),
    ),
    _role(
        RECEIVER,
        "verifies webhooks as a receiver should: 200 if the channel signed the message just now, else 401",
        Part(status=401, says="unsigned"),
    ),
    _role("garbled.test", "answers what is not HTTP", Part(is_garbled=True)),
    _role("huge.test", "answers 2 MiB", Part(is_huge=True)),
    _role(
        "expired-certificate.test",
        "has a certificate that expired yesterday",
        Part(proof=Proof.EXPIRED, certificate_lasts=timedelta(days=-1)),
    ),
    _role(
        "expiring-certificate.test",
        "has a certificate that expires in less than three days",
        Part(certificate_lasts=timedelta(days=3)),
    ),
    _role(
        "untrusted-certificate.test",
        "has a certificate of an authority that is not trusted",
        Part(proof=Proof.UNTRUSTED),
    ),
    _role("wrong-certificate.test", "has another host's certificate", Part(proof=Proof.OF_ANOTHER_HOST)),
    _role("dns-failure.test", "has no name in the DNS", Part(is_known=False)),
    _role("private.test", "leads to a private network", Part(is_private=True)),
)


def find_part(host: str, now: datetime) -> Part | None:
    """Return how a simulated host behaves at the time `now`. None if there is no such host."""
    for role in ROLES:
        if matched := role.name.fullmatch(host.removesuffix(".")):
            return role.play(matched, now)
    return None
