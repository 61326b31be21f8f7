"""Implements the OpenAPI document's requests, replies and errors, independently of any web server."""
