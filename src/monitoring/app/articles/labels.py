"""Labels for translations: descriptions of faults in an engine's responses, and names of languages."""

from __future__ import annotations

from monitoring.articles.translation.judgement import Fault

FAULTS = {
    Fault.EMPTY: "there was no translation, or one without words",
    Fault.MARKUP: "the translation would break a link, bold type or other markup",
    Fault.BORDERS: "the translation was put in quotes or similar characters, or its quotes were lost",
    Fault.NUMBERS: "a number was missing or was added",
    Fault.ADDRESSES: "the translation contained a new URL, email address or placeholder",
    Fault.LENGTH: "the translation was cut off, or much too long",
    Fault.REPETITION: "the translation repeated itself again and again",
    Fault.SCRIPT: "the translation was in another script",
    Fault.ENGLISH: "the translation was in English",
    Fault.LANGUAGE: "the translation was in another language",
    Fault.NEGATION: "a negation, such as “not”, was lost",
    Fault.CHATTER: "the engine added remarks of its own",
    Fault.TERMS: "a term was not translated as prescribed",
}

# Languages by their ISO 639-1 codes. For any other language, the locale itself is shown.
LANGUAGES = {
    "ar": "Arabic",
    "bg": "Bulgarian",
    "ca": "Catalan",
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "eo": "Esperanto",
    "es": "Spanish",
    "et": "Estonian",
    "eu": "Basque",
    "fa": "Persian",
    "fi": "Finnish",
    "fr": "French",
    "ga": "Irish",
    "gl": "Galician",
    "he": "Hebrew",
    "hi": "Hindi",
    "hr": "Croatian",
    "hu": "Hungarian",
    "id": "Indonesian",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "lt": "Lithuanian",
    "lv": "Latvian",
    "nb": "Norwegian",
    "nl": "Dutch",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "sk": "Slovak",
    "sl": "Slovenian",
    "sv": "Swedish",
    "th": "Thai",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "vi": "Vietnamese",
    "zh": "Chinese",
}


def name_language(locale: str) -> str:
    """Return the name of a locale's language, such as "Spanish" or "Portuguese (pt-BR)".

    An unknown locale is returned unchanged.
    """
    language, region, _ = locale.partition("-")
    name = LANGUAGES.get(language.lower())
    if name is None:
        return locale
    return f"{name} ({locale})" if region else name
