"""Every list, look-up and sweep finds its rows by an index: the statements that really run are explained.

There are two exceptions. `release_abandoned_claims` reads all articles when a process starts alone on SQLite.
`measure_monitors` counts all monitors every 30 seconds: 30,000 take PostgreSQL four milliseconds.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import asyncpg  # type: ignore[import-untyped]
import pytest

import chosen_backends
from articles.desk import make_submission, translate
from backends.recorded_statements import Statement, recorded_statements
from monitoring.articles import queueing
from monitoring.articles import service as articles
from monitoring.articles.claims import claim_translation
from monitoring.articles.history import list_history
from monitoring.articles.models import Article, PublicationStatus, TranslationStatus
from monitoring.articles.queries import ArticleFilter
from monitoring.articles.queueing import measure_translations
from monitoring.articles.reading import demand_reader, list_articles
from monitoring.articles.refused_segments import find_refusals
from monitoring.articles.retranslation import TranslationFilter, retranslate
from monitoring.articles.sweeping import complete_older_articles, queue_missing_locales, sweep
from monitoring.articles.translation_memory import recall_segments
from monitoring.articles.withdrawal import PUBLISHER, sweep_removals, withdraw_article
from monitoring.audit.actors import COMMAND_LINE
from monitoring.audit.filters import EntryFilter
from monitoring.audit.service import list_entries, list_entries_about
from monitoring.auth import service as auth
from monitoring.auth.callers import Caller
from monitoring.auth.queries import delete_expired_revocations
from monitoring.auth.tokens import TokenClaims
from monitoring.backends.assembly import Backends, open_backends
from monitoring.checks import claims as checks
from monitoring.checks.upkeep import measure_incidents, measure_lateness
from monitoring.history.close_up import measure_closely
from monitoring.history.queries import list_latest, list_results
from monitoring.history.ranges import Range
from monitoring.history.response_times import measure_response_times
from monitoring.history.uptime import measure_ratios, measure_uptime
from monitoring.idempotency.service import act_once, delete_expired_keys
from monitoring.incidents import service as incidents
from monitoring.members.invitations import invite, list_invitations
from monitoring.members.kept_answers import Answer, delete_old_answers, find_answer, keep_answer
from monitoring.members.models import Role
from monitoring.members.service import find_user, list_members, remove_member
from monitoring.members.sessions import end_sessions, find_session
from monitoring.monitors import queries
from monitoring.monitors import service as monitors
from monitoring.monitors.deleting import carry_out_deletions, list_deletions
from monitoring.monitors.maintenance import service as maintenance
from monitoring.monitors.maintenance.keeping import keep_maintenance
from monitoring.monitors.models import Monitor
from monitoring.monitors.muting import mute_monitors
from monitoring.monitors.queries import MonitorFilter, MonitorOrder
from monitoring.monitors.service import set_paused
from monitoring.notifications import service as channels
from monitoring.notifications.backlog import measure_notifications
from monitoring.notifications.deliveries import list_deliveries, list_deliveries_about
from monitoring.notifications.muting import list_mutes
from monitoring.notifications.sweeping import (
    delete_old_deliveries,
    sweep_misdated_notifications,
    sweep_notifications,
)
from monitoring.web.replies import Reply
from ready_tables import make_tables
from temporary_backends import make_settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

pytestmark = [pytest.mark.anyio, pytest.mark.production("SQLite has another planner")]

CROWD = Path(__file__).with_name("crowd.sql")

# Sorting a page or an article's locales is cheap; sorting everything a team or the service has is not.
MOST_ROWS_TO_SORT = 1000

CLAIMS = TokenClaims(
    token_id="6f1c0f1e8a0b4f0e9c592d3d9a1f7b11",
    client_id="mon_live_7",
    scopes=frozenset(),
    issuer="",
    issued_at_seconds=0,
    expires_at_seconds=0,
)

TINY = {"progress"}  # one row for each job

CROWDED_TEAM, SMALL_TEAM, OLD_TEAM = UUID(int=1), UUID(int=2), UUID(int=2001)  # as `crowd.sql` numbers them
SOME_MONITOR = UUID(int=7)
ARTICLE, DUE_ARTICLE, ANOTHER_DUE_ARTICLE = UUID(int=12_345), UUID(int=1), UUID(int=2)


@pytest.fixture(scope="session")  # a worker that steals tests may come back to this module
def crowded_url(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Fill a database like after years: one team is large, and almost every translation is done."""
    url = chosen_backends.postgres().create_database()
    make_tables(make_settings(tmp_path_factory.mktemp("crowd"), database_url=url))

    async def fill() -> None:
        connection = await asyncpg.connect(url)
        await connection.execute(CROWD.read_text())
        await connection.close()

    asyncio.run(fill())
    return url


