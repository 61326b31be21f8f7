"""The monitors API as a good engineer would write it by hand.

It uses FastAPI, pydantic, and SQLAlchemy 2 on asyncpg.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit
from uuid import UUID

from fastapi import Depends, FastAPI, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from sqlalchemy import Select, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import contains_eager

from callers import Claims, Key, KeyCache, RateLimiter, Refused, demand_scope, verify_token
from sqlalchemy_rows import ApiKey, AuditEntry, Monitor, Mute, StateChange, Team, Watch, open_sessions

URL = r"^https?://(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9][A-Za-z0-9._-]{0,253})(:[0-9]{1,5})?([/?][^\s#]*)?$"
STATUS_CODES = r"^([1-5][0-9]{2}|[1-5]xx|[1-5][0-9]{2}-[1-5][0-9]{2})$"
RESERVED_HEADERS = {"accept-encoding", "connection", "content-length", "expect", "host", "te", "upgrade"}


def check_headers(headers: dict[str, str]) -> dict[str, str]:
    """Raise ValueError for headers that control the connection, and for repeated names."""
    names = [name.lower() for name in headers]
    if RESERVED_HEADERS & set(names) or len(set(names)) < len(names):
        raise ValueError("must not hold reserved headers, nor one twice")
    return headers


def check_unique(values: list[str]) -> list[str]:
    """Raise ValueError for repeated values."""
    if len(set(values)) < len(values):
        raise ValueError("must be unique")
    return values


Headers = Annotated[
    dict[Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{1,64}$")], Annotated[str, Field(max_length=2048)]],
    Field(max_length=20),
    AfterValidator(check_headers),
]
StatusCodes = Annotated[list[Annotated[str, Field(pattern=STATUS_CODES)]], Field(min_length=1, max_length=10)]
Tags = Annotated[
    list[Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")]],
    Field(max_length=10),
    AfterValidator(check_unique),
]
Keyword = Annotated[str, Field(min_length=1, max_length=255)]
Certificates = Annotated[str, Field(min_length=1, max_length=65536)]


class Assertion(BaseModel):
    """A condition on the response to a check."""

    model_config = ConfigDict(extra="forbid", strict=True)

    source: Literal["json", "header", "body", "first_byte_ms"]
    comparison: Literal["equals", "not_equals", "contains", "not_contains", "greater_than", "less_than"]
    path: Annotated[str, Field(max_length=255, pattern=r"^\$")] | None = None
    name: Annotated[str, Field(max_length=64)] | None = None
    value: Any = None


class MonitorCreate(BaseModel):
    """The body of a request that creates a monitor."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: Annotated[str, Field(min_length=1, max_length=100, pattern=r"\S")] | None = None
    url: Annotated[str, Field(min_length=8, max_length=2048, pattern=URL)]
    type: Literal["http"] = "http"
    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] = "GET"
    request_headers: Headers = {}
    request_body: Annotated[str, Field(max_length=8192)] | None = None
    expected_status_codes: StatusCodes = ["2xx"]
    required_keyword: Keyword | None = None
    forbidden_keyword: Keyword | None = None
    assertions: Annotated[list[Assertion], Field(max_length=10)] = []
    contract: dict[str, Any] | None = None
    interval_seconds: Annotated[int, Field(ge=30, le=86400)] = 300
    timeout_seconds: Annotated[int, Field(ge=1, le=60)] = 15
    follow_redirects: bool = True
    verify_tls: bool = True
    certificate_authority: Certificates | None = None
    client_certificate: Certificates | None = None
    tls_expiry_warning_days: Annotated[int, Field(ge=0, le=90)] = 14
    slow_threshold_ms: Annotated[int, Field(ge=1, le=60000)] | None = None
    failure_threshold: Annotated[int, Field(ge=1, le=10)] = 2
    recovery_threshold: Annotated[int, Field(ge=1, le=10)] = 2
    retry_interval_seconds: Annotated[int, Field(ge=5, le=3600)] = 10
    paused: bool = False
    tags: Tags = []

    @model_validator(mode="after")
    def check_together(self) -> "MonitorCreate":
        """Raise ValueError for an invalid combination of fields."""
        if self.timeout_seconds >= self.interval_seconds:
            raise ValueError("timeout_seconds must be below interval_seconds")
        if self.method in ("GET", "HEAD") and self.request_body is not None:
            raise ValueError("request_body must be null with GET and HEAD")
        if self.method == "HEAD" and (self.required_keyword or self.forbidden_keyword):
            raise ValueError("keywords must be null with HEAD")
        if any(low > high for low, _, high in (c.partition("-") for c in self.expected_status_codes) if high):
            raise ValueError("a range must not be reversed")
        return self


