"""Idempotency keys, with which clients can safely retry requests that change something."""
