"""The operator's settings, read from the environment once. All errors are reported together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import quote

from pydantic import Field, SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from monitoring.settings import value_types
from monitoring.settings.value_types import RateLimitPolicy

__all__ = [
    "CheckerSettings",
    "MigrationSettings",
    "RateLimitPolicy",
    "Settings",
    "SettingsError",
    "WorkerSettings",
    "read_settings",
]


class SettingsError(Exception):
    """The environment is invalid. The message has a line for each error and contains no values."""


def _setting(meaning: str, default: Any = ..., **constraints: Any) -> Any:  # noqa: ANN401
    return Field(default, description=meaning, **constraints)


def _derived(meaning: str, shown: str, derive: Any) -> Any:  # noqa: ANN401
    return Field(default_factory=derive, description=meaning, json_schema_extra={"shown": shown})


class Settings(BaseSettings):
    """The settings of one process: immutable and validated, with secrets masked when printed.

    Environment variables have the field names in upper case. `.env` files are not read. An empty variable
    counts as unset.
    """

    model_config = SettingsConfigDict(
        frozen=True,
        extra="ignore",
        env_ignore_empty=True,
        hide_input_in_errors=True,
        validate_default=True,
        defer_build=True,  # each process builds the validators of one kind of settings only
    )

    # The service's addresses, its logs, and its start and stop
    host: str = _setting("Address to listen on", "127.0.0.1")
    port: int = _setting("Port to listen on", 8000, ge=0, le=65535)
    base_url: value_types.BaseUrl = _derived(
        "Public URL of the service, which clients use and the OpenAPI document contains",
        "http://HOST:PORT",
        lambda given: f"http://{given['host']}:{given['port']}",
    )
    trusted_proxies: value_types.Networks = _setting(
        "Networks of proxies whose X-Forwarded-For header is trusted", ()
    )
    connections_per_address: int = _setting(
        "Maximum open connections of one IPv4 address or one IPv6 /64 to a process; connections of "
        "TRUSTED_PROXIES are not limited",
        200,
        ge=1,
    )
    client_timeout_seconds: float = _setting(
        "Seconds that a client has to send a request's head, again to send its body, and again to read "
        "the response. Each 4 KiB of body or response adds a second",
        20.0,
        gt=0,
        le=3600,
    )
    keep_alive_seconds: int = _setting(
        "Seconds that a connection may be idle between two requests; must exceed the idle timeout of a "
        "proxy in front",
        75,
        ge=1,
        le=3600,
    )
    max_body_bytes: int = _setting("Maximum size of a request body", 1_048_576, ge=1024, le=67_108_864)
    log_level: value_types.LogLevel = _setting("debug, info, warning, error or critical", "info")
    log_format: Literal["text", "json"] = _setting(
        "text (one line a record) or json (one object a line)", "text"
    )
    access_log: bool = _setting("Log every request", default=False)
    metrics_host: str = _setting("Address on which Prometheus metrics are served", "127.0.0.1")
    metrics_port: int | None = _setting(
        "Port on which Prometheus metrics are served; if unset, they are not", None, ge=0, le=65535
    )
    otel_exporter_otlp_endpoint: value_types.EngineUrl = _setting(
        "URL of an OpenTelemetry collector (OTLP over HTTP); if unset, there are no traces", None
    )
    shutdown_timeout_seconds: float = _setting(
        "Seconds that requests and tasks have to finish when the service is stopped", 10.0, ge=0, le=600
    )

    drain_seconds: float = _setting(
        "Seconds that a stopping API still accepts requests while /ready returns 503, to let load "
        "balancers notice",
        0.0,
        ge=0,
        le=600,
    )

    # Storage
    data_dir: Path = _setting("Folder of the embedded database", Path("./data"))
    database_url: value_types.DatabaseUrl = _derived(
        "sqlite:// path, or postgresql:// URL for more than one machine",
        "sqlite://DATA_DIR/monitoring.db",
        lambda given: SecretStr(f"sqlite://{quote(str(given['data_dir']))}/monitoring.db"),
    )
    database_pool_min_connections: int = _setting(
        "PostgreSQL connections a process keeps open", 1, ge=0, le=1000
    )
    database_pool_max_connections: int = _setting(
        "Maximum PostgreSQL connections of a process", 10, ge=1, le=1000
    )
    database_timeout_seconds: float = _setting(
        "Seconds to wait for a lock or a statement", 10.0, gt=0, le=600
    )
    redis_url: value_types.RedisUrl = _setting(
        "redis:// URL for the queue and counters; if unset, the process keeps both in its memory", None
    )
    blog_storage_url: value_types.StorageUrl = _setting(
        "Blog storage: file:///folder, s3://, gs:// or az:// URL; if unset, the webhook returns 503", None
    )
    blog_export: Literal["json", "hugo", "astro", "next", "eleventy", "markdown", "none"] = _setting(
        "Files written in addition to the JSON, for a site generator: json (no additional files), "
        "hugo, astro, next or eleventy; markdown is the layout of 0.1.0",
        "json",
    )
    site_page_url: value_types.PageUrl = _setting(
        "URL of an article on the site, such as https://blog.example.com/{locale}/{slug}/; if set, a "
        "sitemap and feeds are written to the blog storage, and links between articles lead to "
        "translations",
        None,
    )

    # Keys, secrets, plans and rate limits
    signing_keys: value_types.SigningKeys = _setting(
        "Keys that sign tokens: the first signs, all verify. Each is a private key that "
        "`monitoring signing-keys create` prints, or a secret of at least 32 characters",
        min_length=1,
    )
    encryption_keys: value_types.EncryptionKeys = _setting(
        "Keys that encrypt stored credentials: the first encrypts, all decrypt. Each is 32 random bytes in "
        "base64, as `monitoring encryption-keys create` prints them",
        min_length=1,
    )
    webhook_secrets: value_types.WebhookSecrets = _setting(
        "Accepted X-Webhook-Secret values, each at least 16 characters; if unset, the webhook returns 503",
        (),
    )
    webhook_test_secrets: value_types.WebhookSecrets = _setting(
        "Secrets for publishers' tests, each at least 16 characters: a submission with one is "
        "validated like any other, but it is not published, and is deleted after a day",
        (),
    )
    ghost_webhook_secrets: value_types.WebhookSecrets = _setting(
        "Secrets of Ghost's webhooks, each at least 16 characters; Ghost's signature is then accepted "
        "instead of X-Webhook-Secret",
        (),
    )
    outrank_access_tokens: value_types.WebhookSecrets = _setting(
        "Access tokens of Outrank, each at least 16 characters; a token is then accepted instead of "
        "X-Webhook-Secret",
        (),
    )
    webhook_require_bearer: bool = _setting("Require a bearer token at the webhook too", default=False)
    plans: value_types.Plans = _setting(
        "Plans, and how many monitors each allows; the first is the default", "free=10,team=100,business=1000"
    )
    rate_limit_api: Annotated[RateLimitPolicy, NoDecode, value_types.read_rate_limit("api")] = _setting(
        "Maximum requests of one API key, and of one person in the app / window in seconds", "600/60"
    )
    rate_limit_token: Annotated[RateLimitPolicy, NoDecode, value_types.read_rate_limit("token")] = _setting(
        "Maximum token requests of one address / window in seconds", "30/60"
    )
    rate_limit_webhook_failures: Annotated[
        RateLimitPolicy, NoDecode, value_types.read_rate_limit("webhook_failures")
    ] = _setting("Maximum requests with a wrong webhook secret of one address / window in seconds", "20/60")
    rate_limit_pings: Annotated[RateLimitPolicy, NoDecode, value_types.read_rate_limit("pings")] = _setting(
        "Maximum pings of one heartbeat, and of one address to heartbeats that do not exist / window "
        "in seconds",
        "60/60",
    )
    rate_limit_check_now: Annotated[RateLimitPolicy, NoDecode, value_types.read_rate_limit("check_now")] = (
        _setting(
            "Maximum checks that a team requests in addition to the scheduled checks / window in seconds",
            "10/60",
        )
    )
    rate_limit_notifications: Annotated[
        RateLimitPolicy, NoDecode, value_types.read_rate_limit("notifications")
    ] = _setting(
        "Maximum notifications that a team requests (tests, redeliveries) / window in seconds", "30/60"
    )
    rate_limit_confirmations: Annotated[
        RateLimitPolicy, NoDecode, value_types.read_rate_limit("confirmations")
    ] = _setting(
        "Maximum messages to one address with a request to confirm a team's channel or to join a team "
        "/ window in seconds; four times as many to all addresses of a team",
        "5/86400",
    )
    rate_limit_sign_in: Annotated[RateLimitPolicy, NoDecode, value_types.read_rate_limit("sign_in")] = (
        _setting(
            "Maximum password attempts in the app / window in seconds. Counted per email and client "
            "address, per browser that has signed in before, and per invitation or password link",
            "20/300",
        )
    )
    rate_limit_sign_in_address: Annotated[
        RateLimitPolicy, NoDecode, value_types.read_rate_limit("sign_in_address")
    ] = _setting(
        "Maximum password attempts of one client address in new browsers, for all emails and links / "
        "window in seconds",
        "60/300",
    )
    rate_limit_sign_in_email: Annotated[
        RateLimitPolicy, NoDecode, value_types.read_rate_limit("sign_in_email")
    ] = _setting(
        "Maximum password attempts for one email in new browsers, from all client addresses / window "
        "in seconds; at least four times the limit of one address",
        "2000/3600",
    )

    # The app
    session_hours: int = _setting(
        "Hours after which people must sign in to the app again", 168, ge=1, le=8760
    )
    session_cookie_secure: bool = _setting(
        "Let browsers send the app's cookies over https:// only; false for an app at http://", default=True
    )
    article_teams: value_types.Names = _setting(
        "Teams whose members see articles in the app, and whose keys may read them", ()
    )

    # Checks of monitors, and notifications
    allowed_networks: value_types.Networks = _setting(
        "Private networks that the service may connect to, such as 10.0.0.0/8", ()
    )
    dns_servers: value_types.NameServers = _setting(
        "DNS servers, as address or address:port; if unset, those of the system", ()
    )
    ca_file: value_types.AuthoritiesFile = _setting(
        "PEM file of the certificate authorities to trust; if unset, the default ones", None
    )
    ping_monitors: bool = _setting(
        "Allow monitors of type ping, where the kernel allows pings (net.ipv4.ping_group_range)", default=True
    )
    smtp_url: value_types.MailServerUrl = _setting(
        "Mail server that sends emails: smtp://user:password@host:587 (STARTTLS) or smtps://…:465; "
        "smtp://…?tls=none for a server on this machine",
        None,
    )
    email_from: value_types.Sender = _setting(
        "Sender of emails, such as Monitoring <monitoring@example.com>; required with SMTP_URL", None
    )
    reference_urls: value_types.ReferenceUrls = _setting(
        "URLs to request to find out whether this machine is online; if none responds, failed checks "
        "count as unknown",
        (),
    )
    checks_at_once: int = _setting(
        "Maximum concurrent checks of a process; 0 turns checking off", 200, ge=0, le=5000
    )
    checks_per_team: int = _setting("Maximum concurrent checks of one team in a process", 100, ge=1, le=5000)
    checks_per_host: int = _setting("Maximum concurrent checks of one host in a process", 20, ge=1, le=5000)
    check_retention_days: int = _setting("Days for which results of checks are kept", 14, ge=2, le=400)
    hourly_retention_days: int = _setting("Days for which hourly response times are kept", 100, ge=2, le=4000)
    daily_retention_days: int = _setting("Days for which daily response times are kept", 800, ge=2, le=4000)

    # Translation
    locales: value_types.Locales = _setting("Locales every article is translated into", "es,pt,fr,it,ca")
    translator: Literal["none", "pseudo", "apertium", "deepl", "libretranslate", "openai"] = _setting(
        "Translation engine: none (articles stay queued), pseudo (a demonstration), apertium, deepl, "
        "libretranslate or openai",
        "none",
    )
    translator_url: value_types.EngineUrl = _setting("URL of the engine; required for libretranslate", None)
    translator_api_key: SecretStr | None = _setting(
        "API key of the engine; required for deepl and openai", None
    )
    translator_timeout_seconds: float = _setting(
        "Seconds to wait for a response of the engine", 30.0, gt=0, le=600
    )
    translator_concurrency: int = _setting(
        "Maximum concurrent requests of a process to the engine", 4, ge=1, le=256
    )
    translator_rate: Annotated[
        RateLimitPolicy | None, NoDecode, value_types.read_rate_limit("translator")
    ] = _setting(
        "Maximum requests of a process to the engine / window in seconds, such as 10/1; if unset, "
        "there is no limit",
        None,
    )
    deepl_formality: Literal["default", "more", "less", "prefer_more", "prefer_less"] = _setting(
        "Formality that DeepL uses", "default"
    )
    deepl_glossaries: value_types.Glossaries = _setting(
        "DeepL glossaries: locale=glossary id, such as es=…,fr=…", {}
    )
    openai_model: str | None = _setting("Model; required for openai", None)
    openai_instructions: str | None = _setting(
        "Instructions for the model in addition to the built-in ones, such as about style or terms", None
    )
    brand_names: value_types.Names = _setting("Names that are never translated", ())
    terms_file: Path | None = _setting(
        "CSV file of terms: how each is translated into a locale, or that it is not translated", None
    )
    translation_max_attempts: int = _setting(
        "Attempts before a translation counts as failed", 8, ge=1, le=100
    )
    translation_max_english_percent: int = _setting(
        "Maximum percentage of an article's segments that may stay in English; above it, the "
        "translation fails",
        50,
        ge=0,
        le=100,
    )
    translation_monthly_characters: int | None = _setting(
        "Maximum characters sent to the engine in a calendar month (UTC); then translations wait for "
        "the next month. If unset, there is no limit",
        None,
        ge=1,
    )
    translation_lease_seconds: int = _setting(
        "Seconds until a worker's claim on a translation ends, unless it is renewed", 30, ge=5, le=3600
    )
    sweep_interval_seconds: float = _setting(
        "Seconds between searches of the database for work whose queue message is missing", 5.0, gt=0, le=3600
    )
    worker_threads: int = _setting(
        "Maximum articles that a worker process translates concurrently, each into all its locales",
        4,
        ge=1,
        le=256,
    )

    @property
    def is_on_postgresql(self) -> bool:
        """Whether the database is PostgreSQL, which several machines can share."""
        return self.database_url.get_secret_value().startswith("postgres")

    @field_validator("webhook_test_secrets")
    @classmethod
    def _check_test_secrets(
        cls, test_secrets: tuple[SecretStr, ...], info: ValidationInfo
    ) -> tuple[SecretStr, ...]:
        if not set(test_secrets).isdisjoint(info.data.get("webhook_secrets", ())):
            raise ValueError("must not contain any of WEBHOOK_SECRETS")
        return test_secrets

    @field_validator("database_pool_max_connections")
    @classmethod
    def _check_pool(cls, max_connections: int, info: ValidationInfo) -> int:
        if max_connections < info.data.get("database_pool_min_connections", 0):
            raise ValueError("must not be below DATABASE_POOL_MIN_CONNECTIONS")
        return max_connections

    @field_validator("email_from")
    @classmethod
    def _check_sender(cls, sender: str | None, info: ValidationInfo) -> str | None:
        if info.data.get("smtp_url") and not sender:
            raise ValueError("is required with SMTP_URL")
        return sender

    @field_validator("rate_limit_sign_in_email")
    @classmethod
    def _check_sign_in(cls, of_email: RateLimitPolicy, info: ValidationInfo) -> RateLimitPolicy:
        """Refuse a limit that a few IP addresses could exhaust to block sign-ins from new browsers."""
        names = ("rate_limit_sign_in", "rate_limit_sign_in_address")
        of_address = [info.data[name].most_in(of_email.window_seconds) for name in names if name in info.data]
        if of_address and of_email.limit < 4 * min(of_address):
            raise ValueError(
                "must allow at least four times as many attempts as one address has in the same time "
                "(RATE_LIMIT_SIGN_IN, RATE_LIMIT_SIGN_IN_ADDRESS)"
            )
        return of_email


class WorkerSettings(Settings):
    """The settings of a worker. Secrets that only the API uses are neither required nor held."""

    signing_keys: value_types.UnreadSecrets = _setting("Not read", ())
    webhook_secrets: value_types.UnreadSecrets = _setting("Not read", ())
    webhook_test_secrets: value_types.UnreadSecrets = _setting("Not read", ())
    ghost_webhook_secrets: value_types.UnreadSecrets = _setting("Not read", ())
    outrank_access_tokens: value_types.UnreadSecrets = _setting("Not read", ())


class CheckerSettings(WorkerSettings):
    """The settings of a checker. It parses untrusted responses, so it holds as few secrets as possible."""

    blog_storage_url: value_types.UnreadSecret = _setting("Not read", None)
    translator_api_key: value_types.UnreadSecret = _setting("Not read", None)
    smtp_url: value_types.UnreadSecret = _setting("Not read", None)


class MigrationSettings(CheckerSettings):
    """The settings of a migration, which changes tables and needs no keys."""

    encryption_keys: value_types.UnreadSecrets = _setting("Not read", ())


def read_settings(kind: type[Settings] = Settings) -> Settings:
    """Read the settings from the environment. Raises `SettingsError`, which lists all errors."""
    try:
        return kind()
    except ValidationError as error:
        raise SettingsError("\n".join(_describe_problems(error))) from None


# Our messages, which replace pydantic's.
_WORDS = {
    "missing": "is required",
    "too_short": "is required",
    "int_parsing": "must be a whole number",
    "float_parsing": "must be a number",
    "bool_parsing": "must be true or false",
}


def _describe_problems(error: ValidationError) -> list[str]:
    problems = {}
    for found in error.errors(include_input=False, include_url=False, include_context=False):
        if found["type"] == "default_factory_not_called":
            continue  # derived from a setting whose error is reported already
        words = _WORDS.get(found["type"]) or found["msg"].removeprefix("Value error, ")
        problems[str(found["loc"][0]).upper()] = words.replace("Input should be", "must be")
    return [f"{name}: {sentence}" for name, sentence in problems.items()]