class MuteOut(BaseModel):
    """A mute of a monitor in a response."""

    model_config = ConfigDict(from_attributes=True)

    muted_until: datetime | None
    muted_by: str | None


class MonitorOut(BaseModel):
    """A monitor in a response."""

    id: UUID
    key: str | None
    name: Annotated[str, Field(min_length=1, max_length=100)]
    type: Literal["http"]
    url: Annotated[str, Field(min_length=8, max_length=2048, pattern=URL)]
    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
    request_headers: dict[str, str]
    request_body: str | None
    expected_status_codes: list[str]
    required_keyword: str | None
    forbidden_keyword: str | None
    assertions: list[Assertion]
    contract: dict[str, Any] | None
    interval_seconds: int
    timeout_seconds: int
    follow_redirects: bool
    verify_tls: bool
    certificate_authority: str | None
    client_certificate: str | None
    tls_expiry_warning_days: int
    slow_threshold_ms: int | None
    failure_threshold: int
    recovery_threshold: int
    retry_interval_seconds: int
    paused: bool
    tags: list[str]
    status: Literal["pending", "up", "degraded", "validating", "down", "paused", "maintenance", "unknown"]
    status_changed_at: datetime
    last_checked_at: datetime | None
    next_check_at: datetime | None
    last_response_time_ms: int | None
    last_error: str | None
    mute: MuteOut | None
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, monitor: Monitor) -> "MonitorOut":
        """Return the response model for a monitor's row and its watch."""
        watch = monitor.watch
        return cls(
            id=monitor.id,
            key=monitor.key,
            name=monitor.name,
            type=monitor.type,
            url=monitor.url,
            method=monitor.method,
            request_headers=monitor.request_headers,
            request_body=monitor.request_body,
            expected_status_codes=monitor.expected_status_codes,
            required_keyword=monitor.required_keyword,
            forbidden_keyword=monitor.forbidden_keyword,
            assertions=monitor.assertions,
            contract=monitor.contract,
            interval_seconds=monitor.interval_seconds,
            timeout_seconds=monitor.timeout_seconds,
            follow_redirects=monitor.follow_redirects,
            verify_tls=monitor.verify_tls,
            certificate_authority=monitor.certificate_authority,
            client_certificate=monitor.client_certificate,
            tls_expiry_warning_days=monitor.tls_expiry_warning_days,
            slow_threshold_ms=monitor.slow_threshold_ms,
            failure_threshold=monitor.failure_threshold,
            recovery_threshold=monitor.recovery_threshold,
            retry_interval_seconds=monitor.retry_interval_seconds,
            paused=monitor.paused,
            tags=monitor.tags,
            status=monitor.status,
            status_changed_at=monitor.status_changed_at,
            last_checked_at=watch.last_checked_at,
            next_check_at=None if monitor.paused else watch.next_check_at,
            last_response_time_ms=watch.last_response_time_ms,
            last_error=watch.last_error,
            mute=monitor.mute and MuteOut.model_validate(monitor.mute),
            created_at=monitor.created_at,
            updated_at=monitor.updated_at,
        )


class MonitorPage(BaseModel):
    """A page of monitors."""

    monitors: list[MonitorOut]
    next_cursor: str | None


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Open the database and Redis while the application runs."""
    engine, app.state.sessions = open_sessions()
    app.state.limiter = RateLimiter()
    app.state.keys = KeyCache(find_living_key)
    yield
    await app.state.limiter.close()
    await engine.dispose()


app = FastAPI(lifespan=lifespan)


@app.exception_handler(Refused)
async def refuse(_: Request, refused: Refused) -> JSONResponse:
    """Return the error response for a `Refused` exception."""
    return JSONResponse({"error": refused.error}, refused.status)


async def find_living_key(client_id: str, session: AsyncSession) -> Key | None:
    """Return a key if it is not revoked, and record once an hour that the key was used."""
    key = await session.scalar(
        select(ApiKey).where(ApiKey.client_id == client_id, ApiKey.revoked_at.is_(None))
    )
    if key is None:
        return None
    now = datetime.now(UTC)
    if key.last_used_at is None or now - key.last_used_at > timedelta(hours=1):
        await session.execute(update(ApiKey).where(ApiKey.id == key.id).values(last_used_at=now))
        await session.commit()
    return Key(client_id, key.team_id, frozenset(key.scopes), key.name)


async def open_session(request: Request) -> AsyncIterator[AsyncSession]:
    """Open a database session for one request."""
    async with request.app.state.sessions() as session:
        yield session


Session = Annotated[AsyncSession, Depends(open_session)]


async def identify(request: Request, response: Response, session: Session) -> tuple[Claims, Key]:
    """Authenticate the caller, and count the request."""
    claims = verify_token(request.headers.get("authorization"))
    key = await request.app.state.keys.find(claims.client_id, session)
    response.headers.update(await request.app.state.limiter.count(claims.client_id))
    return claims, key


Caller = Annotated[tuple[Claims, Key], Depends(identify)]


async def reader(caller: Caller) -> UUID:
    """Permit only callers that may read, and return their team's id."""
    demand_scope(*caller, "monitors:read")
    return caller[1].team_id


