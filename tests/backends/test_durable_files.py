"""Files are whole and durable, even if several writers write them at the same time."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from errno import ENOSPC
from pathlib import Path

import pytest

from monitoring.backends.durable_files import write_durably
from this_thread import replace_in_this_thread

ALL_BYTES = bytes(range(256)) * 10


def read_all(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_files_that_several_threads_write_at_once_are_whole(tmp_path: Path) -> None:
    targets = [f"{tmp_path}/{number}/en.json" for number in range(8)]
    contents = [letter * 1000 for letter in (b"a", b"b", b"c", b"d")]

    def write(content: bytes) -> None:
        for target in targets * 20:
            write_durably(target, content)

    with ThreadPoolExecutor(len(contents)) as writers:
        list(writers.map(write, contents))
    written = read_all(tmp_path)
    assert sorted(written) == targets
    assert set(written.values()) <= set(contents)


def test_long_names_that_begin_alike_have_drafts_of_their_own(tmp_path: Path) -> None:
    targets = [f"{tmp_path}/{'a' * 254}{number}" for number in range(2)]
    for target in targets:
        write_durably(target, target.encode())
    assert read_all(tmp_path) == {target: target.encode() for target in targets}


def test_a_file_where_a_folder_must_be_is_an_error_and_stays(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"no folder")
    (tmp_path / "folder" / "en.json").mkdir(parents=True)
    with pytest.raises(NotADirectoryError):
        write_durably(f"{tmp_path}/file/en.json", b"light")
    with pytest.raises(IsADirectoryError):
        write_durably(f"{tmp_path}/folder/en.json", b"light")
    assert read_all(tmp_path) == {f"{tmp_path}/file": b"no folder"}


def test_what_the_disk_takes_in_pieces_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write

    def write_some(descriptor: int, content: memoryview) -> int:
        return write(descriptor, content[:700])

    replace_in_this_thread(monkeypatch, os, "write", write_some)
    write_durably(f"{tmp_path}/moon", ALL_BYTES)
    assert (tmp_path / "moon").read_bytes() == ALL_BYTES


def test_a_full_disk_leaves_the_old_file_and_no_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "moon").write_bytes(b"old")

    def refuse(*_: object) -> int:
        raise OSError(ENOSPC, os.strerror(ENOSPC))

    replace_in_this_thread(monkeypatch, os, "write", refuse)
    with pytest.raises(OSError, match=os.strerror(ENOSPC)):
        write_durably(f"{tmp_path}/moon", b"new")
    assert read_all(tmp_path) == {f"{tmp_path}/moon": b"old"}


def test_what_breaks_off_leaves_no_draft_that_the_next_would_wait_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run_out_of_memory(_: int) -> None:
        raise MemoryError

    replace_in_this_thread(monkeypatch, os, "fsync", run_out_of_memory)
    with pytest.raises(MemoryError) as broken_off:
        write_durably(f"{tmp_path}/moon/en.json", b"light")
    assert broken_off.tb  # it may live on, with everything it refers to
    assert read_all(tmp_path) == {}


def test_a_file_is_synced_before_it_has_its_name_and_its_new_folders_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    sync, replace = os.fsync, os.replace

    def note_sync(descriptor: int) -> None:
        target = Path(f"/proc/self/fd/{descriptor}").readlink()
        steps.append(f"sync {target.relative_to(tmp_path)}")
        sync(descriptor)

    def note_rename(draft: str, target: str) -> None:
        steps.append(f"rename {Path(target).relative_to(tmp_path)}")
        replace(draft, target)

    replace_in_this_thread(monkeypatch, os, "fsync", note_sync)
    replace_in_this_thread(monkeypatch, os, "replace", note_rename)
    write_durably(f"{tmp_path}/blog/moon/en.json", b"light")
    assert steps == [
        "sync blog/moon/.draft-en.json",
        "rename blog/moon/en.json",
        "sync blog/moon",
        "sync blog",
        "sync .",
    ]
