"""Forms turn into the API's JSON and back without loss, and are refused in the same words."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings

from monitoring.app.form_fields import WHOLE_FORM
from monitoring.app.monitors.form import (
    MANY_LINES,
    complete_form,
    echo_form,
    patch_from,
    place_problem,
    read_form,
    write_form,
    write_hints,
    write_new_form,
)
from monitoring.app.monitors.labels import ERRORS, LABELS, STATUSES
from monitoring.app.monitors.type_forms import TYPE_FORMS
from monitoring.backends.encryption import MASK
from monitoring.contract.catalogue import Catalogue
from monitoring.contract.configurations import field_names
from monitoring.contract.document import published_document
from monitoring.contract.problems import Problem
from monitoring.monitors.configuration import complete_settings, default_configuration, monitor_types
from monitoring.monitors.rules import change, complete
from monitors.configurations import URL, configuration_with, creations

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

CATALOGUE = Catalogue(published_document())

ONE_LINE = LABELS.keys() - MANY_LINES


def _form_with(**typed: str) -> dict[str, str]:
    """Return a new form with these fields filled in."""
    return {**write_new_form("http"), "url": URL, **typed}


def _send(form: Mapping[str, str], line_end: str = "\n") -> dict[str, str]:
    """Change a form as a browser does: no line ends in one-line fields, one kind of line end elsewhere."""
    sent = {name: text.replace("\r\n", "\n").replace("\r", "\n") for name, text in form.items()}
    return {
        name: text.replace("\n", "" if name in ONE_LINE else line_end) for name, text in sent.items() if text
    }


def _refuse(act: Callable[[], Any]) -> Problem:
    with pytest.raises(Problem) as raised:
        act()
    return raised.value


class TestAnUntouchedForm:
    def test_that_is_new_asks_for_the_defaults(self) -> None:
        assert complete(read_form(_form_with()), default_configuration()) == configuration_with()

    @settings(deadline=None)  # the first one reads the document
    @given(creations)
    @pytest.mark.parametrize("line_end", ["\n", "\r\n"])
    def test_changes_nothing_whatever_the_api_was_given(self, line_end: str, created: dict[str, Any]) -> None:
        saved = complete(created, default_configuration())
        patch = patch_from(read_form(_send(write_form(saved), line_end), saved), saved)
        assert change(saved, patch, default_configuration()) == saved

    @settings(deadline=None)  # the first one reads the document
    @given(creations)
    def test_shows_the_same_again(self, created: dict[str, Any]) -> None:
        saved = complete(created, default_configuration())
        shown = write_form(saved)
        again = complete(read_form(_send(shown), saved), default_configuration())
        assert write_form(again) == shown
        assert shown.keys() == http_fields()


def http_fields() -> set[str]:
    """Name the fields of the document for http, those of a contract each by itself."""
    of_contract = {f"contract.{name}" for name in field_names("ContractCreate")}
    return configuration_with().keys() - {"contract"} | of_contract


# What is typed, and what the API's JSON then says.
TYPED: list[tuple[str, str, Any]] = [
    ("name", "  Storefront ", "Storefront"),
    ("name", "", "shop.example.com"),
    ("name", "   ", "shop.example.com"),
    ("url", f" {URL}\t", URL),
    ("method", "POST", "POST"),
    ("request_headers", "", {}),
    (
        "request_headers",
        "Accept:text/html\r\n\r\n X-Time:\t12:30 \nX-Empty:",
        {"Accept": "text/html", "X-Time": "12:30", "X-Empty": ""},
    ),
    ("request_headers", "X-Odd: a\x85b", {"X-Odd": "a\x85b"}),
    ("request_body", "one\r\ntwo ", "one\ntwo "),
    ("request_body", "", None),
    ("expected_status_codes", "204, 2xx 200-299\n301", ["204", "2xx", "200-299", "301"]),
    ("expected_status_codes", " , ", ["2xx"]),
    ("required_keyword", " ok ", " ok "),
    ("required_keyword", "", None),
    ("forbidden_keyword", "<b>", "<b>"),
    (
        "assertions",
        "json $.ok equals true\n\n header X-Api-Version  equals 2",
        [
            {"source": "json", "path": "$.ok", "comparison": "equals", "value": True},
            {"source": "header", "name": "X-Api-Version", "comparison": "equals", "value": "2"},
        ],
    ),
    (
        "assertions",
        'json $.a[?@.b == "c d"].n equals "3"',
        [{"source": "json", "path": '$.a[?@.b == "c d"].n', "comparison": "equals", "value": "3"}],
    ),
    (
        "assertions",
        'body matches "status":\\s*"ok"',
        [{"source": "body", "comparison": "matches", "value": '"status":\\s*"ok"'}],
    ),
    (
        "assertions",
        "first_byte_ms less_than 500",
        [{"source": "first_byte_ms", "comparison": "less_than", "value": 500}],
    ),
    ("assertions", "header Age exists", [{"source": "header", "name": "Age", "comparison": "exists"}]),
    ("assertions", " ", []),
    ("retry_interval_seconds", "30", 30),
    ("certificate_authority", "", None),
    ("interval_seconds", " 60 ", 60),
    ("interval_seconds", "", 300),
    ("timeout_seconds", "010", 10),
    ("follow_redirects", "", False),
    ("follow_redirects", "on", True),
    ("verify_tls", "", False),
    ("tls_expiry_warning_days", "0", 0),
    ("slow_threshold_ms", "2000", 2000),
    ("slow_threshold_ms", "", None),
    ("failure_threshold", "10", 10),
    ("recovery_threshold", "", 2),
    ("paused", "on", True),
    ("tags", "shop,production  eu", ["shop", "production", "eu"]),
    ("tags", "Shop EU", ["shop", "eu"]),
    ("tags", "", []),
]


class TestCompleting:
    @pytest.mark.parametrize(
        "typed",
        [
            "example.com",
            "shop.example.com/health?q=http://a#b",
            "localhost",
            "intranet:8080/",
            "192.0.2.1",
            "[2001:db8::1]:8080/",
            "bücher.example",
        ],
    )
    def test_puts_https_before_what_looks_like_a_host(self, typed: str) -> None:
        assert complete_form({"url": f" {typed} "})["url"] == f"https://{typed}"

    @pytest.mark.parametrize(
        "typed",
        [
            "",
            "nowhere",
            "http://example.com",
            "HTTPS://example.com",
            "ftp://example.com",
            "mailto:alice@example.com",
            "javascript:alert(1)",
            "alice:secret@example.com",
            "example.com:port",
            "//example.com",
            "/health",
            "." * 100_000 + "@",
        ],
    )
    def test_leaves_anything_else_as_it_was_typed(self, typed: str) -> None:
        assert complete_form({"url": typed})["url"] == typed


class TestReading:
    @pytest.mark.parametrize(("name", "text", "value"), TYPED)
    def test_makes_json_of_what_was_typed(self, name: str, text: str, value: Any) -> None:
        given = read_form(_form_with(**{"method": "POST", name: text}))
        assert complete(given, default_configuration())[name] == value

    @pytest.mark.parametrize(("name", "text", "value"), TYPED)
    def test_makes_the_same_of_a_change(self, name: str, text: str, value: Any) -> None:
        saved = configuration_with(
            name="Before",
            method="PUT",
            request_headers={"Before": "1", "ACCEPT": "2"},
            request_body="before",
            expected_status_codes=["404"],
            required_keyword="before",
            forbidden_keyword="before",
            interval_seconds=1000,
            timeout_seconds=3,
            tls_expiry_warning_days=3,
            slow_threshold_ms=3,
            failure_threshold=3,
            recovery_threshold=3,
            tags=["before"],
        )
        patch = patch_from(read_form({**write_form(saved), name: text}, saved), saved)
        assert change(saved, patch, default_configuration()) == {**saved, name: value}

    def test_knows_each_field_of_the_document_by_a_label_and_shows_it_once(self) -> None:
        shown = {monitor_type: form.fields for monitor_type, form in TYPE_FORMS.items()}
        assert tuple(shown) == monitor_types()
        assert set(chain(*shown.values())) == LABELS.keys()
        assert all(len(set(fields)) == len(fields) for fields in shown.values())
        assert set(shown["http"]) == http_fields()

    @pytest.mark.parametrize("monitor_type", TYPE_FORMS)
    def test_shows_every_setting_of_a_type_and_no_other(self, monitor_type: str) -> None:
        settings = {name for name in TYPE_FORMS[monitor_type].fields if "." in name} - http_fields()
        assert settings == {f"{monitor_type}.{name}" for name in complete_settings(monitor_type, {})}

    def test_knows_every_state_and_error_of_the_document(self) -> None:
        schemas = published_document().root["components"]["schemas"]
        assert list(STATUSES) == schemas["MonitorStatus"]["enum"]
        assert ERRORS.keys() == set(schemas["CheckError"]["enum"])

    def test_tells_the_bounds_of_the_document(self) -> None:
        assert write_hints("http")["interval_seconds"] == "30 to 86400."


class TestRefusing:
    @pytest.mark.parametrize(
        ("name", "text", "sentence"),
        [
            ("url", "", "Is required"),
            ("name", "\u200b\u202e", "Must be 1 to 100 characters, of which at least one is visible"),
            ("interval_seconds", "soon", "Must be a whole number"),
            ("interval_seconds", "1.5", "Must be a whole number"),
            ("interval_seconds", "9" * 5000, "Must be a whole number"),
            ("interval_seconds", "29", "Must be at least 30"),
            ("slow_threshold_ms", "60001", "Must be at most 60000"),
            ("tags", "shop shop", "Must not repeat an entry"),
            ("expected_status_codes", "2xx,abc", 'abc: must be text such as "204", "2xx" or "200-299"'),
            ("request_headers", "Accept", "Has the wrong form"),
            ("assertions", "json $.a exists\nfine", "Assertion 2: has the wrong form"),
            ("assertions", "json $.a equals", "Assertion 1: is required"),
            ("method", "TRACE", "Must be one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"),
        ],
    )
    def test_puts_the_documents_sentence_under_its_field(self, name: str, text: str, sentence: str) -> None:
        form = _form_with(**{name: text})
        assert place_problem(_refuse(lambda: read_form(form)), CATALOGUE, form) == {name: sentence}

    def test_names_the_entry_that_is_wrong(self) -> None:
        form = _form_with(tags="shop, Größe, eu")
        [(name, sentence)] = place_problem(_refuse(lambda: read_form(form)), CATALOGUE, form).items()
        assert name == "tags"
        assert sentence.startswith("Größe: must be 1 to 40")
        form = _form_with(request_headers="X-One: ok\nX-Two: 日本")
        [(name, sentence)] = place_problem(_refuse(lambda: read_form(form)), CATALOGUE, form).items()
        assert name == "request_headers"
        assert sentence.startswith("X-Two: must be at most 2048")

    def test_tells_everything_that_is_wrong_in_the_order_of_the_form(self) -> None:
        form = _form_with(request_headers="Accept", tags="Größe", interval_seconds="soon", url="")
        placed = place_problem(_refuse(lambda: read_form(form)), CATALOGUE, form)
        assert list(placed) == ["url", "interval_seconds", "tags", "request_headers"]

    def test_names_the_header_whose_mask_stands_for_nothing(self) -> None:
        form = _form_with(request_headers=f"X-Key: {MASK}")
        [(name, sentence)] = place_problem(
            Problem("request_header_masked", name="X-Key"), CATALOGUE, form
        ).items()
        assert name == "request_headers"
        assert sentence.startswith("X-Key: has no stored value")

    def test_calls_other_fields_by_their_labels(self) -> None:
        problem = Problem("invalid_field", field="timeout_seconds", problem="must be below interval_seconds")
        placed = place_problem(problem, CATALOGUE, _form_with())
        assert placed == {"timeout_seconds": "Must be below “Interval in seconds”"}

    def test_puts_what_is_about_no_field_above_the_form(self) -> None:
        placed = place_problem(Problem("monitor_limit_reached", max_monitors=3), CATALOGUE, _form_with())
        assert placed == {
            WHOLE_FORM: CATALOGUE.respond("monitor_limit_reached", values={"max_monitors": 3}).body["error"]
        }

    def test_repeats_what_was_typed_and_nothing_else(self) -> None:
        typed = _form_with(interval_seconds="soon", tags="A B")
        assert echo_form({**typed, "csrf_token": "secret", "form_id": "1"}) == typed
