"""Validation of emails, names and passwords."""

from __future__ import annotations

import re
import unicodedata

from monitoring.auth.names import is_name
from monitoring.members.models import MAX_EMAIL_CHARACTERS
from monitoring.members.refusals import MAX_PASSWORD_CHARACTERS, MIN_PASSWORD_CHARACTERS, Refused

# A password must withstand 10^8 guesses. The rate limit for one email allows fewer guesses in five years.
MIN_GUESSES_LOG10 = 8

# Only this many characters of a password are evaluated, because the time grows with the cube of their number.
# For this many malicious characters, evaluation takes up to 0.1 s.
_JUDGED_CHARACTERS = 24
_KNOWN_WORDS = ("monitoring", "monitor", "uptime")

_EMAIL = re.compile(r"[^@]+@[^@]+")


def read_email(text: str) -> str:
    """Return an email in normal form. Raises `Refused("email_invalid")` if it is not valid.

    Case is ignored, although RFC 5321 §2.4 allows different mailboxes whose addresses differ only in case.
    Invisible characters (spaces, controls, zero-width characters) and characters that PostgreSQL cannot store
    are refused.
    """
    if len(text) > 4 * MAX_EMAIL_CHARACTERS:  # normalising a long text would take quadratic time
        raise Refused("email_invalid")
    email = unicodedata.normalize("NFC", text.strip().casefold())
    if not _EMAIL.fullmatch(email) or len(email) > MAX_EMAIL_CHARACTERS or _has_category(email, "C", "Z"):
        raise Refused("email_invalid")
    return email


def read_name(text: str) -> str:
    """Return a person's name without outer spaces. Raises `Refused("name_invalid")` if it is not valid."""
    name = text.strip()
    if not is_name(name):
        raise Refused("name_invalid")
    return name


def check_password(password: str, email: str) -> None:
    """Raise `Refused` unless a password has 12 to 1024 characters and is hard to guess.

    Common passwords, repetitions, sequences and parts of the email are easy to guess. A password need not
    contain certain kinds of characters (NIST SP 800-63B §3.1.1.2).
    """
    if len(password) < MIN_PASSWORD_CHARACTERS:
        raise Refused("password_too_short")
    if len(password) > MAX_PASSWORD_CHARACTERS:
        raise Refused("password_too_long")
    if unicodedata.normalize("NFC", password.strip().casefold()) == email:
        raise Refused("password_is_email")
    if _is_easy_to_guess(password, email):
        raise Refused("password_too_common")


def _is_easy_to_guess(password: str, email: str) -> bool:
    from zxcvbn_rs_py import zxcvbn  # noqa: PLC0415 - 1.2 MiB, only needed for new passwords

    judged = unicodedata.normalize("NFKC", password[:_JUDGED_CHARACTERS])
    printable = judged.encode("utf-8", "replace").decode()  # zxcvbn fails for lone surrogates
    known_words = [*_KNOWN_WORDS, email, *re.split(r"[\W_]+", email)]
    return zxcvbn(printable[:_JUDGED_CHARACTERS], known_words).guesses_log10 < MIN_GUESSES_LOG10


def _has_category(text: str, *categories: str) -> bool:
    return any(unicodedata.category(character).startswith(categories) for character in text)
