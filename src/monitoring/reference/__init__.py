"""Renders the API document, and the guides to the API, as self-contained HTML pages."""
