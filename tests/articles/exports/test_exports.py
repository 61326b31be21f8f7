from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import pytest

from articles.desk import deliver, states, translate
from monitoring.articles.exports import EXPORTS
from monitoring.articles.models import PublicationStatus
from monitoring.articles.restoring import Restored, restore_files
from monitoring.articles.withdrawal import withdraw_article
from monitoring.audit.actors import COMMAND_LINE
from monitoring.backends.current import current_backends
from monitoring.settings import Settings
from temporary_backends import temporary_backends

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio

JSON_FILES = ["en.json", "pt-BR.json"]
EXPORTED_FILES = {
    "hugo": ["index.en.md", "index.pt-br.md"],
    **{name: ["en.md", "pt-BR.md"] for name in ("astro", "next", "eleventy", "markdown")},
}


async def list_files() -> list[str]:
    storage = current_backends().blog_storage
    assert storage
    return [path.removeprefix("shoes/") for path in await storage.list("shoes")]


def test_every_name_of_the_setting_has_its_export() -> None:
    names = get_args(Settings.model_fields["blog_export"].annotation)
    assert {*EXPORTS, "json", "none"} == set(names)
    assert EXPORTS.keys() == EXPORTED_FILES.keys()


@pytest.mark.parametrize("name", EXPORTED_FILES)
async def test_a_file_stands_beside_the_json_of_every_locale_until_the_article_is_withdrawn(
    tmp_path: Path, name: str
) -> None:
    async with temporary_backends(tmp_path, blog_export=name, locales="pt-BR"):
        article = await deliver("Shoes")
        await translate(article)
        assert await list_files() == sorted(JSON_FILES + EXPORTED_FILES[name])
    async with temporary_backends(tmp_path, locales="pt-BR"):  # whatever the setting is by then
        await withdraw_article(article.id, PublicationStatus.UNPUBLISHED, COMMAND_LINE)
        assert await list_files() == ["gone.json"]


@pytest.mark.parametrize(("name", "later"), [("json", "hugo"), ("hugo", "astro"), ("astro", "json")])
async def test_restoring_changes_the_layout_of_what_is_there(tmp_path: Path, name: str, later: str) -> None:
    async with temporary_backends(tmp_path, blog_export=name, locales="pt-BR"):
        article = await deliver("Shoes")
        await translate(article)
    async with temporary_backends(tmp_path, blog_export=later, locales="pt-BR"):
        is_exported = later in EXPORTS
        assert await restore_files() == Restored(originals=is_exported, translations=is_exported)
        await translate(article)
        assert set((await states(article)).values()) == {"translated"}
        assert await list_files() == sorted(JSON_FILES + EXPORTED_FILES.get(later, []))
        assert await restore_files() == Restored()
