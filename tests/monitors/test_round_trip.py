from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
from hypothesis import HealthCheck, given, settings

from monitoring.contract.problems import Problem
from monitoring.monitors.configuration import default_configuration
from monitoring.monitors.rules import change
from monitors.configurations import as_shown, configuration_with, creations, patches
from monitors.conversations import MONITORS, create, path_of, read

if TYPE_CHECKING:
    from cast import Player

# All examples share one team: each example deletes what it made.
over_http = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


class TestRoundTrip:
    @over_http
    @given(fields=creations)
    def test_everything_accepted_but_credentials_comes_back_as_it_was(
        self, alice: Player, fields: dict[str, Any]
    ) -> None:
        monitor = create(alice, **fields)
        try:
            assert monitor.items() >= as_shown(configuration_with(**fields)).items()
            page = {"monitors": [monitor], "next_cursor": None}
            assert alice.get(path_of(monitor)).content == orjson.dumps(monitor)
            assert alice.get(MONITORS).content == orjson.dumps(page)
            assert alice.patch(path_of(monitor), json={"name": monitor["name"]}).content == orjson.dumps(
                monitor
            )
            assert list(monitor["request_headers"]) == list(fields.get("request_headers", {}))
        finally:
            alice.delete(path_of(monitor))

    @over_http
    @given(fields=creations, patch=patches)
    def test_a_merge_patch_does_what_its_rule_says(
        self, alice: Player, fields: dict[str, Any], patch: dict[str, Any]
    ) -> None:
        monitor = create(alice, **fields)
        try:
            answer = alice.patch(path_of(monitor), json=patch)
            try:
                expected = as_shown(change(configuration_with(**fields), patch, default_configuration()))
            except Problem:  # the schema sees it if the patch itself names both fields
                assert answer.status_code in {400, 409}
                expected = monitor
            assert read(alice, monitor).items() >= expected.items()
        finally:
            alice.delete(path_of(monitor))
