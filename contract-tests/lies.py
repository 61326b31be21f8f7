"""The lies, which are planted faults, each small enough to be overlooked in a review.

Each lie names the test that should detect it.
"""

from __future__ import annotations

import sys

from lies_about_checks import ABOUT_CHECKS
from lies_in_the_code import IN_THE_CODE
from lies_in_the_document import IN_THE_DOCUMENT, IN_WHAT_IS_PUBLISHED

LIES = [*IN_THE_DOCUMENT, *IN_WHAT_IS_PUBLISHED, *IN_THE_CODE, *ABOUT_CHECKS]


def write_table() -> str:
    """Return the table of lies for README.md."""
    rows = [
        f"| {lie.claim} | {lie.place} | `{lie.caught_by.removeprefix('contract-tests/')}` |" for lie in LIES
    ]
    return "\n".join(["| lie | planted in | should be caught by |", "|---|---|---|", *rows])


if __name__ == "__main__":
    sys.stdout.write(f"{write_table()}\n")
