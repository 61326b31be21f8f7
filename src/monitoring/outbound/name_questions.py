"""Queries DNS servers for records of any type. It loads dnspython, which takes 9 MiB.

Records are returned in a form that can be compared: their canonical form (RFC 4034 §6.2), or the text of TXT
records.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from ipaddress import ip_address
from itertools import cycle

import dns.asyncquery
import dns.exception
import dns.message
import dns.name
import dns.rcode
import dns.rdata
import dns.rdataclass
import dns.rdatatype
import dns.rdtypes.ANY.TXT
import dns.reversename

from monitoring.outbound.failures import ExchangeFailed, FailureCode, broken_off, invalid, is_ours
from monitoring.outbound.targets import Endpoint

# The timeout of a query, after which the next server is queried. It is needed because a datagram may be lost.
# This is the default in resolv.conf(5).
SECONDS_BETWEEN = 5.0

_SENTENCES = {
    dns.rcode.NXDOMAIN: "The name does not exist (NXDOMAIN)",
    dns.rcode.SERVFAIL: "The name server could not find an answer (SERVFAIL)",
    dns.rcode.REFUSED: "The name server refuses to answer (REFUSED)",
}


class UnreadableRecord(ValueError):  # noqa: N818 - to a client it is a mistake in a field
    """Text that is not a valid record of its type."""


async def find_records(host: str, record_type: str, servers: Sequence[Endpoint]) -> list[bytes]:
    """Return the records of a name or, if `host` is an IP address, of its reverse name.

    Returns at least one record. The servers are queried in turn until one responds, over TCP if a response is
    truncated. Aliases are followed. This has no timeout, so the caller must set one. Raises ExchangeFailed,
    and OSError when this machine has no sockets left.
    """
    query = dns.message.make_query(_name_of(host), record_type, use_edns=0)
    try:
        response = await _ask(query, servers)
        if response.rcode() == dns.rcode.NOERROR and (records := response.resolve_chaining().answer):
            return [_canonical(each) for each in records]
    except (dns.exception.DNSException, EOFError):
        raise invalid("The name server's answer cannot be understood") from None
    except OSError as error:
        if is_ours(error):
            raise
        raise broken_off("The name server cannot be reached") from None
    raise ExchangeFailed(FailureCode.DNS_FAILURE, _explain(response, record_type))


def read_record(record_type: str, written: str) -> bytes:
    """Parse a record in the format of zone files and `dig` (RFC 1035 §5.1).

    The final dot of a name is optional. A TXT record that does not begin with a quotation mark is plain text.
    Raises UnreadableRecord.
    """
    if record_type == "TXT" and not written.startswith('"'):
        return written.encode()
    try:
        return _canonical(
            dns.rdata.from_text(dns.rdataclass.IN, record_type, written, dns.name.root, relativize=False)
        )
    except (dns.exception.DNSException, ValueError):
        raise UnreadableRecord from None


async def _ask(query: dns.message.Message, servers: Sequence[Endpoint]) -> dns.message.QueryMessage:
    for server in cycle(servers):
        with suppress(dns.exception.Timeout):
            response, _ = await dns.asyncquery.udp_with_fallback(
                query, server.host, SECONDS_BETWEEN, server.port, ignore_unexpected=True
            )
            if isinstance(response, dns.message.QueryMessage):
                return response
            raise dns.exception.FormError
    raise broken_off("There is no name server")


def _name_of(host: str) -> dns.name.Name:
    try:
        return dns.reversename.from_address(str(ip_address(host)))
    except ValueError:
        return dns.name.from_text(host)


def _canonical(record: dns.rdata.Rdata) -> bytes:
    if isinstance(record, dns.rdtypes.ANY.TXT.TXT):
        return b"".join(record.strings)
    return record.to_digestable()


def _explain(response: dns.message.Message, record_type: str) -> str:
    code = response.rcode()
    if code == dns.rcode.NOERROR:
        return f"The name has no {record_type} records"
    return _SENTENCES.get(code, f"The name server answered with an error ({dns.rcode.to_text(code)})")
