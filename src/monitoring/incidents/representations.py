"""Renders incidents and their notes as JSON objects, as the API document's schemas describe them."""

from __future__ import annotations

from typing import Any

from monitoring.backends.pages import Page
from monitoring.contract.cursors import PagedList, next_cursor
from monitoring.contract.timestamps import write_timestamp
from monitoring.incidents.models import Incident, IncidentNote, IncidentState


def represent_incident(incident: Incident) -> dict[str, Any]:
    """Render an incident as an `Incident` of the API, with its fields in the document's order."""
    return {
        "id": str(incident.id),
        "monitor_id": str(incident.monitor_id),
        "state": IncidentState.RESOLVED if incident.resolved_at else IncidentState.OPEN,
        "started_at": write_timestamp(incident.started_at),
        "confirmed_at": write_timestamp(incident.confirmed_at),
        "acknowledged_at": write_timestamp(incident.acknowledged_at),
        "acknowledged_by": incident.acknowledged_by,
        "resolved_at": write_timestamp(incident.resolved_at),
        "resolution": incident.resolution,
        "error": incident.error,
        "error_message": incident.error_message,
    }


def represent_note(note: IncidentNote) -> dict[str, Any]:
    """Render a note as an `IncidentNote` of the API."""
    return {
        "id": str(note.id),
        "author": note.author,
        "text": note.text,
        "created_at": write_timestamp(note.created_at),
    }


def represent_notes(page: Page[IncidentNote]) -> dict[str, Any]:
    """Render a page of notes as an `IncidentNoteList` of the API."""
    return {
        "notes": [represent_note(note) for note in page.rows],
        "next_cursor": next_cursor(PagedList.INCIDENT_NOTES, page.continues_after),
    }


def represent_page(page: Page[Incident]) -> dict[str, Any]:
    """Render a page of incidents as an `IncidentList` of the API."""
    return {
        "incidents": [represent_incident(incident) for incident in page.rows],
        "next_cursor": next_cursor(PagedList.INCIDENTS, page.continues_after),
    }
