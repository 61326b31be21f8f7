"""Sends the service's own emails, such as invitations, to one person rather than to a channel."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit
from uuid import UUID

from monitoring.backends.current import current_backends
from monitoring.notifications.channels.mail import NO_SERVER
from monitoring.notifications.channels.mail_message import Mail, write_mail
from monitoring.notifications.channels.message import Message, Mood
from monitoring.notifications.channels.protocol import AttemptResult, Reception
from monitoring.settings.mail_server import read_mail_server, read_sender

NO_ADDRESS = "This address cannot be sent email"


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountEmail:
    """An email to one person. It contains a text, a labelled link, and the reason why it was sent."""

    id: UUID
    recipient: str
    written_at: datetime
    title: str
    text: str
    label: str
    link: str
    why: str


async def send_account_email(email: AccountEmail) -> AttemptResult:
    """Submit an email to the operator's mail server and return the result.

    Raises OSError if this machine cannot send anything.
    """
    settings = current_backends().settings
    if settings.smtp_url is None or settings.email_from is None:
        return AttemptResult(reception=Reception.TRY_AGAIN, error_message=NO_SERVER, is_receivers_fault=False)
    sender, host = read_sender(settings.email_from), urlsplit(settings.base_url).netloc
    mail = Mail(
        id=email.id,
        sender=sender,
        recipient=email.recipient,
        written_at=email.written_at,
        message=Message(
            event="account_email",
            mood=Mood.NEUTRAL,
            title=email.title,
            text=email.text,
            link=email.link,
            source=host,
        ),
        links={email.label: email.link},
        footer=f"Sent by {host}, {email.why}.",
        unsubscribe_link=None,
    )
    try:
        content = write_mail(mail)
    except ValueError:  # the recipient is not ASCII or not an email address
        return AttemptResult(reception=Reception.REFUSED, error_message=NO_ADDRESS)

    from monitoring.notifications.channels.smtp import Envelope, submit_message  # noqa: PLC0415 - as in `mail`

    envelope = Envelope(sender=sender.addr_spec, recipient=email.recipient, content=content)
    return await submit_message(
        envelope, read_mail_server(settings.smtp_url.get_secret_value()), settings.ca_file
    )
