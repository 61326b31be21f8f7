"""Renders the API document and the guides as self-contained HTML pages."""
