"""Times in words and back: every form in every language, and words that only look like times."""

from __future__ import annotations

import random
from uuid import UUID

import pytest
from gpu_workers.engine.answering.reading.times.hints import hints_at_time

from gpu_workers.engine.answering.reading.expressions import (
    CENTRE,
    CLOSING,
    OPENING,
    SHORTLY_MS,
    Clocked,
    Day,
    Edge,
    Expression,
    Offset,
    Order,
    PartOfDay,
    Reading,
)
from gpu_workers.engine.answering.reading.resolve import resolve
from gpu_workers.engine.answering.reading.times.grammar import LEXICONS, named_time
from gpu_workers.engine.answering.understood import UnderstoodTime
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.ports import Recording
from tests.engine.answering.times.spoken import FRAMES, HOUR, MINUTE, SECOND, only, spoken_times

VIDEO = UUID(int=1)


@pytest.mark.parametrize("seed", range(40))
def test_a_span_in_words_is_parsed_back_in_every_form_and_language(seed: int) -> None:
    chosen = random.Random(seed)
    until_ms = chosen.randrange(HOUR // SECOND + 1, 12 * HOUR // SECOND) * SECOND
    recordings = {VIDEO: Recording(VIDEO, "", until_ms)}
    times = spoken_times(chosen, until_ms)
    assert times.keys() == LEXICONS.keys()
    for language, spoken in times.items():
        for time in spoken:
            for frame in FRAMES[language]:
                question = frame(time.words)
                for known in (language, ""):
                    named = named_time(question, language=known)
                    assert named is not None, question
                    resolved = resolve(named.expressions, recordings, None)
                    assert resolved.spans == {VIDEO: Span(time.start_ms, time.end_ms)}, (question, resolved)
                    assert named.words.lower() == time.words.lower(), question
                    assert time.words.lower() not in named.remaining.lower()
                    assert len(named.remaining.split()) >= 2, named


@pytest.mark.parametrize(
    "question",
    [
        "Where is the one hour photo shop?",
        "What is the afternoon class about?",
        "Describe the night sky.",
        "Who wears an evening dress?",
        "What does the second man do?",
        "Who takes the first two cups?",
        "Where is the 24/7 store?",
        "Which team wins with a 2:1 score?",
        "May I see the red car?",
        "Does he win in the end?",
        "What stands at the end of the table?",
        "Who stands at the beginning of the line?",
        "Who eats the second half of the pizza?",
        "Where does she wait a minute?",
        "What does the man do after he opens the door?",
        "What does C do before picking up the knife?",
        "Who comes in first?",
        "Which of the last three cars is red?",
        "Who stands in the middle?",
        "How many people are there between the two doors?",
        "Is the March banner red?",
        "Who makes the last minute decision?",
        "What number is on bus 12?",
        "Who sells the half price shoes?",
        "What does the person in seat 14 read?",
        "Who is the third person from the left?",
        "What is the price of the 3 for 2 offer?",
        "Does the dog jump over the second fence?",
        "Who looks after the child in the garden?",
        "How does the man open the second box?",
        "Does she cook the egg for ten minutes?",
        "Who drinks from a 5 litre bottle?",
        "What is written on the 10:1 scale model?",
        "Why did the boy laugh?",
        "What did the second runner do after passing the flag?",
        "Is there a Sunday newspaper on the table?",
        "Who follows the second man?",
        "Who stands on the left of the second car?",
        "Which two chairs are left?",
        "Where does the man skip to?",
        "What does she watch on 5 screens?",
        "Does the road lead up to the second house?",
        "Is it the last day of the sale?",
        "Who talks about the second day of the fair?",
        "What does the sign say about the day?",
        "Wer ist der zweite Mann?",
        "Was steht am Ende des Tisches?",
        "¿Quién es el segundo hombre?",
        "¿Quién llegó tarde?",
        "¿Quién habla del segundo día de la feria?",
        "¿Qué pasa el segundo día de la feria?",
        "¿Qué hay al final de la mesa?",
        'Who says "line 7 is not running today"?',
        'Where does one read "14:05"?',
        "Where was the car with plate FR-HR 5628?",
        "Who is in the last scene with the dog?",
        "Is the first customer followed by another one?",
        "What was the last thing she said?",
        "Who takes a close up of an eye?",
        "Who is the first to reach the finish line?",
        "What hangs at the end of it?",
        "Is there a surfer ahead of the wave?",
        "How many times did somebody put on a plaster after a cut?",
        "How many cars are seen from start to finish?",
        "Who stands before a crowd?",
        "What does he do halfway through the meal?",
    ],
)
def test_other_words_are_no_time(question: str) -> None:
    assert named_time(question) is None


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who came after the second delivery?", Order("after", 2, "delivery")),
        ("Before the last goal, who had the ball?", Order("before", -1, "goal")),
        ("What happened after the 3rd knock at the door?", Order("after", 3, "knock at the door")),
        ("What happened after the delivery?", Order("after", 1, "delivery")),
        ("Who left before the first red car arrived?", Order("before", 1, "red car arrived")),
        ("What happened half an hour after the second delivery?", Order("after", 2, "delivery", at_ms=30 * MINUTE)),
        ("Who was there ten minutes before the last goal?", Order("before", -1, "goal", at_ms=10 * MINUTE)),
        ("Who came in the ten minutes after the delivery?", Order("after", 1, "delivery", within_ms=10 * MINUTE)),
        ("Who came in the first ten minutes after the delivery?", Order("after", 1, "delivery", within_ms=10 * MINUTE)),
        ("Who came shortly after the second delivery?", Order("after", 2, "delivery", within_ms=SHORTLY_MS)),
        ("Who left just before the last goal?", Order("before", -1, "goal", within_ms=SHORTLY_MS)),
        ("Wer kam zehn Minuten nach der zweiten Lieferung?", Order("after", 2, "Lieferung", at_ms=10 * MINUTE)),
        ("Wer kam in den zehn Minuten vor der Lieferung?", Order("before", 1, "Lieferung", within_ms=10 * MINUTE)),
        ("Wer kam kurz nach der Lieferung?", Order("after", 1, "Lieferung", within_ms=SHORTLY_MS)),
        ("¿Quién vino diez minutos después de la segunda entrega?", Order("after", 2, "entrega", at_ms=10 * MINUTE)),
        ("¿Quién vino poco después de la entrega?", Order("after", 1, "entrega", within_ms=SHORTLY_MS)),
        ("What leads directly up to the third goal?", Order("before", 3, "goal")),
        ("Which event follows the eighth tasting of the sauce right away?", Order("after", 8, "tasting of the sauce")),
        ("As soon as the second paper jam is over, what do they do?", Order("after", 2, "paper jam")),
        ("first paper jam, and then what?", Order("after", 1, "paper jam")),
        ("the third delivery ended, what happened next?", Order("after", 3, "delivery")),
        ("Who was there when the third visit was about to start?", Order("before", 3, "visit")),
        ("Which event immediately succeeds the second paper jam?", Order("after", 2, "paper jam")),
        ("ok so after the third visit of a fox whats the next thing", Order("after", 3, "visit of a fox")),
        ("When the second delivery is finished, what is coming directly after?", Order("after", 2, "delivery")),
        ("So the fourth delivery is done. What comes next, my son asks.", Order("after", 4, "delivery")),
        ("second delivery on the tape: what's the next thing after it?", Order("after", 2, "delivery")),
        ("what happened right b4 the third delivery", Order("before", 3, "delivery")),
        ("What's the last thing we see ahead of the first delivery?", Order("before", 1, "delivery")),
        ("When the second delivery began; what had been going on right before?", Order("before", 2, "delivery")),
        ("What immediately precedes the second delivery?", Order("before", 2, "delivery")),
        ("Was geschah nach der zweiten Lieferung?", Order("after", 2, "Lieferung")),
        ("¿Qué pasó después de la segunda entrega?", Order("after", 2, "entrega")),
    ],
)
def test_an_order_names_its_anchor_and_its_occurrence(question: str, expected: Order) -> None:
    assert only(named_time(question)) == expected


