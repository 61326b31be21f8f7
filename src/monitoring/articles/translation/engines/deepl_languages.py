"""The languages of DeepL's documentation, used when DeepL does not answer at the start."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TargetLanguage:
    """What DeepL supports in a language."""

    keeps_tags: bool
    has_formality: bool
    has_glossary: bool


# fmt: off
_WITH_FORMALITY = {"de", "es", "es-419", "fr", "it", "ja", "nl", "pl", "pt-BR", "pt-PT", "ru"}
_WITH_TAGS = _WITH_FORMALITY | {
    "ar", "bg", "cs", "da", "el", "et", "fi", "hu", "id", "ko", "lt", "lv", "nb", "ro", "sk", "sl", "sv",
    "tr", "uk", "zh", "zh-Hans", "zh-Hant",
}
_WITHOUT_TAGS = {
    "ace", "af", "an", "as", "ay", "az", "ba", "be", "bho", "bn", "br", "bs", "ca", "ceb", "ckb", "cy", "eo",
    "eu", "fa", "ga", "gl", "gn", "gom", "gu", "ha", "he", "hi", "hr", "ht", "hy", "ig", "is", "jv", "ka",
    "kk", "kmr", "ky", "la", "lb", "lmo", "ln", "mai", "mg", "mi", "mk", "ml", "mn", "mr", "ms", "mt", "my",
    "ne", "oc", "om", "pa", "pag", "pam", "prs", "ps", "qu", "sa", "scn", "sq", "sr", "st", "su", "sw", "ta",
    "te", "tg", "th", "tk", "tl", "tn", "ts", "tt", "ur", "uz", "vi", "wo", "xh", "yi", "yue", "zu",
}
# https://developers.deepl.com/api-reference/glossaries/create-a-glossary
_WITH_GLOSSARY = _WITH_TAGS | {"he", "th", "vi"}
# fmt: on
DOCUMENTED = {
    code: TargetLanguage(code in _WITH_TAGS, code in _WITH_FORMALITY, code in _WITH_GLOSSARY)
    for code in sorted(_WITH_TAGS | _WITHOUT_TAGS)
}
