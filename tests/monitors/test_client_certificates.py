"""A client certificate goes in and never comes out, but to the server that is checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import trustme
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)

from backends.dump import dump_database
from monitoring.backends.encryption import MASK
from monitoring.monitors.client_certificates import encrypt_client_certificates, read_client_certificate
from monitoring.monitors.models import Monitor
from monitors.configurations import CERTIFICATE_AUTHORITY, CLIENT_CERTIFICATE
from monitors.conversations import MONITORS, URL, create, is_problem, path_of, read

if TYPE_CHECKING:
    from cast import Player
    from monitoring.contract.catalogue import Catalogue
    from running_service import RunningService

A_LINE_OF_THE_KEY = CLIENT_CERTIFICATE.splitlines()[2]


def stored(service: RunningService, monitor_id: str) -> str | None:
    async def read_row() -> str | None:
        return read_client_certificate((await Monitor.get(id=monitor_id)).client_certificate)

    return service.run(read_row())


def without_key() -> str:
    return CLIENT_CERTIFICATE[CLIENT_CERTIFICATE.index("-----BEGIN CERTIFICATE") :]


def with_encrypted_key() -> str:
    key = load_pem_private_key(CLIENT_CERTIFICATE.encode(), None)
    form = (Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"password"))
    return key.private_bytes(*form).decode() + without_key()


def with_anothers_key() -> str:
    another = trustme.CA().issue_cert("client.example")
    return another.private_key_pem.bytes().decode() + without_key()


class TestClientCertificate:
    def test_is_in_no_answer_and_not_plain_in_the_database(
        self, service: RunningService, alice: Player
    ) -> None:
        key = {"Idempotency-Key": "8c1f0f1e-8a0b-4f0e-9c59-3d2d9a1f7b12"}
        given = {"url": URL, "client_certificate": CLIENT_CERTIFICATE}
        created = alice.post(MONITORS, json=given, headers=key)
        monitor = created.json()
        changed = alice.patch(path_of(monitor), json={"name": "Shop"})
        again = alice.post(MONITORS, json=given, headers=key)
        for answer in (created, changed, again, alice.get(path_of(monitor)), alice.get(MONITORS)):
            shown = answer.json()
            assert shown.get("monitors", [shown])[0]["client_certificate"] == MASK
        assert A_LINE_OF_THE_KEY not in service.run(dump_database())
        assert stored(service, monitor["id"]) == CLIENT_CERTIFICATE

    def test_is_kept_by_its_mask_and_removed_by_null(
        self, service: RunningService, alice: Player, catalogue: Catalogue
    ) -> None:
        monitor = create(alice, client_certificate=CLIENT_CERTIFICATE)
        before = alice.get(path_of(monitor)).headers["ETag"]
        assert alice.patch(path_of(monitor), json={"client_certificate": MASK}).headers["ETag"] == before
        assert stored(service, monitor["id"]) == CLIENT_CERTIFICATE
        patch = {"client_certificate": None}
        assert alice.patch(path_of(monitor), json=patch).json()["client_certificate"] is None
        answer = alice.patch(path_of(monitor), json={"client_certificate": MASK})
        assert is_problem(answer, catalogue, "client_certificate_masked")
        assert alice.post(MONITORS, json={"url": URL, "client_certificate": MASK}).status_code == 400

    @pytest.mark.parametrize(
        "written", [without_key, with_encrypted_key, with_anothers_key, lambda: "hello", lambda: "\u00e4"]
    )
    def test_that_openssl_cannot_show_is_refused(
        self, alice: Player, catalogue: Catalogue, written: object
    ) -> None:
        assert callable(written)
        answer = alice.post(MONITORS, json={"url": URL, "client_certificate": written()})
        assert is_problem(answer, catalogue, "client_certificate_unreadable")

    def test_is_encrypted_with_the_first_key_by_the_command(
        self, service: RunningService, alice: Player
    ) -> None:
        monitor = create(alice, client_certificate=CLIENT_CERTIFICATE)
        create(alice)

        async def store_plain() -> None:
            await Monitor.filter(id=monitor["id"]).update(client_certificate=CLIENT_CERTIFICATE)

        service.run(store_plain())
        assert service.run(encrypt_client_certificates()).encrypted == 1
        assert service.run(encrypt_client_certificates()).encrypted == 0
        assert A_LINE_OF_THE_KEY not in service.run(dump_database())
        assert stored(service, monitor["id"]) == CLIENT_CERTIFICATE


class TestCertificateAuthority:
    def test_is_shown_as_it_was_given(self, alice: Player) -> None:
        monitor = create(alice, certificate_authority=CERTIFICATE_AUTHORITY * 2)
        assert read(alice, monitor)["certificate_authority"] == CERTIFICATE_AUTHORITY * 2

    @pytest.mark.parametrize("written", ["hello", "\u00e4", CERTIFICATE_AUTHORITY[:200]])
    def test_without_a_certificate_is_refused(
        self, alice: Player, catalogue: Catalogue, written: str
    ) -> None:
        answer = alice.post(MONITORS, json={"url": URL, "certificate_authority": written})
        assert is_problem(answer, catalogue, "certificate_authority_unreadable")
