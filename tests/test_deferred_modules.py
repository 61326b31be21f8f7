from __future__ import annotations

import sys
from importlib import import_module

import pytest

from monitoring.deferred_modules import deferred


@pytest.fixture(autouse=True)
def unloaded() -> None:
    sys.modules.pop("colorsys", None)


def test_a_deferred_module_is_loaded_when_something_of_it_is_called() -> None:
    with deferred("colorsys"):
        from colorsys import rgb_to_hsv  # noqa: PLC0415
    assert "colorsys" not in sys.modules
    assert rgb_to_hsv(1.0, 1.0, 1.0) == (0.0, 0.0, 1.0)
    assert "colorsys" in sys.modules


def test_whoever_imports_it_later_gets_the_module() -> None:
    with deferred("colorsys"):
        stand_in = import_module("colorsys")
    assert import_module("colorsys") is not stand_in


def test_a_module_that_is_loaded_already_is_not_replaced() -> None:
    loaded = import_module("colorsys")
    with deferred("colorsys"):
        assert import_module("colorsys") is loaded
    assert import_module("colorsys") is loaded


def test_a_library_may_make_subclasses_of_it_and_ask_for_instances() -> None:
    with deferred("colorsys"):
        from colorsys import rgb_to_hsv  # noqa: PLC0415

    class Subclass(rgb_to_hsv):  # type: ignore[misc, valid-type]  # what a library would take for a class
        pass

    assert not isinstance("red", rgb_to_hsv | Subclass)
    assert "colorsys" not in sys.modules
