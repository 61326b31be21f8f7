"""`monitoring articles`: articles and the state of their translations."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from dataclasses import asdict
from typing import Annotated, Any, NoReturn
from uuid import UUID

import typer

from monitoring.articles import queueing, restoring, service
from monitoring.articles.chosen_engine import make_engine
from monitoring.articles.corrections import BrokenCodes, UnknownSegment, correct, list_segments
from monitoring.articles.models import Article, PublicationStatus, TranslationStatus
from monitoring.articles.representations import represent_article
from monitoring.articles.retranslation import TranslationFilter, estimate, retranslate
from monitoring.articles.usage import list_usage, this_month
from monitoring.articles.withdrawal import withdraw_article
from monitoring.articles.xliff import EditedTranslation, NoXliff, read_xliff, write_xliff
from monitoring.audit.actors import COMMAND_LINE
from monitoring.backends.current import current_backends
from monitoring.cli.commands import AsJson, run_command, show_row, show_rows
from monitoring.cli.failing import fail
from monitoring.settings.value_types import normalise_locale

app = typer.Typer(no_args_is_help=True, help=__doc__)

ArticleId = Annotated[UUID, typer.Argument(help="The article_id in the webhook's response.")]
OnlyArticle = Annotated[UUID | None, typer.Argument(help="Only this article. By default, all articles.")]
OnlyLocale = Annotated[str | None, typer.Option(help="Only this locale.")]

_MONTH = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])")


@app.command("list")
def list_articles(
    status: Annotated[
        TranslationStatus | None, typer.Option(help="Only articles with a translation in this state.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="The maximum number of articles.")] = 50,
    *,
    as_json: AsJson = False,
) -> None:
    """List articles, newest first, with the number of their translations in each state."""
    page = run_command(service.list_articles(limit, status))
    show_rows([_summarise_article(article) for article in page.rows], as_json=as_json)


@app.command("show")
def show_article(
    article_id: ArticleId,
    *,
    as_json: AsJson = False,
) -> None:
    """Show an article and the state of each of its translations, with the reason for each failure."""
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
    article_id: ArticleId,
    *,
    as_json: AsJson = False,
) -> None:
    """Remove an article's files. Its text is kept, and publishing the article again restores the files."""
    _withdraw(article_id, PublicationStatus.UNPUBLISHED, as_json=as_json)


@app.command("delete")
def delete_article(
    article_id: ArticleId,
    *,
    as_json: AsJson = False,
) -> None:
    """Erase an article: its text, its translations and its files."""
    _withdraw(article_id, PublicationStatus.DELETED, as_json=as_json)


