"""The documentation pages are complete and well-formed, and load nothing from other hosts."""

from __future__ import annotations

import re
from base64 import b64encode
from functools import cache, cached_property, partial
from hashlib import sha256
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from bakery.service import bakery_document
from monitoring.contract.catalogue import Catalogue
from monitoring.contract.document import Document, Node, Operation, published_document
from monitoring.reference.pages import (
    CONTENT_SECURITY_POLICY,
    list_guides,
    read_guides,
    render_entrance,
    render_guide,
    render_reference,
)

if TYPE_CHECKING:
    from collections.abc import Callable

DOCUMENT = published_document()
GUIDES = list_guides(DOCUMENT)
# Address -> what renders the page. Other operations serve everything else that the pages link to.
PAGES: dict[str, Callable[[], str]] = {
    "/": partial(render_entrance, DOCUMENT),
    "/docs": partial(render_reference, DOCUMENT),
    **{f"/docs/{name}": partial(render_guide, DOCUMENT, name) for name in GUIDES},
}
OTHER_ADDRESSES = {"/app", "/openapi.yaml", "/openapi.json"}

VOID_ELEMENTS = {"br", "hr", "img", "input", "link", "meta"}
LOADING_ATTRIBUTES = {"src", "srcset", "data", "poster", "action", "background", "style"}
LOADING_ELEMENTS = {"link", "iframe", "object", "embed", "base", "form"}


class Reader(HTMLParser):
    """Reads a page, and fails on an element that is closed before its children."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.contents: dict[str, str] = {}
        self._texts: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs), f"{tag} has an attribute twice"
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID_ELEMENTS:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"{tag} is closed where it is not open: {self.getpos()}"

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("style", "script"):
            self.contents[self.open[-1]] = data
        else:
            self._texts.append(data)

    @cached_property
    def words(self) -> str:
        return "".join(self._texts)

    @cached_property
    def ids(self) -> set[str]:
        return set(self.values("id"))

    def values(self, attribute: str) -> list[str]:
        return [value for _, attributes in self.elements if (value := attributes.get(attribute))]


every_page = pytest.mark.parametrize("address", PAGES)
every_operation = pytest.mark.parametrize(
    "operation", DOCUMENT.operations.values(), ids=lambda operation: operation.operation_id
)


@cache
def reader_of(address: str) -> Reader:
    return Reader(PAGES[address]())


def section_of(operation: Operation) -> Reader:
    """Return the reference's section about one operation."""
    mark = '<section class="operation" aria-labelledby='
    (section,) = (
        part
        for part in PAGES["/docs"]().split(mark)
        if part.startswith(f'"{operation.operation_id}"') and f'<h3 id="{operation.operation_id}"' in part
    )
    return Reader(f"{mark}{section.partition('</section>')[0]}</section>")


class TestReference:
    @every_operation
    def test_an_operation_is_described_with_all_it_takes_and_answers(self, operation: Operation) -> None:
        words = section_of(operation).words
        assert operation.path in words
        assert operation.definition["summary"] in words
        assert operation.definition.get("x-required-scope", "") in words
        for parameter in operation.parameters:
            assert parameter["name"] in words
        for status, response in operation.responses.items():
            assert status in words
            if status.startswith("2"):
                assert [name for name in response["headers"] if name not in words] == []

    @every_operation
    def test_an_operation_names_every_sentence_it_can_answer(self, operation: Operation) -> None:
        words = section_of(operation).words
        for response in operation.responses.values():
            for name in response.get("content", {}).get("application/json", {}).get("examples", {}):
                template = Catalogue(DOCUMENT).templates.get(name)
                assert template is None or sentence_of(template.sentence, template.body) in words, name

    def test_every_error_is_listed_those_of_no_operation_too(self) -> None:
        (listed,) = re.findall(
            r'<section[^>]* aria-labelledby="every-error">.*?</section>', PAGES["/docs"](), re.DOTALL
        )
        words = Reader(listed).words
        for name, template in Catalogue(DOCUMENT).templates.items():
            assert sentence_of(template.sentence, template.body) in words, name
            assert str(template.status) in words

    def test_every_schema_and_every_property_is_described(self) -> None:
        words = set(reader_of("/docs").words.split())
        for name, schema in DOCUMENT.root["components"]["schemas"].items():
            assert f'id="schema-{name}"' in PAGES["/docs"]()
            assert schema.get("properties", {}).keys() <= words

    def test_a_document_may_leave_out_what_can_be_left_out(self) -> None:
        assert "Bakery" in Reader(render_reference(bakery_document())).words

    def test_markup_in_the_document_is_shown_and_not_obeyed(self) -> None:
        attack = "<script>alert(1)</script>"
        root = yaml.safe_load(bakery_document().yaml_bytes)
        root["info"] |= {"title": attack, "description": f"{attack}\n\n[click](javascript:alert(1))"}
        root["tags"][0]["description"] = attack
        bake = root["paths"]["/loaves"]["post"]
        bake |= {"summary": attack, "description": attack}
        root["components"]["schemas"]["Grain"] = {"type": "string", "enum": [attack], "description": attack}
        page = render_reference(Document(yaml.safe_dump(root).encode()))
        assert attack not in page
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
        assert not [link for link in Reader(page).values("href") if link.startswith("javascript")]


