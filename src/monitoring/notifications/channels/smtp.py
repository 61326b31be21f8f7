"""Submits messages to the operator's mail server (RFC 5321, RFC 6409), and classifies its replies.

An attempt that fails because of the mail server itself is always retried, because only the operator, and not
the team, can fix the server.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import re
import ssl
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import aiosmtplib

from monitoring.notifications.channels.json_posts import on_one_line
from monitoring.notifications.channels.protocol import AttemptResult, Reception
from monitoring.outbound.certificates import explain, make_verifying_context
from monitoring.settings.mail_server import MailServer, Security

# The timeout of an attempt, which is half as long as a delivery's lease. If the server responds later, the
# message is sent again with the same id.
TIMEOUT_SECONDS = 30.0
GOODBYE_SECONDS = 2.0

MOST_SAID_CHARACTERS = 100

OK = 250
_CODES = range(200, 600)
FIRST_PERMANENT = 500
MUST_SIGN_IN = 530  # RFC 3207 §4, RFC 4954 §6

# These status codes (RFC 3463 §3.2, RFC 7505) mean that the mailbox or the domain does not exist, that the
# mailbox has moved, or that the domain accepts no mail.
_NOBODY = re.compile(r"5\.1\.(1|2|6|10)\b")

# These errors mean that this machine has run out of resources, not that the mail server has failed.
_OURS = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}

UNWILLING = "It is not accepting messages at present"
# The error message for each exception type. The first entry that matches an exception is used.
_RENDERERS: Mapping[type[Exception], str] = {
    aiosmtplib.SMTPAuthenticationError: "It does not accept the service's user and password",
    aiosmtplib.SMTPServerDisconnected: "It closed the connection",
    TimeoutError: "It did not answer in time",
    aiosmtplib.SMTPResponseException: UNWILLING,
    OSError: "It cannot be reached",
}
LACKING = "It does not offer what the service needs: STARTTLS, or a way to sign in"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """A message with its sender and recipient (RFC 5321 §2.3.1)."""

    sender: str
    recipient: str
    content: bytes


async def submit_message(envelope: Envelope, server: MailServer, ca_file: Path | None) -> AttemptResult:
    """Submit a message once and return the result. Raises OSError if this machine cannot send anything."""
    client = aiosmtplib.SMTP(
        hostname=server.host,
        port=server.port,
        username=server.user,
        password=server.password,
        local_hostname=envelope.sender.rpartition("@")[2],
        use_tls=server.security is Security.TLS,
        start_tls=server.security is Security.STARTTLS,
        tls_context=_trust(ca_file) if server.security is not Security.NONE else None,
        timeout=TIMEOUT_SECONDS,
    )
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            await client.connect()
            await client.sendmail(envelope.sender, [envelope.recipient], envelope.content)
    except aiosmtplib.SMTPRecipientsRefused as refused:
        return _judge_recipient(refused.recipients[0])
    except aiosmtplib.SMTPDataError as refused:
        return _judge_message(refused)
    except (aiosmtplib.SMTPException, OSError) as failed:  # TimeoutError is an OSError
        return _blame_server(failed, server)
    else:
        with suppress(aiosmtplib.SMTPException):
            await client.quit(timeout=GOODBYE_SECONDS)
        return AttemptResult(reception=Reception.DELIVERED, status_code=OK)
    finally:
        client.close()


@lru_cache(maxsize=1)
def _trust(ca_file: Path | None) -> ssl.SSLContext:
    return make_verifying_context(str(ca_file) if ca_file else None)


def _judge_recipient(answer: aiosmtplib.SMTPRecipientRefused) -> AttemptResult:
    said = _quote(answer)
    if answer.code < FIRST_PERMANENT:
        return _try_again(f"The mail server refused this address for now. {said}", answer.code)
    if _NOBODY.match(answer.message):
        reason = f"This address does not exist. {said}"
        return AttemptResult(
            reception=Reception.REFUSED,
            status_code=answer.code,
            error_message=reason,
            disabled_reason=reason,
        )
    return _refuse(f"The mail server refused this address. {said}", answer.code)


def _judge_message(answer: aiosmtplib.SMTPDataError) -> AttemptResult:
    said = _quote(answer)
    if answer.code < FIRST_PERMANENT:
        return _try_again(f"The mail server refused the message for now. {said}", answer.code)
    return _refuse(f"The mail server refused the message. {said}", answer.code)


def _blame_server(failed: Exception, server: MailServer) -> AttemptResult:
    """Return the result of a mail server failure. The reply is not quoted, because it may repeat credentials.

    Raises OSError if this machine has run out of resources.
    """
    root = failed if isinstance(failed, ssl.SSLError) else failed.__cause__
    if isinstance(root, OSError) and root.errno in _OURS:
        raise root
    code = failed.code if isinstance(failed, aiosmtplib.SMTPResponseException) else None
    why = _explain(failed, root)
    answer = f" (answered {code})" if code else ""
    log.warning(
        "The mail server at %s:%d did not accept a message: %s%s", server.host, server.port, why, answer
    )
    result = _try_again(f"The service's mail server did not accept the message. {why}", code)
    return replace(result, is_receivers_fault=False, may_have_arrived=_was_perhaps_taken(failed))


def _was_perhaps_taken(failed: Exception) -> bool:
    """Return whether the server may have accepted the message.

    This is assumed if the server timed out or disconnected after it had accepted the connection.
    """
    fell_silent = isinstance(failed, (TimeoutError, aiosmtplib.SMTPServerDisconnected))
    return fell_silent and not isinstance(failed, aiosmtplib.SMTPConnectError)


def _explain(failed: Exception, root: BaseException | None) -> str:
    if isinstance(root, ssl.SSLError):
        return explain(root)
    if isinstance(failed, aiosmtplib.SMTPSenderRefused):
        return _explain_mail(failed.code)
    return next((words for kind, words in _RENDERERS.items() if isinstance(failed, kind)), LACKING)


def _explain_mail(code: int) -> str:
    """Return why a server refused the command MAIL.

    The reason is not always the sender, because a server may refuse this command for reasons of any kind.
    """
    if code == MUST_SIGN_IN:
        return "It requires the service to use TLS, or to sign in"
    return "It does not accept the service's sender" if code >= FIRST_PERMANENT else UNWILLING


def _try_again(message: str, code: int | None) -> AttemptResult:
    return AttemptResult(reception=Reception.TRY_AGAIN, status_code=_known(code), error_message=message)


def _refuse(message: str, code: int) -> AttemptResult:
    return AttemptResult(reception=Reception.REFUSED, status_code=_known(code), error_message=message)


def _known(code: int | None) -> int | None:
    """Return `code`, or None if it is not an SMTP reply code (aiosmtplib uses -1 for an invalid reply)."""
    return code if code in _CODES else None


def _quote(answer: aiosmtplib.SMTPResponseException) -> str:
    said = on_one_line(answer.message)[:MOST_SAID_CHARACTERS]
    return f"Answered {answer.code}: {said}" if said else f"Answered {answer.code}"
