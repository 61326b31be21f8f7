"""The pages about monitors, in the order in which their addresses are matched."""

from __future__ import annotations

from monitoring.app.pages import (
    incidents,
    monitor,
    monitor_actions,
    monitor_forms,
    monitor_list,
    monitor_selection,
    monitor_tables,
)

ROUTES = (
    *monitor_list.ROUTES,
    *monitor_selection.ROUTES,
    *monitor_forms.ROUTES,  # `/monitors/new` before any id
    *monitor.ROUTES,
    *monitor_tables.ROUTES,
    *monitor_actions.ROUTES,
    *incidents.ROUTES,
)
