"""The blog storage in a bucket: credentials, outages, and the effect of failed puts."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from base64 import b64encode
from typing import TYPE_CHECKING
from urllib.parse import unquote

import httpx
import pytest
from moto.server import ThreadedMotoServer
from pydantic import SecretStr

import chosen_backends
from monitoring.backends.errors import StorageUnavailable
from monitoring.backends.objects import BlogStorage, open_blog_storage
from monitoring.settings import SettingsError
from s3_server import ACCESS_KEY_ID, SECRET_ACCESS_KEY
from unreliable_s3 import answering, between, hanging, listening, read_request, read_status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from s3_server import S3Server

    OpenStorage = Callable[..., BlogStorage]

pytestmark = pytest.mark.anyio

SLOW_DOWN = "<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"
OLD, NEW = b"old " * 50_000, b"new " * 50_000


@pytest.fixture
def open_storage(monkeypatch: pytest.MonkeyPatch) -> OpenStorage:
    """Open a storage in an environment with only the given variables about clouds."""

    def open_in(environment: dict[str, str], url: str = "s3://blog/articles") -> BlogStorage:
        for name in list(os.environ):
            if name.startswith(("AWS_", "GOOGLE_", "AZURE_")):
                monkeypatch.delenv(name)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        storage = open_blog_storage(SecretStr(url))
        assert storage
        return storage

    return open_in


@pytest.fixture
def s3() -> S3Server:
    return chosen_backends.s3()


@pytest.fixture(scope="module")
def moto() -> Iterator[str]:
    """Run an S3 server that honours If-Match, unlike rclone's, and yield its endpoint."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(port=0, verbose=False)
    server.start()
    _, port = server.get_host_and_port()
    endpoint = f"http://127.0.0.1:{port}"
    httpx.put(f"{endpoint}/blog").raise_for_status()
    yield endpoint
    server.stop()


def signed_in_at(endpoint: str) -> dict[str, str]:
    return {
        "AWS_ACCESS_KEY_ID": ACCESS_KEY_ID,
        "AWS_SECRET_ACCESS_KEY": SECRET_ACCESS_KEY,
        "AWS_ENDPOINT_URL": endpoint,
    }


async def assert_unavailable(storage: BlogStorage) -> None:
    """Try everything at once, and demand BackendUnavailable within seconds."""
    async with asyncio.timeout(30):
        outcomes = await asyncio.gather(
            storage.put("moon/en.json", NEW),
            storage.get("moon/en.json"),
            storage.list("moon"),
            storage.delete("moon/en.json"),
            storage.try_to_write(),
            return_exceptions=True,
        )
    assert {type(outcome) for outcome in outcomes} == {StorageUnavailable}


class TestPlace:
    async def test_a_prefix_in_the_url_is_where_everything_is(
        self, s3: S3Server, open_storage: OpenStorage
    ) -> None:
        place = s3.new_location()
        storage = open_storage(s3.environment, f"{place}/articles")
        await storage.put("moon/en.json", b"one")
        prefix = place.removeprefix(f"{s3.url}/")
        assert s3.read_objects(prefix) == {f"{prefix}/articles/moon/en.json": b"one"}
        assert await storage.list("moon") == ["moon/en.json"]

    async def test_an_endpoint_for_s3_alone_goes_before_the_one_for_all_services(
        self, s3: S3Server, open_storage: OpenStorage
    ) -> None:
        endpoint = s3.environment["AWS_ENDPOINT_URL"]
        elsewhere = {"AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_ENDPOINT_URL_S3": endpoint}
        await open_storage(s3.environment | elsewhere, s3.new_location()).put("moon/en.json", b"one")

    async def test_a_bucket_that_does_not_exist_is_no_empty_one(
        self, s3: S3Server, open_storage: OpenStorage
    ) -> None:
        storage = open_storage(s3.environment, "s3://no-such-bucket")
        for work in (storage.put("moon/en.json", b"one"), storage.try_to_write()):
            with pytest.raises(StorageUnavailable):
                await work


