from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

import pytest

from monitoring.auth.signing_keys import Algorithm, generate_signing_key
from monitoring.backends.database import migrate
from monitoring.settings import RateLimitPolicy, Settings, SettingsError, read_settings
from monitoring.settings.description import describe_settings
from monitoring.settings.mail_server import MailServer, Security, read_mail_server, read_sender
from ready_tables import make_tables
from running_service import make_settings
from temporary_backends import ENCRYPTION_KEY

if TYPE_CHECKING:
    from pathlib import Path

KEY = "an old signing key of forty characters.."
NEW_KEY = "a new signing key of forty characters..."


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for row in describe_settings():
        monkeypatch.delenv(row.name, raising=False)
    monkeypatch.setenv("SIGNING_KEYS", KEY)
    monkeypatch.setenv("ENCRYPTION_KEYS", ENCRYPTION_KEY)
    return monkeypatch


class TestDefaults:
    def test_two_keys_are_all_that_must_be_set(self) -> None:
        settings = read_settings()
        assert settings.base_url == "http://127.0.0.1:8000"
        assert settings.database_url.get_secret_value() == "sqlite://data/monitoring.db"
        assert settings.locales == ("es", "pt", "fr", "it", "ca")
        assert settings.rate_limit_api == RateLimitPolicy("api", 600, 60)
        assert settings.blog_storage_url is settings.redis_url is None

    def test_derived_settings_follow_what_they_derive_from(self, environment: pytest.MonkeyPatch) -> None:
        environment.setenv("PORT", "9000")
        environment.setenv("DATA_DIR", "/srv/monitoring")
        settings = read_settings()
        assert settings.base_url == "http://127.0.0.1:9000"
        assert settings.database_url.get_secret_value() == "sqlite:///srv/monitoring/monitoring.db"

    def test_an_empty_value_is_as_good_as_none(self, environment: pytest.MonkeyPatch) -> None:
        environment.setenv("REDIS_URL", "")
        assert read_settings().redis_url is None

    def test_one_address_does_not_use_up_what_all_together_may_try_for_an_email(self) -> None:
        settings = read_settings()
        of_address, of_email = settings.rate_limit_sign_in, settings.rate_limit_sign_in_email
        in_the_same_time = of_address.limit * of_email.window_seconds / of_address.window_seconds
        assert of_email.limit >= 4 * in_the_same_time

    def test_a_dotenv_file_is_not_read(self, environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
        (tmp_path / ".env").write_text("PORT=9000")
        environment.chdir(tmp_path)
        assert read_settings().port == 8000


class TestLists:
    def test_keys_keep_their_order_because_the_first_signs(self, environment: pytest.MonkeyPatch) -> None:
        environment.setenv("SIGNING_KEYS", f" {NEW_KEY}, {KEY},")
        assert [key.get_secret_value() for key in read_settings().signing_keys] == [NEW_KEY, KEY]

    def test_locales_are_spelled_as_bcp_47_recommends(self, environment: pytest.MonkeyPatch) -> None:
        environment.setenv("LOCALES", "PT-br, zh-hant-TW,es-419")
        assert read_settings().locales == ("pt-BR", "zh-Hant-TW", "es-419")

    def test_a_name_server_may_have_a_port(self, environment: pytest.MonkeyPatch) -> None:
        environment.setenv("DNS_SERVERS", "10.0.0.53,10.0.0.53:5353,fd00::53,[fd00::53]:5353")
        assert len(read_settings().dns_servers) == 4

    def test_an_address_is_a_network_of_one(self, environment: pytest.MonkeyPatch) -> None:
        environment.setenv("TRUSTED_PROXIES", "10.0.0.0/8,192.0.2.7,fd00::/8")
        assert read_settings().trusted_proxies == ("10.0.0.0/8", "192.0.2.7/32", "fd00::/8")


class TestProblems:
    def test_all_are_named_at_once_without_any_value(self, environment: pytest.MonkeyPatch) -> None:
        wrong = {
            "SIGNING_KEYS": "hunter2-short",
            "ENCRYPTION_KEYS": "hunter2",
            "WEBHOOK_SECRETS": "hunter2",
            "DATABASE_URL": "mysql://hunter2@db/x",
            "PORT": "hunter2",
        }
        for name, value in wrong.items():
            environment.setenv(name, value)
        with pytest.raises(SettingsError) as raised:
            read_settings()
        assert {line.partition(":")[0] for line in str(raised.value).splitlines()} == set(wrong)
        assert "hunter2" not in str(raised.value)

    @pytest.mark.parametrize("name", ["SIGNING_KEYS", "ENCRYPTION_KEYS"])
    def test_a_missing_key_is_named(self, environment: pytest.MonkeyPatch, name: str) -> None:
        environment.delenv(name)
        with pytest.raises(SettingsError, match=rf"^{name}: is required$"):
            read_settings()

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("SIGNING_KEYS", f"{KEY},{KEY}"),
            ("SIGNING_KEYS", f"{KEY},LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0t"),
            ("SIGNING_KEYS", f"-----BEGIN PRIVATE KEY-----\n{KEY}\n-----END PRIVATE KEY-----"),
            ("ENCRYPTION_KEYS", KEY),
            ("ENCRYPTION_KEYS", ENCRYPTION_KEY[:-4]),
            ("ENCRYPTION_KEYS", f"{ENCRYPTION_KEY},{ENCRYPTION_KEY}"),
            ("LOCALES", "es,en"),
            ("LOCALES", "en-GB"),
            ("LOCALES", "es,ES"),
            ("LOCALES", "spanish!"),
            ("TRANSLATOR", "magic"),
            ("TRUSTED_PROXIES", "10.0.0.1/8"),
            ("RATE_LIMIT_API", "600"),
            ("RATE_LIMIT_API", "0/60"),
            ("BASE_URL", "api.example.com"),
            ("SITE_PAGE_URL", "https://blog.example.com/{slug}/"),
            ("SITE_PAGE_URL", "https://{locale}.example.com/{slug}/"),
            ("SITE_PAGE_URL", "https://blog.example.com/{locale}/{slug}/{id}/"),
            ("DATABASE_URL", "postgresql://db:port/monitoring"),
            ("DATABASE_URL", "sqlite://"),
            ("REDIS_URL", "http://redis"),
            ("DATABASE_URL", "postgresql://db/monitoring?unheard_of=1"),
            ("DATABASE_URL", "postgresql://db/monitoring?sslmode=odd"),
            ("DATABASE_URL", "postgres://db/monitoring?sslmode="),
            ("REDIS_URL", "redis://redis?unheard_of=1"),
            ("REDIS_URL", "redis://redis?socket_timeout=soon"),
            ("REDIS_URL", "rediss://redis?ssl_cert_reqs=perhaps"),
            ("BLOG_STORAGE_URL", "file://relative"),
            ("MAX_BODY_BYTES", "1"),
            ("WEBHOOK_REQUIRE_BEARER", "perhaps"),
            ("LOG_LEVEL", "loud"),
            ("SMTP_URL", "http://mail.example.com"),
            ("SMTP_URL", "smtp://"),
            ("SMTP_URL", "smtp://mail.example.com:port"),
            ("SMTP_URL", "smtp://mail.example.com/path"),
            ("SMTP_URL", "smtp://user@mail.example.com"),
            ("SMTP_URL", "smtp://mail.example.com?tls=perhaps"),
            ("SMTP_URL", "smtps://mail.example.com?tls=none"),
            ("SMTP_URL", "smtp://user:password@mail.example.com?tls=none"),
            ("SMTP_URL", "smtp://mail example.com"),
            ("DNS_SERVERS", "dns.example.com"),
            ("DNS_SERVERS", "10.0.0.53:domain"),
            ("DNS_SERVERS", "10.0.0.0/8"),
            ("CA_FILE", "/nowhere/authorities.pem"),
            ("CA_FILE", __file__),  # a file without a certificate
            ("EMAIL_FROM", "monitoring"),
            ("EMAIL_FROM", "a@example.com, b@example.com"),
            ("EMAIL_FROM", "Monitoring <monitoring@example.com>\nBcc: eve@example.net"),
            ("EMAIL_FROM", "mönitoring@example.com"),
            ("EMAIL_FROM", "<>"),
        ],
    )
    def test_a_value_that_makes_no_sense_is_refused(
        self, environment: pytest.MonkeyPatch, name: str, value: str
    ) -> None:
        environment.setenv("EMAIL_FROM", "monitoring@example.com")
        environment.setenv(name, value)
        with pytest.raises(SettingsError, match=rf"^{name}: [^\n]+$"):
            read_settings()

    def test_a_mail_server_without_a_sender_is_refused(self, environment: pytest.MonkeyPatch) -> None:
        environment.setenv("SMTP_URL", "smtp://mail.example.com")
        with pytest.raises(SettingsError, match=r"^EMAIL_FROM: is required with SMTP_URL$"):
            read_settings()

    @pytest.mark.parametrize(("fewest", "most"), [("11", ""), ("6", "5")])
    def test_a_pool_that_keeps_more_connections_open_than_it_may_have_is_refused(
        self, environment: pytest.MonkeyPatch, fewest: str, most: str
    ) -> None:
        environment.setenv("DATABASE_POOL_MIN_CONNECTIONS", fewest)
        environment.setenv("DATABASE_POOL_MAX_CONNECTIONS", most)
        sentence = r"^DATABASE_POOL_MAX_CONNECTIONS: must not be below DATABASE_POOL_MIN_CONNECTIONS$"
        with pytest.raises(SettingsError, match=sentence):
            read_settings()

    def test_a_pool_may_keep_none_open_or_all(self, environment: pytest.MonkeyPatch) -> None:
        for fewest in ("0", "10"):
            environment.setenv("DATABASE_POOL_MIN_CONNECTIONS", fewest)
            assert read_settings().database_pool_min_connections == int(fewest)

    @pytest.mark.parametrize(
        ("of_one_email", "of_address", "of_email"),
        [
            ("20/300", "60/300", "959/3600"),
            ("42/300", "60/300", ""),
            ("60/300", "20/300", "959/3600"),
            ("20/86400", "60/300", "79/3600"),
        ],
    )
    def test_a_limit_by_email_that_few_addresses_use_up_is_refused(
        self, environment: pytest.MonkeyPatch, of_one_email: str, of_address: str, of_email: str
    ) -> None:
        environment.setenv("RATE_LIMIT_SIGN_IN", of_one_email)
        environment.setenv("RATE_LIMIT_SIGN_IN_ADDRESS", of_address)
        environment.setenv("RATE_LIMIT_SIGN_IN_EMAIL", of_email)
        with pytest.raises(
            SettingsError, match=r"^RATE_LIMIT_SIGN_IN_EMAIL: must allow at least four times "
        ):
            read_settings()

    def test_a_limit_by_email_that_four_addresses_use_up_is_not(
        self, environment: pytest.MonkeyPatch
    ) -> None:
        environment.setenv("RATE_LIMIT_SIGN_IN_EMAIL", "960/3600")
        assert read_settings().rate_limit_sign_in_email.limit == 960


