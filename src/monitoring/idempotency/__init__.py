"""Writes that are repeated when in doubt, and act once."""
