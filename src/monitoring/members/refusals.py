"""Reasons to refuse operations on members, with error messages that the app and the command line share."""

from __future__ import annotations

from monitoring.auth.names import MAX_NAME_CHARACTERS

INVITATION_DAYS = 7
MIN_PASSWORD_CHARACTERS = 12
MAX_PASSWORD_CHARACTERS = 1024

SENTENCES = {
    "already_member": "Somebody with this email is already in the team.",
    "email_invalid": "This is not an email address.",
    "email_taken": "Somebody with this email is in another team. Ask for an invitation to another address.",
    "invitation_unknown": (
        f"This code does not work. It may be used, withdrawn or older than {INVITATION_DAYS} days."
    ),
    "last_owner": "A team keeps at least one owner.",
    "name_invalid": f"A name has 1 to {MAX_NAME_CHARACTERS} visible characters.",
    "no_such_member": "There is no such member.",
    "password_is_email": "The password must not be the email address.",
    "password_link_used": "This link does not work. It may be used, or older than an hour.",
    "password_too_common": "This password is easy to guess. Several unrelated words make a good one.",
    "password_too_long": f"A password has at most {MAX_PASSWORD_CHARACTERS} characters.",
    "password_too_short": f"A password has at least {MIN_PASSWORD_CHARACTERS} characters.",
    "wrong_password": "The current password is wrong.",
}


class Refused(Exception):  # noqa: N818 - a result for the user, not an error of the caller
    """The operation was refused, and changed nothing. `name` is a key of `SENTENCES`."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    @property
    def sentence(self) -> str:
        """The human-readable reason."""
        return SENTENCES[self.name]