class TestCredentials:
    async def test_wrong_ones_are_an_outage_whose_text_names_no_secret(
        self, s3: S3Server, open_storage: OpenStorage
    ) -> None:
        wrong = s3.environment | {"AWS_SECRET_ACCESS_KEY": "a-secret-that-is-wrong"}
        storage = open_storage(wrong, s3.new_location())
        await assert_unavailable(storage)
        with pytest.raises(StorageUnavailable) as refusal:
            await storage.put("moon/en.json", NEW)
        assert str(refusal.value) == "PermissionDeniedError (HTTP 403)"

    async def test_half_of_them_stop_the_start(self, open_storage: OpenStorage) -> None:
        with pytest.raises(SettingsError, match="BLOG_STORAGE_URL"):
            open_storage({"AWS_ACCESS_KEY_ID": ACCESS_KEY_ID})

    async def test_none_and_a_metadata_service_that_hangs_are_an_outage(
        self, s3: S3Server, open_storage: OpenStorage
    ) -> None:
        async with hanging() as metadata:
            endpoint = s3.environment["AWS_ENDPOINT_URL"]
            await assert_unavailable(
                open_storage({"AWS_ENDPOINT_URL": endpoint, "AWS_METADATA_ENDPOINT": metadata})
            )

    async def test_a_container_s_are_fetched(
        self, s3: S3Server, open_storage: OpenStorage, tmp_path: Path
    ) -> None:
        token = tmp_path / "token"
        token.write_text("a-token")
        granted = {
            "AccessKeyId": ACCESS_KEY_ID,
            "SecretAccessKey": SECRET_ACCESS_KEY,
            "Token": "a-session-token",
            "Expiration": "2099-01-01T00:00:00Z",
        }
        async with answering(200, json.dumps(granted)) as agent:
            environment = {
                "AWS_CONTAINER_CREDENTIALS_FULL_URI": f"{agent}/v1/credentials",
                "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": str(token),
                "AWS_ENDPOINT_URL": s3.environment["AWS_ENDPOINT_URL"],
            }
            storage = open_storage(environment, s3.new_location())
            await storage.put("moon/en.json", b"one")
        assert await storage.get("moon/en.json") == b"one"

    async def test_an_instance_s_are_fetched(self, moto: str, open_storage: OpenStorage) -> None:
        environment = {"AWS_METADATA_ENDPOINT": moto, "AWS_IMDSV1_FALLBACK": "true", "AWS_ENDPOINT_URL": moto}
        await open_storage(environment).put("moon/en.json", b"one")


class TestOutages:
    @pytest.mark.parametrize(("status", "body"), [(503, SLOW_DOWN), (500, ""), (403, ""), (200, "<html>")])
    async def test_a_server_that_refuses_is_unavailable(
        self, open_storage: OpenStorage, status: int, body: str
    ) -> None:
        async with answering(status, body) as endpoint:
            storage = open_storage(signed_in_at(endpoint))
            for work in (storage.put("moon/en.json", NEW), storage.list("moon"), storage.try_to_write()):
                with pytest.raises(StorageUnavailable):
                    await work

    async def test_a_server_that_hangs_is_unavailable(self, open_storage: OpenStorage) -> None:
        async with hanging() as endpoint:
            await assert_unavailable(open_storage(signed_in_at(endpoint)))

    async def test_a_server_that_comes_back_is_there_at_once(
        self, s3: S3Server, open_storage: OpenStorage
    ) -> None:
        storage = open_storage(s3.environment, s3.new_location())
        await storage.put("moon/en.json", OLD)
        s3.stop()
        try:
            await assert_unavailable(storage)
        finally:
            s3.start()
        assert await storage.get("moon/en.json") == OLD
        await storage.put("moon/en.json", NEW)
        assert await storage.get("moon/en.json") == NEW


