"""Whatever people, clients and publishers write is shown as text: it never runs and never loads anything.

Some of it is as long as it may be, and has no place to break. Everybody can use the pages all the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import pytest

from browser.acme.articles import odd_article
from browser.acme.team import TEAM_NAME
from browser.barriers import EXAMINER, find_barriers
from browser.chromium import unfold
from browser.odd_names import ADDRESSES, PROPOSALS, OddTeam, Texts, form_odd_team
from browser.possessions import has_id
from monitoring.backends.fields import uuid7

if TYPE_CHECKING:
    from browser.acme.people import Member
    from browser.acme.team import Acme
    from browser.chromium import Arrive, Person
    from running_service import RunningService

pytestmark = pytest.mark.embedded("pages are the same on every backend")

SCRIPT = "<script>window.hacked=1</script>"
IMAGE = '"><img src=x onerror=window.hacked=1>'
ATTRIBUTE = "' autofocus onfocus='window.hacked=1' x='"
BREAKOUT = "</title></textarea></option></svg><svg onload=window.hacked=1>"
TEMPLATE = "{{7*1234567}}${7*1234567}<%=7*1234567%>"
COMBINED = f"{SCRIPT}{IMAGE}{TEMPLATE}"
LONG_IMAGE = f"{IMAGE}{'W' * 63}"
EMAIL = f'"<img/src=x/onerror=window.hacked=1>"@{"w" * 63}.{"w" * 63}.{"w" * 50}.example'

MONITORS: list[dict[str, Any]] = [
    {
        "name": LONG_IMAGE,
        "url": f"https://hostile.example/%22%3E?'onmouseover='window.hacked=1'{'w' * 1900}",
        "method": "POST",
        "tags": ["w" * 40, "v" * 40],
        "request_headers": {"X-" + "W" * 60: "w" * 500},
        "request_body": COMBINED + "w" * 500,
        "required_keyword": "w" * 200,
    },
    {"name": COMBINED[:100], "url": "https://hostile.example/%22%3E?'onmouseover='window.hacked=1"},
    {
        "name": ATTRIBUTE,
        "url": "https://hostile.example/",
        "method": "POST",
        "request_headers": {"X-Hostile": BREAKOUT},
        "request_body": COMBINED + BREAKOUT,
        "required_keyword": BREAKOUT,
        "forbidden_keyword": ATTRIBUTE,
    },
]
ARTICLE = {
    "id": f"art_{IMAGE}",
    "title": COMBINED,
    "slug": f"hostile-{IMAGE}",
    "excerpt": BREAKOUT,
    "meta_description": ATTRIBUTE,
    "content": (
        f"<p>Before {SCRIPT} <a href='javascript:window.hacked=1'>a link</a>"
        " <a href='data:text/html,<script>window.hacked=1</script>'>another</a> after</p>"
        "<img src='https://stranger.example/pixel.png' onerror='window.hacked=1' alt='A pixel'>"
        "<svg><style><img src=x onerror=window.hacked=1></style></svg>"
        "<math><mtext><table><mglyph><style><img src=x onerror=window.hacked=1></style></mglyph>"
        "</table></mtext></math>"
        "<iframe src='https://stranger.example/'></iframe>"
        "<form action='https://stranger.example/'><button>Go</form>"
        "<style>body { background: url(https://stranger.example/css) }</style>"
        "<p style='position:fixed;inset:0' id=content class=card onclick='window.hacked=1'>Over all</p>"
        "<object data='https://stranger.example/'></object><base href='https://stranger.example/'>"
        "<meta http-equiv=refresh content='0;url=https://stranger.example/'>"
    ),
    "images": [{"url": "https://stranger.example/image.png", "alt": IMAGE}],
}
# Turns what comes after it, also outside of its own text (U+202E RIGHT-TO-LEFT OVERRIDE).
TURNING = "Shop \N{RIGHT-TO-LEFT OVERRIDE}gnp"
ISOLATED = f"\N{FIRST STRONG ISOLATE}{TURNING}\N{POP DIRECTIONAL ISOLATE}"

# Whether a sentence still begins at the left and ends at the right.
READS_FROM_THE_LEFT = """
element => {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT), rights = [];
  for (let node; (node = walker.nextNode()); ) {
    const range = document.createRange();
    range.selectNodeContents(node);
    if (node.data.trim()) rights.push(range.getBoundingClientRect().right);
  }
  return rights.length > 1 && rights.every((right, index) => !index || right > rights[index - 1]);
}
"""

MARKDOWN = {
    "id": "art_hostile_markdown",
    "title": BREAKOUT,
    "format": "markdown",
    "content": (
        f"# {SCRIPT}\n\n[a link](javascript:window.hacked=1) [b]( data:text/html,x )"
        " <javascript:window.hacked=1>\n\n"
        f"![{ATTRIBUTE}](https://stranger.example/pixel.png)\n\n{IMAGE}\n\n```{ATTRIBUTE}\n{BREAKOUT}\n```\n"
    ),
}

LONG = {
    "id": f"art_{'w' * 100}",
    "title": "W" * 200,
    "slug": "w" * 100,
    "meta_title": "W" * 200,
    "content": f"<h1>{'W' * 200}</h1><p>{'w' * 500}</p><pre>{'w' * 500}</pre><ul><li>{'w' * 300}</li></ul>",
}

QUERIES = [
    *PROPOSALS,
    f"/monitors?{urlencode({'search': IMAGE, 'tag': BREAKOUT, 'status': ATTRIBUTE})}",
]
FORMS = {
    "/settings/members/{user_id}/reset-code": {},
    "/settings/members/invite": {"email": f"e{EMAIL}"},
    "/settings/api-keys/new": {"name": COMBINED[:100]},
    "/monitors/new": {"url": BREAKOUT, "name": IMAGE, "request_body": COMBINED},
    "/monitors/{monitor_id}/edit": {"version": "0", "name": ATTRIBUTE, "request_body": COMBINED},
}


# Sentences with a name in the middle.
TURNED = {
    "/monitors": "section.alert li",
    "/incidents": "td[data-label=Cause] > div",
    "/monitors/{monitor_id}/delete": "h1",
    "/settings/audit-log": "td[data-label=What] > div",
    "/incidents/{incident_id}": ".timeline li:has-text('notified') strong",
    "/settings/notifications": "th:has(.badge)",
    "/settings/notifications/{channel_id}/delete": "h1",
}


@pytest.fixture(scope="session")
def hostile(app_service: RunningService) -> OddTeam:
    return app_service.run(
        form_odd_team(
            Texts(
                team=f"{IMAGE}{uuid7().hex}{'W' * 31}",
                person=LONG_IMAGE,
                email=EMAIL,
                key=LONG_IMAGE,
                monitors=MONITORS,
                error_message=f"{BREAKOUT}{COMBINED}{'w' * 255}"[:255],
            )
        )
    )


@pytest.mark.parametrize("address", [*ADDRESSES, *QUERIES])
def test_everybody_can_use_a_page_of_odd_names(address: str, hostile: OddTeam, come_back: Arrive) -> None:
    for path in hostile.list_paths(address):
        person = come_back(hostile.owner, script=EXAMINER)
        assert person.open(path).status == (400 if "status=" in path else 200)
        assert_nothing_ran(person)
        assert_it_is_told(person, about="main" if has_id(address) else "body")
        if path == hostile.fill_in(address):
            assert find_barriers(person.page) == []


@pytest.mark.parametrize("address", FORMS)
def test_everybody_can_use_an_answer_of_hostile_names(
    address: str, hostile: OddTeam, come_back: Arrive
) -> None:
    person = come_back(hostile.owner, script=EXAMINER)
    person.open(hostile.fill_in(address))
    person.fill_in(FORMS[address])
    assert_nothing_ran(person)
    assert_it_is_told(person, about="main")
    assert find_barriers(person.page) == []


@pytest.mark.parametrize("article", [ARTICLE, MARKDOWN, LONG], ids=["html", "markdown", "long"])
def test_a_hostile_article_is_text(
    article: dict[str, Any],
    app_service: RunningService,
    acme: Acme,
    come_back: Arrive,
) -> None:
    assert acme.team.name == TEAM_NAME
    with odd_article(app_service, article) as article_id:
        for path in ("/articles", f"/articles/{article_id}", f"/articles/{article_id}/es"):
            person = come_back(acme.owner, script=EXAMINER)
            assert person.open(path).status == 200
            assert_nothing_ran(person)
            shown = person.page.locator("main")
            assert shown.locator("img, iframe, object, style, svg").count() == 0
            assert shown.locator("[onclick], [onerror], p[style], [src]").count() == 0
            targets = shown.locator("a").evaluate_all("links => links.map(link => link.protocol)")
            assert set(targets) <= {"http:", "https:"}
            assert find_barriers(person.page) == []


def test_a_name_that_turns_its_letters_turns_no_words_around_it(
    app_service: RunningService, arrive: Arrive
) -> None:
    monitors = [{"name": TURNING, "url": "https://turning.example/"}]
    texts = Texts(
        team=f"Turning {uuid7()}",
        person="Somebody",
        email=f"{uuid7()}@turning.example",
        key=TURNING,
        monitors=monitors,
        error_message=TURNING,
    )
    team = app_service.run(form_odd_team(texts))
    person = arrive(team.owner)
    for address, sentence in TURNED.items():
        person.open(team.fill_in(address))
        assert person.page.locator(sentence).first.evaluate(READS_FROM_THE_LEFT), address
    person.open(team.fill_in("/monitors/{monitor_id}/delete"))
    assert ISOLATED in person.page.title()
    for address in ("edit", "deliveries", "delete"):
        path = "/settings/notifications/{channel_id}/" + address
        person.open(team.fill_in(path.removesuffix("/edit")))
        assert ISOLATED in person.page.title(), address


def test_a_name_that_turns_its_letters_turns_no_words_after_it_is_given(
    outsider: Member, arrive: Arrive
) -> None:
    person = arrive(outsider)
    person.open("/settings/notifications/new?type=webhook")
    person.page.get_by_label("Name").fill(TURNING)
    person.page.get_by_label("Address (URL)").fill("https://turning.example/")
    person.press("Create the channel")
    person.page.get_by_text("is created").wait_for()
    assert person.page.locator("h1").evaluate(READS_FROM_THE_LEFT)


def assert_it_is_told(person: Person, about: str) -> None:
    """Check that the text is on the page, exactly as it was given."""
    fields = person.page.locator(f"{about} input, {about} textarea")
    typed = fields.evaluate_all("fields => fields.map(field => field.value)")
    unfold(person.page)
    assert "window.hacked=1" in " ".join([person.page.locator(about).inner_text(), *typed])


def assert_nothing_ran(person: Person) -> None:
    """Move over the page and through its fields, as people do, and check that nothing ran."""
    person.page.mouse.move(200, 200)
    person.page.mouse.move(400, 300)
    for _ in range(5):
        person.page.keyboard.press("Tab")
    assert person.page.evaluate("window.hacked") is None
    # What a template would evaluate it to. It is long, since ids of things have shorter numbers by chance.
    assert "8641969" not in person.page.locator("body").inner_text()
    assert person.find_fault() == []
