"""Days and times of day become spans of the recordings that were filmed then."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from gpu_workers.engine.answering.reading.placing import resolve, understood_time
from gpu_workers.engine.answering.reading.times import times_in
from gpu_workers.engine.answering.understood import UnderstoodTime
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.languages.detection import language_of
from gpu_workers.engine.ports import Recording
from gpu_workers.engine.wall_clock import ClockStretch, WallClock

BERLIN = "Europe/Berlin"
TZ = ZoneInfo(BERLIN)
MINUTE, HOUR = 60_000, 3_600_000
FIRST, SECOND = UUID(int=1), UUID(int=2)


def berlin(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=TZ)


NOW = berlin("2026-05-06T10:00")
"""A Wednesday."""


def recording(video_id: UUID, *stretches: tuple[str, float], shown: tuple[ClockStretch, ...] = ()) -> Recording:
    """Return a recording of stretches, each given by its begin in Berlin and its length in hours."""
    made, at = [], 0
    for begins, hours in stretches:
        made.append(ClockStretch(Span(at, at + int(hours * HOUR)), berlin(begins)))
        at = made[-1].span.end_ms
    return Recording(video_id, f"camera {video_id.int}", at, clock=WallClock(tuple(made), BERLIN, shown=shown))


def placed(question: str, *recordings: Recording, now: datetime | None = NOW) -> UnderstoodTime | None:
    """Return the time that a question names; None if nothing says when that is."""
    named, _ = times_in(question, language_of(question))
    assert named.forms, question
    stretches = resolve(named.forms, {each.video_id: each for each in recordings}, now)
    return understood_time(named, stretches, chosen_by="figures") if stretches else None


def resolved(question: str, *recordings: Recording, now: datetime | None = NOW) -> UnderstoodTime:
    found = placed(question, *recordings, now=now)
    assert found is not None
    return found


WEEK = recording(FIRST, ("2026-05-04T00:00", 72))
"""Monday to Wednesday."""


@pytest.mark.parametrize(
    ("question", "hours", "meaning"),
    [
        ("Who came yesterday between two and three?", (38, 39), "5 May 2026, 14:00 to 15:00 (Europe/Berlin)"),
        ("Who came yesterday at 2:30 am?", (26.5, 26.5 + 1 / 60), "5 May 2026, 02:30 (Europe/Berlin)"),
        ("What happened on Tuesday afternoon?", (36, 42), "5 May 2026, 12:00 to 18:00 (Europe/Berlin)"),
        ("What happened on Monday?", (0, 24), "4 May 2026, 00:00 to 5 May 2026, 00:00 (Europe/Berlin)"),
        ("What happened on the second day?", (24, 48), "5 May 2026, 00:00 to 6 May 2026, 00:00 (Europe/Berlin)"),
        ("What happened on the last day?", (48, 72), "6 May 2026, 00:00 to 7 May 2026, 00:00 (Europe/Berlin)"),
        ("Who came on the first day at 2:30 pm?", (14.5, 14.5 + 1 / 60), "4 May 2026, 14:30 (Europe/Berlin)"),
        ("What happened on 4 May at 14:05?", (14 + 5 / 60, 14 + 6 / 60), "4 May 2026, 14:05 (Europe/Berlin)"),
        ("What happened on 2026-05-04 at 14:05:30?", None, "4 May 2026, 14:05:30 (Europe/Berlin)"),
        ("Who came today before 9 am?", (48, 57), "6 May 2026, 00:00 to 09:00 (Europe/Berlin)"),
        ("Who came yesterday after 10 pm?", (46, 48), "5 May 2026, 22:00 to 6 May 2026, 00:00 (Europe/Berlin)"),
        ("Who came yesterday around noon?", (36 - 5 / 60, 36 + 5 / 60), "5 May 2026, 11:55 to 12:05 (Europe/Berlin)"),
        ("Who came on Monday between 11 pm and 1 am?", (23, 25),
         "4 May 2026, 23:00 to 5 May 2026, 01:00 (Europe/Berlin)"),
        ("Who came on Monday night?", (21, 30), "4 May 2026, 21:00 to 5 May 2026, 06:00 (Europe/Berlin)"),
    ],
)  # fmt: skip
def test_a_time_of_a_day_is_found(question: str, hours: tuple[float, float] | None, meaning: str) -> None:
    found = resolved(question, WEEK)
    assert found.meaning == meaning
    if hours is None:
        at = (14 * 60 + 5) * MINUTE + 30_000
        assert found.spans == {FIRST: Span(at, at + 1_000)}
    else:
        assert found.spans == {FIRST: Span(round(hours[0] * HOUR), round(hours[1] * HOUR))}


def test_the_half_of_the_day_is_the_one_that_was_filmed() -> None:
    night = recording(FIRST, ("2026-05-05T01:00", 4))
    assert resolved("Who came yesterday between two and three?", night).spans == {FIRST: Span(HOUR, 2 * HOUR)}


def test_without_a_day_the_latest_filmed_day_counts() -> None:
    assert resolved("Who came at 3:20 pm?", WEEK).spans == {
        FIRST: Span((39 * 60 + 20) * MINUTE, (39 * 60 + 21) * MINUTE)
    }, "on Tuesday: on Wednesday it is not yet ten"
    later = berlin("2026-05-20T10:00")
    at = (63 * 60 + 20) * MINUTE
    assert resolved("Who came at 3:20 pm?", WEEK, now=later).spans == {FIRST: Span(at, at + MINUTE)}


def test_every_video_that_filmed_the_time_has_its_own_span_and_the_others_have_none() -> None:
    other = recording(SECOND, ("2026-05-05T14:30", 2))
    third = recording(UUID(int=3), ("2026-05-02T14:30", 2))
    found = resolved("Who came yesterday between two and three?", WEEK, other, third)
    assert found.spans == {FIRST: Span(38 * HOUR, 39 * HOUR), SECOND: Span(0, 30 * MINUTE)}


def test_a_gap_between_recordings_is_outside() -> None:
    gap = recording(FIRST, ("2026-05-05T12:00", 1), ("2026-05-05T16:00", 1))
    found = resolved("Who came yesterday between two and three?", gap)
    assert found.spans == {}
    assert found.meaning.startswith("5 May 2026, ")
    assert resolved("Who came yesterday between 12:30 and 16:30?", gap).spans == {FIRST: Span(30 * MINUTE, 90 * MINUTE)}


def test_a_part_that_was_filmed_before_an_earlier_one() -> None:
    """The video begins with the afternoon; the morning was appended later."""
    swapped = recording(FIRST, ("2026-05-05T14:00", 2), ("2026-05-05T08:00", 2))
    assert resolved("Who came yesterday at 9 am?", swapped).spans == {FIRST: Span(3 * HOUR, 3 * HOUR + MINUTE)}
    assert resolved("Who came yesterday at 3 pm?", swapped).spans == {FIRST: Span(HOUR, HOUR + MINUTE)}


def test_summer_time_leaves_out_an_hour_and_repeats_another() -> None:
    spring = recording(FIRST, ("2026-03-29T00:00", 6))
    assert resolved("Who came on 29 March at 3:30?", spring).spans == {FIRST: Span(150 * MINUTE, 151 * MINUTE)}
    assert resolved("Who came on 29 March from 1:30 until 3:15?", spring).spans == {
        FIRST: Span(90 * MINUTE, 135 * MINUTE)
    }
    autumn = recording(FIRST, ("2026-10-25T00:00", 6))
    later = berlin("2026-10-26T12:00")
    found = resolved("Who came yesterday between 2:00 and 3:00?", autumn, now=later)
    assert found.spans == {FIRST: Span(2 * HOUR, 4 * HOUR)}, "the hour that comes twice, both times"
    assert resolved("Who came yesterday at 2:30 am?", autumn, now=later).spans == {
        FIRST: Span(150 * MINUTE, 151 * MINUTE)
    }


def test_yesterday_counts_from_now_in_the_zone_of_the_recording() -> None:
    """At half past midnight in Berlin it is still the day before in UTC."""
    night = datetime.fromisoformat("2026-05-05T22:30:00+00:00")
    assert resolved("What happened yesterday?", WEEK, now=night).spans == {FIRST: Span(24 * HOUR, 48 * HOUR)}


@pytest.mark.parametrize(
    ("question", "by_wall"),
    [
        ("What happened at 15:00?", True),
        ("What happened at 12:45?", False),
        ("What happened at 0:12:45?", False),
        ("What happened at 14:20:30?", None),
    ],
)
def test_figures_of_a_short_video_are_its_own_time_unless_its_clock_alone_has_them(
    question: str, by_wall: bool | None
) -> None:
    """66 min from 14:00: its own time has 15:00 and 12:45, the wall clock 15:00; the figures above twelve decide. Three
    figures are the video's own time, which has no 14:20:30."""
    short = recording(FIRST, ("2026-05-05T14:00", 1.1))
    found = resolved(question, short)
    assert ("May" in found.meaning) == bool(by_wall)
    assert set(found.spans) == ({FIRST} if by_wall is not None else set())


