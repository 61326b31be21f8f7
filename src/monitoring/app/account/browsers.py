"""Names browsers from their User-Agent, in the words their owners would use."""

from __future__ import annotations

# The order matters: most browsers also name those whose pages they want to get.
_BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
_SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("CrOS", "ChromeOS"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)


def describe_browser(user_agent: str) -> str:
    """Return "Firefox on Linux" or the like. Anybody can claim it; it helps people recognise their own."""
    browser = next((name for mark, name in _BROWSERS if mark in user_agent), "Another browser")
    system = next((name for mark, name in _SYSTEMS if mark in user_agent), None)
    return f"{browser} on {system}" if system else browser
