"""Queries that name a time are understood by the rules that customers' questions meet."""

from __future__ import annotations

from bench.evaluation.datasets import TapeQuery
from bench.evaluation.timed_queries import with_time
from gpu_workers.engine.answering.contract import QuestionInput
from gpu_workers.engine.answering.reading.placing import narrow_to_time
from gpu_workers.engine.answering.reading.times import times_in
from gpu_workers.engine.ekg import Span
from tests.engine.answering.programs.small_world import toolbox_over
from tests.engine.answering.world import make_video

EVENTS = 1_250
"""Events of 3 s: a little more than an hour."""
CLIP_MS = 20_000


def test_each_time_is_read_back_and_the_moment_lies_in_it() -> None:
    video = make_video([f"a man opens door {n}" for n in range(EVENTS)])
    forms = set()
    for n in range(0, 60, 3):
        start_ms = n * 61_500
        query = TapeQuery(f"query {n}", "A man opens a door. ", Span(start_ms, start_ms + CLIP_MS))
        text = with_time(query, seed=0)
        toolbox = toolbox_over(video, question=QuestionInput(text))

        named, searched = times_in(text, "en")
        asked = narrow_to_time(toolbox.asked, toolbox.calls, named, chosen_by="figures", searched=searched)

        assert asked.searched == "A man opens a door.", text
        (span,) = asked.graph.extents().values()
        assert span.start_ms <= start_ms + CLIP_MS // 2 < span.end_ms, text
        assert span.duration_ms < 2 * 3_600_000, text
        forms.add(text.split()[5])
    assert forms == {"at", "around", "between", "in"}