def sentence_of(sentence: str | None, body: Node) -> str:
    written: str = sentence or body.get("error_description") or body["error"]
    return written


class TestGuides:
    def test_the_document_names_exactly_those_that_are_written(self) -> None:
        written = Path(__file__).parents[2] / "docs" / "guides"
        assert set(GUIDES) == {path.stem for path in written.glob("*.md")}

    @pytest.mark.parametrize("name", GUIDES)
    def test_a_guide_begins_with_its_title_and_what_it_is_for(self, name: str) -> None:
        (guide,) = (guide for guide in read_guides(DOCUMENT) if guide.name == name)
        assert guide.prose.headings[0].level == 1
        assert 20 < len(guide.prose.summary) < 160
        for address in PAGES:
            assert guide.title in reader_of(address).words


class TestEveryPage:
    @every_page
    def test_ids_are_unique(self, address: str) -> None:
        ids = reader_of(address).values("id")
        assert len(ids) == len(set(ids))

    @every_page
    def test_every_link_leads_somewhere(self, address: str) -> None:
        for link in reader_of(address).values("href"):
            if link.startswith("https://"):
                continue
            target, _, anchor = link.partition("#")
            reached = resolve(address, target)
            if reached not in OTHER_ADDRESSES:
                assert reached in PAGES, link
                assert not anchor or anchor in reader_of(reached).ids, link

    @every_page
    def test_nothing_is_loaded(self, address: str) -> None:
        for tag, attributes in reader_of(address).elements:
            assert tag not in LOADING_ELEMENTS
            assert not attributes.keys() & LOADING_ATTRIBUTES, tag
            assert not [name for name in attributes if name.startswith("on")]
        assert not re.search(r"url\(|@import|//", reader_of(address).contents["style"])
        assert not re.search(r"import|https?:", reader_of(address).contents["script"])

    @every_page
    def test_style_and_script_are_those_the_policy_allows_and_nothing_else_is_allowed(
        self, address: str
    ) -> None:
        contents = reader_of(address).contents
        allowed = {
            kind: f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"
            for kind, content in contents.items()
        }
        assert CONTENT_SECURITY_POLICY.split("; ") == [
            "default-src 'none'",
            f"style-src {allowed['style']}",
            f"script-src {allowed['script']}",
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        ]

    @every_page
    def test_headings_skip_no_level_and_the_landmarks_are_there(self, address: str) -> None:
        tags = [tag for tag, _ in reader_of(address).elements]
        main = tags[tags.index("main") :]
        levels = [int(tag[1]) for tag in main if re.fullmatch(r"h[1-6]", tag)]
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))
        assert [tags.count(landmark) for landmark in ("header", "nav", "main")] == [1, 1, 1]
        assert reader_of(address).elements[0] == ("html", {"lang": "en"})


def resolve(address: str, target: str) -> str:
    """Resolve a relative link as a browser does."""
    if not target:
        return address
    folder = address.rpartition("/")[0]
    while target.startswith("../"):
        folder, target = folder.rpartition("/")[0], target.removeprefix("../")
    return f"{folder}/{target}"
