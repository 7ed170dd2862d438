"""The language of short questions is found, and English is never taken for another language."""

from __future__ import annotations

import pytest

from gpu_workers.engine.languages.codes import CODES, LANGUAGES, is_english
from gpu_workers.engine.languages.detection import language_of, may_be_in

QUESTIONS = {
    "en": ["What does the man do?", "Who enters the room?", "Is the light on?", "Where does she put the cup?"],
    "de": ["Was macht der Mann?", "Wer betritt den Raum?", "Ist das Licht an?", "Welches Auto kommt zuerst?"],
    "es": ["¿Qué hace el hombre?", "¿Quién entra en la habitación?", "¿Qué pasa al final?"],
    "fr": ["Que fait l'homme ?", "La lumière est-elle allumée ?", "Y a-t-il un chien ?"],
    "pt": ["O que faz o homem?", "Quem entra na sala?", "Quantas pessoas há?"],
    "ru": ["Что делает мужчина?", "Кто входит в комнату?"],
    "zh": ["这个男人在做什么？", "谁进了房间？", "狗？"],
    "ar": ["ماذا يفعل الرجل؟", "من يدخل الغرفة؟", "كم عدد الأشخاص؟"],
    "ja": ["男の人は何をしていますか？"],
    "ko": ["남자는 무엇을 하나요?"],
    "hi": ["कमरे में कौन आता है?"],
}


@pytest.mark.parametrize(("language", "text"), [(code, text) for code, texts in QUESTIONS.items() for text in texts])
def test_a_short_question_shows_its_language(language: str, text: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize("text", ["", "   ", "12:30?", "E2", "KX-42", "dog?", "Hund?", "Bob?", "...", "\u202e", "🚗"])
def test_what_shows_no_language_has_none(text: str) -> None:
    assert language_of(text) == ""


def test_quoted_words_are_not_those_of_the_question() -> None:
    assert language_of("Wer sagt „I will be back before the night is over“?") == "de"
    assert language_of('Who says "Wir sehen uns morgen am Bahnhof"?') == "en"
    assert language_of('"Wir sehen uns morgen am Bahnhof"') == "de"


def test_a_mixed_question_with_a_name_keeps_its_language() -> None:
    assert language_of("Wann betritt John Smith den Supermarkt?") == "de"
    assert language_of("When does the Bundeswehr soldier leave?") == "en"


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("de", "Ein rotes Auto", True),
        ("de", "a red car", False),
        ("de", "Der Mann öffnet die Tür.", True),
        ("de", "The man opens the door.", False),
        ("es", "Un hombre", True),
        ("es", "Two people", False),
        ("ar", "أحمر", True),
        ("zh", "红色", True),
        ("zh", "the man", False),
        ("de", "KX-42", True),
        ("de", "3", True),
        ("de", "12:30", True),
        ("en", "The man opens the door.", True),
        ("en", "Der Mann öffnet die Tür.", False),
    ],
)
def test_an_answer_is_in_its_language_unless_it_shows_another(language: str, text: str, expected: bool) -> None:
    assert may_be_in(language, text) is expected


def test_every_language_has_a_code_of_two_letters_and_a_name() -> None:
    assert len(CODES) == len(set(CODES)) == len(LANGUAGES) == 71
    assert all(len(code) == 2 and code.isalpha() and code.islower() for code in CODES)
    assert len({language.name for language in LANGUAGES.values()}) == len(CODES)
    assert "xx" not in LANGUAGES


def test_english_rules_apply_to_english_and_to_what_is_unknown() -> None:
    assert [is_english(code) for code in ("en", "", "de", "zh")] == [True, True, False, False]
