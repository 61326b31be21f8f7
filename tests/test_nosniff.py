"""Tests that browsers are told not to guess the media type of any kind of response."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import httpx
import pytest

if TYPE_CHECKING:
    from running_service import RunningService


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/openapi.yaml", 200),
        ("GET", "/api/monitors", 401),
        ("GET", "/nowhere", 404),
        ("DELETE", "/openapi.yaml", 405),
        ("GET", "/app/sign-in", 200),
        ("GET", "/app/nowhere", 404),
        ("GET", "/app/assets/nothing", 404),
    ],
)
def test_an_answer_says_once_that_nothing_is_to_be_guessed(
    service: RunningService, method: str, path: str, status: int
) -> None:
    answer = httpx.request(method, f"{service.base_url}{path}", timeout=30)
    assert answer.status_code == status
    assert answer.headers.get_list("x-content-type-options") == ["nosniff"]


def test_an_unchanged_document_says_so_too(service: RunningService) -> None:
    url = f"{service.base_url}/openapi.yaml"
    tag = httpx.get(url, timeout=30).headers["etag"]
    answer = httpx.get(url, headers={"If-None-Match": tag}, timeout=30)
    assert answer.status_code == 304
    assert answer.headers.get_list("x-content-type-options") == ["nosniff"]


def test_the_answer_to_a_malformed_request_says_so_too(service: RunningService) -> None:
    with socket.create_connection(("127.0.0.1", service.port), timeout=30) as connection:
        connection.sendall(b"nonsense\r\n\r\n")
        with connection.makefile("rb") as stream:
            head = stream.read().partition(b"\r\n\r\n")[0].lower().split(b"\r\n")
    assert head[0].startswith(b"http/1.1 400")
    assert head.count(b"x-content-type-options: nosniff") == 1
