"""Hostile requests over a bare socket never get a 5xx, and always the document's error body."""

import re
from pathlib import Path

import pytest

import monitoring
from bakery.requests import ALICE, FORM, JSON, refusal
from raw_http import Address, Answer, exchange, request

READS_A_BODY_ITSELF = re.compile(r"\.(body|form|stream)\(\)")


def bake(address: Address, body: bytes, *headers: str) -> Answer:
    return exchange(address, request("POST", "/loaves", ALICE, *(headers or (JSON,)), body=body))


def list_loaves(address: Address, query: str, *headers: str) -> Answer:
    return exchange(address, request("GET", f"/loaves{query}", ALICE, *headers))


class TestJsonBodies:
    @pytest.mark.parametrize(
        ("body", "error"),
        [
            (b"{", "Not JSON"),
            (b"   ", "Not JSON"),
            (b'{"name": "\xff"}', "Not JSON"),
            (b'{"name": "\xed\xa0\x80"}', "Not JSON"),
            (b'{"name": NaN}', "Not JSON"),
            (b'{"name": -Infinity}', "Not JSON"),
            (b'{"name": "a\nb"}', "Not JSON"),
            (b'{"name": "a"} {}', "Not JSON"),
            (b"\x00", "Not JSON"),
            (b'{"name": "\\ud800"}', "name: holds characters that cannot be stored"),
            (b'{"labels": {"a": "\\udc00"}}', "labels.a: holds characters that cannot be stored"),
            (b'{"\\ud800": 1}', "?: holds characters that cannot be stored"),
            (b'{"name": "a", "name": "b"}', "name: is given twice"),
            (b'{"notes": [{"x": 1, "x": 1}]}', "x: is given twice"),
            (b'{"na\\u006de": "a", "name": "b"}', "name: is given twice"),
            (b'{"notes": 1e999}', "body: holds a number that is too large"),
            (b'{"notes": ' + b"9" * 5000 + b"}", "body: holds a number that is too large"),
            (b'{"notes": ' + b"[" * 64 + b"]" * 64 + b"}", "body: is nested too deeply"),
            (b"[" * 90_000, "body: is nested too deeply"),
            (b'{"a":' * 30_000, "body: is nested too deeply"),
            (b"[]", "body: must be object"),
            (b"null", "body: must be object"),
            (b'{"name": 1}', "name: must be 1 to 40 lower-case letters"),
            (b'{"name": "a\\n"}', "name: must be 1 to 40 lower-case letters"),
            (b"{}", "name: is required"),
            (b'{"name": "a", "colour": 1}', "colour: is not known"),
            (b'{"name": "a", "inside": {"name": "b", "colour": 1}}', "inside.colour: is not known"),
            (b'{"name": "a", "weight_grams": 1.5}', "weight_grams: must be integer or null"),
            (b'{"name": "a", "weight_grams": 1}', "weight_grams: must be above 1"),
            (b'{"name": "a", "labels": {"x": "123456"}}', "labels.x: must have at most 5 characters"),
            (b'{"name": "a", "slices": [{"millimetres": "1"}]}', "slices.0.millimetres: must be integer"),
        ],
    )
    def test_are_refused_by_name(self, bakery: Address, body: bytes, error: str) -> None:
        assert refusal(bake(bakery, body)) == (400, error)

    def test_a_long_unknown_name_is_cut(self, bakery: Address) -> None:
        status, error = refusal(
            bake(bakery, b'{"name": "a", "' + b"x\t".replace(b"\t", b"\\t") * 9000 + b'": 1}')
        )
        assert status == 400
        assert len(error) <= 200
        assert error.isprintable()

    def test_an_empty_body_is_asked_for(self, bakery: Address) -> None:
        assert refusal(bake(bakery, b"")) == (400, "Body required")

    @pytest.mark.parametrize("number", [b"300.0", b"3e2", b"300"])
    def test_an_integer_may_be_written_as_a_float(self, bakery: Address, number: bytes) -> None:
        answer = bake(bakery, b'{"name": "a", "weight_grams": %s, "slices": [{"millimetres": 9.0}]}' % number)
        assert answer.status == 201
        assert b'"weight_grams":300,' in answer.body
        assert b'"millimetres":9}' in answer.body

    def test_a_number_the_schema_leaves_open_stays_as_sent(self, bakery: Address) -> None:
        assert b'"notes":[1.0,2]' in bake(bakery, b'{"name": "a", "notes": [1.0, 2]}').body

    def test_sixty_four_levels_and_64_bits_are_served(self, bakery: Address) -> None:
        notes = b"[" * 63 + b"18446744073709551615,-9223372036854775808" + b"]" * 63
        assert bake(bakery, b'{"name": "a", "notes": %s}' % notes).status == 201


