"""Monitors of every type in the app: the form, the page and the list."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from app.visitor import Visitor, read_forms, read_text
from monitoring.app.monitors.form import choices_of, labels_of
from monitoring.app.monitors.labels import CHOICES, LABELS
from monitoring.app.monitors.type_forms import TYPE_FORMS
from monitors.conversations import create, list_ids, path_of, read

if TYPE_CHECKING:
    from cast import Player
    from running_service import RunningService

# What is typed into the form of each type but http, and what the API then says. A new type is a line here.
TYPED: dict[str, dict[str, str]] = {
    "tcp": {
        "url": "db.example.com:5432",
        "tcp.tls": "on",
        "tcp.send": "EHLO me\nQUIT\n",
        "tcp.expect": "221 ",
    },
    "dns": {
        "url": "example.com",
        "dns.record_type": "MX",
        "dns.expected": "10 mail.example.com\n\n 20 backup.example.net\n",
        "dns.match": "exactly",
        "dns.resolver": "9.9.9.9",
    },
    "certificate": {
        "url": "mail.example.com:587",
        "certificate.starttls": "smtp",
        "certificate.names": "imap.example.com, www.example.com",
    },
    "ping": {"url": "router.example.com", "ping.ip_version": "6"},
    "heartbeat": {
        "name": "Backup",
        "heartbeat.period_seconds": "",
        "heartbeat.cron": "0 3 * * *",
        "heartbeat.time_zone": "Europe/Berlin",
        "heartbeat.grace_seconds": "1800",
    },
}
MEANT: dict[str, dict[str, Any]] = {
    "tcp": {
        "url": "tcp://db.example.com:5432",
        "tcp": {"tls": True, "send": "EHLO me\r\nQUIT\r\n", "expect": "221 "},
    },
    "dns": {
        "url": "dns://example.com",
        "dns": {
            "record_type": "MX",
            "expected": ["10 mail.example.com", "20 backup.example.net"],
            "match": "exactly",
            "resolver": "9.9.9.9",
        },
    },
    "certificate": {
        "url": "tls://mail.example.com:587",
        "certificate": {"starttls": "smtp", "names": ["imap.example.com", "www.example.com"]},
    },
    "ping": {"url": "ping://router.example.com", "ping": {"ip_version": 6}},
    "heartbeat": {
        "name": "Backup",
        "url": "heartbeat://job",
        "heartbeat": {
            "period_seconds": None,
            "cron": "0 3 * * *",
            "time_zone": "Europe/Berlin",
            "grace_seconds": 1800,
        },
    },
}

others = pytest.mark.parametrize("monitor_type", TYPED)


def new_form(monitor_type: str) -> str:
    return f"/monitors/new?type={monitor_type}"


def only_monitor(alice: Player) -> dict[str, Any]:
    [monitor_id] = list_ids(alice)
    return read(alice, {"id": monitor_id})


def test_every_type_is_tried() -> None:
    assert {"http", *TYPED} == TYPE_FORMS.keys()


@pytest.mark.parametrize("monitor_type", TYPE_FORMS)
def test_every_value_that_has_words_can_be_chosen(monitor_type: str) -> None:
    offered = {name: {value for value, _ in choices} for name, choices in choices_of(monitor_type).items()}
    worded = {name: set(CHOICES[name]) for name in CHOICES.keys() & set(TYPE_FORMS[monitor_type].fields)}
    assert {name: values & offered.get(name, set()) for name, values in worded.items()} == worded


class TestForm:
    def test_of_a_new_monitor_begins_with_http_and_leads_to_the_others(self, owner: Visitor) -> None:
        page = owner.open("/monitors/new").text
        chooser = page.partition('aria-label="Type">')[2].partition("</nav>")[0]
        links = re.findall(r'<a href="([^"]+)"( aria-current="true")?>([^<]+)</a>', chooser)
        assert [(title, bool(current)) for _, current, title in links] == [
            (form.title, monitor_type == "http") for monitor_type, form in TYPE_FORMS.items()
        ]
        assert read_forms(page)["/app/monitors/new"]["type"] == "http"

    @others
    def test_has_the_fields_of_its_type_and_no_other(self, owner: Visitor, monitor_type: str) -> None:
        page = owner.open(new_form(monitor_type)).text
        shown = {name for name in LABELS if f'name="{name}"' in page}
        assert shown == set(TYPE_FORMS[monitor_type].fields)

    @others
    def test_creates_what_the_api_says(self, owner: Visitor, alice: Player, monitor_type: str) -> None:
        page = owner.submit(new_form(monitor_type), **TYPED[monitor_type])
        monitor = only_monitor(alice)
        assert page.url.path == f"/app/monitors/{monitor['id']}"
        assert monitor.items() >= {"type": monitor_type, **MEANT[monitor_type]}.items()

    @others
    def test_that_is_sent_as_it_is_changes_nothing(
        self, owner: Visitor, alice: Player, monitor_type: str
    ) -> None:
        monitor = create(alice, type=monitor_type, **MEANT[monitor_type])
        owner.submit(f"/monitors/{monitor['id']}/edit")
        assert read(alice, monitor) == monitor

    @pytest.mark.parametrize("monitor_type", sorted(TYPED.keys() - {"heartbeat"}))  # which needs a schedule
    def test_that_is_emptied_puts_back_the_defaults(
        self, owner: Visitor, alice: Player, monitor_type: str
    ) -> None:
        monitor = create(alice, type=monitor_type, **MEANT[monitor_type])
        least = {name: value for name, value in MEANT[monitor_type].items() if name != monitor_type}
        defaults = create(alice, type=monitor_type, **least)[monitor_type]
        empty = {name: [] if TYPED[monitor_type][name] == "on" else "" for name in TYPED[monitor_type]}
        owner.submit(f"/monitors/{monitor['id']}/edit", **empty | {"url": monitor["url"]})
        assert read(alice, monitor)[monitor_type] == defaults

    def test_says_what_is_wrong_at_the_setting(self, owner: Visitor, alice: Player) -> None:
        page = owner.submit(new_form("tcp"), url="db.example.com", **{"tcp.expect": "x" * 256})
        assert page.status_code == 400
        wrong = {"url": "Must be tcp://host:port", "tcp.expect": "Must have a length of at most 255"}
        for name, words in wrong.items():
            shown = page.text.partition(f'id="error-{name}">')[2].partition("</p>")[0]
            assert read_text(shown).startswith(words)
        assert read_forms(page.text)["/app/monitors/new"]["type"] == "tcp"
        assert list_ids(alice) == []

    def test_of_a_type_that_there_is_not_is_refused(self, owner: Visitor, alice: Player) -> None:
        assert owner.submit("/monitors/new", type="ftp", url="https://shop.example.com").status_code == 400
        assert 'name="type" value="http"' in owner.open(new_form("ftp")).text
        assert list_ids(alice) == []

    def test_cannot_change_the_type(self, owner: Visitor, alice: Player) -> None:
        monitor = create(alice, type="tcp", **MEANT["tcp"])
        owner.submit(f"/monitors/{monitor['id']}/edit", type="http")
        assert read(alice, monitor) == monitor


class TestPage:
    @others
    def test_shows_the_settings_of_its_type_and_no_other(
        self, owner: Visitor, alice: Player, monitor_type: str
    ) -> None:
        monitor = create(alice, type=monitor_type, **MEANT[monitor_type])
        page = owner.open(f"/monitors/{monitor['id']}").text
        title = TYPE_FORMS[monitor_type].title
        assert (title if monitor_type == "heartbeat" else f"{title} {monitor['url']}") in read_text(page)
        shown = set(re.findall("<dt>([^<]+)</dt>", page.partition('id="configuration"')[2]))
        told_above = {"type", "name", "interval_seconds", "tags", "paused"}
        labels = labels_of(monitor_type)
        assert shown == {labels[name] for name in labels.keys() - told_above}


class TestAuditLog:
    def test_names_settings_and_masks_what_is_sent(self, owner: Visitor, alice: Player) -> None:
        monitor = create(alice, type="tcp", **MEANT["tcp"])
        alice.patch(path_of(monitor), json={"tcp": {"send": "AUTH s3cret\r\n", "expect": "250"}})
        log = read_text(owner.open("/settings/audit-log").text)
        assert "Text to send: a new secret value" in log
        assert "Expected text: 221 → became 250" in log
        assert "s3cret" not in log


class TestList:
    def test_offers_types_once_there_are_several(self, owner: Visitor, alice: Player) -> None:
        create(alice, name="Site")
        assert 'aria-label="Types"' not in owner.open("/monitors").text
        create(alice, name="Database", type="tcp", **MEANT["tcp"])
        page = owner.open("/monitors").text
        assert "Web address 1 TCP port 1" in read_text(page.partition('aria-label="Types"')[2])
        found = read_text(owner.open("/monitors?type=tcp").text)
        assert "Database" in found
        assert "Site" not in found

    def test_refuses_a_type_that_there_is_not(self, owner: Visitor) -> None:
        page = owner.open("/monitors?type=ftp")
        assert page.status_code == 400
        assert 'id="error-type"' in page.text


class TestHeartbeat:
    def test_shows_the_line_for_the_job_and_what_it_sent(
        self, service: RunningService, owner: Visitor, alice: Player
    ) -> None:
        monitor = create(alice, type="heartbeat", **MEANT["heartbeat"])
        path = f"/monitors/{monitor['id']}"
        page = owner.open(path).text
        assert f"curl -fsS -m 10 --retry 5 -o /dev/null {monitor['ping_url']}" in page
        assert "It is waiting for a ping" in page
        assert "Check now" not in page
        job = httpx.Client(base_url=f"{service.base_url}/ping/{monitor['ping_url'][-36:]}", timeout=30)
        job.post("/3", content="<script>no space left</script>").raise_for_status()
        shown = owner.open(path).text
        assert "&lt;script&gt;no space left&lt;/script&gt;" in shown
        assert "failed (exit code 3)" in read_text(shown)
        assert "The job ended with exit code 3" in read_text(shown)

    def test_can_get_a_new_address(self, owner: Visitor, alice: Player) -> None:
        monitor = create(alice, type="heartbeat", **MEANT["heartbeat"])
        page = owner.submit(f"/monitors/{monitor['id']}", f"/monitors/{monitor['id']}/renew-ping-url")
        renewed = read(alice, monitor)["ping_url"]
        assert renewed != monitor["ping_url"]
        assert renewed in page.text
        assert "The address is renewed" in page.text

    def test_whose_schedule_cannot_be_is_refused_beside_the_field(
        self, owner: Visitor, alice: Player
    ) -> None:
        typed = TYPED["heartbeat"] | {"heartbeat.cron": "60 * * * *"}
        page = owner.submit(new_form("heartbeat"), **typed)
        assert page.status_code == 422
        shown = page.text.partition('id="error-heartbeat.cron">')[2].partition("</p>")[0]
        assert read_text(shown).startswith("Cannot be read (Bad minute)")
        assert list_ids(alice) == []
