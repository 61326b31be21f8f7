"""Tests the detection of breaking changes: changes a small document in one place, and checks the verdict."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from functools import reduce
from operator import getitem
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from breaking_changes import (
    CURRENT,
    METHODS,
    RELEASED,
    find_breaking_changes,
    is_breaking,
    main,
    may_break,
    read,
)
from places import GONE, changed, steps_of
from schema_changes import Way

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

THIS, RELEASE = read(CURRENT), read(RELEASED)

REFERENCE = re.compile(r'"\$ref": "([^"]+)"')

DOCUMENT = yaml.safe_load(
    """
    openapi: 3.1.1
    info: {title: Pets, version: 1.0.0}
    servers: [{url: /}]
    security: [{token: []}]
    paths:
      /pets/{pet_id}:
        parameters:
          - {name: pet_id, in: path, required: true, schema: {type: string}}
        put:
          operationId: put_pet
          tags: [Pets]
          x-required-scope: pets:write
          parameters:
            - {name: limit, in: query, schema: {type: integer, minimum: 1, maximum: 100, default: 50}}
            - {name: If-Match, in: header, schema: {type: string}}
          requestBody:
            content:
              application/json:
                x-also-as: [application/merge-patch+json]
                schema: {$ref: '#/components/schemas/PetPut'}
          responses:
            '200':
              headers:
                ETag: {required: true, schema: {type: string, maxLength: 64}}
              content:
                application/json: {schema: {$ref: '#/components/schemas/Pet'}}
            '404': {$ref: '#/components/responses/PetNotFound'}
    webhooks:
      found:
        post:
          parameters:
            - {name: signature, in: header, required: true, schema: {type: string, maxLength: 64}}
          requestBody:
            content:
              application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Pet'}}}
          responses:
            '204': {description: Received.}
            '410': {description: No more of this.}
    components:
      securitySchemes:
        token: {type: http, scheme: bearer}
        secret: {type: apiKey, in: header, name: X-Secret}
      responses:
        PetNotFound:
          content:
            application/json:
              examples:
                pet_not_found: {x-sentence: 'No {name}', value: {error: No Rex}}
        NotFound:
          x-status: 404
          content:
            application/json: {examples: {not_found: {value: {error: Not found}}}}
      schemas:
        Kind: {type: string, enum: [cat, dog]}
        PetPut:
          type: object
          additionalProperties: false
          required: [kind]
          properties:
            kind: {$ref: '#/components/schemas/Kind'}
            name: {type: string, minLength: 1, maxLength: 40, pattern: '^[a-z]+$'}
            owner: {type: [string, 'null']}
            mood: {anyOf: [{$ref: '#/components/schemas/Kind'}, {type: 'null'}]}
            chip: {anyOf: [{type: string, maxLength: 9}, {type: integer}]}
            labels: {type: object, additionalProperties: {type: string, maxLength: 9}}
            notes: {type: object}
          if: {properties: {kind: {const: cat}}}
          then: {properties: {name: {maxLength: 20}}}
          else: {$ref: '#/components/schemas/NoCat'}
        NoCat: {properties: {name: {maxLength: 30}}}
        Pet:
          type: object
          required: [id, kind]
          properties:
            id: {type: string, format: uuid}
            kind: {$ref: '#/components/schemas/Kind'}
            age: {type: integer, minimum: 0, maximum: 99}
            weight: {type: number}
            chip: {anyOf: [{type: string, maxLength: 9}, {type: integer}]}
            colours: {type: array, maxItems: 9, items: {type: string, maxLength: 9}}
            parents: {type: array, items: {$ref: '#/components/schemas/Pet'}}
            labels: {type: object, additionalProperties: {type: string, maxLength: 9}}
    """
)

PUT = "/paths/~1pets~1{pet_id}/put"
WEBHOOK = "/webhooks/found/post"
TAKEN = "/components/schemas/PetPut"
ANSWERED = "/components/schemas/Pet"

BREAKING = [
    ("a server is gone", "/servers/0/url", "/v2"),
    ("a path is gone", "/paths/~1pets~1{pet_id}", GONE),
    ("an operation is gone", PUT, GONE),
    ("an operationId is another", f"{PUT}/operationId", "update_pet"),
    ("a tag, an SDK's class, is another", f"{PUT}/tags/0", "Animals"),
    ("another scope is required", f"{PUT}/x-required-scope", "pets:admin"),
    ("another scheme is required", "/components/securitySchemes/token/scheme", "basic"),
    ("a second credential is required", f"{PUT}/security", [{"token": [], "secret": []}]),
    ("an oauth scope is required", f"{PUT}/security", [{"token": ["write"]}]),
    ("a parameter is gone", f"{PUT}/parameters/1", GONE),
    ("a parameter is required", f"{PUT}/parameters/0/required", True),
    ("a required parameter is new", f"{PUT}/parameters/2", {"name": "a", "in": "query", "required": True}),
    ("a parameter's bound is narrower", f"{PUT}/parameters/0/schema/maximum", 99),
    ("a parameter's bound is exclusive", f"{PUT}/parameters/0/schema/exclusiveMaximum", 100),
    ("a parameter's default is another", f"{PUT}/parameters/0/schema/default", 20),
    ("a parameter is written in another way", f"{PUT}/parameters/0/style", "spaceDelimited"),
    ("a body is gone", f"{PUT}/requestBody", GONE),
    ("a body is required", f"{PUT}/requestBody/required", True),
    ("a media type is not taken", f"{PUT}/requestBody/content/application~1json", GONE),
    ("an alias is not taken", f"{PUT}/requestBody/content/application~1json/x-also-as", GONE),
    ("a type is another", f"{TAKEN}/properties/owner/type", ["boolean", "null"]),
    ("an enum has lost a value", "/components/schemas/Kind/enum", ["cat"]),
    ("an enum has won a value that is answered", "/components/schemas/Kind/enum", ["cat", "dog", "cow"]),
    ("text must be longer", f"{TAKEN}/properties/name/minLength", 2),
    ("text must be shorter", f"{TAKEN}/properties/name/maxLength", 39),
    ("a bound is new", f"{TAKEN}/properties/owner/maxLength", 9999),
    ("a pattern is another", f"{TAKEN}/properties/name/pattern", "^[a-y]+$"),
    ("a pattern is new", f"{TAKEN}/properties/owner/pattern", "^."),
    ("a format is new", f"{TAKEN}/properties/owner/format", "email"),
    ("null is not taken", f"{TAKEN}/properties/owner/type", "string"),
    ("null beside a reference is not taken", f"{TAKEN}/properties/mood/anyOf/1", GONE),
    ("a field that is taken is required", f"{TAKEN}/required/1", "name"),
    ("a field is not taken", f"{TAKEN}/properties/owner", GONE),
    ("other fields are not taken", f"{TAKEN}/properties/notes/additionalProperties", False),
    ("a field that was free has a type", f"{TAKEN}/properties/notes/properties", {"a": {"type": "string"}}),
    ("a map's values are narrower", f"{TAKEN}/properties/labels/additionalProperties/maxLength", 8),
    ("a condition is another", f"{TAKEN}/if/properties/kind/const", "dog"),
    ("a consequence is narrower", f"{TAKEN}/then/properties/name/maxLength", 19),
    ("an alternative is narrower", "/components/schemas/NoCat/properties/name/maxLength", 29),
    ("an option is not taken", f"{TAKEN}/properties/chip/anyOf/1", GONE),
    ("an option is narrower", f"{TAKEN}/properties/chip/anyOf/0/maxLength", 8),
    ("a status is gone", f"{PUT}/responses/404", GONE),
    ("a success is new", f"{PUT}/responses/202", {"description": "Later."}),
    ("an answer's media type is gone", f"{PUT}/responses/200/content/application~1json", GONE),
    ("a header is gone", f"{PUT}/responses/200/headers/ETag", GONE),
    ("a header may be missing", f"{PUT}/responses/200/headers/ETag/required", False),
    ("a header may be longer", f"{PUT}/responses/200/headers/ETag/schema/maxLength", 65),
    ("a field of an answer is gone", f"{ANSWERED}/properties/age", GONE),
    ("a field of an answer may be missing", f"{ANSWERED}/required", ["id"]),
    ("a field of an answer may be null", f"{ANSWERED}/properties/age/type", ["integer", "null"]),
    ("a field of an answer has another type", f"{ANSWERED}/properties/age/type", "string"),
    ("a whole number may have a fraction", f"{ANSWERED}/properties/age/type", "number"),
    ("a number may be larger", f"{ANSWERED}/properties/age/maximum", 100),
    ("a number may be smaller", f"{ANSWERED}/properties/age/minimum", -1),
    ("a number has no bound", f"{ANSWERED}/properties/age/maximum", GONE),
    ("a format is not kept", f"{ANSWERED}/properties/id/format", GONE),
    ("an array may be longer", f"{ANSWERED}/properties/colours/maxItems", GONE),
    ("an array's items may be longer", f"{ANSWERED}/properties/colours/items/maxLength", 10),
    ("a map's values may be longer", f"{ANSWERED}/properties/labels/additionalProperties/maxLength", 10),
    ("another option is answered", f"{ANSWERED}/properties/chip/anyOf/2", {"type": "boolean"}),
    ("a webhook is gone", "/webhooks/found", GONE),
    ("a webhook's header is gone", f"{WEBHOOK}/parameters/0", GONE),
    ("a webhook's header may be missing", f"{WEBHOOK}/parameters/0/required", False),
    ("a webhook's header may be longer", f"{WEBHOOK}/parameters/0/schema/maxLength", 65),
    ("a webhook's media type is gone", f"{WEBHOOK}/requestBody/content/application~1json", GONE),
    ("a webhook's body is gone", f"{WEBHOOK}/requestBody", GONE),
    (
        "a webhook's body is another",
        f"{WEBHOOK}/requestBody/content/application~1json/schema",
        {"type": "object"},
    ),
    ("an answer to a webhook is not understood", f"{WEBHOOK}/responses/410", GONE),
    (
        "a sentence is another",
        "/components/responses/PetNotFound/content/application~1json/examples/pet_not_found/x-sentence",
        "{name} is away",
    ),
    (
        "a sentence of unknown paths is another",
        "/components/responses/NotFound/content/application~1json/examples/not_found/value/error",
        "Nothing here",
    ),
]

HARMLESS = [
    ("a title is another", "/info/title", "Animals"),
    ("a description is new", f"{PUT}/description", "Puts a pet."),
    ("a webhook is new", "/webhooks/lost", {}),
    ("a webhook's header is new", f"{WEBHOOK}/parameters/1", {"name": "a", "in": "header", "schema": {}}),
    ("an answer to a webhook is understood", f"{WEBHOOK}/responses/429", {"description": "Later."}),
    ("an operation is new", "/paths/~1pets", {"get": {"operationId": "list_pets", "responses": {}}}),
    ("no credential is required", f"{PUT}/security", []),
    ("another credential is enough", f"{PUT}/security", [{"token": []}, {"secret": []}]),
    ("no scope is required", f"{PUT}/x-required-scope", GONE),
    ("an optional parameter is new", f"{PUT}/parameters/2", {"name": "a", "in": "query"}),
    ("a header is spelt in another case", f"{PUT}/parameters/1/name", "if-match"),
    ("a parameter's bound is wider", f"{PUT}/parameters/0/schema/maximum", 200),
    ("another media type is taken", f"{PUT}/requestBody/content/text~1plain", {"schema": {}}),
    ("an optional field is taken", f"{TAKEN}/properties/size", {"type": "integer"}),
    ("a field need not be sent", f"{TAKEN}/required", []),
    ("longer text is taken", f"{TAKEN}/properties/name/maxLength", 41),
    ("any text is taken", f"{TAKEN}/properties/name/pattern", GONE),
    ("null is taken", f"{TAKEN}/properties/name/type", ["string", "null"]),
    ("other fields are taken", f"{TAKEN}/additionalProperties", True),
    ("a consequence is wider", f"{TAKEN}/then/properties/name/maxLength", 21),
    ("another option is taken", f"{TAKEN}/properties/chip/anyOf/2", {"type": "boolean"}),
    ("an error is new", f"{PUT}/responses/409", {"description": "Busy."}),
    ("a header is new", f"{PUT}/responses/200/headers/Age", {"schema": {"type": "integer"}}),
    ("a header is always sent", f"{PUT}/responses/200/headers/Age", {"required": True, "schema": {}}),
    ("a field is answered", f"{ANSWERED}/properties/size", {"type": "integer"}),
    ("a field is always answered", f"{ANSWERED}/required/2", "age"),
    ("answers are narrower", f"{ANSWERED}/properties/age/maximum", 50),
    ("a fraction is never answered", f"{ANSWERED}/properties/weight/type", "integer"),
    ("an option is never answered", f"{ANSWERED}/properties/chip/anyOf/1", GONE),
    ("a number's format is told", f"{ANSWERED}/properties/age/format", "int32"),
    (
        "an example's variable is another",
        "/components/responses/PetNotFound/content/application~1json/examples/pet_not_found/value/error",
        "No Tom",
    ),
    (
        "a sentence is new",
        "/components/responses/PetNotFound/content/application~1json/examples/pet_away",
        {"value": {"error": "Pet is away"}},
    ),
]


def parts(document: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield every operation, parameter and field of a document: its owner, its container and its key."""
    paths = [*document["paths"].items(), *document.get("webhooks", {}).items()]
    operations = [(name, path, method) for name, path in paths for method in path if method in METHODS]
    yield from operations
    for name, holder in [*paths, *((name, path[method]) for name, path, method in operations)]:
        parameters = holder.get("parameters", [])
        yield from ((name, parameters, index) for index in range(len(parameters)))
    for name, schema in document["components"]["schemas"].items():
        fields = schema.get("properties", {})
        yield from ((f"#/components/schemas/{name}", fields, field) for field in fields)


