"""`monitoring articles`: what publishers delivered, and how its translations are."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, NoReturn
from uuid import UUID  # noqa: TC003 - typer reads the annotation

import typer

from monitoring.articles import restoring, service
from monitoring.articles.models import PublicationStatus, TranslationStatus
from monitoring.articles.representations import represent_article
from monitoring.articles.withdrawal import withdraw_article
from monitoring.audit.actors import COMMAND_LINE
from monitoring.cli.commands import AsJson, fail, run_command, show_row, show_rows

if TYPE_CHECKING:
    from monitoring.articles.models import Article

app = typer.Typer(no_args_is_help=True, help=__doc__)


@app.command("list")
def list_articles(
    status: Annotated[
        TranslationStatus | None, typer.Option(help="Only articles with a translation in this state.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="At most so many.")] = 50,
    *,
    as_json: AsJson = False,
) -> None:
    """List articles, the newest first, with how many of their translations are in which state."""
    page = run_command(service.list_articles(limit, status))
    show_rows([_summarise_article(article) for article in page.rows], as_json=as_json)


@app.command("show")
def show_article(
    article_id: Annotated[UUID, typer.Argument(help="The id that the webhook answered.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Show an article and the state of every locale, with the reason of what failed."""
    article = run_command(service.find_article(article_id))
    if article is None:
        _fail_to_find(article_id)
    row = represent_article(article)
    if as_json:
        show_row(row, as_json=True)
        return
    translations = row.pop("translations")
    show_row(row, as_json=False)
    typer.echo()
    show_rows(translations, as_json=False)


@app.command("unpublish")
def unpublish_article(
    article_id: Annotated[UUID, typer.Argument(help="The id that the webhook answered.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Remove an article's files. Its text is kept, and publishing it again brings the files back."""
    _withdraw(article_id, PublicationStatus.UNPUBLISHED, as_json=as_json)


@app.command("delete")
def delete_article(
    article_id: Annotated[UUID, typer.Argument(help="The id that the webhook answered.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Erase an article: its text, its translations and its files."""
    _withdraw(article_id, PublicationStatus.DELETED, as_json=as_json)


@app.command("retry")
def retry_failed(
    article_id: Annotated[UUID | None, typer.Argument(help="Only this article; all if left out.")] = None,
    locale: Annotated[str | None, typer.Option(help="Only this locale.")] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Queue failed translations again. A running service takes them within seconds."""
    if article_id and run_command(service.find_article(article_id)) is None:
        _fail_to_find(article_id)
    show_row({"queued": run_command(service.retry_failed(article_id, locale))}, as_json=as_json)


@app.command("restore")
def restore_files(
    article_id: Annotated[UUID | None, typer.Argument(help="Only this article; all if left out.")] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Make missing files of the blog storage again: originals at once, translations by the workers."""
    if article_id and run_command(service.find_article(article_id)) is None:
        _fail_to_find(article_id)
    show_row(asdict(run_command(restoring.restore_files(article_id))), as_json=as_json)


def _withdraw(article_id: UUID, status: PublicationStatus, *, as_json: bool) -> None:
    article = run_command(withdraw_article(article_id, status, COMMAND_LINE))
    if article is None:
        _fail_to_find(article_id)
    show_row({"id": str(article.id), "slug": article.slug, "status": article.status}, as_json=as_json)


def _fail_to_find(article_id: UUID) -> NoReturn:
    fail(f"There is no article {article_id}")


def _summarise_article(article: Article) -> dict[str, Any]:
    states = Counter(translation.status for translation in article.translations)
    return {
        "id": str(article.id),
        "slug": article.slug,
        "publication": article.status,
        "revision": article.revision,
        "updated_at": article.updated_at.isoformat(timespec="seconds"),
        **{status.value: states[status] for status in TranslationStatus},
    }