class TestPutThatFails:
    async def test_cut_in_the_middle_leaves_the_old_content(
        self, s3: S3Server, open_storage: OpenStorage
    ) -> None:
        async def cut(server: asyncio.StreamWriter, head: bytes, body: bytes) -> None:
            server.write(head + body[: len(body) // 2])
            await server.drain()

        location = s3.new_location()
        await open_storage(s3.environment, location).put("moon/en.json", OLD)
        async with between(s3.port, cut) as endpoint:
            cut_off = open_storage(signed_in_at(endpoint), location)
            for path in ("moon/en.json", "sun/en.json"):
                with pytest.raises(StorageUnavailable):
                    await cut_off.put(path, NEW)
            assert await cut_off.get("moon/en.json") == OLD
            assert await cut_off.list("sun") == []

    async def test_its_server_killed_leaves_nothing_half_written(
        self, s3: S3Server, open_storage: OpenStorage
    ) -> None:
        storage = open_storage(s3.environment, s3.new_location())
        paths = [f"moon/{number}.json" for number in range(60)]
        await asyncio.gather(*(storage.put(path, OLD) for path in paths))

        puts = [asyncio.create_task(storage.put(path, NEW)) for path in paths]
        await asyncio.wait(puts, return_when=asyncio.FIRST_COMPLETED)
        s3.stop()
        try:
            outcomes = await asyncio.gather(*puts, return_exceptions=True)
        finally:
            s3.start()

        for path, outcome in zip(paths, outcomes, strict=True):
            # None, because rclone's server deletes the old object before it renames the new one.
            assert await storage.get(path) in ([NEW] if outcome is None else [OLD, NEW, None])
        assert {type(outcome) for outcome in outcomes} <= {type(None), StorageUnavailable}
        await asyncio.gather(*(storage.put(path, NEW) for path in paths))
        assert await storage.list("moon") == sorted(paths)

    @pytest.mark.parametrize("earlier", [None, OLD])
    async def test_reaching_the_server_late_does_not_replace_what_is_newer(
        self, moto: str, open_storage: OpenStorage, earlier: bytes | None
    ) -> None:
        port = int(moto.rpartition(":")[2])
        location = f"s3://blog/late-{earlier is None}"
        under_way: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        over = asyncio.Event()

        async def withhold(_: asyncio.StreamWriter, head: bytes, body: bytes) -> None:
            under_way.set_result(head + body)
            await over.wait()

        storage = open_storage(signed_in_at(moto), location)
        if earlier is not None:
            await storage.put("moon/en.json", earlier)
        async with between(port, withhold) as endpoint:
            given_up = asyncio.create_task(
                open_storage(signed_in_at(endpoint), location).put("moon/en.json", b"late")
            )
            late_request = await under_way
            given_up.cancel()
            over.set()
        await storage.put("moon/en.json", NEW)

        from_server, to_server = await asyncio.open_connection("127.0.0.1", port)
        to_server.write(late_request)
        assert await read_status(from_server) == httpx.codes.PRECONDITION_FAILED
        to_server.close()
        assert await storage.get("moon/en.json") == NEW

    async def test_for_its_condition_s_sake_is_put_without_where_the_operator_says_so(
        self, moto: str, open_storage: OpenStorage
    ) -> None:
        unconditional = signed_in_at(moto) | {"AWS_CONDITIONAL_PUT": "disabled"}
        storage = open_storage(unconditional, "s3://blog/unconditional")
        for content in (OLD, NEW):
            await storage.put("moon/en.json", content)
        assert await storage.get("moon/en.json") == NEW


class TestOtherClouds:
    """Shows the requests, not that these clouds accept them: none of their servers runs here."""

    async def sent_by_a_put(
        self, open_storage: OpenStorage, url: str, environment: Callable[[str], dict[str, str]]
    ) -> list[str]:
        heads = []

        async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            head, _ = await read_request(reader)
            heads.append(unquote(head.decode().lower()))
            status = "404 -" if head.startswith(b"HEAD") else '201 -\r\nETag: "1"\r\nx-goog-generation: 1'
            writer.write(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
            writer.close()

        async with listening(converse) as endpoint:
            await open_storage(environment(endpoint), url).put("moon/en.json", b"one")
        return heads

    async def test_google_is_sent_the_bearer_token_and_a_condition(self, open_storage: OpenStorage) -> None:
        _, put = await self.sent_by_a_put(
            open_storage,
            "gs://blog/articles",
            lambda endpoint: {"GOOGLE_BASE_URL": endpoint, "GOOGLE_BEARER_TOKEN": "a-token"},
        )
        assert put.startswith("put /blog/articles/moon/en.json ")
        assert "authorization: bearer a-token" in put
        assert "x-goog-if-generation-match: 0" in put

    async def test_azure_is_sent_a_signature_and_a_condition(self, open_storage: OpenStorage) -> None:
        key = b64encode(b"a key").decode()
        _, put = await self.sent_by_a_put(
            open_storage,
            "az://blog/articles",
            lambda endpoint: {
                "AZURE_STORAGE_ACCOUNT_NAME": "account",
                "AZURE_STORAGE_ACCOUNT_KEY": key,
                "AZURE_STORAGE_ENDPOINT": endpoint,
            },
        )
        assert put.startswith("put /blog/articles/moon/en.json ")
        assert "authorization: sharedkey account:" in put
        assert "if-none-match: *" in put

    @pytest.mark.parametrize(
        ("url", "environment"),
        [
            ("az://blog", {}),
            ("gs://blog", {"GOOGLE_SERVICE_ACCOUNT_KEY": "no JSON"}),
            ("gs://blog", {"GOOGLE_SERVICE_ACCOUNT": "/no/such/file"}),
        ],
    )
    async def test_credentials_that_cannot_be_read_stop_the_start(
        self, open_storage: OpenStorage, url: str, environment: dict[str, str]
    ) -> None:
        with pytest.raises(SettingsError, match="BLOG_STORAGE_URL"):
            open_storage(environment, url)
