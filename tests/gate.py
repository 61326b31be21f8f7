"""Selects the tests that `pytest --gate` leaves to `make night`, so that the gate takes only minutes.

A test is marked for the night with `pytest.mark.night("why")`. Of the tests in a browser, the gate runs only
`WALKS`. On PostgreSQL, Redis and S3, the gate runs the tests of this project's SQL, locks, migrations, queues
and files, and a sample of each operation. It runs tests that use these backends only indirectly on the
embedded backends alone.
"""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path

import pytest

import chosen_backends

ROOT = Path(__file__).parent.parent

# The tests in these folders use the backends only through pages, HTTP and commands, whose queries other tests
# run.
PASS_THROUGH = (
    "tests/agents/*",
    "tests/app/*",
    "tests/articles/exports/*",
    "tests/articles/test_chosen_engine.py",
    "tests/articles/test_misbehaviour.py",
    "tests/articles/test_own_translations.py",
    "tests/articles/test_publishers.py",
    "tests/as_code/*",
    "tests/auth/test_issue_token.py",
    "tests/auth/test_publishers.py",
    "tests/auth/test_security.py",
    "tests/auth/test_tokens.py",
    "tests/browser/*",
    "tests/checks/probes/*",
    "tests/checks/test_simulated_month.py",
    "tests/checks/test_sandbox.py",
    "tests/cli/test_articles.py",
    "tests/cli/test_demo.py",
    "tests/cli/test_exam.py",
    "tests/cli/test_one_sentence.py",
    "tests/cli/test_open_files.py",
    "tests/cli/test_users.py",
    "tests/contract/*",
    "tests/members/test_kept_answers.py",
    "tests/members/test_passwords.py",
    "tests/members/test_sign_in.py",
    "tests/monitors/contracts/*",
    "tests/monitors/test_assertions.py",
    "tests/monitors/test_client_certificates.py",
    "tests/monitors/test_create_monitor.py",
    "tests/monitors/test_request_headers.py",
    "tests/monitors/test_types.py",
    "tests/notifications/channels/*",
    "tests/notifications/test_exams.py",
    "tests/notifications/test_log_lines.py",
    "tests/notifications/test_sandbox.py",
    "tests/outbound/*",
    "tests/test_busy_processes.py",
    "tests/test_docs.py",
    "tests/test_guides.py",
    "tests/test_hostile_http.py",
    "tests/test_hostile_requests.py",
    "tests/test_kept_secrets.py",
    "tests/test_logs.py",
    "tests/test_metrics.py",
    "tests/test_nosniff.py",
    "tests/test_prometheus.py",
    "tests/test_published_interface.py",
    "tests/test_settings.py",
    "tests/tracing/*",
    "tests/web/*",
    "*/test_handlers.py",
    "contract-tests/test_cacheable_texts.py",
    "contract-tests/test_every_sentence.py",
    "contract-tests/test_fuzzing.py",
    "contract-tests/test_fuzzing_checks.py",
    "contract-tests/test_lies.py",
    "contract-tests/test_openapi_30.py",
    "contract-tests/test_published_document.py",
)

# The files in these folders that have SQL of their own.
STAY = ("tests/app/test_live_pages.py", "tests/app/test_fingerprints.py")

# The browser tests of the gate. They open every page with long and hostile texts, check accessibility, and
# follow changes.
WALKS = ("tests/browser/test_hostile_texts.py", "tests/browser/test_live.py")


def is_left_to_the_night(item: pytest.Item) -> bool:
    """Return whether the gate omits a test on the backends of this run."""
    if item.get_closest_marker("night") or _is_longer_walk(item.path):
        return True
    return not item.get_closest_marker("production") and _passes_through(item.path)


def is_left_whole(path: Path) -> bool:
    """Return whether the gate omits every test in a file, so that it need not be imported."""
    if path.suffix != ".py" or not path.name.startswith("test_"):
        return False
    return _is_longer_walk(path) or (_passes_through(path) and "mark.production" not in path.read_text())


def _is_longer_walk(path: Path) -> bool:
    """Return whether a file has browser tests that the gate does not run."""
    name = path.relative_to(ROOT).as_posix()
    return name.startswith("tests/browser/") and name not in WALKS


def _passes_through(path: Path) -> bool:
    name = path.relative_to(ROOT).as_posix()
    is_named = any(fnmatch(name, each) for each in PASS_THROUGH)
    return chosen_backends.is_production() and is_named and name not in STAY
