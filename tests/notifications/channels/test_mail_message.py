"""An email as mail programs read it, whatever monitors are called."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from email import message_from_bytes
from email.headerregistry import Address
from email.policy import default
from typing import TYPE_CHECKING
from uuid import UUID

import pytest

from monitoring.notifications.channels.mail_message import Mail, write_mail
from monitoring.notifications.channels.message import Message, Mood

if TYPE_CHECKING:
    from email.message import EmailMessage

MAIL_ID = UUID("019a9c4b-30c2-7a6e-9b1d-e58f2c7a4d03")
INCIDENT_ID = UUID("019a9c47-1e88-7b0a-a1c6-52f0d9b7e334")
LINK = "https://monitoring.example.com/app/incidents/1"
UNSUBSCRIBE = "https://monitoring.example.com/app/unsubscribe?token=a.b.c&d=e"
FOOTER = "You get this because somebody confirmed this address."
HOSTILE = "Shop\r\nBcc: eve@example.net\r\n\r\n<script>alert(1)</script> & ü \u2028 \x00 =?utf-8?q?x?="

MESSAGE = Message(
    event="incident.opened",
    mood=Mood.BAD,
    title="Storefront is down",
    text="Answered 503 instead of 2xx.\nDown since 2026-11-20 09:39:50 UTC.",
    link=LINK,
    source="shop.example.com",
    subject_id=INCIDENT_ID,
)
MAIL = Mail(
    id=MAIL_ID,
    sender=Address("Monitoring", "monitoring", "example.com"),
    recipient="ana@example.org",
    written_at=datetime(2026, 11, 20, 9, 40, tzinfo=UTC),
    message=MESSAGE,
    links={"Open": LINK},
    footer=FOOTER,
    unsubscribe_link=UNSUBSCRIBE,
)


def read(mail: Mail) -> EmailMessage:
    """Parse a message as a receiver does, and find nothing to complain about."""
    written = write_mail(mail)
    assert written.isascii()
    assert all(len(line) <= 998 for line in written.split(b"\r\n"))  # RFC 5322 §2.1.1
    assert b"\n" not in written.replace(b"\r\n", b"")
    parsed = message_from_bytes(written, policy=default)
    assert [part.defects for part in parsed.walk()] == [[], [], []]
    assert all(not header.defects for header in parsed.values())
    return parsed


def text_of(parsed: EmailMessage, kind: str) -> str:
    part = parsed.get_body((kind,))
    assert part is not None
    return str(part.get_content()).replace("\r\n", "\n")


def test_the_headers_are_those_of_an_automatic_message_of_a_list() -> None:
    parsed = read(MAIL)
    assert dict(parsed.items()) == {
        "From": "Monitoring <monitoring@example.com>",
        "To": "ana@example.org",
        "Subject": "Storefront is down",
        "Date": "Fri, 20 Nov 2026 09:40:00 +0000",
        "Message-ID": f"<{MAIL_ID}@example.com>",
        "In-Reply-To": f"<{INCIDENT_ID}@example.com>",
        "References": f"<{INCIDENT_ID}@example.com>",
        "Auto-Submitted": "auto-generated",
        "X-Auto-Response-Suppress": "All",
        "List-Unsubscribe": f"<{UNSUBSCRIBE}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        "MIME-Version": "1.0",
        "Content-Type": f'multipart/alternative; boundary="=_{MAIL_ID.hex}"',
    }


def test_every_attempt_writes_the_same_bytes() -> None:
    assert write_mail(MAIL) == write_mail(MAIL)


def test_text_and_html_say_the_same() -> None:
    parsed = read(MAIL)
    assert text_of(parsed, "plain") == (
        f"{MESSAGE.text}\n\nOpen: {LINK}\n\n-- \n{FOOTER}\nUnsubscribe: {UNSUBSCRIBE}\n"
    )
    html = text_of(parsed, "html")
    assert "<p>Answered 503 instead of 2xx.</p><p>Down since 2026-11-20 09:39:50 UTC.</p>" in html
    assert re.search(rf'<a href="{LINK}" style="[^"]+">Open</a>', html)
    assert f'<a href="{UNSUBSCRIBE.replace("&", "&amp;")}">Unsubscribe</a>' in html


def test_names_begin_neither_a_header_nor_an_element() -> None:
    parsed = read(replace(MAIL, message=replace(MESSAGE, title=HOSTILE, text=HOSTILE)))
    assert parsed["Subject"] == ("Shop Bcc: eve@example.net <script>alert(1)</script> & ü =?utf-8?q?x?=")
    assert parsed.keys() == read(MAIL).keys()
    assert "<script" not in text_of(parsed, "html")


@pytest.mark.parametrize("title", ["a" * 300, "ü" * 300, "日本 " * 100, "👩‍💻" * 100])
def test_long_titles_are_cut_and_come_out_as_they_went_in(title: str) -> None:
    parsed = read(replace(MAIL, message=replace(MESSAGE, title=title)))
    assert parsed["Subject"] == f"{title[:199].strip()}…"


def test_long_addresses_and_links_are_not_encoded_because_nobody_would_decode_them() -> None:
    domain = f"{'a' * 63}.{'b' * 63}.{'c' * 63}.example"
    link = f"{UNSUBSCRIBE}{'a' * 700}"
    written = write_mail(
        replace(
            MAIL,
            sender=Address("", "monitoring", domain),
            recipient=f"{'o' * 40}@{domain}",
            unsubscribe_link=link,
        )
    )
    assert b"=?" not in written.partition(b"\r\n\r\n")[0]
    for line in (
        f"To: {'o' * 40}@{domain}",
        f"Message-ID: <{MAIL_ID}@{domain}>",
        f"References: <{INCIDENT_ID}@{domain}>",
        f"List-Unsubscribe: <{link}>",
    ):
        assert f"{line}\r\n".encode() in written


def test_a_message_about_nothing_in_particular_answers_none() -> None:
    parsed = read(replace(MAIL, message=replace(MESSAGE, subject_id=None)))
    assert "References" not in parsed
    assert "In-Reply-To" not in parsed


def test_a_page_without_tls_promises_no_single_click() -> None:
    """RFC 8058 §3 asks for https."""
    parsed = read(replace(MAIL, unsubscribe_link="http://127.0.0.1:8000/app/unsubscribe?token=a"))
    assert parsed["List-Unsubscribe"] == "<http://127.0.0.1:8000/app/unsubscribe?token=a>"
    assert "List-Unsubscribe-Post" not in parsed


def test_what_is_no_notification_offers_no_unsubscribing() -> None:
    parsed = read(replace(MAIL, unsubscribe_link=None))
    assert "List-Unsubscribe" not in parsed
    assert "Unsubscribe" not in text_of(parsed, "plain") + text_of(parsed, "html")