class TestMailServer:
    @pytest.mark.parametrize(
        ("url", "expected"),
        [
            (
                "smtp://mail.example.com",
                MailServer("mail.example.com", 587, Security.STARTTLS, None, None),
            ),
            (
                "smtps://ana%40example.com:a%3Ab%2F@[2001:db8::7]:8465/",
                MailServer("2001:db8::7", 8465, Security.TLS, "ana@example.com", "a:b/"),
            ),
            ("smtp://127.0.0.1?tls=none", MailServer("127.0.0.1", 25, Security.NONE, None, None)),
        ],
    )
    def test_is_what_its_address_says(self, url: str, expected: MailServer) -> None:
        assert read_mail_server(url) == expected

    @pytest.mark.parametrize(
        ("text", "name", "address"),
        [
            ("monitoring@example.com", "", "monitoring@example.com"),
            ("Our Monitoring <monitoring@example.com>", "Our Monitoring", "monitoring@example.com"),
            ('"Acme, Inc." <m@example.com>', "Acme, Inc.", "m@example.com"),
            ("Überwachung <m@example.com>", "Überwachung", "m@example.com"),
        ],
    )
    def test_has_a_sender_with_or_without_a_name(self, text: str, name: str, address: str) -> None:
        sender = read_sender(text)
        assert (sender.display_name, sender.addr_spec) == (name, address)