def referred_to(node: Any, document: Any) -> set[str]:
    """Return the pointers of everything that a node refers to, directly or indirectly."""
    found: set[str] = set()
    waiting = [node]
    while waiting:
        new = set(REFERENCE.findall(json.dumps(waiting.pop()))) - found
        found |= new
        waiting += [reduce(getitem, steps_of(pointer), document) for pointer in new]
    return found


class TestChanges:
    @pytest.mark.parametrize(("title", "pointer", "value"), BREAKING, ids=[row[0] for row in BREAKING])
    def test_a_breaking_change_is_found(self, title: str, pointer: str, value: Any) -> None:
        found = find_breaking_changes(DOCUMENT, changed(DOCUMENT, pointer, value))
        assert found, title
        assert all(sentence.startswith("#/") for sentence in found)

    @pytest.mark.parametrize(("title", "pointer", "value"), HARMLESS, ids=[row[0] for row in HARMLESS])
    def test_a_harmless_change_is_not_found(self, title: str, pointer: str, value: Any) -> None:
        assert find_breaking_changes(DOCUMENT, changed(DOCUMENT, pointer, value)) == [], title

    def test_a_change_is_told_once_with_its_place_and_its_cost(self) -> None:
        narrowed = changed(DOCUMENT, f"{TAKEN}/properties/name/maxLength", 39)
        assert find_breaking_changes(DOCUMENT, narrowed) == [
            "#/components/schemas/PetPut/properties/name/maxLength: was 40, is 39: " + Way.INPUT.value
        ]

    def test_a_schema_counts_only_in_the_way_it_travels(self) -> None:
        wider = changed(DOCUMENT, "/components/schemas/Kind/enum", ["cat", "dog", "cow"])
        assert find_breaking_changes(DOCUMENT, wider) == [
            '#/components/schemas/Kind/enum: was ["cat", "dog"], is ["cat", "dog", "cow"]: '
            + Way.OUTPUT.value
        ]

    def test_moving_a_schema_into_components_changes_nothing(self) -> None:
        moved = changed(
            DOCUMENT, "/components/schemas/Age", DOCUMENT["components"]["schemas"]["Pet"]["properties"]["age"]
        )
        moved = changed(moved, f"{ANSWERED}/properties/age", {"$ref": "#/components/schemas/Age"})
        assert find_breaking_changes(DOCUMENT, moved) == []

    @pytest.mark.night("the tests before it take out one of each kind")
    def test_no_operation_parameter_or_field_can_be_taken_out_unseen(self) -> None:
        released, current = THIS, deepcopy(THIS)
        reached = {path: {path} | referred_to(item, released) for path, item in released["paths"].items()}
        small_first = sorted(reached, key=lambda path: len(reached[path]))
        for owner, holder, key in list(parts(current)):
            # Only these paths can be affected. Comparing all paths for each of a thousand parts would take
            # minutes.
            paths = {path: released["paths"][path] for path in small_first if owner in reached[path]}
            part = holder.pop(key)
            assert is_breaking(released | {"paths": paths}, current), part
            holder.insert(key, part) if isinstance(holder, list) else holder.update({key: part})

    def test_the_document_does_not_break_itself(self) -> None:
        assert find_breaking_changes(THIS, THIS) == []


