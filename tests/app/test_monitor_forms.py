"""Creating and changing monitors works in the app as in the API, field by field."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from uuid import UUID

import orjson
import pytest

from app.visitor import Visitor, read_forms, read_text
from cast import form_team
from monitoring.app.monitors.form import place_problem, write_form
from monitoring.app.sentences import NOTICES, REFUSALS
from monitoring.audit.filters import EntryFilter
from monitoring.audit.service import list_entries
from monitoring.backends.encryption import MASK
from monitoring.contract.problems import Problem
from monitoring.monitors.client_certificates import read_client_certificate
from monitoring.monitors.configuration import sent_configuration_of
from monitoring.monitors.service import get_monitor
from monitors.configurations import CERTIFICATE_AUTHORITY, CLIENT_CERTIFICATE, configuration_with
from monitors.contracts.promises import DOCUMENT
from monitors.conversations import MONITORS, URL, create, list_ids, path_of, read

if TYPE_CHECKING:
    import httpx

    from cast import Player
    from monitoring.contract.catalogue import Catalogue
    from monitoring.monitors.models import Monitor
    from running_service import RunningService

# Every field with a value other than its default, and text that is only safe when escaped.
HOSTILE = '"><script>alert(1)</script>{{ 7*7 }}'
FULL: dict[str, Any] = {
    "name": f"Shop {HOSTILE}",
    "type": "http",
    "url": "https://shop.example.com/?q=%22'\"><script>alert(1)</script>",
    "method": "POST",
    "request_headers": {"Accept": HOSTILE, "X-Two": "2"},
    "request_body": f"\n first\n\n</textarea>{HOSTILE}\n",
    "expected_status_codes": ["204", "300-399"],
    "required_keyword": f" {HOSTILE} ",
    "forbidden_keyword": "' onfocus='alert(1)",
    "assertions": [
        {"source": "json", "path": "$['</textarea>']", "comparison": "equals", "value": HOSTILE},
        {"source": "header", "name": "Age", "comparison": "less_than", "value": 60},
    ],
    "interval_seconds": 61,
    "timeout_seconds": 60,
    "follow_redirects": False,
    "verify_tls": False,
    "certificate_authority": CERTIFICATE_AUTHORITY,
    "tls_expiry_warning_days": 0,
    "slow_threshold_ms": 1,
    "failure_threshold": 10,
    "recovery_threshold": 1,
    "retry_interval_seconds": 30,
    "paused": True,
    "tags": ["shop", "a_b-1"],
}


BOXES = ("follow_redirects", "verify_tls", "paused")


def _typed(**fields: Any) -> dict[str, Any]:
    """Return what a browser sends for a form with these fields: nothing for an empty checkbox."""
    written = write_form({**configuration_with(), **fields})
    boxes = {name: [text] if text else [] for name, text in written.items() if name in BOXES}
    return {**written, **boxes, "interval_choice": ""}  # other


async def _read_sent(monitor: Monitor) -> dict[str, str]:
    headers: dict[str, str] = sent_configuration_of(monitor)["request_headers"]
    return headers


def _form_page(monitor: dict[str, Any]) -> str:
    return f"/monitors/{monitor['id']}/edit"


def _configuration_of(monitor: dict[str, Any]) -> dict[str, Any]:
    return {name: monitor[name] for name in FULL}


def _only_monitor(alice: Player) -> dict[str, Any]:
    [monitor_id] = list_ids(alice)
    return read(alice, {"id": monitor_id})


def _acts_of(service: RunningService, visitor: Visitor) -> list[tuple[str, str]]:
    own = EntryFilter(who=visitor.email)
    entries = service.run(list_entries(visitor.team.id, 100, None, own)).rows[::-1]
    return [(entry.action, entry.subject) for entry in entries if entry.action.startswith("monitor.")]


def _says(answer: httpx.Response, text: str) -> bool:
    return text in read_text(answer.text)


class TestCreating:
    def test_takes_a_host_and_shows_the_address_that_it_made_of_it(
        self, member: Visitor, alice: Player
    ) -> None:
        refused = member.submit(
            "/monitors/new", url="shop.example.com", interval_choice="", interval_seconds="5"
        )
        assert 'value="https://shop.example.com"' in refused.text
        member.submit("/monitors/new", url="shop.example.com")
        (monitor,) = alice.get(MONITORS).json()["monitors"]
        assert monitor["url"].startswith("https://shop.example.com")
        assert alice.post(MONITORS, json={"url": "shop.example.com"}).status_code == 400

    def test_needs_no_more_than_a_url(self, service: RunningService, member: Visitor, alice: Player) -> None:
        created = member.submit("/monitors/new", url=URL)
        monitor = _only_monitor(alice)
        assert created.url.path == f"/app/monitors/{monitor['id']}"
        assert _says(created, NOTICES["monitor_created"])
        assert monitor.items() >= configuration_with().items()
        assert _acts_of(service, member) == [("monitor.created", "shop.example.com")]

    def test_with_every_field_makes_what_the_api_says_and_the_form_shows(
        self, owner: Visitor, alice: Player
    ) -> None:
        owner.submit("/monitors/new", **_typed(**FULL))
        monitor = _only_monitor(alice)
        assert _configuration_of(monitor) == FULL
        shown = read_forms(owner.open(_form_page(monitor)).text)[f"/app{_form_page(monitor)}"]
        sent = {name: text for name, text in _typed(**FULL).items() if text and name in FULL}
        assert {name: value for name, value in shown.items() if name in FULL} == sent

    def test_takes_an_interval_from_the_list_or_any_other(self, owner: Visitor, alice: Player) -> None:
        owner.submit("/monitors/new", url=URL, interval_choice="60", interval_seconds="45")
        monitor = _only_monitor(alice)
        shown = read_forms(owner.open(_form_page(monitor)).text)[f"/app{_form_page(monitor)}"]
        assert (monitor["interval_seconds"], shown["interval_choice"]) == (60, "60")
        owner.submit(_form_page(monitor), interval_choice="", interval_seconds="45")
        shown = read_forms(owner.open(_form_page(monitor)).text)[f"/app{_form_page(monitor)}"]
        assert (shown["interval_choice"], shown["interval_seconds"]) == ("", "45")
        assert read(alice, monitor)["interval_seconds"] == 45

    def test_twice_with_one_form_makes_one(
        self, service: RunningService, owner: Visitor, alice: Player
    ) -> None:
        form = read_forms(owner.open("/monitors/new").text)["/app/monitors/new"] | {"url": URL}
        with ThreadPoolExecutor(4) as browsers:
            answers = list(browsers.map(lambda _: owner.post("/monitors/new", data=form), range(4)))
        monitor = _only_monitor(alice)
        assert {answer.url.path for answer in answers} == {f"/app/monitors/{monitor['id']}"}
        assert len(_acts_of(service, owner)) == 1

    def test_something_else_with_a_spent_form_asks_once_more(self, owner: Visitor, alice: Player) -> None:
        form = read_forms(owner.open("/monitors/new").text)["/app/monitors/new"]
        owner.post("/monitors/new", data=form | {"url": URL})
        asked = owner.post("/monitors/new", data=form | {"url": f"{URL}/2"})
        assert asked.status_code == 422
        assert _says(asked, REFUSALS["monitor_form_spent"])
        assert len(list_ids(alice)) == 1
        owner.post("/monitors/new", data=read_forms(asked.text)["/app/monitors/new"])
        assert len(list_ids(alice)) == 2

    @pytest.mark.parametrize(
        ("fields", "meant"),
        [
            ({"request_body": "x"}, {"request_body": "x"}),
            ({"method": "HEAD", "required_keyword": "x"}, {"method": "HEAD", "required_keyword": "x"}),
            ({"request_headers": "Host: x"}, {"request_headers": {"Host": "x"}}),
            ({"request_headers": "ä: 1"}, {"request_headers": {"ä": "1"}}),
            ({"url": "https://1.2.3.4.5/"}, {"url": "https://1.2.3.4.5/"}),
        ],
    )
    def test_is_refused_with_the_words_of_the_api_at_the_field(
        self,
        owner: Visitor,
        alice: Player,
        catalogue: Catalogue,
        fields: dict[str, str],
        meant: dict[str, Any],
    ) -> None:
        typed = {"url": URL, "name": "Kept <name>", "tags": "kept", **fields}
        refused = owner.submit("/monitors/new", **typed)
        assert refused.status_code == 400
        told = alice.post(MONITORS, json={"url": URL, **meant}).json()["error"]
        field, _, words = told.partition(": ")
        problem = Problem("invalid_field", field=field, problem=words)
        assert field in meant
        shown = refused.text.partition(f'id="error-{field}">')[2].partition("</p>")[0]
        assert read_text(shown) == place_problem(problem, catalogue, {"type": "http", **typed})[field]
        kept = read_forms(refused.text)["/app/monitors/new"]
        assert {name: kept[name] for name in typed} == typed
        assert list_ids(alice) == []

    def test_names_the_assertion_that_nobody_can_read(self, owner: Visitor, alice: Player) -> None:
        refused = owner.submit("/monitors/new", url=URL, assertions="header Age exists\njson $.a[ exists")
        assert refused.status_code == 422
        assert _says(
            refused, "Assertion 2: must be a JSONPath (RFC 9535), which this is not from character 5 on"
        )
        assert list_ids(alice) == []

    def test_says_when_the_plan_is_full(self, service: RunningService, catalogue: Catalogue) -> None:
        team = form_team(service, max_monitors=1)
        with Visitor(service, team) as owner:
            assert owner.submit("/monitors/new", url=URL).status_code == 200
            refused = owner.submit("/monitors/new", url=URL)
            assert refused.status_code == 403
            assert _says(
                refused, catalogue.respond("monitor_limit_reached", values={"max_monitors": 1}).body["error"]
            )
            assert len(_acts_of(service, owner)) == 1

    @pytest.mark.parametrize("form_id", ["", "1", "x" * 300])
    def test_takes_no_form_id_of_others(self, owner: Visitor, alice: Player, form_id: str) -> None:
        assert owner.submit("/monitors/new", url=URL, form_id=form_id).status_code == 400
        assert list_ids(alice) == []


class TestClientCertificate:
    def test_is_kept_replaced_or_removed_and_never_shown(
        self, service: RunningService, owner: Visitor, alice: Player
    ) -> None:
        def read_stored() -> str | None:
            async def read_row() -> str | None:
                row = await get_monitor(owner.team.id, UUID(monitor["id"]))
                return read_client_certificate(row.client_certificate)

            return service.run(read_row())

        owner.submit("/monitors/new", url=URL, client_certificate=CLIENT_CERTIFICATE)
        monitor = _only_monitor(alice)
        assert read_stored() == CLIENT_CERTIFICATE
        page = owner.open(_form_page(monitor)).text
        assert CLIENT_CERTIFICATE.splitlines()[2] not in page
        assert "Replace" in page
        owner.submit(_form_page(monitor), name="Shop")
        assert (read(alice, monitor)["name"], read_stored()) == ("Shop", CLIENT_CERTIFICATE)
        other = CLIENT_CERTIFICATE + "\n"
        owner.submit(_form_page(monitor), client_certificate=other)
        assert str(read_stored()).split() == CLIENT_CERTIFICATE.split()
        owner.submit(_form_page(monitor), removed_secret="client_certificate")
        assert read_stored() is None


class TestContract:
    def test_that_stays_is_shown_and_kept_without_its_document(self, owner: Visitor, alice: Player) -> None:
        contract = {"document": DOCUMENT, "operation_id": "get_order", "parameters": {"order_id": 42}}
        monitor = create(alice, contract=contract)
        page = owner.open(_form_page(monitor)).text
        assert read_forms(page)[f"/app{_form_page(monitor)}"]["contract.parameters"] == "order_id: 42"
        changed = owner.submit(_form_page(monitor), name="Orders")
        assert _says(changed, "get_order")
        after = read(alice, monitor)
        assert (after["name"], after["contract"]) == ("Orders", monitor["contract"])

    def test_is_made_changed_and_removed_by_the_form(self, owner: Visitor, alice: Player) -> None:
        monitor = create(alice)
        typed = {
            "contract.document": orjson.dumps(DOCUMENT).decode(),
            "contract.operation_id": " get_order ",
            "contract.parameters": "order_id: 42",
            "contract.violation": "degraded",
        }
        assert _says(owner.submit(_form_page(monitor), **typed), NOTICES["monitor_updated"])
        made = read(alice, monitor)["contract"]
        assert (made["operation_id"], made["parameters"]) == ("get_order", {"order_id": "42"})
        assert (made["violation"], made["refresh_interval_seconds"]) == ("degraded", 3600)
        owner.submit(
            _form_page(monitor), **{"contract.violation": "down", "contract.parameters": "order_id: 7"}
        )
        changed = read(alice, monitor)["contract"]
        assert (changed["violation"], changed["parameters"]) == ("down", {"order_id": "7"})
        owner.submit(_form_page(monitor), **{"contract.operation_id": ""})
        assert read(alice, monitor)["contract"] is None

    def test_of_a_new_monitor_is_judged_beside_its_fields(self, owner: Visitor) -> None:
        wrong: dict[str, dict[str, str]] = {
            "contract.operation_id": {"contract.document": orjson.dumps(DOCUMENT).decode()},
            "contract.document": {"contract.operation_id": "get_order", "contract.document": "no JSON"},
            "contract.parameters": {"contract.operation_id": "get_order", "contract.parameters": "no colon"},
            "contract.refresh_interval_seconds": {
                "contract.operation_id": "get_order",
                "contract.refresh_interval_seconds": "soon",
            },
        }
        for name, typed in wrong.items():
            page = owner.submit("/monitors/new", url="https://shop.example.com/", **typed)
            assert page.status_code == 400, name
            assert f'id="error-{name}"' in page.text
        document = orjson.dumps(DOCUMENT).decode()
        typed = {"contract.document": document, "contract.operation_id": "no_such_operation"}
        page = owner.submit("/monitors/new", url="https://shop.example.com/", **typed)
        assert page.status_code == 422
        assert 'id="error-contract.operation_id"' in page.text
        assert "no_such_operation" in page.text

    def test_without_an_operation_and_a_document_there_is_none(self, owner: Visitor, alice: Player) -> None:
        owner.submit("/monitors/new", name="Plain", url="https://shop.example.com/")
        (monitor,) = alice.get("/api/monitors").json()["monitors"]
        assert monitor["contract"] is None


class TestChanging:
    def test_every_field_makes_what_the_api_says(
        self, service: RunningService, member: Visitor, alice: Player
    ) -> None:
        monitor = create(alice, name="Before")
        changed = member.submit(_form_page(monitor), **_typed(**FULL))
        assert _says(changed, NOTICES["monitor_updated"])
        assert _configuration_of(read(alice, monitor)) == FULL
        assert _acts_of(service, member) == [("monitor.updated", FULL["name"])]

    def test_nothing_keeps_the_version_and_is_no_act(
        self, service: RunningService, owner: Visitor, alice: Player
    ) -> None:
        monitor = create(alice, **FULL | {"name": "two\nlines", "request_body": "a\r\nb\rc"})
        before = alice.get(path_of(monitor))
        assert owner.submit(_form_page(monitor)).status_code == 200
        after = alice.get(path_of(monitor))
        assert (after.json(), after.headers["etag"]) == (before.json(), before.headers["etag"])
        assert _acts_of(service, owner) == []

    def test_keeps_replaces_and_removes_credentials_that_the_form_does_not_show(
        self, service: RunningService, owner: Visitor, alice: Player
    ) -> None:
        secret = "Bearer a-secret-of-this-test"
        old = {"Cookie": "old=1", "Accept": "a", "Authorization": secret, "X-Key": "old"}
        monitor = create(alice, request_headers=old)
        opened = owner.open(_form_page(monitor))
        assert secret not in opened.text
        form = read_forms(opened.text)[f"/app{_form_page(monitor)}"]
        assert form["request_headers"] == "Accept: a"
        assert re.findall(r"<bdi>([\w-]+)</bdi>: <span[^>]*>\*+ is kept", opened.text) == [
            "Cookie",
            "Authorization",
            "X-Key",
        ]
        typed: dict[str, Any] = form | {
            "kept_header": ["Cookie", "Authorization", "X-Key"],
            "request_headers": "Accept: b",
            "removed_header_0": "on",
            "new_header_2": "new",
            "removed_header_2": "on",  # the new value wins
        }
        wrong = owner.post(_form_page(monitor), data=typed | {"timeout_seconds": "soon"})
        again = read_forms(wrong.text)[f"/app{_form_page(monitor)}"]
        assert (again["removed_header_0"], again["new_header_1"], again["new_header_2"]) == (
            ["on"],
            "",
            "new",
        )
        assert _says(owner.post(_form_page(monitor), data=typed), NOTICES["monitor_updated"])
        row = service.run(get_monitor(alice.team_id, UUID(monitor["id"])))
        assert service.run(_read_sent(row)) == {"Accept": "b", "Authorization": secret, "X-Key": "new"}

    def test_takes_a_credential_that_is_typed_as_a_line(
        self, service: RunningService, owner: Visitor, alice: Player
    ) -> None:
        monitor = create(alice, request_headers={"Authorization": "Bearer old"})
        owner.submit(_form_page(monitor), request_headers="Authorization: Bearer new")
        row = service.run(get_monitor(alice.team_id, UUID(monitor["id"])))
        assert service.run(_read_sent(row)) == {"Authorization": "Bearer new"}

    def test_refuses_a_mask_for_a_header_that_has_no_value_yet(self, owner: Visitor, alice: Player) -> None:
        monitor = create(alice)
        refused = owner.submit(_form_page(monitor), request_headers=f"X-Key: {MASK}")
        assert refused.status_code == 409
        assert _says(refused, "X-Key: has no stored value that the mask could stand for")
        assert owner.submit("/monitors/new", url=URL, request_headers=f"X-Key: {MASK}").status_code == 400
        assert read(alice, monitor) == monitor

    def test_everything_to_empty_puts_back_the_defaults(self, owner: Visitor, alice: Player) -> None:
        monitor = create(alice, **FULL)
        empty: dict[str, Any] = {**dict.fromkeys(FULL, ""), "interval_choice": ""}
        checked = {"follow_redirects": "on", "verify_tls": "on", "paused": []}
        owner.submit(_form_page(monitor), **empty | checked | {"url": URL, "type": "http", "method": "GET"})
        assert _configuration_of(read(alice, monitor)) == {name: configuration_with()[name] for name in FULL}

    def test_after_somebody_else_did_shows_both_and_takes_the_second_try(
        self, service: RunningService, owner: Visitor, alice: Player, catalogue: Catalogue
    ) -> None:
        monitor = create(alice, name="Before")
        form = read_forms(owner.open(_form_page(monitor)).text)[f"/app{_form_page(monitor)}"]
        alice.patch(path_of(monitor), json={"name": "Theirs <b>", "tags": ["theirs"]})
        theirs = read(alice, monitor)
        asked = owner.post(_form_page(monitor), data=form | {"name": "Mine"})
        assert asked.status_code == 412
        assert _says(asked, catalogue.respond("monitor_changed").body["error"])
        assert _says(asked, "Name Theirs <b> Mine")
        assert _says(asked, "Tags theirs (empty)")
        assert read(alice, monitor) == theirs
        owner.post(_form_page(monitor), data=read_forms(asked.text)[f"/app{_form_page(monitor)}"])
        assert (read(alice, monitor)["name"], read(alice, monitor)["tags"]) == ("Mine", [])
        assert _acts_of(service, owner) == [("monitor.updated", "Mine")]

    @pytest.mark.parametrize("version", ["", "0", "*", "1.0", "9" * 5000])
    def test_takes_no_version_but_the_one_it_gave(self, owner: Visitor, alice: Player, version: str) -> None:
        monitor = create(alice)
        assert owner.submit(_form_page(monitor), name="New", version=version).status_code == 412
        assert read(alice, monitor) == monitor

    def test_refused_keeps_what_was_typed_and_the_version_it_is_about(
        self, owner: Visitor, alice: Player
    ) -> None:
        monitor = create(alice)
        path = f"/app{_form_page(monitor)}"
        given = read_forms(owner.open(_form_page(monitor)).text)[path]
        alice.patch(path_of(monitor), json={"tags": ["theirs"]})
        refused = owner.post(_form_page(monitor), data=given | {"timeout_seconds": "soon"})
        assert refused.status_code == 400
        kept = read_forms(refused.text)[path]
        assert (kept["timeout_seconds"], kept["version"]) == ("soon", given["version"])

    def test_shows_hostile_text_as_text_on_every_page(self, owner: Visitor, alice: Player) -> None:
        monitor = create(alice, **FULL)
        page = f"/monitors/{monitor['id']}"
        for path in ("/monitors", page, f"{page}/edit", f"{page}/delete"):
            opened = owner.open(path)
            assert opened.status_code == 200
            assert "<script>alert" not in opened.text
            assert "' onfocus='" not in opened.text
            assert "Shop &#34;&gt;&lt;script&gt;" in opened.text
