"""Types of settings, with validation and error messages."""

from __future__ import annotations

import ipaddress
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import parse_qsl, urlsplit

from cryptography.fernet import Fernet
from pydantic import AfterValidator, BeforeValidator, SecretStr
from pydantic_settings import NoDecode
from redis import ConnectionPool, RedisError

from monitoring.settings.mail_server import read_mail_server, read_sender
from monitoring.settings.private_keys import read_private_key

MIN_SIGNING_KEY_CHARACTERS = 32
MIN_WEBHOOK_SECRET_CHARACTERS = 16

# https://www.postgresql.org/docs/current/libpq-ssl.html
SSL_MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
POSTGRES_OPTIONS = {"application_name", "host", "passfile", "ssl", "sslmode", "target_session_attrs"}


@dataclass(frozen=True, slots=True)
class RateLimitPolicy:
    """At most `limit` requests in `window_seconds` for each key. Each policy counts on its own, by `name`."""

    name: str
    limit: int
    window_seconds: int

    def most_in(self, seconds: int) -> float:
        """Return how many requests are allowed in `seconds`, or in the policy's window if that is longer."""
        return self.limit * max(1.0, seconds / self.window_seconds)


def _split_at_commas(value: object) -> object:
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


def _demand_length(minimum: int) -> AfterValidator:
    def check(secrets: tuple[SecretStr, ...]) -> tuple[SecretStr, ...]:
        if any(len(secret.get_secret_value()) < minimum for secret in secrets):
            raise ValueError(f"each must have at least {minimum} characters")
        return secrets

    return AfterValidator(check)


def _demand_distinct(secrets: tuple[SecretStr, ...]) -> tuple[SecretStr, ...]:
    if len({secret.get_secret_value() for secret in secrets}) < len(secrets):
        raise ValueError("must not contain the same value twice")
    return secrets


def _demand_readable_keys(secrets: tuple[SecretStr, ...]) -> tuple[SecretStr, ...]:
    for secret in secrets:
        read_private_key(secret.get_secret_value())
    return secrets


def _demand_fernet_keys(secrets: tuple[SecretStr, ...]) -> tuple[SecretStr, ...]:
    try:
        for secret in secrets:
            Fernet(secret.get_secret_value())
    except ValueError:
        raise ValueError("each must be 32 random bytes in base64") from None
    return secrets


def _demand_header_text(secrets: tuple[SecretStr, ...]) -> tuple[SecretStr, ...]:
    """Refuse non-ASCII secrets, because clients encode them differently in headers."""
    if not all(re.fullmatch("[!-~]*", secret.get_secret_value()) for secret in secrets):
        raise ValueError("each must be printable ASCII without spaces, because it is sent in a header")
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


def _demand_file(secret: SecretStr) -> SecretStr:
    if re.fullmatch(r"sqlite:///*(\?.*)?", secret.get_secret_value()):
        raise ValueError("must name a file after sqlite://")
    return secret


def _demand_postgres_options(secret: SecretStr) -> SecretStr:
    """Refuse a URL with options that the PostgreSQL client would refuse at every connection."""
    url = urlsplit(secret.get_secret_value())
    if url.scheme == "sqlite":
        return secret
    options = parse_qsl(url.query, keep_blank_values=True)
    if not {name for name, _ in options} <= POSTGRES_OPTIONS:
        raise ValueError(f"has an unsupported option; supported are {', '.join(sorted(POSTGRES_OPTIONS))}")
    if any(value not in SSL_MODES for name, value in options if name in {"ssl", "sslmode"}):
        raise ValueError(f"sslmode must be one of {', '.join(SSL_MODES)}")
    return secret


def _demand_redis_options(secret: SecretStr | None) -> SecretStr | None:
    """Refuse a URL that the Redis client would refuse at every connection."""
    try:
        if secret:
            ConnectionPool.from_url(secret.get_secret_value()).make_connection()
    except (RedisError, TypeError, ValueError):
        raise ValueError("has an option that the Redis client does not support") from None
    return secret


def _demand_authorities(file: Path | None) -> Path | None:
    """Refuse a CA file with which every HTTPS request would fail."""
    try:
        if file:
            ssl.create_default_context(cafile=file)
    except OSError:  # includes ssl.SSLError
        raise ValueError("must be a PEM file of certificate authorities") from None
    return file


def _demand_mail_server(secret: SecretStr | None) -> SecretStr | None:
    if secret:
        read_mail_server(secret.get_secret_value())
    return secret


def _demand_sender(sender: str | None) -> str | None:
    if sender:
        read_sender(sender)
    return sender


def normalise_locale(locale: str) -> str:
    """Normalise the case of a BCP 47 tag. Raises ValueError for an invalid one."""
    matched = re.fullmatch(r"([a-z]{2,3})(?:-([a-z]{4}))?(?:-([a-z]{2}|\d{3}))?", locale, re.IGNORECASE)
    if not matched:
        raise ValueError("each must be a BCP 47 tag, such as pt or pt-BR")
    language, script, region = matched.groups(default="")
    return "-".join(filter(None, (language.lower(), script.title(), region.upper())))


def _check_locales(locales: tuple[str, ...]) -> tuple[str, ...]:
    normalised = tuple(map(normalise_locale, locales))
    if any(locale.partition("-")[0] == "en" for locale in normalised):
        raise ValueError("must not contain English, because articles are submitted in English")
    if len(set(normalised)) < len(normalised):
        raise ValueError("contains a locale twice")
    return normalised


def _check_networks(networks: tuple[str, ...]) -> tuple[str, ...]:
    try:
        return tuple(str(ipaddress.ip_network(network)) for network in networks)
    except ValueError:
        raise ValueError("each must be an IP address or a network, such as 10.0.0.0/8") from None


