"""What an operator can set. Read from the environment once, and every mistake is named at the same time."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import quote, urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

MIN_SIGNING_KEY_CHARACTERS = 32
MIN_WEBHOOK_SECRET_CHARACTERS = 16


class SettingsError(Exception):
    """The environment does not describe a service that can start. One line a problem, never a value."""


@dataclass(frozen=True, slots=True)
class RateLimitPolicy:
    """At most `limit` requests in `window_seconds`, for each key that is counted under this name."""

    name: str
    limit: int
    window_seconds: int


def _split_at_commas(value: object) -> object:
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


def _demand_length(minimum: int) -> AfterValidator:
    def check(secrets: tuple[SecretStr, ...]) -> tuple[SecretStr, ...]:
        if any(len(secret.get_secret_value()) < minimum for secret in secrets):
            raise ValueError(f"each must have at least {minimum} characters")
        if len({secret.get_secret_value() for secret in secrets}) < len(secrets):
            raise ValueError("one is given twice")
        return secrets

    return AfterValidator(check)


def _demand_header_text(secrets: tuple[SecretStr, ...]) -> tuple[SecretStr, ...]:
    """Refuse what is not ASCII: it would arrive in whatever encoding the sender chooses."""
    if not all(re.fullmatch("[!-~]*", secret.get_secret_value()) for secret in secrets):
        raise ValueError("each must be printable ASCII without spaces, since a header carries it")
    return secrets


def _demand_url(*starts: str) -> AfterValidator:
    def check(secret: SecretStr | None) -> SecretStr | None:
        url = secret.get_secret_value() if secret else starts[0]
        if not url.startswith(starts):
            raise ValueError(f"must start with {' or '.join(starts)}")
        try:
            urlsplit(url).port  # noqa: B018 - reading it is what checks it
        except ValueError:
            raise ValueError("is not a valid URL") from None
        return secret

    return AfterValidator(check)


def _normalise_locale(locale: str) -> str:
    matched = re.fullmatch(r"([a-z]{2,3})(?:-([a-z]{4}))?(?:-([a-z]{2}|\d{3}))?", locale, re.IGNORECASE)
    if not matched:
        raise ValueError("each must be a BCP 47 tag, such as pt or pt-BR")
    language, script, region = matched.groups(default="")
    return "-".join(filter(None, (language.lower(), script.title(), region.upper())))


def _check_locales(locales: tuple[str, ...]) -> tuple[str, ...]:
    normalised = tuple(map(_normalise_locale, locales))
    if any(locale.partition("-")[0] == "en" for locale in normalised):
        raise ValueError("must not name English: articles arrive in it")
    if len(set(normalised)) < len(normalised):
        raise ValueError("names a locale twice")
    return normalised


def _check_networks(networks: tuple[str, ...]) -> tuple[str, ...]:
    try:
        return tuple(str(ipaddress.ip_network(network)) for network in networks)
    except ValueError:
        raise ValueError("each must be an IP address or a network, such as 10.0.0.0/8") from None


def _check_base_url(url: str) -> str:
    if not re.fullmatch(r"https?://[^\s/?#@]+(/[^\s?#]*)?", url):
        raise ValueError("must be an http:// or https:// URL without query and fragment")
    return url.rstrip("/")


def _read_rate_limit(name: str) -> BeforeValidator:
    def read(value: object) -> object:
        if not isinstance(value, str):
            return value
        matched = re.fullmatch(r"([1-9]\d{0,8})/([1-9]\d{0,4})", value)
        if not matched:
            raise ValueError("must read requests/seconds, such as 600/60")
        return RateLimitPolicy(name, int(matched[1]), int(matched[2]))

    return BeforeValidator(read)


def _read_plans(value: object) -> object:
    if not isinstance(value, str):
        return value
    plans = re.findall(r"([a-z][a-z0-9_-]{0,39})=(\d{1,9})(?:,|$)", value)
    if not plans or ",".join(map("=".join, plans)) != value:
        raise ValueError("must read plan=monitors, such as free=10,team=100")
    return {name: int(max_monitors) for name, max_monitors in plans}


CommaSeparated = (NoDecode, BeforeValidator(_split_at_commas))
Names = Annotated[tuple[str, ...], *CommaSeparated]
SigningKeys = Annotated[tuple[SecretStr, ...], *CommaSeparated, _demand_length(MIN_SIGNING_KEY_CHARACTERS)]
WebhookSecrets = Annotated[
    tuple[SecretStr, ...],
    *CommaSeparated,
    _demand_length(MIN_WEBHOOK_SECRET_CHARACTERS),
    AfterValidator(_demand_header_text),
]
Locales = Annotated[Names, AfterValidator(_check_locales)]
Networks = Annotated[Names, AfterValidator(_check_networks)]
Plans = Annotated[Mapping[str, int], NoDecode, BeforeValidator(_read_plans)]
BaseUrl = Annotated[str, AfterValidator(_check_base_url)]
DatabaseUrl = Annotated[SecretStr, _demand_url("sqlite://", "postgresql://", "postgres://")]
RedisUrl = Annotated[SecretStr | None, _demand_url("redis://", "rediss://", "unix://")]
StorageUrl = Annotated[SecretStr | None, _demand_url("file:///", "memory:///", "s3://", "gs://", "az://")]
LogLevel = Annotated[
    Literal["debug", "info", "warning", "error", "critical"],
    BeforeValidator(lambda level: level.lower() if isinstance(level, str) else level),
]


def _setting(meaning: str, default: Any = ..., **constraints: Any) -> Any:  # noqa: ANN401
    return Field(default, description=meaning, **constraints)


def _derived(meaning: str, shown: str, derive: Any) -> Any:  # noqa: ANN401
    return Field(default_factory=derive, description=meaning, json_schema_extra={"shown": shown})


class Settings(BaseSettings):
    """The settings of one process: immutable, validated, secrets masked wherever they are printed.

    Environment names are the field names in upper case. `.env` files are not read; empty is as good as unset.
    """

    model_config = SettingsConfigDict(
        frozen=True, extra="ignore", env_ignore_empty=True, hide_input_in_errors=True, validate_default=True
    )

    # Where the service listens, and what it calls itself
    host: str = _setting("Address to listen on", "127.0.0.1")
    port: int = _setting("Port to listen on", 8000, ge=0, le=65535)
    base_url: BaseUrl = _derived(
        "Public address of the service, as clients and the document see it",
        "http://HOST:PORT",
        lambda given: f"http://{given['host']}:{given['port']}",
    )
    trusted_proxies: Networks = _setting("Networks whose X-Forwarded-For is believed", ())
    max_body_bytes: int = _setting("Largest request body that is read", 1_048_576, ge=1024, le=67_108_864)
    log_level: LogLevel = _setting("debug, info, warning, error or critical", "info")

    # Where things are kept
    data_dir: Path = _setting("Folder of the embedded database", Path("./data"))
    database_url: DatabaseUrl = _derived(
        "sqlite:// path, or postgresql:// URL for more than one machine",
        "sqlite://DATA_DIR/monitoring.db",
        lambda given: SecretStr(f"sqlite://{quote(str(given['data_dir']))}/monitoring.db"),
    )
    database_pool_max_connections: int = _setting("PostgreSQL connections a process", 10, ge=1, le=1000)
    database_timeout_seconds: float = _setting("Longest wait for a lock or a statement", 10.0, gt=0, le=600)
    redis_url: RedisUrl = _setting(
        "redis:// URL for queue and counters; without it both live in the process", None
    )
    blog_storage_url: StorageUrl = _setting(
        "Blog storage: file:///folder, s3://, gs:// or az:// URL; without it the webhook answers 503", None
    )
    blog_export: Literal["none", "markdown"] = _setting("Files beside the JSON: none or markdown", "none")

    # Who may do what
    signing_keys: SigningKeys = _setting(
        "Keys that sign tokens: the first signs, all verify; each at least 32 characters", min_length=1
    )
    webhook_secrets: WebhookSecrets = _setting(
        "Accepted X-Webhook-Secret values, each at least 16 characters; without one the webhook answers 503",
        (),
    )
    webhook_require_bearer: bool = _setting("Demand a bearer token of the webhook too", default=False)
    plans: Plans = _setting(
        "Plans and the monitors each allows; the first is the default", "free=10,team=100,business=1000"
    )
    rate_limit_api: Annotated[RateLimitPolicy, NoDecode, _read_rate_limit("api")] = _setting(
        "Requests of one API key / window in seconds", "600/60"
    )
    rate_limit_token: Annotated[RateLimitPolicy, NoDecode, _read_rate_limit("token")] = _setting(
        "Token requests of one address, and of one client_id / window in seconds", "30/60"
    )
    rate_limit_webhook_failures: Annotated[
        RateLimitPolicy, NoDecode, _read_rate_limit("webhook_failures")
    ] = _setting("Wrong webhook secrets of one address / window in seconds", "20/60")

    # Translation
    locales: Locales = _setting("Locales every article is translated into", "es,pt,fr,it,ca")
    translator: Literal["none", "pseudo", "apertium"] = _setting(
        "Engine: none (rows wait), pseudo (a demonstration) or apertium", "none"
    )
    brand_names: Names = _setting("Names that are never translated", ())
    translation_max_attempts: int = _setting("Attempts until a translation is failed", 8, ge=1, le=100)
    translation_lease_seconds: int = _setting("How long a worker owns a translation", 60, ge=5, le=3600)
    sweep_interval_seconds: float = _setting("How often idle work is looked for", 5.0, gt=0, le=3600)
    worker_threads: int = _setting("Tasks a worker process runs at once", 4, ge=1, le=256)


def read_settings() -> Settings:
    """Read the environment. Raises `SettingsError`, which names every problem there is."""
    try:
        return Settings()
    except ValidationError as error:
        raise SettingsError("\n".join(_describe_problems(error))) from None


# For what pydantic would say in words of its own.
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
            continue  # derived from a setting that is named already
        words = _WORDS.get(found["type"]) or found["msg"].removeprefix("Value error, ")
        problems[str(found["loc"][0]).upper()] = words.replace("Input should be", "must be")
    return [f"{name}: {sentence}" for name, sentence in problems.items()]


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One line of the configuration table."""

    name: str
    default: str
    meaning: str


def describe_settings() -> list[SettingRow]:
    """List every setting as the README shows it, in the order of the groups above."""
    return [
        SettingRow(name.upper(), _show_default(field), field.description or "")
        for name, field in Settings.model_fields.items()
    ]


def _show_default(field: Any) -> str:  # noqa: ANN401
    if field.json_schema_extra:
        return str(field.json_schema_extra["shown"])
    if field.is_required():
        return "required"
    return {None: "", (): "", False: "false"}.get(field.default, str(field.default))
