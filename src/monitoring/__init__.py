"""The monitoring service: openapi.yaml is the product, this package serves it."""
