"""Contracts: what an OpenAPI document specifies for the responses of one of its operations."""