class TestSecrets:
    def test_nothing_that_prints_settings_shows_them(self, environment: pytest.MonkeyPatch) -> None:
        environment.setenv("DATABASE_URL", "postgresql://monitoring:hunter2@db/monitoring")
        environment.setenv("WEBHOOK_SECRETS", "hunter2-hunter2-hunter2")
        environment.setenv("SMTP_URL", "smtp://user:hunter2@mail.example.com")
        environment.setenv("EMAIL_FROM", "monitoring@example.com")
        private_key = generate_signing_key(Algorithm.EDDSA)
        environment.setenv("SIGNING_KEYS", f"{KEY},{private_key}")
        settings = read_settings()
        for shown in (repr(settings), str(settings), settings.model_dump_json()):
            assert "hunter2" not in shown
            assert KEY not in shown
            assert private_key not in shown
            assert ENCRYPTION_KEY not in shown


class TestDescription:
    def test_every_setting_has_a_row_with_a_meaning(self) -> None:
        rows = describe_settings()
        assert [row.name.lower() for row in rows] == list(Settings.model_fields)
        assert all(re.search(r"\w", row.meaning) for row in rows)

    def test_defaults_read_as_one_would_write_them(self) -> None:
        defaults = {row.name: row.default for row in describe_settings()}
        assert defaults["SIGNING_KEYS"] == "required"
        assert defaults["WEBHOOK_REQUIRE_BEARER"] == "false"
        assert defaults["REDIS_URL"] == ""
        assert defaults["DATABASE_URL"] == "sqlite://DATA_DIR/monitoring.db"


class TestFolders:
    @pytest.mark.embedded("PostgreSQL keeps nothing in the folder")
    def test_a_folder_of_any_name_holds_database_and_secrets(self, tmp_path: Path) -> None:
        folder = tmp_path / "d 7%20#x?y[z]"
        folder.mkdir()
        settings = make_settings(folder)
        make_tables(settings)
        assert asyncio.run(migrate(settings)) == []  # it found all migrations applied
        assert [path.name for path in folder.glob("*.db")] == ["monitoring.db"]

    def test_a_secret_that_no_header_carries_alike_is_refused(self, environment: pytest.MonkeyPatch) -> None:
        environment.setenv("WEBHOOK_SECRETS", "geheimnis-für-alle-tage")
        with pytest.raises(SettingsError, match=r"^WEBHOOK_SECRETS: [^\n]+$"):
            read_settings()