class TestVersion:
    @pytest.mark.parametrize(
        ("released", "current", "allowed"),
        [
            ("1.4.2", "2.0.0", True),
            ("1.4.2", "1.5.0", False),
            ("1.4.2", "1.4.2", False),
            ("2.0.0", "1.9.0", False),
            ("0.1.0", "0.2.0", True),
            ("0.1.0", "0.1.1", False),
            ("0.1.0", "0.1.1-dev", False),
            ("0.1.0", "0.2.0-dev", True),
            ("0.9.0", "1.0.0", True),
            ("1.0.0", "0.9.0", False),
            ("1.9.0", "2.0.0-rc.1", True),
        ],
    )
    def test_the_major_version_must_have_moved_and_below_one_the_minor(
        self, released: str, current: str, *, allowed: bool
    ) -> None:
        assert may_break(released, current) is allowed

    def test_the_command_fails_with_the_sentence_until_the_version_moves(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        broken = changed(DOCUMENT, PUT, GONE)
        for name, document in (("released", DOCUMENT), ("current", broken)):
            (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(document))
            monkeypatch.setattr(f"breaking_changes.{name.upper()}", tmp_path / f"{name}.yaml")
        with pytest.raises(SystemExit, match="put_pet is gone"):
            main()
        (tmp_path / "current.yaml").write_text(yaml.safe_dump(changed(broken, "/info/version", "2.0.0")))
        main()
        assert "put_pet is gone" in capsys.readouterr().out


class TestRelease:
    def test_the_released_document_is_called_by_its_version(self) -> None:
        assert RELEASED.name == f"openapi-{RELEASE['info']['version']}.yaml"

    def test_a_document_that_differs_from_it_has_another_version(self) -> None:
        is_the_release = CURRENT.read_bytes() == RELEASED.read_bytes()
        assert is_the_release or RELEASE["info"]["version"] != THIS["info"]["version"]

    @pytest.mark.parametrize("path", sorted(RELEASE["paths"].keys() & THIS["paths"].keys()))
    def test_the_command_notices_when_a_released_path_is_taken_out(
        self, path: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        current = changed(THIS, "/info/version", RELEASE["info"]["version"])
        broken = changed(current, f"/paths/{path.replace('/', '~1')}", GONE)
        monkeypatch.setattr("breaking_changes.read", {RELEASED: RELEASE, CURRENT: broken}.__getitem__)
        with pytest.raises(SystemExit, match="is gone"):
            main()
