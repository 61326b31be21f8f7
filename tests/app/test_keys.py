"""Settings, API keys: what owners do with them, what members see, and that a secret is shown once."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from tortoise.models import Model

from app.visitor import Visitor, read_forms, read_text
from monitoring.app.keys.pages import SCOPE_WORDS
from monitoring.app.sentences import DECLINED, NOTICES, REFUSALS
from monitoring.auth.scopes import SCOPES
from monitoring.auth.service import list_keys, revoke_key
from monitoring.backends.database_clients.configuration import MODEL_MODULES

if TYPE_CHECKING:
    import httpx

    from cast import Player
    from monitoring.auth.models import ApiKey, Team
    from monitoring.contract.catalogue import Catalogue
    from running_service import RunningService

KEYS = "/settings/api-keys"
NEW = "/settings/api-keys/new"
PAYLOAD = "<img src=x onerror=alert(1)>\"'&{{ 7 * 7 }}"


class TestTheList:
    def test_tells_what_each_key_is_and_may_do(self, owner: Visitor, member: Visitor) -> None:
        owner.submit(NEW, name="Deploy", scopes=["monitors:write", "monitors:read"])
        owner.submit(NEW, name="Dashboard", scopes=["monitors:read"])
        for visitor in (owner, member):
            first, second = rows(visitor.open(KEYS))
            assert first.startswith("Dashboard active mon_live_")
            assert "monitors:read" in first
            assert "monitors:write" not in first
            assert second.startswith("Deploy active mon_live_")
            assert "monitors:read monitors:write" in second
            assert f"by {owner.user.name} never" in second

    def test_tells_when_a_key_was_used(self, owner: Visitor, alice: Player) -> None:
        (unused,) = rows(owner.open(KEYS))
        alice.get("/api/monitors")
        (used,) = rows(owner.open(KEYS))
        assert "never" in unused
        assert "just now" in used

    def test_keeps_the_keys_of_another_team_to_itself(self, outsider: Visitor, alice: Player) -> None:
        assert alice.client_id not in outsider.open(KEYS).text

    def test_puts_revoked_keys_below(self, owner: Visitor, alice: Player, service: RunningService) -> None:
        service.run(revoke_key(alice.client_id))
        above, below = owner.open(KEYS).text.replace("<wbr>", "").split("<details")
        assert alice.client_id not in above
        assert alice.client_id in below
        assert "Revoke" not in below.replace("Revoked keys", "")

    def test_offers_members_nothing_to_change(self, member: Visitor, alice: Player) -> None:
        page = member.open(KEYS).text.replace("<wbr>", "")
        assert alice.client_id in page
        assert "/revoke" not in page
        assert NEW not in page

    def test_shows_what_a_key_is_called_and_runs_none_of_it(self, owner: Visitor, member: Visitor) -> None:
        created = owner.submit(NEW, name=PAYLOAD, scopes=["monitors:read"])
        client_id = client_id_on(created)
        pages = [created, member.open(KEYS), owner.open("/settings/audit-log")]
        pages += [owner.open(f"{KEYS}/{client_id}/revoke"), owner.open(f"{KEYS}/rotation?old={client_id}")]
        pages += [owner.open(f"{NEW}?old={client_id}")]
        for page in pages:
            assert page.status_code == 200
            assert "<img src=x" not in page.text
            assert "&lt;img src=x" in page.text


class TestANewKey:
    def test_gets_a_token_with_what_the_page_shows(self, owner: Visitor) -> None:
        created = owner.submit(NEW, name="Deploy", scopes=["monitors:read"])
        credentials = {"client_id": client_id_on(created), "client_secret": secret_on(created)}
        answer = owner.post("/../api/oauth/token", data=credentials)
        assert answer.status_code == 200
        assert answer.json()["scope"] == "monitors:read"

    def test_shows_its_secret_on_a_page_that_is_kept_nowhere(self, owner: Visitor) -> None:
        created = owner.submit(NEW, name="Deploy", scopes=["monitors:read"])
        assert created.status_code == 200
        assert created.headers["cache-control"] == "no-store"
        assert secret_on(created) not in str(created.url)
        # The command reads it from the environment, to keep it out of the shell's history.
        assert created.text.count(secret_on(created)) == 1

    def test_shows_its_secret_nowhere_else(
        self, owner: Visitor, service: RunningService, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level("DEBUG")
        created = owner.submit(NEW, name="Deploy", scopes=["monitors:read"])
        secret, client_id = secret_on(created), client_id_on(created)
        for path in (
            KEYS,
            "/settings/audit-log",
            f"{KEYS}/{client_id}/revoke",
            f"{KEYS}/rotation?old={client_id}",
        ):
            page = owner.open(path)
            assert page.status_code == 200
            assert secret not in page.text
        stored = service.run(read_database())
        assert client_id in stored
        assert secret not in stored
        assert secret not in caplog.text

    def test_is_made_once_however_often_its_form_is_sent(
        self, owner: Visitor, service: RunningService, team: Team
    ) -> None:
        form = read_forms(owner.open(NEW).text)[f"/app{NEW}"] | {"name": "Deploy"}
        first, again = owner.post(NEW, data=form), owner.post(NEW, data=form)
        assert again.status_code == 409
        assert client_id_on(again) == client_id_on(first)
        assert "mon_secret_" not in again.text
        assert [key.name for key in keys_of(service, team)] == ["Deploy"]

    def test_is_made_once_when_its_form_is_sent_twice_at_once(
        self, owner: Visitor, service: RunningService, team: Team
    ) -> None:
        form = read_forms(owner.open(NEW).text)[f"/app{NEW}"] | {"name": "Deploy"}
        with ThreadPoolExecutor(4) as threads:
            answers = list(threads.map(lambda _: owner.post(NEW, data=form), range(4)))
        assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409]
        assert len(keys_of(service, team)) == 1

    def test_takes_no_id_of_another_teams_key(
        self, owner: Visitor, outsider: Visitor, service: RunningService, team: Team, catalogue: Catalogue
    ) -> None:
        outsider.submit(NEW, name="Theirs", scopes=["monitors:read"])
        (theirs,) = keys_of(service, outsider.team)
        answer = owner.submit(NEW, name="Mine", form_id=str(theirs.id))
        assert says(answer, catalogue, "malformed_request")
        assert theirs.client_id not in answer.text
        assert keys_of(service, team) == []

    @pytest.mark.parametrize("form_id", ["", "x", "0", "é"])
    def test_takes_no_id_that_is_none(
        self, owner: Visitor, service: RunningService, team: Team, catalogue: Catalogue, form_id: str
    ) -> None:
        assert says(owner.submit(NEW, name="Mine", form_id=form_id), catalogue, "malformed_request")
        assert keys_of(service, team) == []

    @pytest.mark.parametrize(
        ("fields", "refusal"),
        [
            ({"name": ""}, "name_invalid"),
            ({"name": " \t "}, "name_invalid"),
            ({"name": "x" * 101}, "name_invalid"),
            ({"name": "a\x1bb"}, "name_invalid"),
            ({"scopes": []}, "scope_missing"),
            ({"scopes": ["monitors:read", "admin"]}, "scope_unknown"),
            ({"scopes": ["monitors:read monitors:write"]}, "scope_unknown"),
        ],
    )
    def test_is_refused_in_the_form_which_keeps_what_was_typed(
        self, owner: Visitor, service: RunningService, team: Team, fields: dict[str, Any], refusal: str
    ) -> None:
        answer = owner.submit(NEW, **{"name": "Deploy", "scopes": ["monitors:read"], **fields})
        assert answer.status_code == 400
        assert REFUSALS[refusal] in read_text(answer.text)
        assert keys_of(service, team) == []
        again = read_forms(answer.text)[f"/app{NEW}"]
        assert again["name"] == fields.get("name", "Deploy")
        assert again.get("scopes", []) == [
            scope for scope in SCOPES if scope in fields.get("scopes", SCOPES[:1])
        ]

    def test_keeps_a_name_of_any_script_and_trims_it(
        self, owner: Visitor, service: RunningService, team: Team
    ) -> None:
        owner.submit(NEW, name="  Ключ 🔑 des Büros  ")
        assert [key.name for key in keys_of(service, team)] == ["Ключ 🔑 des Büros"]

    def test_takes_the_scopes_and_the_name_of_the_key_it_replaces(
        self, owner: Visitor, alice: Player, service: RunningService, team: Team
    ) -> None:
        created = owner.post(
            NEW, data=read_forms(owner.open(f"{NEW}?old={alice.client_id}").text)[f"/app{NEW}"]
        )
        (old, new) = keys_of(service, team)
        assert (new.name, new.scopes) == (f"{old.name} (new)", old.scopes)
        assert f"old={alice.client_id}&amp;new={new.client_id}" in created.text

    def test_replaces_no_key_of_another_team(
        self, outsider: Visitor, alice: Player, service: RunningService
    ) -> None:
        assert outsider.open(f"{NEW}?old={alice.client_id}").status_code == 404
        assert outsider.submit(NEW, name="Mine", old=alice.client_id).status_code == 404
        assert keys_of(service, outsider.team) == []

    def test_is_for_owners(self, member: Visitor, service: RunningService, team: Team) -> None:
        fields = {"form_id": str(uuid4()), "name": "Mine", "scopes": "monitors:read"}
        data = fields | {"csrf_token": csrf_token_of(member)}
        for answer in (member.open(NEW), member.post(NEW, data=data)):
            assert answer.status_code == 403
            assert DECLINED["owners_only"].text in read_text(answer.text)
        assert keys_of(service, team) == []

    def test_says_in_words_what_each_scope_allows(self, owner: Visitor) -> None:
        assert tuple(SCOPE_WORDS) == SCOPES
        text = read_text(owner.open(NEW).text)
        assert all(scope in text and sentence in text for scope, (_, sentence) in SCOPE_WORDS.items())


class TestRevoking:
    def test_is_refused_at_the_very_next_request(
        self, owner: Visitor, alice: Player, catalogue: Catalogue
    ) -> None:
        assert alice.get("/api/monitors").status_code == 200
        revoked = owner.submit(f"{KEYS}/{alice.client_id}/revoke", understood="on")
        assert NOTICES["api_key_revoked"] in read_text(revoked.text)
        answer = alice.get("/api/monitors")
        assert answer.status_code == 401
        assert answer.json() == catalogue.respond("api_key_invalid").body

    @pytest.mark.parametrize("fields", [{}, {"understood": ""}, {"understood": "off"}])
    def test_does_nothing_without_the_box(
        self, owner: Visitor, alice: Player, fields: dict[str, str]
    ) -> None:
        answer = owner.submit(f"{KEYS}/{alice.client_id}/revoke", **fields)
        assert answer.status_code == 400
        assert REFUSALS["revocation_not_confirmed"] in read_text(answer.text)
        assert alice.get("/api/monitors").status_code == 200

    def test_does_nothing_by_looking(self, owner: Visitor, alice: Player) -> None:
        assert owner.open(f"{KEYS}/{alice.client_id}/revoke?understood=on").status_code == 200
        assert alice.get("/api/monitors").status_code == 200

    def test_warns_of_a_key_in_use_and_of_the_last_one(self, owner: Visitor, alice: Player) -> None:
        path = f"{KEYS}/{alice.client_id}/revoke"
        warning, last = "Something used this key in the last two hours.", "It is your team's last active key"
        text = read_text(owner.open(path).text)
        assert warning not in text
        assert last in text
        alice.get("/api/monitors")
        owner.submit(NEW, name="Another")
        text = read_text(owner.open(path).text)
        assert warning in text
        assert last not in text

    def test_twice_is_once(self, owner: Visitor, alice: Player, service: RunningService, team: Team) -> None:
        path = f"{KEYS}/{alice.client_id}/revoke"
        form = read_forms(owner.open(path).text)[f"/app{path}"] | {"understood": "on"}
        owner.post(path, data=form)
        (first,) = keys_of(service, team)
        assert owner.post(path, data=form).status_code == 200
        (second,) = keys_of(service, team)
        assert second.revoked_at == first.revoked_at
        assert read_text(owner.open("/settings/audit-log").text).count("revoked the API key") == 1
        assert read_forms(owner.open(path).text).keys() == {"/app/sign-out"}

    def test_reaches_no_key_of_another_team(
        self, outsider: Visitor, alice: Player, catalogue: Catalogue
    ) -> None:
        path = f"{KEYS}/{alice.client_id}/revoke"
        data = {"csrf_token": csrf_token_of(outsider), "understood": "on"}
        for answer in (outsider.open(path), outsider.post(path, data=data)):
            assert says(answer, catalogue, "not_found")
        assert alice.get("/api/monitors").status_code == 200

    def test_is_for_owners(self, member: Visitor, alice: Player) -> None:
        path = f"{KEYS}/{alice.client_id}/revoke"
        data = {"csrf_token": csrf_token_of(member), "understood": "on"}
        assert member.open(path).status_code == 403
        assert member.post(path, data=data).status_code == 403
        assert alice.get("/api/monitors").status_code == 200

    @pytest.mark.parametrize("client_id", ["mon_live_nobody", "x" * 65, "%00", "%ff", "a%20b"])
    def test_of_what_is_no_key_is_a_404(self, owner: Visitor, client_id: str) -> None:
        assert owner.open(f"{KEYS}/{client_id}/revoke").status_code == 404


def keys_of(service: RunningService, team: Team) -> list[ApiKey]:
    return service.run(list_keys(team.id))


def rows(page: httpx.Response) -> list[str]:
    """Return the text of the rows of the list, without their copy buttons."""
    tables = page.text.partition("<details")[0]
    texts = [read_text(row) for row in re.findall(r"<tr>.*?</tr>", tables, re.DOTALL)]
    return [" ".join(text.replace(" Copy ", " ").split()) for text in texts[1:]]


def csrf_token_of(visitor: Visitor) -> str:
    """Return the token of a page of theirs, with which they could send any form."""
    token = read_forms(visitor.open(KEYS).text)["/app/sign-out"]["csrf_token"]
    assert isinstance(token, str)
    return token


def secret_on(page: httpx.Response) -> str:
    return word_on(page, "mon_secret_")


def client_id_on(page: httpx.Response) -> str:
    return word_on(page, "mon_live_")


def word_on(page: httpx.Response, prefix: str) -> str:
    found = re.search(rf"{prefix}[A-Za-z0-9_-]+", page.text)
    assert found, f"{page.status_code}: {read_text(page.text)}"
    return found[0]


def says(answer: httpx.Response, catalogue: Catalogue, problem: str) -> bool:
    reply = catalogue.respond(problem)
    return answer.status_code == reply.status and reply.body["error"] in read_text(answer.text)


async def read_database() -> str:
    """Return every value of every row."""
    modules = [import_module(name) for name in MODEL_MODULES]
    kinds = {kind for module in modules for kind in vars(module).values() if isinstance(kind, type)}
    models = [kind for kind in kinds if issubclass(kind, Model) and kind is not Model]
    return "\n".join([str(row) for model in models for row in await model.all().values()])
