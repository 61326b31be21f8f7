"""Tortoise's database clients, with errors that mean something and no leaked connections."""
