"""Probes: how monitors are checked, one file for each kind of monitor."""