AFTERNOON = PartOfDay(12, 18)
WEEKEND = Clocked("day", day=Day(weekday=5), part=PartOfDay(0, 48), frame="wall")


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("I stopped watching with ten minutes left. What did I miss?", Edge("last", 600_000)),
        ("first eight minutes please, what happens?", Edge("first", 480_000)),
        ("9 hours and 57 minutes in, what is to be seen?", Offset(35_820_000, 35_880_000)),
        ("How does the video finish?", CLOSING),
        ("What's the closing shot?", CLOSING),
        ("Kindly state what is depicted at the conclusion of the recording.", CLOSING),
        ("Who is there right before the tape runs out?", CLOSING),
        ("Near the end, who wins?", CLOSING),
        ("Why do they wave their hands near the start?", OPENING),
        ("What happens in the finish of the video?", CLOSING),
        ("Midway through the recording, what do they do?", CENTRE),
        ("What is passing in the last ten minutes before the video is finish?", Edge("last", 600_000)),
        ("What happens up to the 30 minute mark?", Edge("first", 1_800_000)),
        ("At the 2-hour point, who is speaking?", Offset(7_200_000, 7_260_000)),
        ("second hour whats happening in it", Offset(3_600_000, 7_200_000)),
        ("How many cars come between the 5th and 10th minute?", Offset(240_000, 600_000)),
        ("Who comes once minute 5 begins and before minute 10?", Offset(300_000, 600_000)),
        (
            "I skipped from 7:26:00 straight to 7:46:00, so what did I not see?",
            Clocked("between", Reading((7, 26, 0)), Reading((7, 46, 0))),
        ),
        (
            "Set out the events commencing at 7:26:00 and concluding at 7:46:00.",
            Clocked("between", Reading((7, 26, 0)), Reading((7, 46, 0))),
        ),
        (
            "What took place on 28 October not earlier than 14:30 and not later than 15:10?",
            Clocked("between", Reading((14, 30)), Reading((15, 10)), day=Day(month=10, day=28), frame="wall"),
        ),
        (
            "What happened at ten to three on Saturday?",
            Clocked("at", Reading((2, 50), spoken=True), day=Day(weekday=5), frame="wall"),
        ),
        ("When the watch was showing 17:22, what was there?", Clocked("at", Reading((17, 22)), frame="shown")),
        (
            "Activity on 27 October, evening only, please.",
            Clocked("day", day=Day(month=10, day=27), part=PartOfDay(18, 23), frame="wall"),
        ),
        ("What is done before the recording stops?", CLOSING),
        ("Describe how it begins.", OPENING),
        ("Skip to 10:25:00, who is there?", Clocked("at", Reading((10, 25, 0)), frame="video")),
        ("Skip ahead to 10:25:00, who is there?", Clocked("at", Reading((10, 25, 0)), frame="video")),
        ("Fast forward to 10:25:00, who is there?", Clocked("at", Reading((10, 25, 0)), frame="video")),
        (
            "Who is there if I play it from 1:20:00 up to 1:30:00?",
            Clocked("between", Reading((1, 20, 0)), Reading((1, 30, 0)), frame="video"),
        ),
        (
            "Tell me about the part that starts at 5:52:00 and stops at 6:12:00.",
            Clocked("between", Reading((5, 52, 0)), Reading((6, 12, 0))),
        ),
        (
            "Who came on Saturday after 20:37 and before 20:57?",
            Clocked("between", Reading((20, 37)), Reading((20, 57)), day=Day(weekday=5), frame="wall"),
        ),
        (
            "Describe Sunday starting at 9:00 and ending at 9:45.",
            Clocked("between", Reading((9, 0)), Reading((9, 45)), day=Day(weekday=6), frame="wall"),
        ),
        (
            "Who came during the morning of 27 October?",
            Clocked("day", day=Day(month=10, day=27), part=PartOfDay(5, 12), frame="wall"),
        ),
    ],
)
def test_the_same_time_in_other_words(question: str, expected: Expression) -> None:
    assert only(named_time(question, language="en")) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "Who came yesterday between two and three?",
            Clocked("between", Reading((2,)), Reading((3,)), Day(ago=1), frame="wall"),
        ),
        ("Summarise the afternoon", Clocked("day", part=AFTERNOON, frame="wall")),
        ("What happened during the afternoon?", Clocked("day", part=AFTERNOON, frame="wall")),
        ("Fass den Nachmittag zusammen", Clocked("day", part=AFTERNOON, frame="wall")),
        ("What happened two days ago?", Clocked("day", day=Day(ago=2), frame="wall")),
        ("Who came a week ago?", Clocked("day", day=Day(ago=7), frame="wall")),
        ("Who came 3 days ago?", Clocked("day", day=Day(ago=3), frame="wall")),
        ("What happened on the second day?", Clocked("day", day=Day(nth=2), frame="wall")),
        ("What happened on day 3 of the recording?", Clocked("day", day=Day(nth=3), frame="wall")),
        ("What happened on the last day of the video?", Clocked("day", day=Day(nth=-1), frame="wall")),
        ("Who came on the first day at 14:05?", Clocked("at", Reading((14, 5)), day=Day(nth=1), frame="wall")),
        (
            "What happened on the afternoon of the second day?",
            Clocked("day", day=Day(nth=2), part=AFTERNOON, frame="wall"),
        ),
        ("Was geschah am zweiten Tag?", Clocked("day", day=Day(nth=2), frame="wall")),
        ("¿Qué pasó el segundo día?", Clocked("day", day=Day(nth=2), frame="wall")),
        ("What happened over the weekend?", WEEKEND),
        ("Summarise the weekend", WEEKEND),
        ("Was geschah am Wochenende?", WEEKEND),
        ("¿Qué pasó el fin de semana?", WEEKEND),
        ("¿Quién vino esta mañana?", Clocked("day", day=Day(ago=0), part=PartOfDay(5, 12), frame="wall")),
        ("¿Qué pasó anoche?", Clocked("day", day=Day(ago=1), part=PartOfDay(20, 30), frame="wall")),
        ("¿Qué pasó durante la tarde?", Clocked("day", part=PartOfDay(12, 20), frame="wall")),
        ("Resume la tarde", Clocked("day", part=PartOfDay(12, 20), frame="wall")),
        ("¿Qué pasó el lunes en la noche?", Clocked("day", day=Day(weekday=0), part=PartOfDay(20, 30), frame="wall")),
        ("Was geschah vor zwei Tagen?", Clocked("day", day=Day(ago=2), frame="wall")),
        ("¿Qué pasó hace dos días?", Clocked("day", day=Day(ago=2), frame="wall")),
        ("What happens ten minutes after the start?", Offset(10 * MINUTE, 11 * MINUTE)),
        ("What happened on Tuesday afternoon?", Clocked("day", day=Day(weekday=1), part=AFTERNOON, frame="wall")),
        ("What happened at 15:00?", Clocked("at", Reading((15, 0)))),
        (
            "Who was there on 3 May at 14:05?",
            Clocked("at", Reading((14, 5)), day=Day(month=5, day=3), frame="wall"),
        ),
        (
            "Who was there on May 3rd, 2026 at 2:05 pm?",
            Clocked("at", Reading((2, 5), "pm", spoken=True), day=Day(month=5, day=3, year=2026), frame="wall"),
        ),
        ("Who came on 2026-05-03 at noon?", None),
        ("What lay there when the clock showed 14:05?", Clocked("at", Reading((14, 5)), frame="shown")),
        ("Clock says 16:47, what happens?", Clocked("at", Reading((16, 47)), frame="shown")),
        ("Who was there when it was 17:08 on the clock?", Clocked("at", Reading((17, 8)), frame="shown")),
        ("What is shown at the 14:17:00 mark?", Clocked("at", Reading((14, 17, 0)), frame="video")),
        ("Who was around last night?", Clocked("day", day=Day(ago=1), part=PartOfDay(21, 30), frame="wall")),
        ("It is 18:19 on Sunday. What happens?", Clocked("at", Reading((18, 19)), day=Day(weekday=6), frame="wall")),
        ("Who came at half past three?", Clocked("at", Reading((3, 30), spoken=True), frame="wall")),
        ("Who came at a quarter to nine?", Clocked("at", Reading((8, 45), spoken=True), frame="wall")),
        ("Who came around three o'clock?", Clocked("at", Reading((3,), spoken=True), frame="wall", about=True)),
        (
            "Who came between 2 and 3 pm?",
            Clocked("between", Reading((2,), "pm", spoken=True), Reading((3, 0), "pm", spoken=True), frame="wall"),
        ),
        (
            "Who came between 11 and 1 pm?",
            Clocked("between", Reading((11,), spoken=True), Reading((1, 0), "pm", spoken=True), frame="wall"),
        ),
        ("Wer kam um 15 Uhr?", Clocked("at", Reading((15, 0), spoken=True), frame="wall")),
        ("Wer kam um halb drei?", Clocked("at", Reading((2, 30), spoken=True), frame="wall")),
        ("Wer kam am Dienstagnachmittag?", Clocked("day", day=Day(weekday=1), part=AFTERNOON, frame="wall")),
        (
            "Was geschah am 3. Mai um 14:05 Uhr?",
            Clocked("at", Reading((14, 5)), day=Day(month=5, day=3), frame="wall"),
        ),
        ("Was lag da, als die Uhr 14:05 zeigte?", Clocked("at", Reading((14, 5)), frame="shown")),
        (
            "¿Quién vino ayer entre las dos y las tres?",
            Clocked("between", Reading((2,)), Reading((3,)), Day(ago=1), frame="wall"),
        ),
        (
            "anything worth noting in the stretch 4:21:00 .. 4:23:00?",
            Clocked("between", Reading((4, 21, 0)), Reading((4, 23, 0))),
        ),
        ("4:21:00...4:23:00 what happens", Clocked("between", Reading((4, 21, 0)), Reading((4, 23, 0)))),
        ("What happens 4:21:00…4:23:00?", Clocked("between", Reading((4, 21, 0)), Reading((4, 23, 0)))),
        ("Well... 4:21:00, what happens?", Clocked("at", Reading((4, 21, 0)))),
        ("Who came at 4:21:00 … 10 cars?", Clocked("at", Reading((4, 21, 0)))),
        (
            "¿Qué pasó de las 10:00 a las 11:00?",
            Clocked("between", Reading((10, 0)), Reading((11, 0))),
        ),
        (
            "¿Quién vino ayer de 10 a 11?",
            Clocked("between", Reading((10,)), Reading((11,)), Day(ago=1), frame="wall"),
        ),
        (
            "¿Qué pasó el 3 de mayo a las 14:05?",
            Clocked("at", Reading((14, 5)), day=Day(month=5, day=3), frame="wall"),
        ),
        ("¿Qué se veía cuando el reloj marcaba 14:05?", Clocked("at", Reading((14, 5)), frame="shown")),
    ],
)
def test_days_and_times_of_day_are_read(question: str, expected: Clocked | None) -> None:
    if expected is None:
        noon = Reading((12, 0), spoken=True)
        expected = Clocked("at", noon, day=Day(month=5, day=3, year=2026), frame="wall")
    assert only(named_time(question)) == expected


