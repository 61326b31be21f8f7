"""BIND on a free port of loopback, with the zones of a company that makes every mistake once."""

from __future__ import annotations

import subprocess
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from debian_programs import find_program
from real_servers import find_free_port

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_CONFIGURATION = """
options {{
  directory "{folder}";
  listen-on port {port} {{ 127.0.0.1; }};
  listen-on-v6 {{ none; }};
  pid-file "{folder}/named.pid";
  session-keyfile "{folder}/session.key";
  recursion no;
}};
controls {{ }};
zone "acme.example" {{ type primary; file "acme.zone"; }};
zone "2.0.192.in-addr.arpa" {{ type primary; file "reverse.zone"; }};
zone "broken.example" {{ type primary; file "broken.zone"; }};
"""

# The last of these is larger than any datagram.
_ACME = """
$TTL 60
@ SOA ns1 hostmaster 2026112001 3600 600 86400 60
@ NS ns1
@ NS ns2.hosting.example.
ns1 A 192.0.2.53
@ A 192.0.2.10
@ A 192.0.2.11
@ AAAA 2001:db8::10
@ MX 10 Mail
@ MX 20 backup.hosting.example.
@ CAA 0 issue "letsencrypt.org"
@ TXT "v=spf1 include:_spf.hosting.example -all"
www CNAME @
away CNAME nowhere.acme.example.
_sip._tcp SRV 0 5 5060 sip
key._domainkey TXT "v=DKIM1; k=rsa; p={key}" "{key}"
inside A 10.1.2.3
{many}
"""
_REVERSE = """
$TTL 60
@ SOA ns1.acme.example. hostmaster.acme.example. 1 3600 600 86400 60
@ NS ns1.acme.example.
10 PTR www.acme.example.
"""

KEY = "A" * 200


@contextmanager
def running_bind(folder: Path) -> Iterator[int]:
    """Serve the zones until the block ends; yields the port."""
    many = "\n".join(f'many TXT "{number:03} {"x" * 200}"' for number in range(40))
    port = find_free_port()
    (folder / "named.conf").write_text(_CONFIGURATION.format(folder=folder, port=port))
    (folder / "acme.zone").write_text(_ACME.format(key=KEY, many=many))
    (folder / "reverse.zone").write_text(_REVERSE)
    (folder / "broken.zone").write_text("this is no zone\n")
    with (folder / "named.log").open("wb") as log:
        process = subprocess.Popen(
            [find_program("named"), "-g", "-c", str(folder / "named.conf")], stdout=log, stderr=log
        )
    try:
        # It listens before it knows its zones, and says SERVFAIL until then.
        while b"all zones loaded" not in (folder / "named.log").read_bytes():
            assert process.poll() is None, (folder / "named.log").read_text()
            time.sleep(0.02)
        yield port
    finally:
        process.terminate()
        process.wait(30)
