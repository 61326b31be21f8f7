"""The pages, a module a subject; each names its `ROUTES`."""