class TestContentTypes:
    @pytest.mark.parametrize(
        "headers",
        [
            ("X-No-Type: at-all",),
            ("Content-Type:",),
            ("Content-Type: \xff\xfe",),
            ("Content-Type: ;;;",),
            ("Content-Type: text/plain",),
            ("Content-Type: application/jsonx",),
            ("Content-Type: application/json; charset=latin-1",),
            ("Content-Type: application/json; charset=utf-8; charset=utf-16",),
            (JSON, "Content-Type: text/plain"),
            (JSON, JSON),
            (FORM,),
            ("Content-Type: multipart/form-data; boundary=",),
        ],
    )
    def test_that_the_document_does_not_name_are_unsupported(
        self, bakery: Address, headers: tuple[str, ...]
    ) -> None:
        assert refusal(bake(bakery, b'{"name": "a"}', *headers)) == (415, "Unsupported media type")

    @pytest.mark.parametrize("media_type", ['APPLICATION/JSON; Charset="UTF-8"', "application/json ;x=y"])
    def test_are_read_as_rfc_9110_says(self, bakery: Address, media_type: str) -> None:
        assert bake(bakery, b'{"name": "a"}', f"Content-Type: {media_type}").status == 201


class TestForms:
    def order(self, bakery: Address, body: bytes) -> Answer:
        return exchange(bakery, request("POST", "/receipts", FORM, body=body))

    @pytest.mark.parametrize(
        ("body", "description"),
        [
            (b"customer=%zz", "Not a form"),
            (b"customer=%", "Not a form"),
            (b"customer=%ff", "Not a form"),
            (b"customer=\xff", "Not a form"),
            (b"&".join(b"f%d=1" % number for number in range(2000)), "Not a form"),
            (b"customer=a&customer=a", "customer: is given twice"),
            (b"customer=a&tip=1&tip=1", "tip: is given twice"),
            (b"customer=", "customer: is required"),
            (b"&&&", "customer: is required"),
            (b"customer=a&tip=2", "tip: must be one of 0, 1"),
            (b"", "No form"),
        ],
    )
    def test_are_refused_in_the_words_of_the_operation(
        self, bakery: Address, body: bytes, description: str
    ) -> None:
        answer = self.order(bakery, body)
        assert (answer.status, answer.json) == (
            400,
            {"error": "bad_receipt", "error_description": description},
        )

    def test_may_repeat_what_the_document_does_not_know(self, bakery: Address) -> None:
        assert self.order(bakery, b"customer=a&x=1&x=2").status == 200

    def test_are_decoded(self, bakery: Address) -> None:
        assert self.order(bakery, b"customer=J%C3%BCrg+O%26H&unknown=x").json == {
            "customer": "Jürg O&H",
            "unknown": "x",
        }


