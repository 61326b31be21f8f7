"""The email channel: sends emails to one confirmed email address, through the operator's mail server."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from urllib.parse import urlsplit

import orjson

from monitoring.auth.names import MAX_NAME_CHARACTERS
from monitoring.backends.current import current_backends
from monitoring.contract.configurations import Configuration
from monitoring.contract.document import Json
from monitoring.notifications.channels.keeping import KeepingSender
from monitoring.notifications.channels.mail_message import Mail, write_mail
from monitoring.notifications.channels.message import Message
from monitoring.notifications.channels.protocol import AttemptResult, Reception
from monitoring.notifications.channels.rendering import render_delivery
from monitoring.notifications.channels.sender import Sender
from monitoring.notifications.email_links import write_confirmation_link, write_unsubscribe_link
from monitoring.notifications.models import CONFIRMATION, NotificationChannel, NotificationDelivery
from monitoring.notifications.secrets import store_secrets
from monitoring.settings.mail_server import read_mail_server, read_sender

NO_SERVER = "The service has no mail server at present"
OTHER_ADDRESS = "The channel has another address now"


def default_name(configuration: Configuration) -> str:
    """Return the email address, cut to the maximum length of a name."""
    return str(configuration["address"])[:MAX_NAME_CHARACTERS]


def make_secret(given: Mapping[str, Json]) -> str:
    """Return the encrypted secret fields. There are none, because an email address is not secret."""
    return store_secrets(given)


async def send(
    delivery: NotificationDelivery, receiver: NotificationChannel, sender: Sender, attempted_at: datetime
) -> AttemptResult:
    """Render the event as an email, submit it to the mail server, and return the result."""
    del attempted_at
    settings = current_backends().settings
    if settings.smtp_url is None or settings.email_from is None:
        return AttemptResult(reception=Reception.TRY_AGAIN, error_message=NO_SERVER, is_receivers_fault=False)
    message = render_delivery(delivery, sender)
    mail = _compose(message, delivery, receiver, settings.base_url, settings.email_from)
    if mail is None:
        return AttemptResult(reception=Reception.REFUSED, error_message=OTHER_ADDRESS)
    content = write_mail(mail)
    if isinstance(sender, KeepingSender):
        return sender.keep_mail(mail.recipient, content)

    from monitoring.notifications.channels.smtp import Envelope, submit_message  # noqa: PLC0415 - only workers need it

    envelope = Envelope(sender=mail.sender.addr_spec, recipient=mail.recipient, content=content)
    return await submit_message(
        envelope, read_mail_server(settings.smtp_url.get_secret_value()), settings.ca_file
    )


def _compose(
    message: Message,
    delivery: NotificationDelivery,
    receiver: NotificationChannel,
    base_url: str,
    sender: str,
) -> Mail | None:
    """Compose the email for a delivery.

    Return None if the delivery is a confirmation request, but the channel's email address has since changed.
    """
    address, host = receiver.settings["address"], urlsplit(base_url).netloc
    if delivery.event == CONFIRMATION:
        if orjson.loads(delivery.payload)["data"]["address"] != address:
            return None
        links: Mapping[str, str] = {
            "Confirm this address": write_confirmation_link(delivery, address, base_url)
        }
        footer, unsubscribe_link = f"Sent by {host}, once, because somebody gave it this address.", None
    else:
        links = message.links
        footer = f"Sent by {host}, because a reader of this address confirmed it."
        unsubscribe_link = write_unsubscribe_link(delivery, address, base_url)
    return Mail(
        id=delivery.id,
        sender=read_sender(sender),
        recipient=address,
        written_at=delivery.created_at,
        message=message,
        links=links,
        footer=footer,
        unsubscribe_link=unsubscribe_link,
    )
