"""Idempotency keys, with which clients can safely retry writes."""