@pytest.fixture
async def backends(crowded_url: str, tmp_path: Path) -> AsyncIterator[Backends]:
    settings = make_settings(
        tmp_path,
        database_url=crowded_url,
        blog_storage_url=f"file://{tmp_path}/blog",
        translator="pseudo",
        locales="es,pt,fr,it,ca",
        article_teams="Team 1,Team 2",
    )
    async with open_backends(settings) as opened:
        with opened.activate():
            yield opened


@pytest.fixture
async def connection(crowded_url: str, backends: Backends) -> AsyncIterator[asyncpg.Connection]:
    """Open a connection that plans like the service's."""
    [shown] = await backends.database.context.db().execute_query_dict("SHOW random_page_cost")
    connection = await asyncpg.connect(crowded_url, server_settings=shown)
    yield connection
    await connection.close()


async def find_flaws(statement: Statement, connection: asyncpg.Connection) -> list[str]:
    """Return which tables a statement's plan reads or sorts as a whole."""
    prepared = await connection.prepare(statement.sql)
    [explained] = await prepared.explain(*statement.values)
    return [f"{flaw}: {statement.sql}" for flaw in filter(None, map(_find_flaw, _nodes(explained["Plan"])))]


async def execute(
    statement: Statement, connection: asyncpg.Connection, plan_kind: str
) -> list[dict[str, Any]]:
    """Execute a statement, and return its plan's nodes with what they did.

    After some executions PostgreSQL may use a *generic* plan, which is made for no particular values.
    """
    await connection.execute(f"SET plan_cache_mode = force_{plan_kind}_plan")
    await connection.execute(f"PREPARE statement AS {statement.sql}")
    values = ", ".join(map(_spell_value, statement.values))
    explained = await connection.fetchval(f"EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE statement ({values})")
    return list(_nodes(json.loads(explained)[0]["Plan"]))


def _spell_value(value: object) -> str:
    return f"'{{{','.join(value)}}}'" if isinstance(value, list) else f"'{value}'"


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", ()):
        yield from _nodes(part)


def _find_flaw(node: dict[str, Any]) -> str | None:
    if node["Node Type"] == "Seq Scan" and node["Relation Name"] not in TINY:
        return f"reads all of {node['Relation Name']}"
    if "Sort" in node["Node Type"] and node["Plan Rows"] > MOST_ROWS_TO_SORT:
        return f"sorts {node['Plan Rows']} rows"
    return None


@dataclass(frozen=True)
class ListMonitors:
    """A page of monitors to ask for."""

    wanted: MonitorFilter = field(default_factory=MonitorFilter)
    team_id: UUID = CROWDED_TEAM
    after_id: UUID | None = None

    async def __call__(self) -> None:
        await queries.list_monitors(self.team_id, self.wanted, 50, self.after_id)

    async def count_rows_to_look_at(self, connection: asyncpg.Connection) -> int:
        """Count the rows from the cursor on. Without a filter, the first of them are the page."""
        if self.wanted == MonitorFilter():
            return 50 + 1  # the last one shows that others follow
        statement = "SELECT count(*) FROM monitors WHERE team_id = $1 AND ($2::uuid IS NULL OR id < $2)"
        counted: int = await connection.fetchval(statement, self.team_id, self.after_id)
        return counted


async def claim_and_give_back() -> None:
    claim = await claim_translation(DUE_ARTICLE)
    assert claim
    await claim.give_back()


async def tell_what_happened() -> None:
    await list_history(ARTICLE, 50)
    await list_entries_about(CROWDED_TEAM, ARTICLE, 50)
    await list_deliveries_about(CROWDED_TEAM, ARTICLE, newest_first=True)


async def translate_due_article() -> None:
    await translate(await Article.get(id=ANOTHER_DUE_ARTICLE))


async def claim_checks_and_give_back() -> None:
    now = datetime.now(UTC)
    claimed = await checks.claim_due(now, 20)
    assert len(claimed) == 20
    await checks.give_back(claimed, now)