@pytest.mark.parametrize(
    ("question", "span"),
    [
        ("From 0:59:00 to 1:01:00: who shows up?", Span(59 * MINUTE, 61 * MINUTE)),
        ("Describe the opening two hours.", Span(0, 2 * HOUR)),
        ("In the 15 minutes at the start, what do people do?", Span(0, 15 * MINUTE)),
        ("Who is there in the ten minutes before the end?", Span(10 * HOUR - 10 * MINUTE, 10 * HOUR)),
        ("What can be seen in the closing twelve minutes?", Span(10 * HOUR - 12 * MINUTE, 10 * HOUR)),
        ("How does the recording end?", Span(10 * HOUR - 10 * MINUTE, 10 * HOUR)),
        ("How did it begin?", Span(0, 10 * MINUTE)),
    ],
)
def test_an_edge_of_a_long_video_is_minutes_long(question: str, span: Span) -> None:
    named = named_time(question)
    assert named is not None
    assert resolve(named.expressions, {VIDEO: Recording(VIDEO, "", 10 * HOUR)}, None).spans == {VIDEO: span}


@pytest.mark.parametrize(
    "question",
    [
        "Saturday from 12:45 to 13:10, who came by?",
        "Saturday, 12:45 to 13:10: who came by?",
        "Who came by on Saturday between 12:45 and 13:10?",
        "Who came by from 12:45 to 13:10 on Saturday?",
    ],
)
def test_a_weekday_next_to_a_time_is_its_day(question: str) -> None:
    expected = Clocked("between", Reading((12, 45)), Reading((13, 10)), day=Day(weekday=5), frame="wall")
    assert only(named_time(question)) == expected


