"""Finds a "not" that a translation lost, in languages where a list of words tells it.

Translators avoid a "not" by a word with its sense ("invalid", "fail", "stop", "only"), so these words count
as well. In other languages such a list refused too many good translations (docs/translation.md).
"""

import re

# One of them, and one that says something: no "whether or not", "if not", "not only".
_ENGLISH = re.compile(
    r"(?<!\bor )(?<!\bif )\b(?:not(?! only\b| limited\b)|never|cannot|no longer|\w+n['\u2019]t)\b",
    re.IGNORECASE,
)
_WORDS = {
    "es": r"""no|nunca|jamás|sin|ni|ning[uú]n\w*|nada|nadie|tampoco|salvo|excepto|s[oó]lo|únicamente|antes
        |in(?:v[aá]l|corr|cap|exis|sufic|acces|dispo|compat|activ)\w*|impo\w+|imp[ií]d\w*|des(?:act|hab|con|pub|ac)\w*
        |dej\w+[ ]de|fall\w+|falt\w+|evit\w*|error\w*""",
    "pt": r"""não|nunca|jamais|sem|nem|nenhum\w*|nada|ninguém|tampouco|salvo|exceto|só|somente|apenas|antes
        |in(?:v[aá]l|corr|cap|exis|sufic|acess|dispo|compat|ativ)\w*|impo\w+|imped\w*
        |des(?:at|ab|hab|con|pub|ac)\w*|deix\w+[ ]de|fal[ht]\w+|evit\w*|erro\w*""",
    "ca": r"""no|mai|sense|ni|cap|res|ning[uú]\w*|tampoc|excepte|només|abans
        |in(?:v[aà]l|corr|cap|exis|sufic|acces|dispo|compat|activ)\w*|impo\w+|imped\w*|des(?:act|hab|con|pub|ac)\w*
        |deix\w+[ ]de|fall\w*|falt\w*|evit\w*|error\w*""",
}
_NEGATIONS = {
    language: re.compile(rf"\b(?:{words})\b", re.IGNORECASE | re.VERBOSE)
    for language, words in _WORDS.items()
}


def has_lost_negation(source: str, text: str, target: str) -> bool:
    """Say whether an English text has exactly one "not", and its translation has no word of that sense."""
    negation = _NEGATIONS.get(target.lower().partition("-")[0])
    return negation is not None and len(_ENGLISH.findall(source)) == 1 and not negation.search(text)