async def measure_uptime_of_a_year() -> None:
    monitor = await monitors.get_monitor(CROWDED_TEAM, SOME_MONITOR)
    now = datetime.now(UTC)
    await measure_uptime(monitor, Range(now - timedelta(days=365), now, "day"))


async def measure_response_times_of_some_days() -> None:
    now = datetime.now(UTC)
    await measure_response_times(UUID(int=31), Range(now - timedelta(days=4), now, "hour"), now)


async def measure_a_day_closely() -> None:
    now = datetime.now(UTC)
    monitor = await Monitor.get(id=UUID(int=31))
    assert await measure_closely(monitor, now - timedelta(days=1), now, now)


def list_checks(**wanted: Any) -> Callable[[], Awaitable[object]]:
    given = {"start": None, "end": None, "outcome": None, "before": None, **wanted}
    return lambda: list_results(UUID(int=31), limit=50, **given)


def list_incidents(
    monitor_id: UUID | None = None, state: str | None = None
) -> Callable[[], Awaitable[object]]:
    return lambda: incidents.list_incidents(CROWDED_TEAM, monitor_id, state, 50, None)


def list_to_read(
    after_id: UUID | None = None, updated_since: timedelta | None = None, **wanted: Any
) -> Callable[[], Awaitable[object]]:
    since = datetime.now(UTC) - updated_since if updated_since else None
    return lambda: list_articles(ArticleFilter(**wanted, updated_since=since), 50, after_id)


async def list_deliveries_of_a_channel() -> None:
    await list_deliveries(await channels.get_channel(CROWDED_TEAM, CROWDED_TEAM), None, 50, None)


async def act() -> Reply:
    return Reply({})


LISTS_OF_MONITORS = {
    "list monitors": ListMonitors(),
    "list monitors of a small team": ListMonitors(team_id=SMALL_TEAM),
    "list monitors of nobody": ListMonitors(team_id=UUID(int=999_999)),
    "list monitors that are older than all others": ListMonitors(team_id=OLD_TEAM),
    "list monitors from a cursor on": ListMonitors(after_id=UUID(int=15_000)),
    "list monitors that are older than all others from a cursor on": ListMonitors(
        team_id=OLD_TEAM, after_id=UUID(int=6_000)
    ),
    "list monitors by a frequent status": ListMonitors(MonitorFilter(status="up")),
    "list monitors by a rare status": ListMonitors(MonitorFilter(status="down")),
    "list monitors by type": ListMonitors(MonitorFilter(type="http")),
    "list monitors by a type that none has": ListMonitors(MonitorFilter(type="tcp")),
    "list monitors by tag": ListMonitors(MonitorFilter(tags=("shop",))),
    "list monitors by a tag that none has": ListMonitors(MonitorFilter(tags=("nothing",))),
    "list paused monitors": ListMonitors(MonitorFilter(paused=True)),
    "search monitors": ListMonitors(MonitorFilter(search="Shop 77")),
    "search monitors for what none has": ListMonitors(MonitorFilter(search="nothing")),
    "list monitors by everything": ListMonitors(
        MonitorFilter(status="up", tags=("shop",), paused=False, search="Shop"), after_id=UUID(int=15_000)
    ),
    "list monitors that are older than all others by everything": ListMonitors(
        MonitorFilter(status="up", tags=("blog",), paused=False, search="Shop"),
        team_id=OLD_TEAM,
        after_id=UUID(int=6_000),
    ),
}

