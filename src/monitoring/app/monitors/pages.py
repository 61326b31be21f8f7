"""The pages about monitors, in the order in which their addresses are matched."""

from __future__ import annotations

from monitoring.app.incidents import list_page as incidents
from monitoring.app.monitors import actions as monitor_actions
from monitoring.app.monitors import detail_page as monitor
from monitoring.app.monitors import downloads as monitor_tables
from monitoring.app.monitors import form_pages as monitor_forms
from monitoring.app.monitors import list_page as monitor_list
from monitoring.app.monitors import selection as monitor_selection

ROUTES = (
    *monitor_list.ROUTES,
    *monitor_selection.ROUTES,
    *monitor_forms.ROUTES,  # `/monitors/new` before any id
    *monitor.ROUTES,
    *monitor_tables.ROUTES,
    *monitor_actions.ROUTES,
    *incidents.ROUTES,
)
