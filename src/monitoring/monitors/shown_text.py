"""Shortens texts from clients and servers, so that messages can quote them. Has no side effects."""

from __future__ import annotations


def shorten(text: str, max_characters: int) -> str:
    """Return a text on one line, cut with an ellipsis if it exceeds `max_characters`."""
    shown = "".join(each if each.isprintable() else " " for each in text)
    return shown if len(shown) <= max_characters else f"{shown[: max_characters - 1]}…"
