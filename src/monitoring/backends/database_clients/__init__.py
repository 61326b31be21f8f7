"""Tortoise's database clients with specific errors and without leaked connections."""