def test_figures_without_a_known_clock_are_the_videos_own_time() -> None:
    plain = Recording(FIRST, "", 20 * MINUTE)
    assert resolved("What happened at 14:05?", plain).spans == {FIRST: Span(845_000, 846_000)}
    outside = resolved("What happened at 25:00?", plain)
    assert (outside.spans, outside.meaning) == ({}, "0:25:00 of the video")


def test_a_day_without_a_known_clock_is_not_applied() -> None:
    assert placed("Who came yesterday?", Recording(FIRST, "", 20 * MINUTE)) is None


def test_the_clock_in_the_picture_counts_where_it_is_named() -> None:
    shown = (ClockStretch(Span(0, HOUR), berlin("2019-01-01T09:00"), "picture"),)
    wrong = recording(FIRST, ("2026-05-05T14:00", 1), shown=shown)
    by_picture = resolved("What lay there when the clock showed 9:20?", wrong)
    assert by_picture.spans == {FIRST: Span(20 * MINUTE, 21 * MINUTE)}
    assert by_picture.meaning == "1 January 2019, 09:20 on the clock in the picture"
    assert resolved("What lay there at 2:20 pm?", wrong).spans == by_picture.spans


def test_a_clock_without_a_date_knows_times_and_no_days() -> None:
    undated = WallClock((ClockStretch(Span(0, 3 * HOUR), datetime.fromisoformat("1970-01-01T22:30+00:00"), "picture"),),
                        "", dated=False)  # fmt: skip
    night = Recording(FIRST, "", 3 * HOUR, clock=undated)
    found = resolved("What lay there when the clock showed 00:10?", night)
    assert found.spans == {FIRST: Span(100 * MINUTE, 101 * MINUTE)}
    assert found.meaning == "00:10 on the clock in the picture"
    assert placed("What happened on Tuesday?", night) is None


