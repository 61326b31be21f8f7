"""`monitoring migrate` on PostgreSQL, while processes of the release before go on working."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from threading import Event
from typing import TYPE_CHECKING

import pytest

import chosen_backends
from backends.sessions import Session
from monitoring.backends import database
from monitoring.backends.database import migrate
from monitoring.backends.errors import TablesInUse
from release_before import FIRST_SINCE, NEWEST_BEFORE, install_release_before
from service_process import wait_until
from temporary_backends import make_settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from monitoring.settings import Settings

pytestmark = pytest.mark.production("SQLite has one writer, and nothing runs beside a migration")

ADD_TEAM = """
    INSERT INTO teams (id, name, plan, max_monitors, monitors_count, created_at)
    VALUES (gen_random_uuid(), 'Acme', 'free', 10, 0, now())
"""
ADD_MONITORS = """
    INSERT INTO monitors (id, team_id, name, url, method, request_headers, expected_status_codes,
        interval_seconds, timeout_seconds, follow_redirects, verify_tls, tls_expiry_warning_days,
        failure_threshold, recovery_threshold, paused, tags, status, status_changed_at, created_at,
        updated_at, version, search_text)
    SELECT gen_random_uuid(), teams.id, 'Shop', 'https://shop.example.com/', 'GET', '{}', '["200-299"]', 60,
        15, true, true, 14, 2, 2, false, '[]', 'pending', now(), now(), now(), 1, 'shop'
    FROM teams, generate_series(1, 20)
"""
ADD_WATCHES = """
    INSERT INTO watches (id, monitor_id, due_at, next_check_at, seen_until, settled, is_degraded, is_blind,
        streak)
    SELECT gen_random_uuid(), id, now(), now(), now(), 'pending', false, false, 0 FROM monitors
"""
PATIENT_SECONDS = 600  # a migration computes for some seconds, on a busy machine for many

# As a checker of 0.1 does.
CLAIM = """
    WITH due AS (SELECT monitor_id FROM watches ORDER BY due_at LIMIT 5 FOR UPDATE SKIP LOCKED)
    UPDATE watches SET claim = gen_random_uuid(), due_at = now()
    FROM due JOIN monitors ON monitors.id = due.monitor_id
    WHERE watches.monitor_id = due.monitor_id
    RETURNING watches.monitor_id
"""
STORE = "UPDATE watches SET claim = NULL, streak = streak + 1 WHERE monitor_id = ANY($1)"
CHANGE_STATUS = "UPDATE monitors SET status = 'up', status_changed_at = now() WHERE id = ANY($1)"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Make an installation of 0.1 that checks twenty monitors."""
    settings = make_settings(tmp_path, database_timeout_seconds=PATIENT_SECONDS)
    asyncio.run(install_release_before(settings))
    with Session(chosen_backends.settings_for(tmp_path)["database_url"]) as session:
        for statement in (ADD_TEAM, ADD_MONITORS, ADD_WATCHES):
            session.execute(statement)
    return settings


@pytest.fixture
def checker(settings: Settings) -> Iterator[Session]:
    with Session(settings.database_url.get_secret_value()) as session:
        yield session


@pytest.fixture
def migrating() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor() as threads:
        yield threads


def begin_to_migrate(threads: ThreadPoolExecutor, settings: Settings) -> Future[list[str]]:
    return threads.submit(lambda: asyncio.run(migrate(settings)))


def waits_for(session: Session, table: str) -> bool:
    """Say whether somebody waits for a table."""
    return bool(
        session.execute("SELECT 1 FROM pg_locks WHERE NOT granted AND relation = $1::regclass", table)
    )


def test_a_checker_that_has_claimed_stores_before_anything_changes(
    settings: Settings, checker: Session, migrating: ThreadPoolExecutor
) -> None:
    with Session(settings.database_url.get_secret_value()) as observer:
        checker.execute("BEGIN")
        claimed = checker.execute(CLAIM)
        migrated = begin_to_migrate(migrating, settings)
        wait_until(lambda: waits_for(observer, "watches"))
        checker.execute(STORE, claimed)
        checker.execute(CHANGE_STATUS, claimed)
        checker.execute("COMMIT")
    assert migrated.result()[0] == FIRST_SINCE


def test_in_a_deadlock_the_migration_gives_way_and_is_tried_again(
    settings: Settings, checker: Session, migrating: ThreadPoolExecutor
) -> None:
    """Whoever creates a monitor writes it before its watch."""
    with Session(settings.database_url.get_secret_value()) as observer:
        checker.execute("BEGIN")
        checker.execute(ADD_MONITORS)
        migrated = begin_to_migrate(migrating, settings)
        wait_until(lambda: waits_for(observer, "monitors"))
        checker.execute("SELECT 1 FROM watches FOR UPDATE")  # the migration has this table
        checker.execute("COMMIT")
    assert migrated.result()[0] == FIRST_SINCE


@pytest.mark.night("the tests before it hold each order of locks")
def test_checkers_that_never_pause_lose_no_claim(settings: Settings, migrating: ThreadPoolExecutor) -> None:
    is_migrated = Event()

    def check() -> int:
        rounds = 0
        with Session(settings.database_url.get_secret_value(), PATIENT_SECONDS) as session:
            while not is_migrated.is_set():
                session.execute("BEGIN")
                claimed = session.execute(CLAIM)
                session.execute(STORE, claimed)
                session.execute(CHANGE_STATUS, claimed)
                session.execute("COMMIT")
                rounds += 1
        return rounds

    with ExitStack() as stack:
        stack.callback(is_migrated.set)
        checkers = [migrating.submit(check) for _ in range(3)]
        assert begin_to_migrate(migrating, settings).result()[0] == FIRST_SINCE
        is_migrated.set()
        assert all(each.result() for each in checkers)


def test_a_long_read_leaves_everything_as_it_was(
    settings: Settings, checker: Session, migrating: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "LOCK_PATIENCE_SECONDS", (0.01, 0.01))
    with checker.transaction():
        checker.execute("SELECT * FROM articles")
        with pytest.raises(TablesInUse):
            begin_to_migrate(migrating, settings).result()
    assert checker.execute("SELECT name FROM tortoise_migrations ORDER BY name") == [
        "0001_initial",
        NEWEST_BEFORE,
    ]


def test_tables_of_others_in_the_database_are_left_alone(
    settings: Settings, checker: Session, migrating: ThreadPoolExecutor
) -> None:
    role_url = checker.give_to_role("owner_of_the_service")
    checker.execute("GRANT ALL ON SCHEMA public TO owner_of_the_service")
    tables = checker.execute("SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'")
    for table in tables:
        checker.execute(f'ALTER TABLE "{table}" OWNER TO owner_of_the_service')
    checker.execute("CREATE TABLE notes_of_a_database_administrator (note text)")
    role = settings.model_copy(update={"database_url": type(settings.database_url)(role_url)})
    assert begin_to_migrate(migrating, role).result()[0] == FIRST_SINCE