HOT: dict[str, Callable[[], Awaitable[object]]] = {
    **LISTS_OF_MONITORS,
    "read a monitor": lambda: queries.read_monitor(CROWDED_TEAM, SOME_MONITOR),
    "get a monitor": lambda: monitors.get_monitor(CROWDED_TEAM, SOME_MONITOR),
    "update a monitor": lambda: monitors.update_monitor(CROWDED_TEAM, SOME_MONITOR, {"name": "Renamed"}),
    "create a monitor in a large team": lambda: monitors.create_monitor(
        CROWDED_TEAM, {"url": "https://shop.example.com/"}
    ),
    "create a monitor in a small team": lambda: monitors.create_monitor(
        SMALL_TEAM, {"url": "https://shop.example.com/"}
    ),
    "claim checks and give them back": claim_checks_and_give_back,
    "list checks": list_checks(),
    "list checks that failed": list_checks(outcome="down"),
    "list checks of an hour": list_checks(
        start=datetime.now(UTC) - timedelta(hours=2), end=datetime.now(UTC) - timedelta(hours=1)
    ),
    "measure uptime": measure_uptime_of_a_year,
    "measure the uptimes of a page": lambda: measure_ratios(
        [UUID(int=31), UUID(int=61)], datetime.now(UTC) - timedelta(days=1), datetime.now(UTC)
    ),
    "find monitors of a page": lambda: queries.list_monitors_among(CROWDED_TEAM, [SOME_MONITOR]),
    "outline a small team's monitors": lambda: queries.outline_monitors(
        SMALL_TEAM, MonitorFilter(leaves_out_deleted=True), MonitorOrder.WORST
    ),
    "count a small team's tags": lambda: queries.count_tags(SMALL_TEAM, MonitorFilter()),
    "list deletions to undo": lambda: list_deletions(SMALL_TEAM),
    "carry out deletions": lambda: carry_out_deletions(datetime.now(UTC)),
    "mute a monitor": lambda: mute_monitors(
        CROWDED_TEAM, [SOME_MONITOR], None, datetime.now(UTC), by=COMMAND_LINE
    ),
    "pause a monitor": lambda: set_paused(CROWDED_TEAM, [SOME_MONITOR], paused=True, by=COMMAND_LINE),
    "list mutes": lambda: list_mutes(SMALL_TEAM),
    "measure response times": measure_response_times_of_some_days,
    "measure response times by minutes": measure_a_day_closely,
    "list incidents": list_incidents(),
    "list incidents of a monitor": list_incidents(SOME_MONITOR),
    "list open incidents": list_incidents(state="open"),
    "get an incident": lambda: incidents.get_incident(CROWDED_TEAM, SOME_MONITOR),
    "list maintenance windows": lambda: maintenance.list_windows(SMALL_TEAM, 50, None),
    "keep maintenance": lambda: keep_maintenance(datetime.now(UTC)),
    "list channels": lambda: channels.list_channels(CROWDED_TEAM, 50, None),
    "list deliveries": list_deliveries_of_a_channel,
    "sweep notifications": sweep_notifications,
    "sweep misdated notifications": sweep_misdated_notifications,
    "delete old deliveries": lambda: delete_old_deliveries(datetime.now(UTC)),
    "act once": lambda: act_once(CROWDED_TEAM, "a new key", ("request",), act),
    "delete expired answers": lambda: delete_expired_keys(datetime.now(UTC)),
    "delete expired revocations": lambda: delete_expired_revocations(datetime.now(UTC)),
    "find a living key": lambda: auth.find_living_key(CLAIMS),
    "authenticate a key": lambda: auth.authenticate_key("mon_live_7", "a wrong secret"),
    "revoke a key": lambda: auth.revoke_key("mon_live_8"),
    "list a team's keys": lambda: auth.list_keys(SMALL_TEAM),
    "find a session": lambda: find_session("token"),
    "keep an answer": lambda: keep_answer(UUID(int=9_999), Answer(400, "")),
    "find an answer": lambda: find_answer(UUID(int=9), UUID(int=9)),
    "delete old answers": lambda: delete_old_answers(datetime.now(UTC)),
    "end sessions": lambda: end_sessions(UUID(int=9)),
    "find a user": lambda: find_user("7@example.com"),
    "list members": lambda: list_members(SMALL_TEAM),
    "list invitations": lambda: list_invitations(SMALL_TEAM),
    "invite": lambda: invite(SMALL_TEAM, "ada@example.com", Role.MEMBER, by=COMMAND_LINE),
    "remove a member": lambda: remove_member(SMALL_TEAM, UUID(int=1999), by=COMMAND_LINE),
    "read the audit log": lambda: list_entries(CROWDED_TEAM, 50, UUID(int=20_000)),
    "search the audit log": lambda: list_entries(
        CROWDED_TEAM, 50, UUID(int=20_000), EntryFilter(who="alice", kind="monitor", about="shop")
    ),
    "glance at checks": lambda: list_latest(
        [UUID(int=31), UUID(int=61)], datetime.now(UTC) - timedelta(days=3), 40
    ),
    "receive a new article": lambda: articles.receive_submission(make_submission(id="new", slug="slug-1")),
    "receive an article again": lambda: articles.receive_submission(make_submission(id="12345")),
    "find an article": lambda: articles.find_article(ARTICLE),
    "list articles": lambda: articles.list_articles(50),
    "tell what happened to an article": tell_what_happened,
    "find what was refused": lambda: find_refusals(ARTICLE),
    "list articles further": lambda: articles.list_articles(50, after_id=ARTICLE),
    "list articles that failed": lambda: articles.list_articles(50, TranslationStatus.FAILED),
    "list articles that are translated": lambda: articles.list_articles(50, TranslationStatus.TRANSLATED),
    "find a reader": lambda: demand_reader(Caller("mon_live_7", SMALL_TEAM, frozenset())),
    "list published articles": list_to_read(),
    "list published articles further": list_to_read(after_id=ARTICLE),
    "list unpublished articles": list_to_read(status="unpublished"),
    "list articles in a locale": list_to_read(locale="es"),
    "list articles in a locale that none has": list_to_read(locale="de"),
    "list articles by tag": list_to_read(tag="shop"),
    "list articles by a tag that few have": list_to_read(tag="rare"),
    "list what changed since the last build": list_to_read(updated_since=timedelta(minutes=10)),
    "list what changed since long ago": list_to_read(updated_since=timedelta(days=10_000)),
    "list what changed by everything": list_to_read(
        updated_since=timedelta(hours=1), tag="shop", locale="es", after_id=ARTICLE
    ),
    "complete older articles": complete_older_articles,
    "claim a translation and give it back": claim_and_give_back,
    "translate an article": translate_due_article,
    "sweep": sweep,
    "queue missing locales": queue_missing_locales,
    "measure translations": measure_translations,
    "measure notifications": measure_notifications,
    "measure how late checks are": measure_lateness,
    "measure incidents": measure_incidents,
    "retry what failed of an article": lambda: queueing.retry_failed(UUID(int=500)),
    "retry what failed": queueing.retry_failed,
    "translate an article again": lambda: retranslate(TranslationFilter(UUID(int=700)), forgets_memory=True),
    "unpublish an article": lambda: withdraw_article(UUID(int=600), PublicationStatus.UNPUBLISHED, PUBLISHER),
    "delete an article": lambda: withdraw_article(UUID(int=601), PublicationStatus.DELETED, PUBLISHER),
    "look for files to remove": sweep_removals,
    "recall segments": lambda: recall_segments("pseudo", "es", [f"{number:064x}" for number in range(1000)]),
}


