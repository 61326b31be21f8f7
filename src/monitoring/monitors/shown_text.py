"""Texts of clients and servers as sentences show them. Pure."""

from __future__ import annotations


def shorten(text: str, max_characters: int) -> str:
    """Return a text on one line, and cut with an ellipsis if it is longer than that."""
    shown = "".join(each if each.isprintable() else " " for each in text)
    return shown if len(shown) <= max_characters else f"{shown[: max_characters - 1]}…"