def test_once_something_is_over_is_after_it() -> None:
    question = "Once the fifth parcel delivery is over, who comes?"
    assert only(named_time(question)) == Order("after", 5, "parcel delivery")
    assert named_time("Who waters the plants once a week?") is None
    assert named_time("Is a Sunday newspaper on the table?") is None


def read(question: str, hours: int = 1) -> list[tuple[int, int]]:
    """Return the spans that are read of a video of that length, in seconds."""
    named = named_time(question)
    assert named is not None, question
    resolved = resolve(named.expressions, {VIDEO: Recording(VIDEO, "", hours * HOUR)}, None, joined=named.joined)
    time = UnderstoodTime(named.words, resolved.meaning, resolved.spans, stretches=resolved.stretches)
    return [(span.start_ms // 1_000, span.end_ms // 1_000) for span in time.read_spans()[VIDEO]]


@pytest.mark.parametrize(
    ("question", "spans"),
    [
        ("Did the man of 0:10:00 come back at 0:50:00?", [(600, 601), (3_000, 3_001)]),
        ("How many cars pass in the first 9 seconds and in the last 9 seconds?", [(0, 9), (3_591, 3_600)]),
        ("How many cars pass in the first and in the last 9 seconds?", [(0, 9), (3_591, 3_600)]),
        ("How many cars pass in the last and first minute?", [(0, 60), (3_540, 3_600)]),
        ("How many cars pass in the first or in the second half?", [(0, 1_800), (1_800, 3_600)]),
        ("How many cars pass in the first and last quarter?", [(0, 900), (2_700, 3_600)]),
        ("How many cars pass in the second and in the fourth minute?", [(60, 120), (180, 240)]),
        ("Was passiert in der ersten und in der zweiten Hälfte?", [(0, 1_800), (1_800, 3_600)]),
        ("What happened at 10:00 and at 15:00?", [(600, 601), (900, 901)]),
        ("What happened at 10:00 or at 15:00?", [(600, 601), (900, 901)]),
        ("What happened between 10:00 and 15:00?", [(600, 900)]),
        ("What happened from 10:00 to 15:00?", [(600, 900)]),
        ("Who came between the beginning of the video and 0:50:00?", [(0, 3_001)]),
        ("What happened in the first 10 minutes and in the second half?", [(0, 600), (1_800, 3_600)]),
        ("What happened in the first half and in the second half?", [(0, 1_800), (1_800, 3_600)]),
        ("What happened in the first 40 minutes and in the second half?", [(0, 3_600)]),
        ("Wie viele Autos fahren in der ersten und in der letzten Minute?", [(0, 60), (3_540, 3_600)]),
        ("Was passiert um 10:00 und um 15:00?", [(600, 601), (900, 901)]),
        ("Was passiert zwischen 10:00 und 15:00?", [(600, 900)]),
        ("¿Qué pasa en el primer y en el último minuto?", [(0, 60), (3_540, 3_600)]),
        ("¿Qué pasa a las 10:00 y a las 15:00?", [(600, 601), (900, 901)]),
    ],
)
def test_two_times_are_read_without_what_lies_between_unless_words_join_them(
    question: str, spans: list[tuple[int, int]]
) -> None:
    assert read(question) == spans


@pytest.mark.parametrize(
    ("question", "remaining"),
    [
        ("Who comes in the first 9 seconds and in the last 9 seconds?", "Who comes?"),
        ("In the first or in the second half, who comes?", "who comes?"),
        ("Wer kommt um 10:00 oder um 15:00?", "Wer kommt?"),
        ("¿Quién viene a las 10:00 y a las 15:00?", "¿Quién viene?"),
    ],
)
def test_the_word_between_two_times_goes_with_them(question: str, remaining: str) -> None:
    named = named_time(question)
    assert named is not None
    assert named.remaining == remaining


def test_of_many_spans_what_lies_between_is_read_and_the_meaning_says_so() -> None:
    times = ", ".join(f"at 0:{n}:00" for n in range(10, 50))
    named = named_time(f"What happened {times}?")
    assert named is not None
    resolved = resolve(named.expressions, {VIDEO: Recording(VIDEO, "", HOUR)}, None)
    assert (resolved.stretches, resolved.spans) == ((), {VIDEO: Span(600_000, 2_941_000)})
    assert resolved.meaning.endswith("with everything between")


def test_a_hint_without_a_known_form_is_seen() -> None:
    assert hints_at_time("What happened a few minutes ago?")
    assert not hints_at_time("What does the man do?")
    assert not hints_at_time("What does the second man do after he opens the door?")


@pytest.mark.parametrize(
    ("question", "expected", "remaining"),
    [
        ("Was ist nach der zweiten Lieferung passiert?", Order("after", 2, "Lieferung"), "Was ist passiert?"),
        ("Was ist nach der Lieferung passiert?", Order("after", 1, "Lieferung"), "Was ist passiert?"),
        ("was ist nach der zweiten lieferung passiert?", Order("after", 2, "lieferung"), "was ist passiert?"),
        ("Wer ist vor dem letzten Besuch des Fuchses gekommen?", Order("before", -1, "Besuch des Fuchses"), None),
        ("Was geschah, nachdem das zweite Auto wegfuhr?", Order("after", 2, "Auto wegfuhr"), None),
        ("¿Qué pasó después del segundo gol?", Order("after", 2, "gol"), "¿Qué pasó?"),
        ("¿Qué pasó antes del segundo gol?", Order("before", 2, "gol"), "¿Qué pasó?"),
        ("¿Qué pasó antes del gol?", Order("before", 1, "gol"), "¿Qué pasó?"),
    ],
)
def test_an_order_ends_with_what_it_names(question: str, expected: Order, remaining: str | None) -> None:
    named = named_time(question)
    assert only(named) == expected
    assert named is not None
    assert remaining in (None, named.remaining)


def test_the_end_of_something_else_is_no_time_in_spanish() -> None:
    assert named_time("¿Quién está al final del pasillo?", language="es") is None
    named = named_time("¿Qué se ve en los cinco minutos antes del fin?", language="es")
    assert named is not None
    assert named.words == "en los cinco minutos antes del fin"