@pytest.mark.usefixtures("backends")
@pytest.mark.parametrize("title", HOT)
async def test_reads_only_what_it_needs(title: str, connection: asyncpg.Connection) -> None:
    with recorded_statements() as statements:
        await HOT[title]()
    assert statements
    assert [flaw for statement in statements for flaw in await find_flaws(statement, connection)] == []


@pytest.mark.usefixtures("backends")
@pytest.mark.parametrize("plan_kind", ["custom", "generic"])
@pytest.mark.parametrize("title", LISTS_OF_MONITORS)
async def test_a_page_of_monitors_is_read_from_its_cursor_on(
    title: str, plan_kind: str, connection: asyncpg.Connection
) -> None:
    asked = LISTS_OF_MONITORS[title]
    with recorded_statements() as statements:
        await asked()
    [statement] = statements
    nodes = await execute(statement, connection, plan_kind)
    looked_at = sum(
        (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
        for node in nodes
        if node.get("Relation Name") == "monitors"
    )
    assert looked_at <= await asked.count_rows_to_look_at(connection)
    assert not [node for node in nodes if "Sort" in node["Node Type"]]


@pytest.mark.usefixtures("backends")
async def test_a_missing_index_would_be_noticed(connection: asyncpg.Connection) -> None:
    with recorded_statements() as statements:
        await HOT["delete expired answers"]()
    dropping = connection.transaction()
    await dropping.start()
    index = await connection.fetchval(
        "SELECT indexname FROM pg_indexes"
        " WHERE tablename = 'idempotency_keys' AND indexdef LIKE '%(created_at)'"
    )
    await connection.execute(f"DROP INDEX {index}")
    flaws = [flaw for statement in statements for flaw in await find_flaws(statement, connection)]
    await dropping.rollback()
    assert [flaw.partition(":")[0] for flaw in flaws] == ["reads all of idempotency_keys"]