class TestQueries:
    @pytest.mark.parametrize(
        ("query", "error"),
        [
            ("?limit=0", "limit: is invalid"),
            ("?limit=1e1", "limit: must be integer"),
            ("?limit=", "limit: must be integer"),
            ("?limit=%D9%A1", "limit: must be integer"),
            ("?limit=" + "9" * 5000, "limit: must be integer"),
            ("?limit=101", "limit: must be at most 100"),
            ("?limit=1&limit=1", "limit: is given twice"),
            ("?max_weight=nan", "max_weight: must be number"),
            ("?max_weight=1e999", "max_weight: must be number"),
            ("?sliced=yes", "sliced: must be boolean"),
            ("?grain=oat", "grain: must be one of rye, wheat"),
            ("?baked_before=2026-01-01", "baked_before: is invalid"),
            ("?tag=" + "x" * 10, "tag.0: must have at most 9 characters"),
            ("?tag=a&tag=b&tag=c&tag=d", "tag: is invalid"),
            ("?colour=red", "colour: is not known"),
            ("?=1", ": is not known"),
            ("?limit=%zz", "Malformed request"),
            ("?limit=%ff", "Malformed request"),
            ("?" + "&".join(f"q{number}=1" for number in range(2000)), "Malformed request"),
        ],
    )
    def test_are_refused_by_name(self, bakery: Address, query: str, error: str) -> None:
        assert refusal(list_loaves(bakery, query)) == (400, error)

    def test_are_cast_and_defaulted(self, bakery: Address) -> None:
        answer = list_loaves(bakery, "?tag=a,b&tag=c%20d&sliced=true&max_weight=1.5")
        shown = {"oven": None, "caller": "alice", "scope": "loaves:read"}
        assert answer.json == {"limit": 50, "tag": ["a,b", "c d"], **shown}
        assert list_loaves(bakery, "", "Oven-Number: 7").json == {"limit": 50, "tag": [], **shown, "oven": 7}

    def test_header_parameters_are_judged_like_others(self, bakery: Address) -> None:
        assert refusal(list_loaves(bakery, "", "Oven-Number: x")) == (400, "Oven-Number: must be integer")
        twice = list_loaves(bakery, "", "Oven-Number: 1", "oven-number: 1")
        assert refusal(twice) == (400, "Oven-Number: is given twice")
        assert refusal(list_loaves(bakery, "", "Oven-Number: \xe9")) == (400, "Malformed request")


class TestPaths:
    @pytest.mark.parametrize(
        ("target", "status"),
        [
            ("/nowhere", 404),
            ("/", 404),
            ("//loaves", 404),
            ("/loaves/", 404),
            ("/loaves//", 404),
            ("/./loaves", 404),
            ("/%2Floaves", 404),
            ("%2Floaves", 400),
            ("/loaves%2F", 404),
            ("/loaves%252F", 404),
            ("/shelves/1%2F2", 404),
            ("/shelves/%zz", 400),
            ("/shelves/%ff", 400),
            ("/shelves/%00", 400),
            ("/health%0A", 400),
            ("/shelves/x", 400),
            ("/shelves/-1", 400),
            ("/shelves/1.0", 400),
            ("/shelves/" + "9" * 400, 400),
            ("/shelves/\xe9", 400),
            ("/loaves;a=b", 404),
            ("http://test/nowhere", 404),
            ("*", 404),
        ],
    )
    def test_have_one_spelling(self, bakery: Address, target: str, status: int) -> None:
        answer = exchange(bakery, request("GET", target))
        assert refusal(answer)[0] == status

    def test_parameters_are_cast(self, bakery: Address) -> None:
        assert exchange(bakery, request("GET", "/shelves/%31")).json == {"shelf_number": 1}


class TestMethods:
    @pytest.mark.parametrize("method", ["PATCH", "PUT", "OPTIONS", "TRACE", "PROPFIND", "DELETE"])
    def test_that_a_path_does_not_know_are_answered_with_those_it_does(
        self, bakery: Address, method: str
    ) -> None:
        answer = exchange(bakery, request(method, "/loaves"))
        assert refusal(answer) == (405, "No such method")
        assert answer.headers["allow"] == "GET, HEAD, POST"

    @pytest.mark.parametrize(
        "line", [b"BREW /loaves HTTP/1.1", b"CONNECT test:443 HTTP/1.1", b"get / HTTP/1.1"]
    )
    def test_that_nobody_knows_are_malformed(self, bakery: Address, line: bytes) -> None:
        assert refusal(exchange(bakery, line + b"\r\nHost: test\r\n\r\n")) == (400, "Malformed request")

    def test_head_is_get_without_the_body(self, bakery: Address) -> None:
        answer = exchange(bakery, request("HEAD", "/health"))
        assert (answer.status, answer.headers["content-length"], answer.body) == (200, "15", b"")

    def test_head_is_refused_like_get(self, bakery: Address) -> None:
        assert exchange(bakery, request("HEAD", "/loaves")).status == 401


def test_bodies_are_read_only_by_what_knows_the_limit() -> None:
    """Starlette's requests have methods that would read a body of any length."""
    folder = Path(monitoring.__file__).parent
    assert not [path for path in folder.rglob("*.py") if READS_A_BODY_ITSELF.search(path.read_text())]
