"""Files are whole and durable, even if several writers write them at the same time."""

from __future__ import annotations

import os
from errno import ENOSPC
from pathlib import Path
from threading import Thread

import pytest

from monitoring.backends.durable_files import write_durably
from this_thread import replace_in_this_thread

ALL_BYTES = bytes(range(256)) * 10


def read_all(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_two_who_write_the_same_files_in_opposite_orders_do_not_wait_for_each_other(tmp_path: Path) -> None:
    targets = [f"{tmp_path}/{number}/en.json" for number in range(8)]
    failed: list[dict[str, OSError]] = []

    def write(content: bytes, targets: list[str]) -> None:
        failed.extend(write_durably([(target, content) for target in targets]) for _ in range(20))

    contents = [letter * 1000 for letter in (b"a", b"b", b"c", b"d")]
    writers = [
        Thread(target=write, args=(content, targets[:: (1, -1)[number % 2]]), daemon=True)
        for number, content in enumerate(contents)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(timeout=15)
    assert failed == [{}] * 80
    written = read_all(tmp_path)
    assert sorted(written) == targets
    assert set(written.values()) <= set(contents)


def test_long_names_that_begin_alike_do_not_wait_for_each_other(tmp_path: Path) -> None:
    targets = [f"{tmp_path}/{'a' * 254}{number}" for number in range(2)]
    failed: list[dict[str, OSError]] = []

    def write() -> None:
        failed.append(write_durably([(target, ALL_BYTES) for target in targets]))

    writer = Thread(target=write, daemon=True)
    writer.start()
    writer.join(timeout=15)
    assert failed == [{}]
    assert read_all(tmp_path) == dict.fromkeys(targets, ALL_BYTES)


def test_what_fails_is_told_and_leaves_the_others_whole(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"no folder")
    (tmp_path / "folder" / "en.json").mkdir(parents=True)
    good = [f"{tmp_path}/{name}/en.json" for name in ("moon", "sun")]
    bad = {f"{tmp_path}/file/en.json": NotADirectoryError, f"{tmp_path}/folder/en.json": IsADirectoryError}
    failed = write_durably([(target, b"light") for target in [*good, *bad]])
    assert {target: type(error) for target, error in failed.items()} == bad
    assert read_all(tmp_path) == {f"{tmp_path}/file": b"no folder"} | dict.fromkeys(good, b"light")


def test_of_many_each_has_its_own_content(tmp_path: Path) -> None:
    contents = {f"{tmp_path}/{number}/en.json": b"%d" % number * 1000 for number in range(33)}
    taken = f"{tmp_path}/20/en.json"
    Path(taken).mkdir(parents=True)
    failed = write_durably(contents.items())
    assert {target: type(error) for target, error in failed.items()} == {taken: IsADirectoryError}
    assert read_all(tmp_path) == {target: content for target, content in contents.items() if target != taken}


def test_what_the_disk_takes_in_pieces_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write

    def write_some(descriptor: int, content: memoryview) -> int:
        return write(descriptor, content[:700])

    replace_in_this_thread(monkeypatch, os, "write", write_some)
    assert write_durably([(f"{tmp_path}/moon", ALL_BYTES)]) == {}
    assert (tmp_path / "moon").read_bytes() == ALL_BYTES


def test_a_full_disk_leaves_the_old_file_and_no_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "moon").write_bytes(b"old")

    def refuse(*_: object) -> int:
        raise OSError(ENOSPC, os.strerror(ENOSPC))

    replace_in_this_thread(monkeypatch, os, "write", refuse)
    assert [error.errno for error in write_durably([(f"{tmp_path}/moon", b"new")]).values()] == [ENOSPC]
    assert read_all(tmp_path) == {f"{tmp_path}/moon": b"old"}


def test_what_breaks_off_leaves_no_draft_that_the_next_would_wait_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run_out_of_memory(_: int) -> None:
        raise MemoryError

    replace_in_this_thread(monkeypatch, os, "fsync", run_out_of_memory)
    with pytest.raises(MemoryError) as broken_off:
        write_durably([(f"{tmp_path}/{name}/en.json", b"light") for name in ("moon", "sun", "star")])
    assert broken_off.tb  # it may live on, with everything it refers to
    assert read_all(tmp_path) == {}


def test_each_is_synced_before_it_has_its_name_and_each_folder_once_afterwards(
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
    assert write_durably([(f"{tmp_path}/blog/{name}/en.json", b"light") for name in ("moon", "sun")]) == {}
    assert steps == [
        "sync blog/moon/.draft-en.json",
        "sync blog/sun/.draft-en.json",
        "rename blog/moon/en.json",
        "rename blog/sun/en.json",
        "sync blog/moon",
        "sync blog",
        "sync .",
        "sync blog/sun",
    ]
