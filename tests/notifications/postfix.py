"""Postfix, as an operator runs it: it demands STARTTLS, knows one mailbox, and refuses all others."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from email import message_from_bytes
from email.policy import default
from pathlib import Path
from typing import TYPE_CHECKING, Self

import trustme

from debian_programs import find_program

if TYPE_CHECKING:
    from email.message import EmailMessage

ADDRESS = "ana@example.org"
SECONDS_TO_WAIT = 30.0

_MAIN = """
compatibility_level = 3.6
queue_directory = {folder}/queue
data_directory = {folder}/data
maillog_file = /dev/stdout
myhostname = mail.example.com
mydestination =
local_recipient_maps =
alias_maps =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
smtpd_tls_chain_files = {folder}/chain.pem
smtpd_tls_security_level = encrypt
smtpd_tls_received_header = yes
smtpd_relay_restrictions = reject_unauth_destination
virtual_mailbox_domains = example.org
virtual_mailbox_maps = inline:{{ {{{address} = inbox/}} }}
virtual_mailbox_base = {folder}/mail
virtual_uid_maps = static:{user_id}
virtual_gid_maps = static:{user_id}
"""
_MASTER = """
127.0.0.1:{port} inet n - n - - smtpd
postlog unix-dgram n - n - 1 postlogd
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
virtual unix - n n - - virtual
anvil unix - - n - 1 anvil
tlsmgr unix - - n 1000? 1 tlsmgr
"""
_NOBODY = 65534


class Postfix:
    """Listens on a free port of the loopback while it is entered. Only root may start it."""

    def __enter__(self) -> Self:
        # Its programs run as users of their own, which may not enter a folder of pytest's.
        self._folder = Path(tempfile.mkdtemp(prefix="postfix-"))
        self._folder.chmod(0o755)
        authority = trustme.CA()
        self.ca_file = self._folder / "authority.pem"
        authority.cert_pem.write_to_path(str(self.ca_file))
        authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(
            str(self._folder / "chain.pem")
        )
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = int(free.getsockname()[1])
        for name in ("etc", "queue", "data", "mail"):
            (self._folder / name).mkdir()
        shutil.chown(self._folder / "data", "postfix")
        os.chown(self._folder / "mail", _NOBODY, _NOBODY)
        main = _MAIN.format(folder=self._folder, address=ADDRESS, user_id=_NOBODY)
        (self._folder / "etc" / "main.cf").write_text(main)
        (self._folder / "etc" / "master.cf").write_text(_MASTER.format(port=self.port))
        with (self._folder / "log").open("wb") as log:
            self._process = subprocess.Popen([*self._command, "start-fg"], stdout=log, stderr=log)
        try:
            self._wait_until_it_listens()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        subprocess.run([*self._command, "abort"], capture_output=True, check=False)
        self._process.wait(SECONDS_TO_WAIT)
        shutil.rmtree(self._folder)

    @property
    def url(self) -> str:
        return f"smtp://127.0.0.1:{self.port}"

    def wait_for_message(self) -> EmailMessage:
        """Return the only message in the mailbox, as soon as it is there."""
        deadline = time.monotonic() + SECONDS_TO_WAIT
        while time.monotonic() < deadline:
            for path in (self._folder / "mail" / "inbox" / "new").glob("*"):
                return message_from_bytes(path.read_bytes(), policy=default)
            time.sleep(0.05)
        raise AssertionError(f"no message arrived:\n{(self._folder / 'log').read_text()}")

    @property
    def _command(self) -> list[str]:
        return [find_program("postfix"), "-c", str(self._folder / "etc")]

    def _wait_until_it_listens(self) -> None:
        deadline = time.monotonic() + SECONDS_TO_WAIT
        while time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
            except ConnectionRefusedError:
                time.sleep(0.05)
            else:
                return
        raise AssertionError((self._folder / "log").read_text())
