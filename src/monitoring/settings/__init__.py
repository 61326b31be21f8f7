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

    Environment variables are the field names in upper case. `.env` files are not read. Empty means unset.
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
        "Public address of the service, as clients and the document see it",
        "http://HOST:PORT",
        lambda given: f"http://{given['host']}:{given['port']}",
    )
    trusted_proxies: value_types.Networks = _setting("Networks whose X-Forwarded-For is believed", ())
    connections_per_address: int = _setting(
        "Most connections that a process keeps for one address, or for a /64 of IPv6; "
        "those of TRUSTED_PROXIES do not count",
        200,
        ge=1,
    )
    client_timeout_seconds: float = _setting(
        "Time for a request's head, and again for its body and for reading the answer; "
        "there, every 4 KiB give a second more",
        20.0,
        gt=0,
        le=3600,
    )
    keep_alive_seconds: int = _setting(
        "How long a connection may be idle between two requests; longer than a proxy in front keeps its own",
        75,
        ge=1,
        le=3600,
    )
    max_body_bytes: int = _setting("Largest request body that is read", 1_048_576, ge=1024, le=67_108_864)
    log_level: value_types.LogLevel = _setting("debug, info, warning, error or critical", "info")
    log_format: Literal["text", "json"] = _setting(
        "text (one line a record) or json (one object a line)", "text"
    )
    access_log: bool = _setting("Log every request", default=False)
    metrics_host: str = _setting("Address of the Prometheus metrics", "127.0.0.1")
    metrics_port: int | None = _setting(
        "Port of the Prometheus metrics; without it there are none", None, ge=0, le=65535
    )
    otel_exporter_otlp_endpoint: value_types.EngineUrl = _setting(
        "Address of an OpenTelemetry collector (OTLP over HTTP); without it there are no traces", None
    )
    shutdown_timeout_seconds: float = _setting(
        "How long requests and tasks may take to finish when the service is stopped", 10.0, ge=0, le=600
    )

    drain_seconds: float = _setting(
        "How long a stopping API still takes requests while /ready is 503, for load balancers to notice",
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
        "Most PostgreSQL connections of a process", 10, ge=1, le=1000
    )
    database_timeout_seconds: float = _setting("Longest wait for a lock or a statement", 10.0, gt=0, le=600)
    redis_url: value_types.RedisUrl = _setting(
        "redis:// URL for queue and counters; without it both live in the process", None
    )
    blog_storage_url: value_types.StorageUrl = _setting(
        "Blog storage: file:///folder, s3://, gs:// or az:// URL; without it the webhook answers 503", None
    )
    blog_export: Literal["json", "hugo", "astro", "next", "eleventy", "markdown", "none"] = _setting(
        "Files beside the JSON, for a site generator: json (none), hugo, astro, next or eleventy; "
        "markdown is the layout of 0.1.0",
        "json",
    )
    site_page_url: value_types.PageUrl = _setting(
        "Address of an article on the site, such as https://blog.example.com/{locale}/{slug}/; "
        "with it, the blog storage has a sitemap and feeds, and links lead to translations",
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
        "Accepted X-Webhook-Secret values, each at least 16 characters; without one the webhook answers 503",
        (),
    )
    webhook_test_secrets: value_types.WebhookSecrets = _setting(
        "Secrets of publishers that test, each at least 16 characters: what is submitted with one is judged "
        "as any submission, published nowhere and dropped after a day",
        (),
    )
    ghost_webhook_secrets: value_types.WebhookSecrets = _setting(
        "Secrets of Ghost's webhooks, each at least 16 characters; their signature then stands in for "
        "X-Webhook-Secret",
        (),
    )
    outrank_access_tokens: value_types.WebhookSecrets = _setting(
        "Access tokens of Outrank, each at least 16 characters; one then stands in for X-Webhook-Secret", ()
    )
    webhook_require_bearer: bool = _setting("Require a bearer token at the webhook too", default=False)
    plans: value_types.Plans = _setting(
        "Plans and the monitors each allows; the first is the default", "free=10,team=100,business=1000"
    )
    rate_limit_api: Annotated[RateLimitPolicy, NoDecode, value_types.read_rate_limit("api")] = _setting(
        "Requests of one API key, and of one person in the app / window in seconds", "600/60"
    )
    rate_limit_token: Annotated[RateLimitPolicy, NoDecode, value_types.read_rate_limit("token")] = _setting(
        "Token requests of one address / window in seconds", "30/60"
    )
    rate_limit_webhook_failures: Annotated[
        RateLimitPolicy, NoDecode, value_types.read_rate_limit("webhook_failures")
    ] = _setting("Wrong webhook secrets of one address / window in seconds", "20/60")
    rate_limit_pings: Annotated[RateLimitPolicy, NoDecode, value_types.read_rate_limit("pings")] = _setting(
        "Pings of one heartbeat, and of one address to heartbeats that do not exist / window in seconds",
        "60/60",
    )
    rate_limit_check_now: Annotated[RateLimitPolicy, NoDecode, value_types.read_rate_limit("check_now")] = (
        _setting("Checks a team asks for beside the regular ones / window in seconds", "10/60")
    )
    rate_limit_notifications: Annotated[
        RateLimitPolicy, NoDecode, value_types.read_rate_limit("notifications")
    ] = _setting("Notifications a team asks for (tests, redeliveries) / window in seconds", "30/60")
    rate_limit_confirmations: Annotated[
        RateLimitPolicy, NoDecode, value_types.read_rate_limit("confirmations")
    ] = _setting(
        "Messages that ask one address to confirm a team's channel, or to join a team / window in seconds; "
        "for all addresses of a team four times as many",
        "5/86400",
    )
    rate_limit_sign_in: Annotated[RateLimitPolicy, NoDecode, value_types.read_rate_limit("sign_in")] = (
        _setting(
            "Passwords tried in the app for one email by one address, in one browser that has signed in "
            "before, and with one code / window in seconds",
            "20/300",
        )
    )
    rate_limit_sign_in_address: Annotated[
        RateLimitPolicy, NoDecode, value_types.read_rate_limit("sign_in_address")
    ] = _setting(
        "Passwords tried in new browsers by one address, for all emails and codes / window in seconds",
        "60/300",
    )
    rate_limit_sign_in_email: Annotated[
        RateLimitPolicy, NoDecode, value_types.read_rate_limit("sign_in_email")
    ] = _setting(
        "Passwords tried in new browsers for one email, by all addresses / window in seconds; "
        "at least four times what one address may try",
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
        "Networks that may be reached although they are not public, such as 10.0.0.0/8", ()
    )
    dns_servers: value_types.NameServers = _setting(
        "Name servers, address or address:port; without them the system's", ()
    )
    ca_file: value_types.AuthoritiesFile = _setting(
        "PEM file of the certificate authorities to trust; without it the usual ones", None
    )
    ping_monitors: bool = _setting(
        "Allow monitors of type ping, where the kernel allows pings (net.ipv4.ping_group_range)", default=True
    )
    smtp_url: value_types.MailServerUrl = _setting(
        "Mail server for channels to email: smtp://user:password@host:587 (STARTTLS) or smtps://…:465; "
        "smtp://…?tls=none for one on this machine",
        None,
    )
    email_from: value_types.Sender = _setting(
        "Sender of emails, such as Monitoring <monitoring@example.com>; without it there are none", None
    )
    reference_urls: value_types.ReferenceUrls = _setting(
        "Addresses that show whether this machine is online: if none answers, failures are unknown", ()
    )
    checks_at_once: int = _setting(
        "Most checks of a process at once; 0 turns checking off", 200, ge=0, le=5000
    )
    checks_per_team: int = _setting("Of these, most checks of one team", 100, ge=1, le=5000)
    checks_per_host: int = _setting("Of these, most checks of one host", 20, ge=1, le=5000)
    check_retention_days: int = _setting("Days for which results of checks are kept", 14, ge=2, le=400)
    hourly_retention_days: int = _setting("Days for which hourly response times are kept", 100, ge=2, le=4000)
    daily_retention_days: int = _setting("Days for which daily response times are kept", 800, ge=2, le=4000)

    # Translation
    locales: value_types.Locales = _setting("Locales every article is translated into", "es,pt,fr,it,ca")
    translator: Literal["none", "pseudo", "apertium", "deepl", "libretranslate", "openai"] = _setting(
        "Engine: none (rows wait), pseudo (a demonstration), apertium, deepl, libretranslate or openai",
        "none",
    )
    translator_url: value_types.EngineUrl = _setting("Address of the engine; needed for libretranslate", None)
    translator_api_key: SecretStr | None = _setting("Key of the engine; needed for deepl and openai", None)
    translator_timeout_seconds: float = _setting(
        "Longest wait for one answer of the engine", 30.0, gt=0, le=600
    )
    translator_concurrency: int = _setting("Requests a process sends to the engine at once", 4, ge=1, le=256)
    translator_rate: Annotated[
        RateLimitPolicy | None, NoDecode, value_types.read_rate_limit("translator")
    ] = _setting(
        "Requests a process sends to the engine / window in seconds, such as 10/1; without it no limit",
        None,
    )
    deepl_formality: Literal["default", "more", "less", "prefer_more", "prefer_less"] = _setting(
        "Formality to ask DeepL for", "default"
    )
    deepl_glossaries: value_types.Glossaries = _setting(
        "Glossaries of DeepL: locale=glossary id, such as es=…,fr=…", {}
    )
    openai_model: str | None = _setting("Model; needed for openai", None)
    openai_instructions: str | None = _setting(
        "Instructions for the model beside the rules of the format: style, terms", None
    )
    brand_names: value_types.Names = _setting("Names that are never translated", ())
    terms_file: Path | None = _setting(
        "CSV file of terms: how each is translated into a locale, or that it is not translated", None
    )
    translation_max_attempts: int = _setting("Attempts before a translation is failed", 8, ge=1, le=100)
    translation_max_english_percent: int = _setting(
        "Percent of an article's segments that may stay in English, before a translation is failed",
        50,
        ge=0,
        le=100,
    )
    translation_monthly_characters: int | None = _setting(
        "Characters a month (UTC) that the engine is asked before translations wait; without it no limit",
        None,
        ge=1,
    )
    translation_lease_seconds: int = _setting(
        "Seconds until a worker's claim on a translation ends, unless it is renewed", 30, ge=5, le=3600
    )
    sweep_interval_seconds: float = _setting(
        "Seconds between searches for work that no message asks for", 5.0, gt=0, le=3600
    )
    worker_threads: int = _setting(
        "Articles a worker process translates at once, each into all its locales", 4, ge=1, le=256
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
            raise ValueError("must have none of WEBHOOK_SECRETS")
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
        """Refuse a limit that a few addresses could exhaust. Nobody could then sign in with a new browser."""
        names = ("rate_limit_sign_in", "rate_limit_sign_in_address")
        of_address = [info.data[name].most_in(of_email.window_seconds) for name in names if name in info.data]
        if of_address and of_email.limit < 4 * min(of_address):
            raise ValueError(
                "must allow at least four times what one address may try in the same time "
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
            continue  # derived from a setting that is reported already
        words = _WORDS.get(found["type"]) or found["msg"].removeprefix("Value error, ")
        problems[str(found["loc"][0]).upper()] = words.replace("Input should be", "must be")
    return [f"{name}: {sentence}" for name, sentence in problems.items()]
