"""Contracts: what an OpenAPI document promises of the answers of one of its operations."""
