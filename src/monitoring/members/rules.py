"""What an email, a name and a password may be."""

from __future__ import annotations

import re
import unicodedata

from monitoring.auth.names import is_name
from monitoring.members.models import MAX_EMAIL_CHARACTERS
from monitoring.members.refusals import MAX_PASSWORD_CHARACTERS, MIN_PASSWORD_CHARACTERS, Refused

_EMAIL = re.compile(r"[^@]+@[^@]+")


def read_email(text: str) -> str:
    """Return the one spelling of an email. Raises `Refused("email_invalid")`.

    Case never tells two people apart, although RFC 5321 §2.4 would allow it. What looks like nothing
    (spaces, controls, zero-width characters) is refused, and so is what PostgreSQL cannot keep.
    """
    if len(text) > 4 * MAX_EMAIL_CHARACTERS:  # normalising takes quadratic time
        raise Refused("email_invalid")
    email = unicodedata.normalize("NFC", text.strip().casefold())
    if not _EMAIL.fullmatch(email) or len(email) > MAX_EMAIL_CHARACTERS or _has_category(email, "C", "Z"):
        raise Refused("email_invalid")
    return email


def read_name(text: str) -> str:
    """Return a person's name, without spaces around it. Raises `Refused("name_invalid")`."""
    name = text.strip()
    if not is_name(name):
        raise Refused("name_invalid")
    return name


def check_password(password: str, email: str) -> None:
    """Demand 12 to 1024 characters, whichever they are, that are not the email. Raises `Refused`.

    Length is all that is asked for (NIST SP 800-63B §3.1.1.2).
    """
    if len(password) < MIN_PASSWORD_CHARACTERS:
        raise Refused("password_too_short")
    if len(password) > MAX_PASSWORD_CHARACTERS:
        raise Refused("password_too_long")
    if unicodedata.normalize("NFC", password.strip().casefold()) == email:
        raise Refused("password_is_email")


def _has_category(text: str, *categories: str) -> bool:
    return any(unicodedata.category(character).startswith(categories) for character in text)