def _demand_name_servers(servers: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse a name server that the resolver would refuse later, when it opens."""
    try:
        for server in servers:
            is_ipv6_alone = server.count(":") > 1 and not server.startswith("[")
            place = urlsplit(f"//[{server}]" if is_ipv6_alone else f"//{server}")
            ipaddress.ip_address(f"{place.hostname}{place.path}")
            place.port  # noqa: B018 - reading it is what checks it
    except ValueError:
        raise ValueError("each must be an IP address, or address:port, such as 10.0.0.53:5353") from None
    return servers


def _check_base_url(url: str) -> str:
    if not re.fullmatch(r"https?://[^\s/?#@]+(/[^\s?#]*)?", url):
        raise ValueError("must be an http:// or https:// URL without query and fragment")
    return url.rstrip("/")


def _check_page_url(url: str) -> str:
    placeholders = set(re.findall(r"\{([^{}]*)\}", url))
    has_locale = not placeholders.isdisjoint({"locale", "lowercase_locale"})
    if "slug" not in placeholders or not has_locale:
        raise ValueError("must contain {slug}, and {locale} or {lowercase_locale}")
    without = re.sub(r"\{(slug|locale|lowercase_locale)\}", "", url)
    if not re.fullmatch(r"https?://[^\s/?#@{}]+/[^\s#{}]*", without) or "{" in url.split("/")[2]:
        raise ValueError("must be an http:// or https:// URL with placeholders in its path")
    return url


def read_rate_limit(name: str) -> BeforeValidator:
    """Return a validator that parses text such as `600/60` as the rate-limit policy `name`."""

    def read(value: object) -> object:
        if not isinstance(value, str):
            return value
        matched = re.fullmatch(r"([1-9]\d{0,8})/([1-9]\d{0,4})", value)
        if not matched:
            raise ValueError("must have the form requests/seconds, such as 600/60")
        return RateLimitPolicy(name, int(matched[1]), int(matched[2]))

    return BeforeValidator(read)


def _read_plans(value: object) -> object:
    if not isinstance(value, str):
        return value
    plans = re.findall(r"([a-z][a-z0-9_-]{0,39})=(\d{1,9})(?:,|$)", value)
    if not plans or ",".join(map("=".join, plans)) != value:
        raise ValueError("must have the form plan=monitors, such as free=10,team=100")
    return {name: int(max_monitors) for name, max_monitors in plans}


def _read_glossaries(value: object) -> object:
    if not isinstance(value, str):
        return value
    pairs = [pair.partition("=") for pair in value.split(",")]
    if not all(locale and glossary_id for locale, _, glossary_id in pairs):
        raise ValueError("must have the form locale=glossary id, such as es=...,fr=...")
    return {normalise_locale(locale.strip()): glossary_id.strip() for locale, _, glossary_id in pairs}


CommaSeparated = (NoDecode, BeforeValidator(_split_at_commas))
Names = Annotated[tuple[str, ...], *CommaSeparated]
SigningKeys = Annotated[
    tuple[SecretStr, ...],
    *CommaSeparated,
    _demand_length(MIN_SIGNING_KEY_CHARACTERS),
    AfterValidator(_demand_distinct),
    AfterValidator(_demand_readable_keys),
]
EncryptionKeys = Annotated[
    tuple[SecretStr, ...],
    *CommaSeparated,
    AfterValidator(_demand_fernet_keys),
    AfterValidator(_demand_distinct),
]
WebhookSecrets = Annotated[
    tuple[SecretStr, ...],
    *CommaSeparated,
    _demand_length(MIN_WEBHOOK_SECRET_CHARACTERS),
    AfterValidator(_demand_distinct),
    AfterValidator(_demand_header_text),
]
# Settings of these types ignore the environment, so that a process does not hold secrets that it does not
# use.
UnreadSecrets = Annotated[tuple[SecretStr, ...], NoDecode, BeforeValidator(lambda _: ())]
UnreadSecret = Annotated[SecretStr | None, BeforeValidator(lambda _: None)]
Locales = Annotated[Names, AfterValidator(_check_locales)]
Networks = Annotated[Names, AfterValidator(_check_networks)]
NameServers = Annotated[Names, AfterValidator(_demand_name_servers)]
Plans = Annotated[Mapping[str, int], NoDecode, BeforeValidator(_read_plans)]
Glossaries = Annotated[Mapping[str, str], NoDecode, BeforeValidator(_read_glossaries)]
ReferenceUrls = Annotated[Names, AfterValidator(lambda urls: tuple(map(_check_base_url, urls)))]
EngineUrl = Annotated[str | None, AfterValidator(lambda url: url and _check_base_url(url))]
BaseUrl = Annotated[str, AfterValidator(_check_base_url)]
PageUrl = Annotated[str | None, AfterValidator(lambda url: url and _check_page_url(url))]
DatabaseUrl = Annotated[
    SecretStr,
    _demand_url("sqlite://", "postgresql://", "postgres://"),
    AfterValidator(_demand_file),
    AfterValidator(_demand_postgres_options),
]
RedisUrl = Annotated[
    SecretStr | None, _demand_url("redis://", "rediss://", "unix://"), AfterValidator(_demand_redis_options)
]
AuthoritiesFile = Annotated[Path | None, AfterValidator(_demand_authorities)]
MailServerUrl = Annotated[SecretStr | None, AfterValidator(_demand_mail_server)]
Sender = Annotated[str | None, AfterValidator(_demand_sender)]
StorageUrl = Annotated[SecretStr | None, _demand_url("file:///", "memory:///", "s3://", "gs://", "az://")]
LogLevel = Annotated[
    Literal["debug", "info", "warning", "error", "critical"],
    BeforeValidator(lambda level: level.lower() if isinstance(level, str) else level),
]
