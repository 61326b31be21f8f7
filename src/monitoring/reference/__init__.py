"""The document and the guides as self-contained pages."""
