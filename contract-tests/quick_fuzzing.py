"""Speeds up every run of Schemathesis, which loads this module as hooks or next to other hooks.

It changes no request.
"""

from __future__ import annotations

import gc

# Schemathesis keeps many objects and creates thousands for each request, so the garbage collector would run
# constantly.
gc.freeze()
gc.set_threshold(25_000)