async def writer(caller: Caller) -> Key:
    """Permit only callers that may write, and return their key."""
    demand_scope(*caller, "monitors:write")
    return caller[1]


def select_monitors() -> Select[tuple[Monitor]]:
    """Return a query for monitors with everything that a response contains."""
    is_on = or_(Mute.muted_until.is_(None), Mute.muted_until > func.now())
    joined = select(Monitor).join(Monitor.watch).outerjoin(Monitor.mute.and_(is_on))
    return joined.options(contains_eager(Monitor.watch), contains_eager(Monitor.mute))


@app.get("/api/monitors")
async def list_monitors(
    team_id: Annotated[UUID, Depends(reader)],
    session: Session,
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
    cursor: Annotated[str | None, Query(min_length=22, max_length=22)] = None,
) -> MonitorPage:
    """Return a page of monitors, newest first."""
    wanted = select_monitors().where(Monitor.team_id == team_id).order_by(Monitor.id.desc()).limit(limit + 1)
    if cursor:
        wanted = wanted.where(Monitor.id < UUID(bytes=urlsafe_b64decode(f"{cursor}==")))
    found = (await session.scalars(wanted)).all()
    next_cursor = None
    if len(found) > limit:
        next_cursor = urlsafe_b64encode(found[limit - 1].id.bytes)[:22].decode()
    return MonitorPage(
        monitors=[MonitorOut.of(monitor) for monitor in found[:limit]], next_cursor=next_cursor
    )


@app.post("/api/monitors", status_code=201)
async def create_monitor(
    given: MonitorCreate,
    by: Annotated[Key, Depends(writer)],
    session: Session,
    request: Request,
    response: Response,
) -> MonitorOut:
    """Create a monitor within the team's plan, with an audit log entry."""
    place = update(Team).where(Team.id == by.team_id, Team.monitors_count < Team.max_monitors)
    place = place.values(monitors_count=Team.monitors_count + 1).execution_options(synchronize_session=False)
    if await session.scalar(place.returning(Team.id)) is None:
        raise Refused(403, "Monitor limit reached")
    now = datetime.now(UTC)
    fields: dict[str, Any] = given.model_dump()
    fields["name"] = fields["name"] or (urlsplit(given.url).hostname or "")[:100]
    monitor = Monitor(
        team_id=by.team_id,
        status="paused" if given.paused else "pending",
        status_changed_at=now,
        created_at=now,
        updated_at=now,
        version=1,
        search_text=f"{fields['name']}\n{given.url}".casefold(),
        **fields,
    )
    monitor.mute = None
    monitor.watch = Watch(due_at=None if given.paused else now, next_check_at=now)
    session.add(monitor)
    await session.flush()
    session.add(StateChange(monitor_id=monitor.id, changed_at=now, state=monitor.status))
    session.add(
        AuditEntry(
            team_id=by.team_id,
            happened_at=now,
            actor=f"API key {by.name}",
            actor_client_id=by.client_id,
            address=request.client.host if request.client else None,
            action="monitor.created",
            subject=monitor.name,
            subject_id=str(monitor.id),
        )
    )
    await session.commit()
    response.headers["Location"] = f"/api/monitors/{monitor.id}"
    response.headers["ETag"] = f'"{monitor.version}"'
    return MonitorOut.of(monitor)


@app.get("/api/monitors/{monitor_id}")
async def get_monitor(
    monitor_id: UUID, team_id: Annotated[UUID, Depends(reader)], session: Session, response: Response
) -> MonitorOut:
    """Return one monitor."""
    wanted = select_monitors().where(Monitor.id == monitor_id, Monitor.team_id == team_id)
    monitor = await session.scalar(wanted)
    if monitor is None:
        raise Refused(404, "Monitor not found")
    response.headers["ETag"] = f'"{monitor.version}"'
    return MonitorOut.of(monitor)
