"""Words, stems and numbers of texts in other languages, and what the English lists leave alone."""

from __future__ import annotations

import pytest

from gpu_workers.engine.answering.ending.claims import claims_of, supports
from gpu_workers.engine.answering.parsing import ParsedAnswer
from gpu_workers.engine.answering.search.consistency import same_answer
from gpu_workers.engine.languages.words import content_words, numbers_of, words_of


def said(text: str, language: str = "") -> ParsedAnswer:
    return ParsedAnswer(text, None, sufficient=True, language=language)


def test_content_words_are_stems_without_stop_words_and_with_digits() -> None:
    assert content_words("Die Männer tragen drei rote Kisten in den Laden.", "de") == {
        "mann", "trag", "3", "rot", "kist", "lad",
    }  # fmt: skip
    assert content_words("Dos mujeres están hablando con cinco niños.", "es") == {"2", "mujer", "habl", "5", "niñ"}


def test_scripts_without_spaces_are_read_in_pairs_of_characters() -> None:
    assert words_of("男人在踢足球KX42") == ["男人", "人在", "在踢", "踢足", "足球", "kx42"]
    assert words_of("狗") == ["狗"]
    assert set(words_of("他在踢足球")) & set(words_of("足球比赛")) == {"足球"}


def test_right_to_left_words_keep_their_marks_and_their_order() -> None:
    assert words_of("الرجلُ يحمل الصندوق.") == ["الرجلُ", "يحمل", "الصندوق"]


def test_an_unknown_language_keeps_all_words() -> None:
    assert content_words("the Mann is 3", "xx") == {"the", "mann", "is", "3"}


@pytest.mark.parametrize(
    ("language", "text", "numbers"),
    [
        ("de", "einundzwanzig Autos", {"21"}),
        ("de", "Ein Mann", set()),
        ("es", "tres perros y 04 gatos", {"3", "4"}),
        ("ar", "٣ صناديق", {"3"}),
        ("zh", "12 个人", {"12"}),
    ],
)
def test_numbers_are_read_in_words_and_in_other_digits(language: str, text: str, numbers: set[str]) -> None:
    assert numbers_of(text, language) == numbers


def test_two_german_answers_are_one_by_their_words_and_two_by_their_numbers() -> None:
    assert same_answer(said("Drei Hunde", "de"), said("drei Hunde.", "de")) is True
    assert same_answer(said("Drei Hunde rennen", "de"), said("Die 3 Hunde rennen dort", "de")) is True
    assert same_answer(said("Drei Hunde", "de"), said("Vier Hunde", "de")) is False


@pytest.mark.parametrize(
    ("language", "left", "right", "same"),
    [
        ("de", "Die Tür ist offen.", "Die Tür ist zu.", False),
        ("", "He is fast", "He is slow", False),
        ("", "The dog follows the man", "The man follows the dog", False),
        ("", "The dog follows the man", "The man is followed by the dog", True),
        ("", "He turns it on", "He turns it off", False),
        ("", "A cat sleeps", "The cat sleeps", True),
        ("", "Cars begin to drive", "The cars have started", None),
    ],
)
def test_answers_that_are_the_same_but_for_one_word_are_two(
    language: str, left: str, right: str, same: bool | None
) -> None:
    assert same_answer(said(left, language), said(right, language)) is same


def test_english_words_are_read_as_those_of_other_languages() -> None:
    assert content_words("The dogs chased two cars; it didn't stop.") == {"dog", "chase", "2", "car", "stop"}
    assert content_words("A man opens the full bin") == {"man", "open", "full", "bin"}


def test_a_claim_in_another_language_is_supported_by_sense_and_numbers() -> None:
    passage = "Three dogs run across the street."

    def supported(claim: str, closeness: float) -> bool:
        return supports(passage, claim, closeness=closeness, sense=0.6, language="de")

    assert supported("Drei Hunde rennen über die Straße.", 0.7)
    assert not supported("Vier Hunde rennen über die Straße.", 0.7)
    assert not supported("Drei Hunde rennen über die Straße.", 0.5)


def test_claims_are_split_at_the_ends_of_sentences_of_other_scripts() -> None:
    assert claims_of(said("他打开了门。他走进房间！", "zh")) == ("他打开了门。", "他走进房间！")
    assert claims_of(said("يفتح الرجل الباب. ثم يدخل الغرفة؟ نعم.", "ar")) == (
        "يفتح الرجل الباب.", "ثم يدخل الغرفة؟", "نعم.",
    )  # fmt: skip
    assert claims_of(said("Er öffnet die Tür; then he leaves.", "de")) == ("Er öffnet die Tür; then he leaves.",)
