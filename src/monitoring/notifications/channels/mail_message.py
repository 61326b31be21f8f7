"""Renders a notification as an email (RFC 5322) in plain text and HTML. Has no side effects.

Every attempt renders the same bytes for a delivery. Untrusted names cannot inject headers or HTML.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from email.header import Header
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from html import escape
from uuid import UUID

from monitoring.notifications.channels.limits import LIMITS, cut, fit
from monitoring.notifications.channels.message import Message

# The maximum length of a word that fits on the first line of the `Subject` header.
MAX_WORD_CHARACTERS = 60

# The Unicode categories of control characters and line breaks. A line break would end the `Subject` header.
_BREAKING = {"Cc", "Zl", "Zp"}
_LINE_END = "\r\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    """The content of an email. `footer` explains to the reader why the email was sent.

    Only notifications have an `unsubscribe_link`, with which a mail program can disable the channel.
    """

    id: UUID
    sender: Address
    recipient: str
    written_at: datetime
    message: Message
    links: Mapping[str, str]
    footer: str
    unsubscribe_link: str | None


def write_mail(mail: Mail) -> bytes:
    """Render an email with CRLF line endings. Raises ValueError if the recipient is invalid or not ASCII."""
    written = EmailMessage(policy=SMTP)
    written["From"] = mail.sender
    written["Date"] = mail.written_at
    written["Auto-Submitted"] = "auto-generated"  # RFC 3834: prevents automatic replies
    written["X-Auto-Response-Suppress"] = "All"  # the equivalent for Exchange
    written.set_content(_write_text(mail), cte="quoted-printable")
    written.add_alternative(_write_html(mail), subtype="html", cte="quoted-printable")
    written.set_boundary(f"=_{mail.id.hex}")
    lines = [f"{name}: {value}{_LINE_END}" for name, value in _list_long_headers(mail).items()]
    return "".join(lines).encode("ascii") + written.as_bytes()


def _list_long_headers(mail: Mail) -> Mapping[str, str]:
    """Return the headers that may contain long words.

    Python's email policy would encode long words in a way that mail programs cannot decode, so these headers
    bypass the policy. Their values are ASCII, and a line may have up to 998 characters (RFC 5322 §2.1.1).
    """
    headers = {
        "Subject": _write_subject(mail.message.title),
        "To": Address(addr_spec=mail.recipient).addr_spec,  # raises ValueError if invalid
        "Message-ID": _name(mail, mail.id),
    }
    if mail.message.subject_id:
        # All messages about an incident claim to be replies to the same nonexistent message, so that mail
        # programs show them as one thread.
        thread = _name(mail, mail.message.subject_id)
        headers |= {"In-Reply-To": thread, "References": thread}
    if mail.unsubscribe_link:
        headers["List-Unsubscribe"] = f"<{mail.unsubscribe_link}>"
        if mail.unsubscribe_link.startswith("https://"):
            headers["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"  # RFC 8058
    return headers


def _write_subject(title: str) -> str:
    """Encode a title for the `Subject` header.

    This uses Python's legacy email API, because the modern API drops spaces between encoded words.
    """
    line = "".join(" " if unicodedata.category(each) in _BREAKING else each for each in title)
    subject = cut(" ".join(line.split()), LIMITS["email"]["subject"])
    has_long_word = max(map(len, subject.split()), default=0) > MAX_WORD_CHARACTERS
    is_plain = subject.isascii() and "=?" not in subject and not has_long_word
    charset = "us-ascii" if is_plain else "utf-8"
    return Header(subject, charset, header_name="Subject").encode(linesep=_LINE_END)


def _name(mail: Mail, about: UUID) -> str:
    return f"<{about}@{mail.sender.domain}>"


def _write_text(mail: Mail) -> str:
    links = [f"{label}: {link}" for label, link in mail.links.items()]
    unsubscribe = [f"Unsubscribe: {mail.unsubscribe_link}"] if mail.unsubscribe_link else []
    parts = [_fit(mail), "\n".join(links), "\n".join(["-- ", mail.footer, *unsubscribe])]
    return "\n\n".join(parts) + "\n"


def _write_html(mail: Mail) -> str:
    title = f'<h1 style="font-size:1.25em;color:{mail.message.mood}">{escape(mail.message.title)}</h1>'
    text = "".join(f"<p>{escape(line)}</p>" for line in _fit(mail).splitlines())
    links = enumerate(mail.links.items())
    buttons = "".join(_write_button(label, link, is_first=place == 0) for place, (label, link) in links)
    footer = escape(mail.footer)
    if mail.unsubscribe_link:
        footer += f' <a href="{escape(mail.unsubscribe_link)}">Unsubscribe</a>'
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(mail.message.title)}</title></head>\n"
        f'<body style="font-family:sans-serif;line-height:1.4;overflow-wrap:anywhere">{title}\n{text}\n'
        '<table role="presentation" cellpadding="0" cellspacing="8" style="margin-left:-8px">'
        f"<tr>{buttons}</tr></table>\n"
        f'<hr><p style="color:#546e7a;font-size:0.85em">{footer}</p></body></html>\n'
    )


def _write_button(label: str, link: str, *, is_first: bool) -> str:
    """Render a link as a button that is 48 pixels high, for touch screens.

    The border and the background are set on the table cell, because Outlook ignores them on a link.
    """
    behind, text = ("#1f4f8f", "#ffffff") if is_first else ("#ffffff", "#1f4f8f")
    return (
        f'<td style="border:2px solid #1f4f8f;border-radius:6px;background:{behind}">'
        f'<a href="{escape(link)}" style="display:inline-block;padding:12px 24px;line-height:20px;'
        f'font-weight:bold;text-decoration:none;color:{text}">{escape(label)}</a></td>'
    )


def _fit(mail: Mail) -> str:
    return fit(mail.message.text, LIMITS["email"]["text"])
