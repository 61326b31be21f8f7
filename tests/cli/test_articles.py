from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from typer.testing import CliRunner, Result

import chosen_backends
from articles.desk import ObedientEngine, deliver, translate
from monitoring.articles.translation.engines.protocol import PermanentEngineError
from monitoring.cli.articles import app
from temporary_backends import ENCRYPTION_KEY, SIGNING_KEY, temporary_backends

if TYPE_CHECKING:
    from pathlib import Path


def refuse_spanish(target: str) -> None:
    if target == "es":
        raise PermanentEngineError("No Spanish today")


@pytest.fixture
def article_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Deliver an article to the service that the environment describes. Its Spanish translation failed."""
    environment = {
        "SIGNING_KEYS": SIGNING_KEY,
        "ENCRYPTION_KEYS": ENCRYPTION_KEY,
        "LOCALES": "es,pt",
        **chosen_backends.environment_for(tmp_path),
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    async def prepare() -> str:
        async with temporary_backends(tmp_path, locales=environment["LOCALES"]):
            article = await deliver("Shoes")
            await translate(article, ObedientEngine(refuse_spanish))
            return str(article.id)

    return asyncio.run(prepare())


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def run_for_json(*arguments: str) -> Any:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


class TestRetranslating:
    def test_tells_beforehand_what_the_engine_will_be_asked(
        self, article_id: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("TRANSLATOR", "pseudo")
        cost = {"engine": "pseudo", "characters": 5, "requests": 1}
        es, pt = cost | {"locale": "es"}, cost | {"locale": "pt"}
        assert run_for_json("retranslate", "--dry-run") == [es, pt]
        assert run_for_json("retranslate", "--dry-run", "--engine", "obedient") == [pt]
        assert run_for_json("retranslate", "--dry-run", "--article", article_id, "--locale", "es") == [es]
        [row] = run_for_json("list")
        assert (row["translated"], row["failed"]) == (1, 1)

    def test_queues_what_is_chosen(self, article_id: str) -> None:
        assert run_for_json("retranslate", "--engine", "deepl") == {"queued": 0}
        assert run_for_json("retranslate", "--engine", "obedient") == {"queued": 1}
        assert run_for_json("retranslate", "--article", article_id) == {"queued": 1}
        [row] = run_for_json("list")
        assert row["queued"] == 2

    @pytest.mark.usefixtures("article_id")
    def test_of_an_unknown_article_ends_with_a_sentence(self) -> None:
        result = run("retranslate", "--article", str(uuid4()))
        assert (result.exit_code, "There is no article" in result.output) == (1, True)

    @pytest.mark.usefixtures("article_id")
    def test_without_an_engine_has_nothing_to_tell_beforehand(self) -> None:
        result = run("retranslate", "--dry-run")
        assert (result.exit_code, "TRANSLATOR is none" in result.output) == (1, True)


OTHER_UNIT = '<unit id="0"><segment><source>Boots</source><target>Botas</target></segment></unit>'


class TestXliff:
    def test_that_was_edited_becomes_corrections(self, article_id: str, tmp_path: Path) -> None:
        exported = run("export-xliff", article_id, "pt")
        assert "<target>pt: Shoes</target>" in exported.stdout
        file = tmp_path / "edited.xlf"
        file.write_text(exported.stdout)
        assert run_for_json("import-xliff", str(file)) == {"corrected": 0}
        file.write_text(exported.stdout.replace("pt: Shoes", "Sapatos").replace('"pt"', '"PT"'))
        assert run_for_json("import-xliff", str(file)) == {"corrected": 1}
        file.write_text(exported.stdout)
        assert run_for_json("import-xliff", str(file)) == {"corrected": 0}
        [row] = run_for_json("list")
        assert row["queued"] == 1
        assert "<target>Sapatos</target>" in run("export-xliff", article_id, "pt").stdout

    @pytest.mark.parametrize(
        ("old", "new", "sentence"),
        [
            ("pt: Shoes", '<pc id="g1">Sapatos</pc>', "must have the inline codes"),
            (
                "pt: Shoes</target></segment></unit>",
                "Sapatos</target></segment></unit>" + OTHER_UNIT,
                "no longer has the segment",
            ),
            ('trgLang="pt"', 'trgLang="klingon!"', "no translation into klingon!"),
            ('<file id="', '<file id="0', "There is no article"),
            ("<xliff", "<html", "no XML"),
        ],
    )
    def test_that_does_not_fit_ends_with_a_sentence(
        self, old: str, new: str, sentence: str, article_id: str, tmp_path: Path
    ) -> None:
        file = tmp_path / "edited.xlf"
        file.write_text(run("export-xliff", article_id, "pt").stdout.replace(old, new, 1))
        result = run("import-xliff", str(file))
        assert (result.exit_code, sentence in result.output) == (1, True)


@pytest.mark.usefixtures("article_id")
@pytest.mark.parametrize("arguments", [[], ["--dry-run"]])
def test_a_locale_that_nobody_translates_into_is_not_translated_again(arguments: list[str]) -> None:
    result = run("retranslate", "--locale", "tlh", *arguments)
    assert (result.exit_code, "LOCALES does not contain tlh" in result.output) == (1, True)


@pytest.mark.usefixtures("article_id")
def test_usage_is_shown_by_locale() -> None:
    spanish, portuguese = run_for_json("usage")
    assert (spanish["locale"], spanish["characters"], spanish["requests"]) == ("es", 5, 1)
    assert portuguese["locale"] == "pt"
    assert run_for_json("usage", "2001-01") == []
    assert "No requests were sent to an engine in 2001-01" in run("usage", "2001-01").output
    refused = run("usage", "November")
    assert (refused.exit_code, "November is not a month" in refused.output) == (1, True)


class TestArticles:
    def test_are_listed_with_the_states_of_their_translations(self, article_id: str) -> None:
        [row] = run_for_json("list")
        assert (row["id"], row["translated"], row["failed"], row["queued"]) == (article_id, 1, 1, 0)
        assert run_for_json("list", "--status", "queued") == []

    def test_are_shown_with_the_reason_of_a_failure(self, article_id: str) -> None:
        shown = run_for_json("show", article_id)
        assert {row["locale"]: row["reason"] for row in shown["translations"]} == {
            "es": "No Spanish today",
            "pt": None,
        }
        assert "No Spanish today" in run("show", article_id).stdout

    @pytest.mark.usefixtures("article_id")
    @pytest.mark.parametrize("command", ["show", "retry", "restore"])
    def test_that_do_not_exist_end_the_command_with_one_and_a_sentence(self, command: str) -> None:
        unknown = str(uuid4())
        result = run(command, unknown, "--json")
        assert (result.exit_code, result.stdout) == (1, "")
        assert result.stderr == f"There is no article {unknown}\n"

    def test_are_restored_where_files_are_missing(self, article_id: str) -> None:
        assert run_for_json("restore") == {"originals": 0, "translations": 0}
        assert run_for_json("restore", article_id) == {"originals": 0, "translations": 0}

    def test_are_retried_once(self, article_id: str) -> None:
        assert run_for_json("retry", article_id, "--locale", "pt") == {"queued": 0}
        assert run_for_json("retry") == {"queued": 1}
        assert run_for_json("retry") == {"queued": 0}
        assert run_for_json("list", "--status", "queued")[0]["queued"] == 1


class TestWithdrawing:
    @pytest.mark.parametrize(("command", "status"), [("unpublish", "unpublished"), ("delete", "deleted")])
    def test_takes_an_article_off_the_site(self, article_id: str, command: str, status: str) -> None:
        assert run_for_json(command, article_id) == {"id": article_id, "slug": "shoes", "status": status}
        assert [row["publication"] for row in run_for_json("list")] == [status] * (command == "unpublish")

    def test_is_done_once_however_often_it_is_asked_for(self, article_id: str) -> None:
        assert run_for_json("delete", article_id) == run_for_json("delete", article_id)

    def test_says_that_there_is_no_such_article(self, article_id: str) -> None:
        run_for_json("delete", article_id)
        unpublished = run("unpublish", article_id)
        assert (unpublished.exit_code, unpublished.stderr) == (1, f"There is no article {article_id}\n")
