"""The program of "What did the boy do after drinking juice?", worked out by hand."""

from __future__ import annotations

import json

from gpu_workers.engine.answering.methods.ravu.program import read_program
from tests.engine.answering.programs.small_world import (
    PROGRAM,
    fitting,
    juice,
    numbers_at,
    ran,
    reasoner_of,
    toolbox_over,
)

STEPS = [
    {"op": "localize", "phrase": "boy drinks juice", "what": "event", "within": "", "out": "juice"},
    {"op": "localize", "phrase": "boy", "what": "entity", "within": "", "out": "boy"},
    {"op": "after", "of": "juice", "with": "boy", "most": 0, "out": "later"},
    {"op": "first", "of": "later", "out": "next"},
    {"op": "frames", "of": "next", "most": 0, "out": "seen"},
]


def test_with_the_boy_it_is_the_boy_who_plays_with_a_ball() -> None:
    outcome = ran(PROGRAM, toolbox_over(juice()))

    assert outcome.error == ""
    assert [record.action for record in outcome.records] == ["localize", "localize", "after", "first", "frames"]
    assert numbers_at(outcome.records[0]) == [1]
    assert numbers_at(outcome.records[2]) == [3, 4], "the girl's song is left out"
    assert numbers_at(outcome.value) == [3]


def test_without_the_boy_it_is_the_song_of_the_girl() -> None:
    outcome = ran(PROGRAM.replace('"with": "boy", ', ""), toolbox_over(juice()))

    assert numbers_at(outcome.records[2]) == [2, 3, 4]
    assert numbers_at(outcome.value) == [2]


def test_an_argument_that_is_left_out_may_be_written_as_nothing() -> None:
    written = json.dumps({"steps": STEPS})
    assert read_program(written) == read_program(PROGRAM)
    assert read_program(f"Here is it: ```json {written}```") == read_program(PROGRAM)


def test_a_ranking_by_the_reasoner_decides_where_it_is_asked() -> None:
    """Ten hits of the search are numbered from the best; the reasoner takes the third of them for the drinking."""
    toolbox = toolbox_over(juice(), fitting([3], [1]))
    outcome = ran(PROGRAM, toolbox, ranks=True)

    first, second = reasoner_of(toolbox).requests
    assert first.stage == second.stage == "rank"
    assert "1. the boy drinks juice" in first.text
    assert "1. boy (person)" in second.text
    hits = [line for line in first.text.splitlines() if line[:2] in ("1.", "2.", "3.", "4.", "5.")]
    (event,) = outcome.records[0].events
    assert hits[2] == f"3. {toolbox.load([event.event_id])[0].summary}"


def test_nothing_that_fits_ends_the_program() -> None:
    toolbox = toolbox_over(juice(), fitting([]))
    outcome = ran(PROGRAM, toolbox, ranks=True)

    assert outcome.value is None
    assert outcome.error == "nothing_found: juice"
    assert [record.error for record in outcome.records] == ["nothing_found"]
    assert len(reasoner_of(toolbox).requests) == 1
