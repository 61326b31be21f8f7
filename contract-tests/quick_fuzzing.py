"""What every run of Schemathesis loads, as its hooks or with them, to be quicker. It changes no request."""

from __future__ import annotations

import gc

# Schemathesis keeps many objects and makes thousands for each request: the collector would run all the time.
gc.freeze()
gc.set_threshold(25_000)
