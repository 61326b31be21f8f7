"""Rate limits for sign-in attempts.

A browser in which the user has signed in before has its own limit, so guesses from other browsers never lock
the user out of this browser.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from starlette.requests import Request

from monitoring.app import cookies
from monitoring.audit.actions import Action
from monitoring.auth.limits import client_network, count_under
from monitoring.backends.current import current_backends
from monitoring.backends.errors import BackendUnavailable
from monitoring.members.refusals import Refused
from monitoring.members.rules import read_email
from monitoring.members.sign_in import record_refusal
from monitoring.settings import RateLimitPolicy

# The most refused sign-ins that the audit log records for an email address in an hour, from all networks.
NOTED_OF_ONE_PERSON = RateLimitPolicy("sign_in_noted", 20, 3600)

# The most password links sent to one email address in an hour. Each link is valid for an hour.
MAX_LINKS_OF_ONE_PERSON = RateLimitPolicy("password_links", 5, 3600)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Attempt:
    """A counted sign-in attempt. `email` is empty if the submitted text was not an email address.

    `is_known` means that this browser has signed in with the email before. `counted_as` identifies the rate
    limit's counter, which is that of the known browser, or else of the network and email together. `is_last`
    means that the attempt used up this counter's limit. `is_last_of_all` means that the attempt used up the
    email's limit for all networks.
    """

    email: str
    network: str
    counted_as: str
    is_known: bool
    is_last: bool
    is_last_of_all: bool


async def count_attempt(request: Request, text: str) -> Attempt:
    """Count a sign-in attempt with `text` as the email address. Raises `Problem("rate_limited")`.

    An attempt from a browser that has signed in with this email before counts only against the browser's
    limit. Any other attempt counts against the network's limit. If the email is valid, the attempt also
    counts against the email's limit for this network, and against the email's limit for all networks.
    """
    settings, network, email = current_backends().settings, client_network(request), spell_email(text)
    device = cookies.read_device(request, settings, email)
    counted_as = f"browser:{device}" if device else f"address:{network} {email}"
    own = (settings.rate_limit_sign_in, counted_as)
    of_address = (settings.rate_limit_sign_in_address, network)
    of_email = (settings.rate_limit_sign_in_email, email)
    if device:
        limits = [own]
    elif email:
        limits = [of_address, own, of_email]
    else:
        limits = [of_address]
    allowances = await count_under(request, *limits)
    used_up = {allowance.policy for allowance in allowances if not allowance.remaining}
    return Attempt(email, network, counted_as, device is not None, own[0] in used_up, of_email[0] in used_up)


async def note_refusal(attempt: Attempt) -> None:
    """Record a refused sign-in in the audit log.

    Only the first refusal in a rate limit's window, and the last attempt that the limit allows, are recorded.
    """
    try:
        if attempt.email and await _is_noted(attempt):
            is_last = attempt.is_last or attempt.is_last_of_all
            action = Action.SIGN_IN_LIMITED if is_last else Action.SIGN_IN_REFUSED
            await record_refusal(attempt.email, action, attempt.network)
    except BackendUnavailable as error:
        log.warning("a refused sign-in could not be recorded in the audit log: %s", error)


async def _is_noted(attempt: Attempt) -> bool:
    if attempt.is_last_of_all:
        return True
    counters, own = current_backends().counters, current_backends().settings.rate_limit_sign_in
    first_of_window = RateLimitPolicy("sign_in_refused", 1, own.window_seconds)
    is_first = (await counters.hit(first_of_window, attempt.counted_as)).allowed
    if not is_first and not attempt.is_last:
        return False
    return (await counters.hit(NOTED_OF_ONE_PERSON, attempt.email)).allowed


def spell_email(text: str) -> str:
    """Return the normalized email address; "" if the text is not an email address."""
    try:
        return read_email(text)
    except Refused:
        return ""