def test_days_of_several_recordings_are_counted_together() -> None:
    first, second = recording(FIRST, ("2026-05-02T22:00", 4)), recording(SECOND, ("2026-05-04T09:00", 8))
    assert resolved("What happened on the third day?", first, second).spans == {SECOND: Span(0, 8 * HOUR)}
    assert resolved("What happened on the second day?", first, second).spans == {FIRST: Span(2 * HOUR, 4 * HOUR)}


def test_a_day_that_was_not_filmed_any_more_narrows_nothing() -> None:
    """The second day of a story is not a day of the recording."""
    assert placed("What happened on the second day?", recording(FIRST, ("2026-05-02T12:00", 4))) is None
    assert placed("What happened on the second day?", Recording(FIRST, "", 2 * HOUR)) is None


def test_a_weekend_is_saturday_and_sunday() -> None:
    week = recording(FIRST, ("2026-04-27T00:00", 9 * 24))
    assert resolved("What happened over the weekend?", week).spans == {FIRST: Span(5 * 24 * HOUR, 7 * 24 * HOUR)}
    sunday = recording(FIRST, ("2026-05-03T10:00", 30))
    assert resolved("What happened over the weekend?", sunday).spans == {FIRST: Span(0, 14 * HOUR)}


@pytest.mark.parametrize(
    ("question", "hours"),
    [
        ("What happened on Monday or on Wednesday?", [(0, 24), (48, 72)]),
        ("What happened on Monday and Wednesday?", [(0, 24), (48, 72)]),
        ("What happened on Monday at 10 am and on Wednesday at 3 pm?", [(10, 10 + 1 / 60), (63, 63 + 1 / 60)]),
        ("Who came on Monday and on Wednesday between 2 pm and 3 pm?", [(14, 15), (62, 63)]),
        ("What happened on 4 May and on 6 May?", [(0, 24), (48, 72)]),
        ("Who came on Monday in the morning and in the evening?", [(5, 12), (18, 23)]),
        ("Who came on Monday or on Tuesday?", [(0, 24), (24, 48)]),
        ("Was passierte am Montag oder am Mittwoch?", [(0, 24), (48, 72)]),
        ("¿Qué pasó el lunes y el miércoles?", [(0, 24), (48, 72)]),
    ],
)
def test_two_days_are_read_without_the_day_between(question: str, hours: list[tuple[float, float]]) -> None:
    found = resolved(question, WEEK)
    assert found.read_spans() == {FIRST: tuple(Span(round(a * HOUR), round(b * HOUR)) for a, b in hours)}


def test_a_time_that_was_filmed_in_parts_out_of_order_is_read_without_what_lies_between() -> None:
    """A tape on which Monday's second hour lies before Sunday, and its first hour behind it."""
    tape = recording(FIRST, ("2026-05-04T10:00", 1), ("2026-05-03T10:00", 5), ("2026-05-04T09:00", 1))
    found = resolved("What happened on Monday?", tape)
    assert found.read_spans() == {FIRST: (Span(0, HOUR), Span(6 * HOUR, 7 * HOUR))}


@pytest.mark.parametrize(
    "question",
    [
        "Who comes every morning?",
        "Who comes in the mornings?",
        "Wer kommt jeden Morgen?",
        "¿Quién viene cada mañana?",
        "¿Quién viene por las mañanas?",
    ],
)
def test_every_morning_is_that_of_each_day_that_was_filmed(question: str) -> None:
    found = resolved(question, WEEK)
    assert [(stretch.meaning, stretch.spans) for stretch in found.stretches] == [
        (
            f"{4 + day} May 2026, 05:00 to 12:00 (Europe/Berlin)",
            {FIRST: (Span((24 * day + 5) * HOUR, (24 * day + 12) * HOUR),)},
        )
        for day in range(3)
    ]
