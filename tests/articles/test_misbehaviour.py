"""What becomes of each misbehaviour of an engine, from webhook to file, as docs/translation.md says."""

# ruff: noqa: RUF001 - Chinese has commas of its own

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from articles.desk import read_page
from articles.test_handlers import WEBHOOK, wait_until_settled
from metric_values import reading
from monitoring.articles.models import TranslationMemory
from monitoring.articles.retranslation import TranslationFilter, retranslate
from monitoring.articles.translation.judgement import Fault
from running_service import WEBHOOK_SECRET, running_service
from translation_servers import KEY, OpenAIServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from running_service import RunningService
    from translation_servers import Reply

PAGE = Path(__file__).parents[2] / "docs" / "translation.md"
TABLE_HEAD = "| the engine's answer | fault | to one segment of four | to all four |"

SENTENCE = "Do not run more than 3 times a week until the shoes of your choice fit well."
SPANISH = {
    "Shoes that fit": "Zapatos que quedan bien",
    SENTENCE: "No corras más de 3 veces por semana hasta que las zapatillas que elijas te queden bien.",
    "A shop that knows its craft measures both feet before it sells anything.": (
        "Una tienda que conoce su oficio mide los dos pies antes de vender nada."
    ),
    "Socks are as important as shoes, and wool dries more quickly than cotton.": (
        "Los calcetines son tan importantes como los zapatos, y la lana se seca más rápido que el algodón."
    ),
}
PORTUGUESE = {
    "Shoes that fit": "Sapatos que servem",
    SENTENCE: "Não corra mais de 3 vezes por semana até que os tênis da sua escolha sirvam bem.",
    "A shop that knows its craft measures both feet before it sells anything.": (
        "Uma loja que conhece o seu ofício mede os dois pés antes de vender qualquer coisa."
    ),
    "Socks are as important as shoes, and wool dries more quickly than cotton.": (
        "As meias são tão importantes quanto os sapatos, e a lã seca mais depressa do que o algodão."
    ),
}

FRENCH_HEADINGS = {
    "The right shoes": "Les bonnes chaussures",
    "Find your size": "Trouvez votre taille",
    "Our shops": "Nos magasins",
    "Try them on": "Essayez-les",
    "In the evening": "Le soir",
    "Socks": "Chaussettes",
    "For the winter": "Pour l'hiver",
    "For the summer": "Pour l'été",
    "After the race": "Après la course",
    "Before the race": "Avant la course",
    "Wash and dry": "Laver et sécher",
    "How long they last": "Leur durée de vie",
    "When to buy new ones": "Quand les changer",
    "What they cost": "Ce qu'elles coûtent",
    "Return them": "Les renvoyer",
    "Ask us": "Demandez-nous",
    "Your feet": "Vos pieds",
    "The heel": "Le talon",
    "The sole": "La semelle",
    "The laces": "Les lacets",
}


def without_not(text: str) -> str:
    return text.replace("No corras", "Corre")


def other_number(text: str) -> str:
    return text.replace("3", "4")


@dataclass(frozen=True, slots=True)
class Misbehaviour:
    """A way to spoil the right answer to a text."""

    name: str
    answer: Callable[[str, str], str]  # from a text and its translation
    fits_all: bool = True  # not only the sentence with a "not" and a number
    is_cut_off: bool = False
    is_fenced: bool = False


