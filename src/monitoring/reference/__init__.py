"""The document and the guides as pages that need nothing from any other host."""
