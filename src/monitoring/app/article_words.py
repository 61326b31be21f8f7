"""What is wrong with an engine's answer, in words for people who read a translation."""

from __future__ import annotations

from monitoring.articles.translation.judgement import Fault

FAULTS = {
    Fault.EMPTY: "there was no answer, or one without words",
    Fault.MARKUP: "the answer would break a link, bold type or other markup",
    Fault.NUMBERS: "a number was missing or new",
    Fault.ADDRESSES: "the answer had a new address or placeholder",
    Fault.LENGTH: "the answer was cut off, or much too long",
    Fault.REPETITION: "the answer said the same again and again",
    Fault.SCRIPT: "the answer was in another script",
    Fault.ENGLISH: "the answer was in English",
    Fault.LANGUAGE: "the answer was in another language",
    Fault.NEGATION: "a “not” was lost",
    Fault.CHATTER: "the engine answered with remarks of its own",
    Fault.TERMS: "a term was not translated as prescribed",
}
