"""All messages of the app except those of the API document and `members.refusals`. Each is defined once."""

from __future__ import annotations

from dataclasses import dataclass

from monitoring.members.refusals import SENTENCES

NOTICES = {
    "api_key_revoked": "The API key is revoked. Its tokens are refused from now on.",
    "channel_asked": "The link is sent again. If it does not arrive, check your spam folder.",
    "channel_deleted": "The channel is deleted. Nothing is sent to it any more.",
    "channel_updated": "The channel is changed.",
    "check_requested": "A check is requested. Its result appears below in a moment.",
    "delivery_sent_again": "It is sent again. The result will appear here.",
    "incident_acknowledged": "You have acknowledged the incident. Reminders stop.",
    "incident_told": "The alert is on its way. What happens to it appears below.",
    "note_written": "The note is added.",
    "form_kept": "Your session has ended. Your form is kept: sign in, and then send it.",
    "invitation_withdrawn": "The invitation is withdrawn. Its code no longer works.",
    "maintenance_created": "The maintenance is saved. It begins and ends automatically.",
    "maintenance_created_before": "This form has already created maintenance. Nothing is created twice.",
    "maintenance_deleted": "The maintenance is deleted. Failures count from now on.",
    "maintenance_ended": "The maintenance is over. Failures count from now on.",
    "maintenance_updated": "The maintenance is changed.",
    "member_removed": "The member is removed and signed out everywhere.",
    "monitor_created": "The monitor is created. Its first check begins now.",
    "monitor_created_before": "This form has already created this monitor. No second one is created.",
    "monitor_muted": "The monitor is muted: nobody is notified when it goes down.",
    "monitor_paused": "The monitor is paused.",
    "ping_url_renewed": "The address is renewed. Give the new one to the job.",
    "monitor_resumed": "The monitor is resumed.",
    "monitor_unmuted": "The monitor is unmuted.",
    "monitor_updated": "The changes are saved.",
    "monitors_kept": "The deletion is undone.",
    "monitors_muted": "The selected monitors are muted: nobody is notified when they go down.",
    "monitors_paused": "The selected monitors are paused.",
    "monitors_resumed": "The selected monitors are resumed.",
    "monitors_tagged": "The selected monitors have the tag.",
    "monitors_tagged_in_part": "The tag is added, except to monitors that already have ten tags.",
    "monitors_untagged": "The selected monitors no longer have the tag.",
    "monitors_unmuted": "The selected monitors are unmuted.",
    "monitors_unfinished": "There were too many to do at once. Some are done: repeat the action to continue.",
    "name_changed": "Your name is changed.",
    "password_changed": "The password is changed. Other browsers are signed out.",
    "role_changed": "The role is changed.",
    "other_session_ended": "That browser is signed out.",
    "session_ended": "Your session has ended. The form was not processed. Sign in again.",
    "signed_out": "You are signed out.",
    "signed_out_everywhere": "You are signed out in every browser.",
    "too_late_to_undo": "It is too late to undo this deletion.",
    "translations_retried": "The translations are queued again.",
    "article_retranslated": "The article is translated again. Its pages stay until new ones replace them.",
    "translation_corrected": "The change is saved. The page is updated in a moment.",
    "article_unpublished": "The article is unpublished.",
    "article_published": "The article is published again, and its translations are queued.",
    "article_deleted": "The article is deleted.",
}

# Notices that a live page removes once it shows a newer check.
PASSING = ("check_requested",)

# Notices of actions that failed completely or in part. They are shown as alerts.
ALERTS = ("monitors_tagged_in_part", "monitors_unfinished", "too_late_to_undo")

REFUSALS = {
    **SENTENCES,
    "channel_form_spent": "This form has already created a channel. Send it again to create another.",
    "codes_broken": (
        "Keep each mark of the English text, such as <g1>, once, with words inside its pair, "
        "and add no markup or address."
    ),
    "correction_empty": "Write the translation here: the field is empty.",
    "email_empty": "Type your email.",
    "note_form_spent": "This form has already added a note. Send it again to add another.",
    "maintenance_form_spent": "This form has already created maintenance. Send it again to create more.",
    "maintenance_length": "Must be a minute to 30 days after the beginning.",
    "day_unreadable": "Must be a day such as 2026-11-20.",
    "moment_unreadable": "Must be a day and a time, such as 2026-11-20 09:30.",
    "nothing_selected": "Nothing was done: select at least one monitor first.",
    "tag_refused": "Nothing was done: a tag has lower-case letters, digits, - and _, at most 40.",
    "monitor_form_spent": "This form has already created a monitor. Send it again to create another.",
    "password_empty": "Type your password.",
    "revocation_not_confirmed": "Tick the box first: callers with this key will be refused immediately.",
    "role_unknown": "Choose one of the roles.",
    "scope_missing": "Select at least one thing that the key may do.",
    "scope_unknown": "There is no such permission. Choose one of these.",
    "sign_in_refused": "Email or password is wrong.",
}


@dataclass(frozen=True, slots=True)
class Sentence:
    """The content of a page that shows only a message."""

    status: int
    title: str
    text: str


ROLE_OPTIONS = (
    ("viewer", "Viewer: sees everything, changes nothing"),
    ("member", "Member: works with monitors"),
    ("owner", "Owner: also keys, people and the audit log"),
)

DECLINED = {
    "form_out_of_date": Sentence(
        403, "This form is out of date", "Nothing was done. Open the page again, and resend the form."
    ),
    "link_expired": Sentence(
        404, "This link is no longer valid", "Sign in to see the incident, and to acknowledge it."
    ),
    "email_link_expired": Sentence(
        404,
        "This link is no longer valid",
        "Its channel was deleted, or has another address, or the message is too old.",
    ),
    "email_link_used": Sentence(
        404,
        "This link was used before",
        "A reader of the address has unsubscribed since. Ask the team for a new link to get notifications.",
    ),
    "invitation_link_expired": Sentence(
        404,
        "This link is no longer valid",
        "It was used, withdrawn or replaced, or is older than a week. Ask an owner of the team for another.",
    ),
    "password_link_expired": Sentence(
        404,
        "This link is no longer valid",
        "It was used, or is older than an hour. Ask for another one on the sign-in page.",
    ),
    "owners_only": Sentence(403, "Owners only", "Ask an owner of your team to do this."),
    "viewers_only_look": Sentence(
        403, "Viewers cannot change anything", "To do this, ask an owner of your team to make you a member."
    ),
}


class Declined(Exception):  # noqa: N818 - it is a page, not an error of ours
    """Ends the request with the page that `DECLINED` defines for `name`."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name
