"""Tests that the recipes in CONTRIBUTING.md name every file that mentions their precedent."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import pytest

from debian_programs import find_program

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text()
CODE = re.compile(r"`([^`]+)`")
PATH = re.compile(r"`((?:src|tests|contract-tests|docs)/[\w/*.-]+|openapi\.yaml|pyproject\.toml)`")

# Here, a recipe must name every file that mentions its precedent. Of tests and docs, it names the important
# ones.
COMPLETE = ("openapi.yaml", "src/monitoring/*")


@dataclass(frozen=True, slots=True)
class Recipe:
    """A recipe for adding something of a kind: the text with its precedent, and its list of files."""

    title: str
    text: str

    @property
    def precedent(self) -> re.Pattern[str]:
        """A pattern that matches the names of the recipe's precedent."""
        [sentence] = re.findall(r"^Precedent: ([^.]*(?:\.[^. \n][^.]*)*)\.(?:\s|$)", self.text, re.MULTILINE)
        return re.compile("|".join(rf"\b{re.escape(word)}" for word in CODE.findall(sentence)))

    @property
    def files(self) -> set[str]:
        """The paths and patterns before the colons in the recipe's list."""
        heads = [line.partition(": ")[0] for line in self.text.splitlines() if line.startswith("- ")]
        return {path for head in heads for path in CODE.findall(head)}


def read_recipes() -> list[Recipe]:
    recipes = TEXT.partition("\n## Recipes\n")[2].partition("\n## ")[0]
    return [Recipe(*part.split("\n", 1)) for part in recipes.split("\n### ")[1:]]


def tracked_files() -> list[str]:
    listed = subprocess.run(
        [find_program("git"), "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    paths = [ROOT / name for name in listed.stdout.splitlines()]
    return [path.relative_to(ROOT).as_posix() for path in paths if path.is_file() and not path.is_symlink()]


FILES = tracked_files()
RECIPES = [pytest.param(recipe, id=recipe.title) for recipe in read_recipes()]


def find_mentions(recipe: Recipe) -> set[str]:
    texts = {name: (ROOT / name).read_text(errors="replace") for name in FILES}
    return {name for name, text in texts.items() if recipe.precedent.search(text)}


class TestRecipes:
    @pytest.mark.parametrize("recipe", RECIPES)
    def test_a_recipe_names_every_file_that_knows_the_precedent(self, recipe: Recipe) -> None:
        mentions = find_mentions(recipe)
        of_the_service = {name for name in mentions if any(fnmatch(name, each) for each in COMPLETE)}
        assert {
            name for name in of_the_service if not any(fnmatch(name, each) for each in recipe.files)
        } == set()
        assert {each for each in recipe.files if not any(fnmatch(name, each) for name in mentions)} == set()

    @pytest.mark.parametrize("recipe", RECIPES)
    def test_every_path_that_a_recipe_names_is_there(self, recipe: Recipe) -> None:
        paths = set(PATH.findall(recipe.text))
        assert paths
        assert {path for path in paths if not any(fnmatch(name, path) for name in FILES)} == set()


class TestWhereThingsAre:
    def test_the_table_names_everything_at_the_top(self) -> None:
        table = TEXT.partition("\n## Where things are\n")[2].partition("\n## ")[0]
        rows = [line for line in table.splitlines() if line.startswith("| `")]
        named = {path.rstrip("/") for row in rows for path in CODE.findall(row.split("|")[1])}
        assert named == {name.partition("/")[0] for name in FILES}
