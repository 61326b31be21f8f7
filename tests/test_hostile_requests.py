"""Sends hostile requests to the real service over a plain socket.

Each must get an error that is documented for the operation, and never a 5xx status. Nothing that was sent may
be returned or stored.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import pytest

from insider import Insider, look_at_what_is_stored
from monitoring.contract.bodies import FORM
from monitoring.contract.document import JSON
from raw_http import exchange

if TYPE_CHECKING:
    from collections.abc import Iterator

    from running_service import RunningService

JSON_OPERATIONS = ["create_monitor", "update_monitor", "deliver_article"]
TOKEN_OPERATIONS = ["issue_token", "introspect_token", "revoke_token"]
BODY_OPERATIONS = [*TOKEN_OPERATIONS, *JSON_OPERATIONS]

MONITOR = b'{"url": "https://shop.example.com/"}'
ONE_MEGABYTE = 1_000_000


@pytest.fixture
def nothing_is_stored(service: RunningService, insider: Insider) -> Iterator[None]:  # noqa: ARG001 - it is first
    before = look_at_what_is_stored(service)
    yield
    assert look_at_what_is_stored(service) == before


refused = pytest.mark.usefixtures("nothing_is_stored")


@refused
class TestJsonBodies:
    @pytest.mark.parametrize("operation_id", JSON_OPERATIONS)
    @pytest.mark.parametrize(
        ("body", "refusal"),
        [
            (b"", "body_required"),
            (b"   ", "malformed_json"),
            (b"{", "malformed_json"),
            (b"\x00", "malformed_json"),
            (b'{"a": "\xff"}', "malformed_json"),
            (b'{"a": "\xed\xa0\x80"}', "malformed_json"),
            (b'{"a": "\xc0\x80"}', "malformed_json"),
            ('{"a": "ü"}'.encode("utf-16"), "malformed_json"),
            (b'{"a": NaN}', "malformed_json"),
            (b'{"a": -Infinity}', "malformed_json"),
            (b'{"a": 0x10}', "malformed_json"),
            (b'{"a": "b\nc"}', "malformed_json"),
            (b'{"a": "\x00"}', "malformed_json"),
            (b'{"a": 1} {"a": 1}', "malformed_json"),
            (b'{"a": 1e999}', "invalid_field: body"),
            (b'{"a": -' + b"9" * 5000 + b"}", "invalid_field: body"),
            (b'{"a": ' + b"[" * 65 + b"]" * 65 + b"}", "invalid_field: body"),
            (b"[" * ONE_MEGABYTE, "invalid_field: body"),
            (b'{"a":' * 200_000, "invalid_field: body"),
            (b'{"a": ["\\ud800"]}', "invalid_field: a.0"),
            (b'{"\\udfff": 1}', "invalid_field: ?"),
            (b'{"a": 1, "a": 1}', "invalid_field: a"),
            (b'{"a": {"b": 1, "\\u0062": 2}}', "invalid_field: b"),
            (b"[]", "invalid_field: body"),
            (b"null", "invalid_field: body"),
            (b'"' + b"x" * ONE_MEGABYTE + b'"', "invalid_field: body"),
            (b"[" + b"[]," * 300_000 + b"[]]", "invalid_field: body"),
        ],
    )
    def test_that_are_unfit_are_refused_by_every_operation(
        self, insider: Insider, operation_id: str, body: bytes, refusal: str
    ) -> None:
        assert insider.refusal(insider.post(operation_id, body), operation_id) == refusal

    @pytest.mark.parametrize(
        ("operation_id", "body", "refusal"),
        [
            ("create_monitor", b"{}", "invalid_field: url"),
            ("create_monitor", b'{"url": 1}', "invalid_field: url"),
            ("create_monitor", b'{"url": "https://x/%s"}' % (b"y" * ONE_MEGABYTE), "invalid_field: url"),
            ("create_monitor", b'{"url": "https://%s/"}' % (b"a." * 400_000), "invalid_field: url"),
            (
                "create_monitor",
                MONITOR[:-1] + b', "interval_seconds": 1e18}',
                "invalid_field: interval_seconds",
            ),
            ("create_monitor", MONITOR[:-1] + b', "tags": [%s"a"]}' % (b'"a",' * 999), "invalid_field: tags"),
            ("create_monitor", MONITOR[:-1] + b', "colour": 1}', "invalid_field: colour"),
            ("update_monitor", b'{"url": null}', "invalid_field: url"),
            ("update_monitor", b'{"ids": "x"}', "invalid_field: ids"),
            ("update_monitor", b'{"request_headers": {"Host": "x"}}', "invalid_field: request_headers"),
            ("deliver_article", b"{}", "invalid_field: article"),
            ("deliver_article", b'{"article": {}}', "invalid_field: article"),
            ("deliver_article", b'{"article": {"id": 1e16}}', "invalid_field: article.id"),
            ("deliver_article", b'{"article": {"title": ["x"]}}', "invalid_field: article.title"),
            ("deliver_article", b'{"article": {"x": 1}, "event": {}}', "invalid_field: event"),
        ],
        ids=lambda value: str(value)[:40],
    )
    def test_that_the_schema_does_not_allow_are_refused_by_field(
        self, insider: Insider, operation_id: str, body: bytes, refusal: str
    ) -> None:
        assert insider.refusal(insider.post(operation_id, body), operation_id) == refusal

    def test_a_field_name_of_a_megabyte_is_cut(self, insider: Insider) -> None:
        body = b'{"url": "https://shop.example.com/", "%s": 1}' % (b"x" * ONE_MEGABYTE)
        assert insider.refusal(insider.post("create_monitor", body), "create_monitor").startswith(
            "invalid_field: x"
        )


@refused
class TestContentTypes:
    @pytest.mark.parametrize("operation_id", BODY_OPERATIONS)
    @pytest.mark.parametrize(
        "headers",
        [
            ("X-No-Type: at-all",),
            ("Content-Type:",),
            ("Content-Type: \xff\xfe",),
            ("Content-Type: ;;;",),
            ("Content-Type: */*",),
            ("Content-Type: text/plain",),
            ("Content-Type: application/jsonx",),
            ("Content-Type: application/" + "x" * 20_000,),
            ("Content-Type: application/json; charset=utf-16",),
            ("Content-Type: application/x-www-form-urlencoded; charset=latin-1",),
            ("Content-Type: multipart/form-data; boundary=",),
            ("Content-Type: application/json", "Content-Type: application/json"),
            ("Content-Type: application/x-www-form-urlencoded", "Content-Type: text/plain"),
        ],
        ids=lambda headers: " ".join(headers)[:50].encode("unicode_escape").decode(),
    )
    def test_that_are_not_the_operations_are_unsupported(
        self, insider: Insider, operation_id: str, headers: tuple[str, ...]
    ) -> None:
        answer = insider.post(operation_id, MONITOR, *headers)
        refusal = insider.refusal(answer, operation_id)
        assert refusal.removeprefix("oauth_") == "unsupported_media_type"
        assert refusal.startswith("oauth_") == (operation_id in TOKEN_OPERATIONS)
        assert answer.headers["accept"].split(", ")[0] in {JSON, FORM}
        assert "accept-encoding" not in answer.headers

    @pytest.mark.parametrize("operation_id", BODY_OPERATIONS)
    @pytest.mark.parametrize("encoding", ["gzip", "identity, gzip", "br, GZIP", "\xff"])
    def test_a_compressed_body_is_unsupported(
        self, insider: Insider, operation_id: str, encoding: str
    ) -> None:
        answer = insider.post(operation_id, MONITOR, f"Content-Encoding: {encoding}")
        assert insider.refusal(answer, operation_id).removeprefix("oauth_") == "unsupported_media_type"
        assert answer.headers["accept-encoding"] == "identity"
        assert "accept" not in answer.headers

    @pytest.mark.parametrize("encoding", ["", "identity", "identity, identity", ","])
    def test_no_coding_is_fine(self, insider: Insider, encoding: str) -> None:
        headers = (f"Content-Type: {JSON}", f"Content-Encoding: {encoding}")
        answer = insider.post("create_monitor", b"{}", *headers)
        assert insider.refusal(answer, "create_monitor") == "invalid_field: url"


@refused
class TestTokenRequests:
    @pytest.mark.parametrize(
        ("form", "refusal"),
        [
            (b"client_id=%zz", "oauth_malformed_form"),
            (b"client_id=%", "oauth_malformed_form"),
            (b"client_id=%ff", "oauth_malformed_form"),
            (b"client_id=\xff", "oauth_malformed_form"),
            (b"client_id=%00&client_secret=%00", "oauth_invalid_client"),
            (b"&".join(b"f%d=1" % number for number in range(2000)), "oauth_malformed_form"),
            (b"&" * ONE_MEGABYTE, "oauth_malformed_form"),
            (b"client_id=a&client_id=a", "oauth_invalid_field: client_id"),
            (b"unknown=a&unknown=b", "oauth_invalid_client"),
            (b"client_secret=" + b"x" * ONE_MEGABYTE, "oauth_invalid_field: client_secret"),
            (b"scope=" + b"x" * 256, "oauth_invalid_field: scope"),
            (b"grant_type=password", "oauth_invalid_client"),
            (b"client_id=a&client_secret=b", "oauth_invalid_client"),
            (b"&&&", "oauth_invalid_client"),
            (b"", "oauth_invalid_client"),
            (b"=" * 1000, "oauth_invalid_client"),
        ],
        ids=lambda value: str(value)[:30],
    )
    def test_forms_are_refused_in_oauths_words(self, insider: Insider, form: bytes, refusal: str) -> None:
        assert insider.refusal(insider.post("issue_token", form), "issue_token") == refusal

    @pytest.mark.parametrize(
        "credentials",
        [
            "",
            "Basic",
            "Basic !!!",
            "Basic \xff",
            "Bearer nonsense",
            "Basic " + "QQ" * 20_000,
            *(
                f"Basic {base64.b64encode(pair).decode()}"
                for pair in (
                    b"",
                    b":",
                    b"no colon",
                    b"\xff:\xff",
                    b"a\x00b:c\x00",
                    b"%00:%zz",
                    b"%ff:%ed%a0%80",
                )
            ),
        ],
        ids=lambda credentials: ascii(credentials[:40]),
    )
    def test_unreadable_credentials_are_wrong_ones(self, insider: Insider, credentials: str) -> None:
        answer = exchange(insider.address, insider.write("issue_token", f"Authorization: {credentials}"))
        assert insider.refusal(answer, "issue_token") == "oauth_invalid_client"

    @pytest.mark.parametrize(
        ("query", "refusal"),
        [
            ("?client_id=%zz", "oauth_malformed_request"),
            ("?a=1&a=1", "oauth_invalid_field: a"),
            ("?client_id=a&client_secret=b", "oauth_invalid_client"),
        ],
    )
    def test_a_query_carries_no_credentials(self, insider: Insider, query: str, refusal: str) -> None:
        answer = exchange(insider.address, insider.write("issue_token", query=query))
        assert insider.refusal(answer, "issue_token") == refusal


@refused
class TestQueriesAndHeaders:
    @pytest.mark.parametrize(
        ("query", "refusal"),
        [
            ("?limit=%zz", "malformed_request"),
            ("?limit=%ff", "malformed_request"),
            ("?search=", "invalid_field: search"),
            ("?search=\xff", "malformed_request"),
            ("?" + "&".join(f"q{number}=1" for number in range(2000)), "malformed_request"),
            ("?limit=1&limit=1", "invalid_field: limit"),
            ("?limit=" + "9" * 5000, "invalid_field: limit"),
            ("?limit=%D9%A1", "invalid_field: limit"),
            ("?limit=nan", "invalid_field: limit"),
            ("?limit[]=1", "invalid_field: limit[]"),
            ("?cursor=" + "A" * 50_000, "invalid_field: cursor"),
            ("?cursor=AAAA", "invalid_field: cursor"),
            ("?cursor=..%2F..%2Fetc", "invalid_field: cursor"),
            ("?paused=yes", "invalid_field: paused"),
            ("?status=UP", "invalid_field: status"),
            ("?client_secret=x", "invalid_field: client_secret"),
        ],
        ids=lambda value: ascii(value[:40]),
    )
    def test_a_list_refuses_them_by_name(self, insider: Insider, query: str, refusal: str) -> None:
        answer = exchange(insider.address, insider.write("list_monitors", query=query))
        assert insider.refusal(answer, "list_monitors") == refusal

    @pytest.mark.parametrize(
        "operation_id",
        [
            *("get_oauth_metadata", "create_monitor", "get_monitor", "deliver_article", "get_article"),
            *("get_health", "get_readiness", "get_document_yaml", "get_docs"),
        ],
    )
    @pytest.mark.parametrize(
        ("query", "refusal"), [("?x=%", "malformed_request"), ("?x=1", "invalid_field: x")]
    )
    def test_every_operation_refuses_a_query_it_does_not_know(
        self, insider: Insider, operation_id: str, query: str, refusal: str
    ) -> None:
        answer = exchange(insider.address, insider.write(operation_id, query=query))
        assert insider.refusal(answer, operation_id) == refusal

    @pytest.mark.parametrize(
        ("operation_id", "headers", "refusal"),
        [
            ("create_monitor", ("Idempotency-Key: a b",), "invalid_field: Idempotency-Key"),
            ("create_monitor", ("Idempotency-Key:",), "invalid_field: Idempotency-Key"),
            ("create_monitor", ("Idempotency-Key: " + "x" * 60_000,), "invalid_field: Idempotency-Key"),
            (
                "create_monitor",
                ("Idempotency-Key: a", "idempotency-key: b"),
                "invalid_field: Idempotency-Key",
            ),
            ("update_monitor", ("If-Match: \xff",), "malformed_request"),
            ("delete_monitor", ("If-Match: 2",), "monitor_changed"),
            ("delete_monitor", ('If-Match: "other"',), "monitor_changed"),
            ("get_monitor", ("Authorization: Bearer x",), "authorization_missing"),
            ("deliver_article", ("Authorization: Bearer \xff",), "authorization_missing"),
            ("get_article", ("Authorization: Bearer a.b.c",), "token_invalid"),
        ],
        ids=lambda value: ascii(value)[:50],
    )
    def test_headers_are_judged_like_other_parameters(
        self, insider: Insider, operation_id: str, headers: tuple[str, ...], refusal: str
    ) -> None:
        answer = exchange(insider.address, insider.write(operation_id, *headers))
        assert insider.refusal(answer, operation_id) == refusal
