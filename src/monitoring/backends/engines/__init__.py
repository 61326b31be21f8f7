"""Tortoise's database clients with what production needs: errors that mean something, nothing leaked."""
