from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from pydantic import SecretStr

import chosen_backends
from monitoring.backends.assembly import open_storage_of
from monitoring.backends.errors import StorageUnavailable
from monitoring.backends.objects import BlogStorage, open_blog_storage
from monitoring.settings import SettingsError
from temporary_backends import make_settings

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["file", "memory", "s3"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> BlogStorage:
    if request.param == "s3":
        return _open(chosen_backends.s3().new_location())
    return _open(f"file://{tmp_path}/blog" if request.param == "file" else "memory:///")


def _open(url: str) -> BlogStorage:
    storage = open_blog_storage(SecretStr(url))
    assert storage
    return storage


class TestBlogStorage:
    async def test_what_was_put_is_got(self, storage: BlogStorage) -> None:
        await storage.put("moon/en.json", b"one")
        await storage.put("moon/en.json", b"two")
        assert await storage.get("moon/en.json") == b"two"

    async def test_what_was_never_put_is_none(self, storage: BlogStorage) -> None:
        assert await storage.get("moon/en.json") is None

    async def test_a_folder_lists_its_paths_and_no_others(self, storage: BlogStorage) -> None:
        for path in ("moon/pt-BR.json", "moon/en.json", "moonrise/en.json"):
            await storage.put(path, b"{}")
        assert await storage.list("moon") == ["moon/en.json", "moon/pt-BR.json"]
        assert await storage.list("sun") == []

    async def test_what_is_deleted_is_gone_and_can_be_deleted_again(self, storage: BlogStorage) -> None:
        await storage.put("moon/en.json", b"one")
        for _ in range(2):
            await storage.delete("moon/en.json")
        assert await storage.get("moon/en.json") is None

    async def test_many_at_once_are_all_there(self, storage: BlogStorage) -> None:
        paths = sorted(f"moon/{number}.json" for number in range(50))
        await asyncio.gather(*(storage.put(path, path.encode()) for path in paths))
        assert await storage.list("moon") == paths
        assert [await storage.get(path) for path in paths] == [path.encode() for path in paths]

    async def test_large_content_is_one_object(self, storage: BlogStorage) -> None:
        content = bytes(range(256)) * 40_000
        await storage.put("moon/en.json", content)
        assert await storage.get("moon/en.json") == content

    async def test_a_sign_of_life_leaves_no_trace(self, storage: BlogStorage) -> None:
        await storage.try_to_write()
        assert await storage.list("sign-of-life") == []

    @pytest.mark.parametrize(
        "path",
        ["", "../moon", "a/../b", "a/./b", "a//b", ".env", "a\\b", "a b", "a\n", "ä", "a/", "a/" * 16 + "a"],
    )
    async def test_a_path_that_is_not_plain_is_refused(self, storage: BlogStorage, path: str) -> None:
        with pytest.raises(ValueError, match="plain names"):
            await storage.put(path, b"")


class TestLocalFolder:
    async def test_an_absolute_path_is_refused_and_nothing_is_written_there(self, tmp_path: Path) -> None:
        storage = _open(f"file://{tmp_path}/blog")
        outside = tmp_path / "outside.json"
        with pytest.raises(ValueError, match="plain names"):
            await storage.put(str(outside), b"one")
        assert not outside.exists()

    async def test_a_reader_never_sees_half_a_file(self, tmp_path: Path) -> None:
        storage = _open(f"file://{tmp_path}/blog")
        versions = [letter * 500_000 for letter in (b"a", b"b")]
        await storage.put("moon/en.json", versions[0])

        async def rewrite() -> None:
            for number in range(20):
                await storage.put("moon/en.json", versions[number % 2])

        rewriting = asyncio.create_task(rewrite())
        while not rewriting.done():
            assert await storage.get("moon/en.json") in versions

    async def test_a_draft_of_a_killed_process_is_not_listed(self, tmp_path: Path) -> None:
        storage = _open(f"file://{tmp_path}/blog")
        await storage.put("moon/en.json", b"one")
        (tmp_path / "blog" / "moon" / ".draft-en.json").write_bytes(b"one and more")
        assert await storage.list("moon") == ["moon/en.json"]

    async def test_a_draft_of_a_killed_process_is_gone_with_the_next_try(self, tmp_path: Path) -> None:
        storage = _open(f"file://{tmp_path}/blog")
        (tmp_path / "blog" / "moon").mkdir()
        (tmp_path / "blog" / "moon" / ".draft-en.json").write_bytes(b"one and more")
        await storage.put("moon/en.json", b"one")
        assert [path.name for path in (tmp_path / "blog" / "moon").iterdir()] == ["en.json"]
        assert await storage.get("moon/en.json") == b"one"

    async def test_writers_at_once_take_turns(self, tmp_path: Path) -> None:
        storage = _open(f"file://{tmp_path}/blog")
        versions = [letter * 500_000 for letter in (b"a", b"b", b"c", b"d")]
        await asyncio.gather(*(storage.put("moon/en.json", version) for version in versions * 5))
        assert await storage.get("moon/en.json") in versions
        assert [path.name for path in (tmp_path / "blog" / "moon").iterdir()] == ["en.json"]

    async def test_a_folder_that_cannot_be_written_is_unavailable(self, tmp_path: Path) -> None:
        storage = _open(f"file://{tmp_path}/blog")
        (tmp_path / "blog" / "moon").write_text("a file where a folder should be")
        with pytest.raises(StorageUnavailable):
            await storage.put("moon/en.json", b"one")


async def test_no_url_means_no_storage(tmp_path: Path) -> None:
    assert open_storage_of(make_settings(tmp_path, blog_storage_url=None)) is None


@pytest.mark.parametrize("url", ["s3:///", "blog", "ftp://blog/articles"])
async def test_a_url_that_names_no_storage_stops_the_start(url: str) -> None:
    with pytest.raises(SettingsError, match="BLOG_STORAGE_URL"):
        open_blog_storage(SecretStr(url))
