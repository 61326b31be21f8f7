"""Creates the configured translation engine."""

from __future__ import annotations

from typing import assert_never

from monitoring.articles.translation.engines.protocol import Engine
from monitoring.articles.translation.engines.throttle import SlidingWindow, Throttle
from monitoring.articles.translation.terms import NO_TERMS, Terms, read_terms
from monitoring.settings import Settings, SettingsError

_NEEDED = {
    "deepl": ["translator_api_key"],
    "libretranslate": ["translator_url"],
    "openai": ["translator_api_key", "openai_model"],
}


def read_chosen_terms(settings: Settings) -> Terms:
    """Return the terms in the configured terms file, or no terms if no file is configured.

    Raises `SettingsError` if the file cannot be read or is invalid.
    """
    if settings.terms_file is None:
        return NO_TERMS
    try:
        return read_terms(settings.terms_file)
    except OSError as error:
        raise SettingsError(f"TERMS_FILE: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise SettingsError(f"TERMS_FILE: {error}") from None


def make_engine(settings: Settings, terms: Terms | None = None) -> Engine | None:
    """Create the configured translation engine, or return None if none is configured.

    Reads the terms file, unless `terms` is given. Raises `SettingsError` with a message that lists every
    problem.
    """
    engine = _make_unchecked(settings, read_chosen_terms(settings) if terms is None else terms)
    if engine is None:
        return None
    if problems := engine.check(settings.locales):
        engine.close()
        raise SettingsError("\n".join(f"TRANSLATOR: {problem}" for problem in problems))
    return engine


def _make_unchecked(settings: Settings, terms: Terms) -> Engine | None:
    """Create the configured engine without checking that it supports the configured locales.

    Only the configured engine's module is imported, because importing some engine modules takes a third of a
    second.
    """
    missing = [name for name in _NEEDED.get(settings.translator, ()) if not getattr(settings, name)]
    if missing:
        raise SettingsError(
            "\n".join(f"TRANSLATOR: {settings.translator} needs {name.upper()}" for name in missing)
        )
    timeout_seconds = settings.translator_timeout_seconds
    api_key = settings.translator_api_key.get_secret_value() if settings.translator_api_key else ""
    match settings.translator:
        case "none":
            return None
        case "pseudo":
            from monitoring.articles.translation.engines.pseudo import Pseudo  # noqa: PLC0415

            return Pseudo()
        case "apertium":
            from monitoring.articles.translation.engines.apertium import Apertium  # noqa: PLC0415

            return Apertium(silence_timeout_seconds=timeout_seconds)
        case "deepl":
            from monitoring.articles.translation.engines.deepl import DeepL  # noqa: PLC0415

            return DeepL(
                api_key,
                url=settings.translator_url,
                formality=settings.deepl_formality,
                glossaries=settings.deepl_glossaries,
                terms=terms,
                timeout_seconds=timeout_seconds,
                throttle=_throttle(settings),
            )
        case "libretranslate":
            from monitoring.articles.translation.engines.libretranslate import LibreTranslate  # noqa: PLC0415

            return LibreTranslate(
                settings.translator_url or "",
                api_key=api_key,
                timeout_seconds=timeout_seconds,
                throttle=_throttle(settings),
            )
        case "openai":
            from monitoring.articles.translation.engines.openai_compatible import (  # noqa: PLC0415
                OpenAICompatible,
            )

            return OpenAICompatible(
                api_key,
                model=settings.openai_model or "",
                url=settings.translator_url,
                instructions=settings.openai_instructions,
                terms=terms,
                timeout_seconds=timeout_seconds,
                throttle=_throttle(settings),
            )
        case other:
            assert_never(other)


def _throttle(settings: Settings) -> Throttle:
    rate = settings.translator_rate
    return Throttle(
        settings.translator_concurrency, SlidingWindow(rate.limit, rate.window_seconds) if rate else None
    )
