"""Filters of the audit log."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from tortoise.queryset import QuerySet

from monitoring.audit.models import AuditEntry
from monitoring.backends.fields import first_uuid7_at


@dataclass(frozen=True, slots=True)
class EntryFilter:
    """Conditions on audit log entries. A condition that is left out matches all entries.

    `who` and `about` match parts of names, ignoring case. `kind` is the part of an action before the dot.
    `is_by_key` selects programs (True) or people (False). `since` is inclusive, and `until` exclusive.
    """

    who: str = ""
    kind: str = ""
    about: str = ""
    is_by_key: bool | None = None
    since: datetime | None = None
    until: datetime | None = None

    def apply(self, entries: QuerySet[AuditEntry]) -> QuerySet[AuditEntry]:
        """Restrict a query to the matching entries."""
        if self.since:  # ids are ordered by time, and the index contains the id
            entries = entries.filter(id__gte=first_uuid7_at(self.since))
        if self.until:
            entries = entries.filter(id__lt=first_uuid7_at(self.until))
        if self.is_by_key is not None:
            entries = entries.filter(actor_client_id__isnull=not self.is_by_key)
        if self.kind:
            entries = entries.filter(action__startswith=f"{self.kind}.")
        if self.who:
            entries = entries.filter(actor__icontains=self.who)
        return entries.filter(subject__icontains=self.about) if self.about else entries


EVERYTHING = EntryFilter()
