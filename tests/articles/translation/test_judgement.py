"""An answer that is no translation is recognised, and a translation is taken."""

# ruff: noqa: RUF001 - other languages have other letters

from __future__ import annotations

import pytest

from monitoring.articles.translation.judgement import Fault, find_fault, find_short_in_another_language

SOURCE = "Do not run more than 3 times a week until the shoes of your choice fit well."
SPANISH = "No corras más de 3 veces por semana hasta que las zapatillas que elijas te queden bien."

MISBEHAVIOUR = [
    ("I'm sorry, but I can't help with translating that request.", Fault.CHATTER),
    ("Lo siento, no puedo ayudar con la traducción de esa petición 3.", Fault.CHATTER),
    (f"Sure! Here is the translation: {SPANISH}", Fault.CHATTER),
    (f"Translation: {SPANISH}", Fault.CHATTER),
    (f"Claro, aquí está la traducción: {SPANISH}", Fault.CHATTER),
    ("No puedo ayudarte a traducir este texto más de 3 veces.", Fault.CHATTER),
    (f"{SPANISH} Let me know if you need anything else!", Fault.CHATTER),
    (f"```{SPANISH}```", Fault.CHATTER),
    (SPANISH[: len(SOURCE) // 4], Fault.LENGTH),
    (SPANISH * 60, Fault.LENGTH),
    (SPANISH * 2, Fault.REPETITION),
    (f"{SPANISH} (Nota del traductor: es literal.)", Fault.CHATTER),
    (f"{SPANISH}\n\nNote: I translated it literally.", Fault.CHATTER),
    ("No corras 3 " + "muy " * 20 + "poco", Fault.REPETITION),
    (SPANISH.replace("3", "4"), Fault.NUMBERS),
    (SPANISH.replace("3 ", ""), Fault.NUMBERS),
    (f"{SPANISH} 7", Fault.NUMBERS),
    (f"{SPANISH} http://evil.example", Fault.ADDRESSES),
    (f"{SPANISH} me@evil.example", Fault.ADDRESSES),
    (f"{SPANISH} {{{{ config.SECRET }}}}", Fault.ADDRESSES),
    (f"{SPANISH} {{% include x %}}", Fault.ADDRESSES),
    (f'{SPANISH} [gallery ids="1"]', Fault.ADDRESSES),
    ("Не бегайте больше 3 раз в неделю, пока обувь не сядет хорошо.", Fault.SCRIPT),
    (SOURCE, Fault.ENGLISH),
    ("Não corra mais de 3 vezes por semana até que os tênis de sua escolha sirvam bem.", Fault.LANGUAGE),
    ("Non correre più di 3 volte a settimana finché le scarpe scelte non calzano bene.", Fault.LANGUAGE),
    ("Ne courez pas plus de 3 fois par semaine avant que vos chaussures ne vous aillent.", Fault.LANGUAGE),
    ("Corre más de 3 veces por semana hasta que las zapatillas que elijas te queden bien.", Fault.NEGATION),
    ("You should not run more than 3 times in a week if the shoes do not fit you.", Fault.ENGLISH),
]

TRANSLATIONS = [
    (SOURCE, SPANISH, "es"),
    (SOURCE, "選んだ靴が足に合うまで、週に3回以上走らないでください。", "ja"),
    (SOURCE, "在所选鞋子合脚之前，每周跑步不要超过３次。", "zh"),
    (SOURCE, "Не бегайте чаще 3 раз в неделю, пока выбранная обувь не сядет хорошо.", "ru"),
    (SOURCE, "لا تركض أكثر من ٣ مرات في الأسبوع حتى يناسبك الحذاء الذي اخترته.", "ar"),
    ("Nginx 1.25 on Debian GNU/Linux", "Nginx 1.25 on Debian GNU/Linux", "es"),
    ("1,000.5 km", "1.000,5 km", "es"),
    ("The 1st shop opens at 5 p.m.", "La primera tienda abre a las 17:00", "es"),
    ("Two of a dozen shoes", "12足の靴のうち2足", "ja"),
    ("Read <g1>https</g1> first", "Lee <g1>https</g1> primero", "es"),
    ("I'm sorry, we are closed", "Lo siento, hemos cerrado", "es"),
    ("No, no, no, no, no, no, no!", "¡No, no, no, no, no, no, no!", "es"),
    ("OK", "De acuerdo", "es"),
    ("He ran and ran, he ran and ran", "Corría y corría sin fin, corría y corría sin fin", "es"),
    ("Translator's note: the shoe fits", "Nota del traductor: la zapatilla queda bien", "es"),
    ("I feel for you", "Lo siento mucho", "es"),
    ("Translating: a beginners' guide", "Traduction : un guide pour les débutants", "fr"),
    ("1,500 of 20,250 shoes in 2026", "En 2026, 1500 de 20.250 zapatos", "es"),
    (
        "The colour of the shoes is the choice of the runner",
        "The color of the shoes is the choice of the runner",
        "en-US",
    ),
    (SOURCE, "No corri més de 3 vegades per setmana fins que les sabates triades li vagin bé.", "ca"),
    (SOURCE, "Não corra mais de 3 vezes por semana até que os tênis escolhidos sirvam bem.", "pt-BR"),
    (SOURCE, "Løp ikke mer enn 3 ganger i uken før skoene du har valgt, sitter godt.", "nb"),
    (SOURCE, "Nemojte trčati više od 3 puta tjedno dok vam odabrane tenisice dobro ne stoje.", "hr"),
    (SOURCE, "Nedriñ ket muioc'h eget 3 gwech ar sizhun betek ma vo brav ar botoù ganeoc'h.", "tlh"),
    ("Ask for the sports shop in the old town", "Pergunte pela loja", "es"),
    ("The code is not valid", "El código es inválido", "es"),
    ("Say whether or not the shoes fit well", "Di si las zapatillas te quedan bien", "es"),
    ("Shoes from Django, PostgreSQL, JavaScript", "Django、PostgreSQL、JavaScriptの靴", "ja"),
    ("The shops open again in December", "店は12月に再び開きます", "ja"),
    ("A pair of shoes for each of the runners", "ランナー1人につき靴1足", "ja"),
    (SOURCE, "Loop niet vaker dan 3 keer per week tot de schoenen van je keuze goed zitten.", "nl"),
    (SOURCE, "Lauf nicht öfter als 3 Mal pro Woche, bis die Schuhe deiner Wahl gut passen.", "de"),
    (SOURCE, "Ne trčite više od 3 puta nedeljno dok vam izabrane patike dobro ne stoje.", "sr-Latn"),
]


@pytest.mark.parametrize(("answer", "fault"), MISBEHAVIOUR)
def test_what_is_no_translation_is_refused(answer: str, fault: Fault) -> None:
    assert find_fault(SOURCE, answer, "es") is fault


@pytest.mark.parametrize(
    ("answer", "target"),
    [
        ("在所选鞋子合脚之前，每周跑步请不要超过3次，这样才好。", "ja"),
        ("選んだ靴が足に合うまで、週に3回以上走らないでください。", "zh"),
    ],
)
def test_languages_of_one_script_are_told_apart(answer: str, target: str) -> None:
    assert find_fault(SOURCE, answer, target) is Fault.LANGUAGE


@pytest.mark.parametrize(
    ("segment", "answer", "target", "fault"),
    [
        ("In 2019 the company grew", "En 2091 la empresa creció", "es", Fault.NUMBERS),
        ("It costs 12 and weighs 43", "Cuesta 21 y pesa 34", "es", Fault.NUMBERS),
        (SOURCE, "抱歉，我无法帮助您翻译该请求，每周3次。", "zh", Fault.CHATTER),
        (SOURCE, "3次，" + "选择合脚的鞋子。" * 10, "zh", Fault.REPETITION),
    ],
)
def test_other_answers_that_are_no_translations_are_refused(
    segment: str, answer: str, target: str, fault: Fault
) -> None:
    assert find_fault(segment, answer, target) is fault


FRENCH = [
    "Les bonnes chaussures",
    "Trouvez votre taille",
    "Quand les changer",
    "Après la course",
    "Vos pieds",
    "Nos magasins",
]
NAMES = ["Nginx Unit", "Let's Encrypt", "Les Paul Standard", "Visual Studio Code", "Le Monde", "Windows"]


@pytest.mark.parametrize(
    ("answers", "target", "wrong"),
    [
        ({f"Heading {place}": answer for place, answer in enumerate(FRENCH)}, "es", 6),
        ({f"Heading {place}": answer for place, answer in enumerate(FRENCH)}, "fr", 0),
        ({f"Heading {place}": answer for place, answer in enumerate(FRENCH[:5])}, "es", 0),
        ({name: name for name in NAMES}, "es", 0),
    ],
)
def test_short_answers_are_judged_together_without_names(
    answers: dict[str, str], target: str, wrong: int
) -> None:
    assert len(find_short_in_another_language(answers, target)) == wrong


@pytest.mark.parametrize(("segment", "answer", "target"), TRANSLATIONS)
def test_a_translation_is_taken(segment: str, answer: str, target: str) -> None:
    assert find_fault(segment, answer, target) is None


MARKED = "Read the <g1>whole story</g1> of <g2>our team</g2> and <x3/> of FIT<g4>TM</g4>"
MARKED_SPANISH = "Lee la <g1>historia entera</g1> de <g2>nuestro equipo</g2> y <x3/> de FIT<g4>MC</g4>"


class TestCodes:
    @pytest.mark.parametrize(
        "answer",
        [
            MARKED_SPANISH.replace("entera</g1>", "ente</g1>ra"),
            MARKED_SPANISH.replace("la <g1>historia", "<g1>la histo")
            .replace("histo entera", "histo entera")
            .replace("Lee <g1>", "Lee l<g1>"),
            MARKED_SPANISH.replace("</g1> de", "</g1>de"),
            MARKED_SPANISH.replace("la <g1>", "la<g1>"),
            MARKED_SPANISH.replace(" <x3/> ", "<x3/>"),
            MARKED_SPANISH.replace("y <x3/>", "y<x3/>"),
            MARKED_SPANISH.replace("<g1>historia entera</g1> de <g2>", "<g1>historia entera</g1><g2>"),
            MARKED_SPANISH.replace("FIT<g4>MC", "<g4>FITMC"),
        ],
    )
    def test_that_cut_words_or_lost_their_blanks_are_a_fault(self, answer: str) -> None:
        assert find_fault(MARKED, answer, "es") == Fault.MARKUP

    @pytest.mark.parametrize(
        ("segment", "answer", "target"),
        [
            (MARKED, MARKED_SPANISH, "es"),
            (MARKED, "FIT<g4>MC</g4>: <g2>nuestro equipo</g2>, <x3/> y la <g1>historia entera</g1>", "es"),
            ("The <g1>water</g1> is fine", "L’<g1>eau</g1> est bonne", "fr"),
            ("Made for <g1>Linux</g1> users", "<g1>Linux</g1>-Nutzer sind gemeint", "de"),
            ("It is in the <g1>house</g1> now", "Şimdi <g1>ev</g1>dedir", "tr"),
            ("He is in the <g1>car</g1> today", "Hän on <g1>auto</g1>ssa tänään", "fi"),
            ("Read the <g1>book</g1> today", "اقرأ ال<g1>كتاب</g1> اليوم", "ar"),
            ("The <g1>shoes</g1> fit", "<g1>靴</g1>は合います", "ja"),
            ("Two <g1>API</g1>s are here", "Aquí hay dos <g1>API</g1>", "es"),
            ("An area of 5 m<g1>2</g1> or more", "Una superficie de 5 m<g1>2</g1> o más", "es"),
        ],
    )
    def test_that_stand_where_the_language_wants_them_are_none(
        self, segment: str, answer: str, target: str
    ) -> None:
        assert find_fault(segment, answer, target) is None


class TestBorders:
    PLAIN = ("A good shoe fits well today.", "Un buen zapato queda bien hoy.")

    @pytest.mark.parametrize(
        "around",
        [
            '"{}"',
            "«{}»",
            "“{}”",
            "**{}**",
            "# {}",
            "- {}",
            "> {}",
            "`{}`",
            "__{}__",
            '{{"text": {}}}',
            "[{}]",
        ],
    )
    def test_that_are_new_are_a_fault(self, around: str) -> None:
        english, spanish = self.PLAIN
        assert find_fault(english, around.format(spanish), "es") in {Fault.BORDERS, Fault.ADDRESSES}

    def test_that_are_lost_are_a_fault(self) -> None:
        english, spanish = self.PLAIN
        assert find_fault(f'"{english}"', spanish, "es") == Fault.BORDERS

    @pytest.mark.parametrize(
        ("segment", "answer"),
        [
            ('"A good shoe fits."', "«Un buen zapato queda bien.»"),
            ('"A good shoe fits."', "—Un buen zapato queda bien."),
            ('The "Save" button and the "Open" button', '"Guardar" es un botón, y también "Abrir"'),
            ("# of shoes that fit", "# de zapatos que quedan"),
            ("- 5 degrees in the morning", "- 5 grados por la mañana"),
        ],
    )
    def test_that_are_the_languages_own_are_none(self, segment: str, answer: str) -> None:
        assert find_fault(segment, answer, "es") is None

    def test_half_a_sentence_is_too_short(self) -> None:
        english = "The shoe fits if you take the time to measure both of your feet."
        assert find_fault(english, "El zapato queda bien si te tomas el tiem", "es") == Fault.LENGTH

    def test_the_english_beside_its_translation_is_a_fault(self) -> None:
        english, spanish = self.PLAIN
        assert find_fault(english, f"{english} — {spanish}", "es") == Fault.ENGLISH