MISBEHAVIOURS = [
    Misbehaviour("a refusal", lambda _, __: "I'm sorry, but I can't help with translating that request."),
    Misbehaviour("a refusal in Spanish", lambda _, __: "Lo siento, no puedo ayudar con esa petición."),
    Misbehaviour("a chatty preamble", lambda _, good: f"Sure! Here is the translation: {good}"),
    Misbehaviour("each text in a fence", lambda _, good: f"```{good}```"),
    Misbehaviour("the whole answer in a fence", lambda _, good: good, is_fenced=True),
    Misbehaviour("Portuguese", lambda text, _: PORTUGUESE[text]),
    Misbehaviour("the English again", lambda text, _: text),
    Misbehaviour("nothing", lambda _, __: ""),
    Misbehaviour("cut to a quarter", lambda _, good: good[: len(good) // 4]),
    Misbehaviour("cut to a half", lambda _, good: good[: len(good) // 2], fits_all=False),
    Misbehaviour("60 times the same", lambda _, good: f"{good} " * 60),
    Misbehaviour("4 instead of 3", lambda _, good: other_number(good), fits_all=False),
    Misbehaviour('without the "not"', lambda _, good: without_not(good), fits_all=False),
    Misbehaviour("with `http://evil.example`", lambda _, good: f"{good} http://evil.example"),
    Misbehaviour("with `{{ config.SECRET }}`", lambda _, good: f"{good} {{{{ config.SECRET }}}}"),
    Misbehaviour('with `{% include "x" %}`', lambda _, good: f'{good} {{% include "x" %}}'),
    Misbehaviour("with `[gallery ids=1]`", lambda _, good: f"{good} [gallery ids=1]"),
    Misbehaviour("in quotes", lambda _, good: f"«{good}»"),
    Misbehaviour("in `**`", lambda _, good: f"**{good}**"),
    Misbehaviour("behind `# `", lambda _, good: f"# {good}"),
    Misbehaviour("without its final stop", lambda _, good: good.removesuffix(".")),
    Misbehaviour("with `&amp;nbsp;` for blanks", lambda _, good: good.replace(" ", "&amp;nbsp;")),
    Misbehaviour("with characters of no width", lambda _, good: good.replace(" ", " \u200b")),
    Misbehaviour("`finish_reason: length`", lambda _, good: good, is_cut_off=True),
]


class SpoiledServer(OpenAIServer):
    """Spoils the answers to some texts."""

    def __init__(self) -> None:
        super().__init__()
        self.translate = self._answer_to
        self.spoil(None)

    def spoil(self, misbehaviour: Misbehaviour | None, *texts: str) -> None:
        """Misbehave from now on."""
        self.misbehaviour, self.spoiled = misbehaviour, texts
        self.asked: list[str] = []

    def _answer_to(self, text: str) -> str:
        self.asked.append(text)
        good = SPANISH[text]
        return self.misbehaviour.answer(text, good) if self.misbehaviour and text in self.spoiled else good

    def _completed(self, content: str | None, refusal: str | None = None) -> Reply:
        asked = set(json.loads(content or "{}").values())
        is_cut_off = self.misbehaviour is not None and self.misbehaviour.is_cut_off
        self.max_answer_characters = 5 if is_cut_off and self._has_spoiled(asked) else 20_000
        if content and self.misbehaviour and self.misbehaviour.is_fenced:
            content = f"```json\n{content}\n```"
        return super()._completed(content, refusal)

    def _has_spoiled(self, answers: set[str]) -> bool:
        return any(SPANISH[text] in answers for text in self.spoiled)


@pytest.fixture(scope="module")
def engine() -> Iterator[SpoiledServer]:
    with SpoiledServer() as server:
        yield server


@pytest.fixture(scope="module")
def spoiled(tmp_path_factory: pytest.TempPathFactory, engine: SpoiledServer) -> Iterator[RunningService]:
    """Run a service that has nobody else to ask, and soon finds what is to be translated again."""
    asked = {**settings_for(engine), "locales": "es", "sweep_interval_seconds": 0.2}
    with running_service(tmp_path_factory.mktemp("spoiled"), **asked) as service:
        yield service


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a delivery."""

    status: str
    reason: str | None
    texts: list[str]  # of the Spanish file; none if there is no file
    in_english: tuple[int, int | None]  # as the file and the API count them
    faults: dict[str, int]  # as the metric counts them
    times_asked: int  # for the sentence
    memory: list[str]
    location: str


class TestMisbehaviour:
    @pytest.mark.parametrize("misbehaviour", MISBEHAVIOURS, ids=lambda each: each.name)
    def test_ends_as_the_table_says(
        self, misbehaviour: Misbehaviour, engine: SpoiledServer, spoiled: RunningService
    ) -> None:
        one = deliver(spoiled, engine, misbehaviour, SENTENCE)
        every = deliver(spoiled, engine, misbehaviour, *SPANISH) if misbehaviour.fits_all else None
        assert row_of(misbehaviour, one, every) in table_rows()
        good = list(SPANISH.values())
        assert set(one.memory) == set(one.texts) - {SENTENCE}, "what is published is remembered, but English"
        assert (one.status, set(one.texts) - {SENTENCE} <= set(good)) == ("translated", True)
        assert one.in_english == (one.texts.count(SENTENCE),) * 2
        if every and every.status == "failed":
            assert (every.texts, every.memory) == ([], [])

    def test_is_in_the_table_once(self) -> None:
        assert len(table_rows()) == len(MISBEHAVIOURS)

    def test_that_no_rule_finds_is_repaired_by_forgetting_it(
        self, engine: SpoiledServer, spoiled: RunningService
    ) -> None:
        lie = Misbehaviour("a lie", lambda _, good: good.replace("lana", "seda"))
        wool = list(SPANISH)[-1]
        outcome = deliver(spoiled, engine, lie, wool)
        assert "seda" in outcome.texts[-1]
        engine.spoil(None)
        for forgets_memory, word in ((False, "seda"), (True, "lana")):
            assert spoiled.run(retranslate(TranslationFilter(), forgets_memory=forgets_memory)) == 1
            assert word in read_outcome(spoiled, engine, {}, outcome.location).texts[-1]


def test_a_chinese_answer_without_spaces_adds_nothing_to_a_bare_link(tmp_path: Path) -> None:
    with OpenAIServer() as server:
        server.translate = lambda text: text and "请看<x1/>，那里有合脚的鞋子。"
        with running_service(tmp_path, **settings_for(server), locales="zh") as service:
            source = "Look at https://shop.example/fit where shoes fit well."
            article = {"title": "1", "slug": "shoes", "format": "markdown", "content": source}
            with publisher_of(service) as publisher:
                location = publisher.post(WEBHOOK, json={"article": article}).headers["Location"]
                wait_until_settled(publisher, location)
            content = service.run(read_page("shoes/zh.json"))["delivery"]["article"]["content"]
            assert content == "请看 https://shop.example/fit ，那里有合脚的鞋子。"


def test_short_headings_in_another_language_are_noticed_together(tmp_path: Path) -> None:
    """None of them tells its language by itself."""
    with OpenAIServer() as server:
        server.translate = lambda text: FRENCH_HEADINGS[text]
        with running_service(tmp_path, **settings_for(server), locales="es") as service:
            title, *headings = FRENCH_HEADINGS
            content = "\n\n".join(f"## {heading}" for heading in headings)
            article = {"title": title, "slug": "shoes", "format": "markdown", "content": content}
            with publisher_of(service) as publisher:
                location = publisher.post(WEBHOOK, json={"article": article}).headers["Location"]
                [row] = wait_until_settled(publisher, location)["translations"]
    assert (row["status"], row["reason"]) == (
        "failed",
        f"20 of 20 segments stayed in English, no answer being acceptable ({Fault.LANGUAGE})",
    )


def settings_for(server: OpenAIServer) -> dict[str, Any]:
    return {
        "translator": "openai",
        "translator_url": server.url,
        "translator_api_key": KEY,
        "openai_model": server.model,
    }


def publisher_of(service: RunningService) -> httpx.Client:
    return httpx.Client(base_url=service.base_url, headers={"X-Webhook-Secret": WEBHOOK_SECRET}, timeout=30)


def deliver(
    service: RunningService, engine: SpoiledServer, misbehaviour: Misbehaviour, *texts: str
) -> Outcome:
    """Deliver an article that the memory does not know, whose `texts` the engine spoils."""

    async def forget() -> None:
        await TranslationMemory.all().delete()

    service.run(forget())
    engine.spoil(misbehaviour, *texts)
    title, *paragraphs = SPANISH
    article = {"id": "art_1", "title": title, "slug": "fit", "content": "\n\n".join(paragraphs)}
    before = faults()
    with publisher_of(service) as publisher:
        publisher.post(WEBHOOK, json={"event": "article.deleted", "article": {"id": "art_1"}})
        answer = publisher.post(WEBHOOK, json={"article": article | {"format": "markdown"}})
        return read_outcome(service, engine, before, answer.headers["Location"])


def read_outcome(
    service: RunningService, engine: SpoiledServer, before: dict[str, int], location: str
) -> Outcome:
    with publisher_of(service) as publisher:
        [row] = wait_until_settled(publisher, location)["translations"]
    page = service.run(read_page("fit/es.json"))
    article = page["delivery"]["article"] if page else {}
    texts = [article["title"], *article["content"].split("\n\n")] if page else []
    now = faults()
    return Outcome(
        status=row["status"],
        reason=row.get("reason"),
        texts=texts,
        in_english=(page["untranslated_segments"] if page else 0, row["untranslated_segments"]),
        faults={
            fault: now[fault] - before.get(fault, 0) for fault in now if now[fault] > before.get(fault, 0)
        },
        times_asked=engine.asked.count(SENTENCE),
        memory=service.run(read_memory()),
        location=location,
    )


async def read_memory() -> list[str]:
    return [row.text for row in await TranslationMemory.all()]


def faults() -> dict[str, int]:
    """Read the metric."""
    return {
        fault: int(reading("engine_answers_refused_total", engine="openai", locale="es", fault=fault))
        for fault in Fault
    }


def row_of(misbehaviour: Misbehaviour, one: Outcome, every: Outcome | None) -> str:
    """Write a row of the table."""
    found = ", ".join(f"`{fault}`" for fault in one.faults) or "none"
    fate = f"asked {one.times_asked} times, stays in English" if any(one.in_english) else "translated"
    fate_of_all = "not tried" if every is None else every.status
    if every and every.reason:
        share, _, why = every.reason.partition(", no answer being acceptable ")
        assert why == f"({', '.join(every.faults)})"
        fate_of_all += f": {share}"
    return f"| {misbehaviour.name} | {found} | {fate} | {fate_of_all} |"


def table_rows() -> list[str]:
    """Read the table of the page."""
    _, _, table = PAGE.read_text().partition(f"{TABLE_HEAD}\n|---|---|---|---|\n")
    return table.partition("\n\n")[0].splitlines()
