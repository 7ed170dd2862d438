"""A reasoner's times become expressions, and an invalid reply becomes none."""

from __future__ import annotations

from typing import Any

import pytest

from gpu_workers.engine.answering.reading.call import following
from gpu_workers.engine.answering.reading.forms import TIMES_SCHEMA, NamedTime, time_of_reply
from tests.engine.answering.reading.meanings import meaning

NOTHING: dict[str, Any] = {
    "words": "at that time", "kind": "at", "clock": "either", "start": "", "end": "", "approximate": False, "day": "",
    "part_of_day": "", "every_day": False, "seconds": 0, "within": False, "nth": 0, "event": "", "last_nth": 0,
    "last_event": "",
}  # fmt: skip
QUESTION = "Who is there at that time?"


def a_time(**fields: Any) -> dict[str, Any]:
    return {**NOTHING, **fields}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"kind": "at", "start": "1:23:45", "clock": "video"}, "at 1:23:45 (video)"),
        ({"kind": "at", "start": "3 pm", "approximate": True, "clock": "wall"}, "at about 3pm (wall)"),
        ({"kind": "between", "start": "14:05", "end": "15:10", "day": "monday"},
         "between 14:05 and 15:10 weekday 0 (wall)"),
        ({"kind": "since", "start": "10:00"}, "since 10:00"),
        ({"kind": "until", "end": "10:00", "clock": "picture"}, "until 10:00 (shown)"),
        ({"kind": "day", "day": "2026-05-03", "part_of_day": "afternoon"}, "day 2026-05-03 12-18h (wall)"),
        ({"kind": "day", "day": "3 days ago"}, "day 3 days ago (wall)"),
        ({"kind": "day", "day": "last day"}, "day day -1 (wall)"),
        ({"kind": "day", "part_of_day": "morning", "every_day": True}, "day 5-12h every day (wall)"),
        ({"kind": "day", "part_of_day": "weekend"}, "day weekday 5 0-48h (wall)"),
        ({"kind": "first", "seconds": 600}, "first 600 s"),
        ({"kind": "fraction", "start": "1/2", "end": "2/2"}, "1 to 2 of 2"),
        ({"kind": "beginning"}, "beginning"),
        ({"kind": "after", "nth": 2, "event": "delivery"}, "after 2 delivery"),
        ({"kind": "before", "nth": -1, "event": "goal", "seconds": 60, "within": True}, "before -1 goal within 60 s"),
        ({"kind": "during", "nth": 0, "event": "the alarm rings"}, "during 0 the alarm rings"),
        ({"kind": "between_events", "nth": 1, "event": "delivery", "last_nth": 2, "last_event": "delivery"},
         "between 1 delivery and 2 delivery"),
    ],
)  # fmt: skip
def test_each_kind_becomes_an_expression(fields: dict[str, Any], expected: str) -> None:
    assert meaning(time_of_reply([a_time(**fields)], [QUESTION])) == expected


@pytest.mark.parametrize(
    "reply",
    [
        "no list",
        [{"kind": "at", "start": "1:00"}],
        [a_time(start="soon")],
        [a_time(start="13 pm")],
        [a_time(kind="between", start="1:00")],
        [a_time(kind="sometime", start="1:00")],
        [a_time(start="1:00", day="someday")],
        [a_time(start=60)],
        [a_time(kind="first", seconds=True)],
        [a_time(kind="first")],
        [a_time(kind="fraction", start="1/2", end="3/2")],
        [a_time(kind="fraction", start="half", end="2/2")],
        [a_time(kind="after", nth=1)],
        [a_time(kind="after", nth=0, event="goal")],
        [a_time(kind="day")],
        [a_time(kind="beginning")] * 32,
    ],
)
def test_an_invalid_reply_is_refused(reply: object) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        time_of_reply(following(reply, TIMES_SCHEMA), [QUESTION])


def test_an_empty_list_names_no_time() -> None:
    assert time_of_reply([], [QUESTION]) == NamedTime()


def test_the_words_are_the_customers_own() -> None:
    reply = [a_time(kind="first", seconds=600)]
    assert time_of_reply(reply, [QUESTION]).words == "at that time"
    assert time_of_reply(reply, ["Who is there?"]) == NamedTime()
    assert time_of_reply(reply, ["And who else?", QUESTION]).forms


def test_the_schema_is_strict() -> None:
    items = TIMES_SCHEMA["items"]
    assert items["required"] == list(items["properties"])
    assert items["additionalProperties"] is False
    assert not any(isinstance(rule["type"], list) for rule in items["properties"].values())