@app.command("retry")
def retry_failed(
    article_id: OnlyArticle = None,
    locale: OnlyLocale = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Queue failed translations again. A running service picks them up within seconds."""
    if article_id and run_command(service.find_article(article_id)) is None:
        _fail_to_find(article_id)
    show_row({"queued": run_command(queueing.retry_failed(article_id, locale))}, as_json=as_json)


@app.command("retranslate")
def retranslate_articles(  # noqa: PLR0913 - one argument for each option
    article_id: Annotated[UUID | None, typer.Option("--article", help="Only this article.")] = None,
    locale: OnlyLocale = None,
    engine: Annotated[
        str | None, typer.Option(help="Only translations made by this engine, such as deepl.")
    ] = None,
    *,
    forget_memory: Annotated[
        bool, typer.Option("--forget-memory", help="Ask for every sentence again, not only for new ones.")
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Only show what would be sent to the engine, including for queued translations.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Queue finished translations again. Their pages stay until new ones replace them."""
    chosen = TranslationFilter(article_id, locale, engine)
    if article_id and run_command(service.find_article(article_id)) is None:
        _fail_to_find(article_id)
    if dry_run:
        show_rows(run_command(_estimate(chosen, forgets_memory=forget_memory)), as_json=as_json)
    else:
        show_row({"queued": run_command(_retranslate(chosen, forgets_memory=forget_memory))}, as_json=as_json)


async def _retranslate(chosen: TranslationFilter, *, forgets_memory: bool) -> int:
    _demand_configured(chosen.locale)
    return await retranslate(chosen, forgets_memory=forgets_memory)


def _demand_configured(locale: str | None) -> None:
    """End the command if the locale is not configured."""
    if locale and locale not in (locales := current_backends().settings.locales):
        fail(f"LOCALES does not contain {locale}: choose from {', '.join(locales)}")


async def _estimate(chosen: TranslationFilter, *, forgets_memory: bool) -> list[dict[str, Any]]:
    _demand_configured(chosen.locale)
    engine = make_engine(current_backends().settings)
    if engine is None:
        fail("TRANSLATOR is none, so there is no engine")
    try:
        costs = await estimate(chosen, engine, forgets_memory=forgets_memory)
    finally:
        engine.close()
    return [
        {"engine": engine.name, "locale": locale, **asdict(cost)} for locale, cost in sorted(costs.items())
    ]


@app.command("export-xliff")
def export_xliff(
    article_id: ArticleId,
    locale: Annotated[str, typer.Argument(help="One of LOCALES.")],
) -> None:
    """Print an article's translation as XLIFF 2.1, for translation tools."""

    async def export() -> str:
        article = await service.find_article(article_id)
        if article is None:
            _fail_to_find(article_id)
        known = _known_locale(article, locale)
        return write_xliff(str(article_id), known, await list_segments(article, known))

    typer.echo(run_command(export()), nl=False)


@app.command("import-xliff")
def import_xliff(
    file: Annotated[
        typer.FileBinaryRead, typer.Argument(help="The output of export-xliff, with your changes.")
    ],
    *,
    as_json: AsJson = False,
) -> None:
    """Import changes to an exported translation as corrections, which override every engine."""
    try:
        edited = read_xliff(file.read())
        corrected = run_command(_correct(edited))
    except NoXliff as error:
        fail(str(error))
    except UnknownSegment as error:
        fail(f"The article no longer has the segment {error}: export it again")
    except BrokenCodes as error:
        fail(f"The target of unit {error} must have the inline codes of its source once, and no other markup")
    show_row({"corrected": corrected}, as_json=as_json)


async def _correct(edited: EditedTranslation) -> int:
    try:
        article = await service.find_article(UUID(edited.article_id))
    except ValueError:
        article = None
    if article is None:
        raise NoXliff(f"There is no article {edited.article_id}")
    locale = _known_locale(article, edited.locale)
    texts = {segment.hash: segment.text for segment in await list_segments(article, locale)}
    changed = {hash_: text for hash_, text in edited.texts.items() if texts.get(hash_) != text}
    return await correct(article, locale, changed, COMMAND_LINE)


def _known_locale(article: Article, asked: str) -> str:
    """Return the locale `asked`, normalised. End the command if the article has no translation into it."""
    locale = asked
    with suppress(ValueError):
        locale = normalise_locale(asked)
    if locale not in {translation.locale for translation in article.translations}:
        fail(f"The article has no translation into {asked}")
    return locale


@app.command("usage")
def show_usage(
    month: Annotated[
        str | None, typer.Argument(help="The month, such as 2026-11. By default, the current month.")
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Show how many characters and requests were sent to engines in a month (UTC), by locale."""
    month = month or this_month()
    if not _MONTH.fullmatch(month):
        fail(f"{month} is not a month. Write it as in 2026-11")
    rows = run_command(list_usage(month))
    if not rows and not as_json:
        typer.echo(f"No requests were sent to an engine in {month}")
    fields = ("engine", "locale", "characters", "requests")
    show_rows([{name: getattr(row, name) for name in fields} for row in rows], as_json=as_json)


@app.command("restore")
def restore_files(
    article_id: OnlyArticle = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Restore missing files in the blog storage: originals immediately, translations by the workers."""
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
