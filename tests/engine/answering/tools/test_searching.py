"""The tools that search and look: what they show, its order, its numbers, and what they say where there is nothing."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any
from uuid import UUID

import pytest

from gpu_workers.engine.answering.agent.frame_tools import frame_inspect, look_at_frames
from gpu_workers.engine.answering.agent.search_tools import TOPIC_SEARCH, clip_search, global_browse, show_overview
from gpu_workers.engine.answering.agent.tool import Observation, Tool, read_arguments
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.budget import BudgetSpent, Spending
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.contract import Budget, QuestionInput
from gpu_workers.engine.answering.presets import settings_for
from gpu_workers.engine.ekg import FrameRow, Span
from gpu_workers.engine.memory_graph import MemoryVideo
from gpu_workers.engine.models.calibration import UNMEASURED
from gpu_workers.engine.models.roles import Meter, ModelError, ObserveRequest
from tests.engine.answering import filmed as recorded
from tests.engine.answering.recordings import PARK, SECOND, graph_of, park
from tests.engine.answering.world import VIDEO, ScriptedChecker, ScriptedReasoner, embed, event_id, make_video, models

QUESTION = QuestionInput("What does the boy drink?")


def toolbox_over(
    *videos: MemoryVideo,
    checker: Any = None,
    effort: Any = "medium",
    span: Span | None = None,
    budget: Budget | None = None,
) -> Toolbox:
    meter = Meter()
    scripted = models(ScriptedReasoner(lambda request: "{}"), checker=checker)
    spending = Spending(budget or Budget(), meter, clock=time.monotonic, should_stop=lambda: False)
    graph = graph_of(*(videos or (park(),)), span=span)
    settings = settings_for(effort, UNMEASURED)
    calls = Calls(scripted, spending=spending, meter=meter, in_flight=1)
    return Toolbox(Asked(QUESTION, graph, scripted, settings, searched=QUESTION.question), calls)


def use(tool: Tool, toolbox: Toolbox, **arguments: Any) -> Observation:
    return tool.use(toolbox, read_arguments(tool, arguments, videos=len(toolbox.extents)))


# --- the overview ----------------------------------------------------------------------------------------------------


def test_the_overview_tells_the_whole_and_its_parts() -> None:
    toolbox = toolbox_over()

    text = show_overview(toolbox)

    assert text.splitlines() == [
        "Summary: A boy drinks juice, plays and sleeps in a park.",
        "0:00:00-0:00:12 The boy and his juice (boy)",
        "0:00:12-0:00:24 The dog and the gate (boy)",
    ]
    assert toolbox.overview_shown
    assert toolbox.evidence.notes == [f"Overview: {' '.join(text.split())}"]


def test_an_overview_that_is_behind_the_index_says_how_far_it_goes() -> None:
    text = show_overview(toolbox_over(park(until_ms=12_000)))

    assert text.splitlines()[0] == (
        "(The video is still being indexed: this covers it up to 0:00:12, a search up to 0:00:24.)"
    )
    assert "The dog and the gate" not in text


def test_of_several_videos_there_is_a_line_each_within_the_limit() -> None:
    toolbox = toolbox_over(park(until_ms=12_000), park(video_id=SECOND, topics=False), park(video_id=UUID(int=1)))

    lines = dict(line.split(": ", 1) for line in show_overview(toolbox).splitlines())

    assert lines == {
        "video 1": "A boy drinks juice, plays and sleeps in a park.",
        f"video {toolbox.numbers[SECOND]}": "not summarised yet",
        f"video {toolbox.numbers[VIDEO]}": "(The video is still being indexed: this covers it up to 0:00:12, a search "
        "up to 0:00:24.) A boy drinks juice, plays and sleeps in a park.",
    }


def test_a_long_overview_is_cut_to_its_limit() -> None:
    video = park()
    assert video.overview is not None
    long = replace(video, overview=replace(video.overview, text="word " * 9_000))

    assert len(show_overview(toolbox_over(long)).split()) <= 1_200


def test_the_overview_of_a_long_video_shows_all_of_it() -> None:
    """The topics that fit are spread over all 400."""
    topics = [recorded.topic(n, n, n + 1, f"part {n} with a few more words", "", ["boy"]) for n in range(400)]
    told = recorded.overview("A long day.", 12_000 * 400)
    toolbox = toolbox_over(replace(recorded.filmed(12 * 400), topics=topics, overview=told))

    head, note, *lines = show_overview(toolbox).splitlines()

    assert head == "Summary: A long day."
    assert note == f"{len(lines)} of 400 topics, evenly chosen:"
    assert "part 0 " in lines[0]
    assert "part 399 " in lines[-1]
    shown = [int(line.split("part ")[1].split(" ")[0]) for line in lines]
    gaps = [later - earlier for earlier, later in pairwise(shown)]
    assert max(gaps) - min(gaps) <= 1
    assert 1_000 <= len(show_overview(toolbox).split()) <= 1_200


def test_the_overview_says_that_there_are_more_videos_than_it_lists() -> None:
    many = [park(video_id=UUID(int=n)) for n in range(1, 24)]
    assert many[0].overview is not None
    wordy = replace(many[0].overview, text="word " * 500)

    head, *lines = show_overview(toolbox_over(*(replace(video, overview=wordy) for video in many))).splitlines()

    assert head == "There are 23 videos; the first 20 are listed."
    assert [line.split(":")[0] for line in lines] == [f"video {n}" for n in range(1, 21)]


def test_a_video_that_is_not_summarised_has_no_overview() -> None:
    toolbox = toolbox_over(park(topics=False))

    assert show_overview(toolbox) == ""
    assert not toolbox.overview_shown
    assert "topics" not in toolbox.artifacts
    assert toolbox.degraded({"topics"}) == ("no_summary",)


# --- topics ----------------------------------------------------------------------------------------------------------


def test_topics_are_found_by_meaning_with_their_first_events() -> None:
    toolbox = toolbox_over()

    seen = use(TOPIC_SEARCH, toolbox, query="who drinks juice")

    first, *events = seen.text.splitlines()
    assert first.startswith("Part 0:00:00-0:00:12 The boy and his juice: a boy enters the park.")
    assert events[0] == "E1 0:00:00-0:00:03: a boy enters the park"
    assert seen.events[0] == event_id(0)
    assert set(seen.events) <= {event_id(n) for n in range(8)}


def test_what_no_topic_is_about_is_not_found() -> None:
    assert use(TOPIC_SEARCH, toolbox_over(), query="zeppelin").error == "nothing_found"


# --- clips -----------------------------------------------------------------------------------------------------------


def test_clips_are_in_order_of_time_and_numbered_for_good() -> None:
    toolbox = toolbox_over()

    first = use(clip_search(), toolbox, query="dog ball", top_k=2)
    again = use(clip_search(), toolbox, query="boy drinks juice plays with a ball", top_k=8)

    assert [line.split(":")[0].split()[0] for line in first.text.splitlines()] == ["E1", "E2"]
    assert set(first.events) == {event_id(3), event_id(4)}
    assert list(again.events) == sorted(again.events, key=lambda known: [event_id(n) for n in range(8)].index(known))
    assert toolbox.evidence.numbers[event_id(3)] == 1, "a number given once is never changed"
    assert toolbox.evidence.numbers[event_id(4)] == 2
    assert any(line.startswith("E1 0:00:09-0:00:12: the boy plays with a ball") for line in again.text.splitlines())
    assert toolbox.top_similarity > 0.3


def test_speech_is_part_of_a_clip() -> None:
    seen = use(clip_search(), toolbox_over(), query="juice bench", top_k=1)

    assert 'Speech: "this juice is cold"' in seen.text


def test_paper_finds_clips_by_their_texts_alone() -> None:
    toolbox = toolbox_over(effort="paper")

    assert use(clip_search(), toolbox, query="brown dog runs", top_k=1).events == (event_id(4),)
    assert use(clip_search(), toolbox, query="zeppelin", top_k=4).error == "nothing_found"


def test_a_clip_longer_than_its_share_is_cut() -> None:
    toolbox = toolbox_over(make_video([f"dog {'word ' * 2_000}", "dog runs"]))

    seen = use(clip_search(), toolbox, query="dog", top_k=2)

    assert len(seen.text.split()) <= toolbox.observation_tokens
    assert len(seen.text.splitlines()) == 2


def test_a_browse_shows_the_whole_and_what_is_near() -> None:
    toolbox = toolbox_over()

    seen = use(global_browse(3), toolbox, query="dog")

    assert seen.text.index("Summary:") < seen.text.index("Part 0:00:12") < seen.text.rindex("E")
    assert event_id(4) in seen.events
    bare = use(global_browse(3), toolbox_over(park(topics=False)), query="dog")
    assert "Summary" not in bare.text
    assert event_id(4) in bare.events


# --- the scope -------------------------------------------------------------------------------------------------------


def test_nothing_outside_the_scope_is_shown() -> None:
    toolbox = toolbox_over(span=Span(0, 9_000))

    assert toolbox.extents == {VIDEO: Span(0, 9_000)}
    assert use(clip_search(), toolbox, query="dog runs", top_k=32).events == (), "it runs later"
    assert show_overview(toolbox) == "", "it tells of more than the scope"


def test_a_place_names_the_video_if_there_are_several() -> None:
    assert toolbox_over().place(VIDEO, Span(65_000, 80_000)) == "0:01:05-0:01:20"
    toolbox = toolbox_over(park(), park(video_id=SECOND))
    number = toolbox.numbers[SECOND]
    assert toolbox.place(SECOND, Span(65_000, 80_000)) == f"video {number} 0:01:05-0:01:20"
    assert list(toolbox.videos.values()) == sorted([VIDEO, SECOND])
    assert (toolbox.video(number), toolbox.video(3), toolbox.video(None)) == (SECOND, None, None)
    assert toolbox_over().video(None) == VIDEO


# --- frames ----------------------------------------------------------------------------------------------------------


def filmed(seconds: Sequence[float], minutes: int = 2) -> MemoryVideo:
    """A video of one event with frames at these seconds."""
    video = make_video(["a long walk"])
    event = video.events[0].event
    long = replace(event, span=Span(0, 60_000 * minutes))
    return replace(
        video,
        events=[replace(video.events[0], event=long)],
        frames=[FrameRow(round(1_000 * s), f"jpeg {s}".encode(), embed("walk")) for s in seconds],
    )


def finding(statement: str = "a red coat", frames: Sequence[int] = (1,), start: int = 0, end: int = 120_000) -> Any:
    return {"statement": statement, "start_ms": start, "end_ms": end, "frames": list(frames), "bearing": "none"}


def looks(*found: Any, **more: Any) -> ScriptedChecker:
    return ScriptedChecker(lambda request: "{}", observes=lambda request: {"findings": list(found)}, **more)


RANGES = [{"start_ms": 0, "end_ms": 10_000}, {"start_ms": 100_000, "end_ms": 110_000}]


def test_a_range_gets_frames_by_its_length_and_none_is_shown_twice() -> None:
    checker = looks(finding(), max_frames=8)
    toolbox = toolbox_over(filmed(range(120)), checker=checker)
    ranges = [{"start_ms": 0, "end_ms": 30_000}, {"start_ms": 100_000, "end_ms": 110_000}]

    use(frame_inspect(4), toolbox, question="who", ranges=ranges)
    use(frame_inspect(8), toolbox, question="who", ranges=[{"start_ms": 0, "end_ms": 4_000}] * 2, fps="2")

    spread, twice = ([frame.ms for frame in request.frames] for request in checker.observed)
    assert spread == [5_000, 15_000, 25_000, 105_000]
    assert twice == [0, 1_000, 2_000, 3_000]


def test_a_look_at_several_moments_is_one_request_with_findings_in_their_places() -> None:
    checker = looks(finding(frames=[3], start=102_000, end=103_000), max_frames=4)
    toolbox = toolbox_over(filmed([n / 2 for n in range(240)]), checker=checker)

    seen = use(frame_inspect(50), toolbox, question="what coat", ranges=RANGES, fps="1", resolution="low")

    (request,) = checker.observed
    assert [frame.ms for frame in request.frames] == [2_500, 7_500, 102_500, 107_500]
    assert (request.find, request.high) == ("what coat", False)
    assert seen.text == "0:01:42-0:01:43 E1: a red coat"
    assert seen.events == (event_id(0),)
    assert len(seen.frames) == 4
    assert [found.statement for found in toolbox.evidence.findings] == ["a red coat"]
    assert {frame.ms for frame in toolbox.evidence.frames.values()} == {2_500, 7_500, 102_500, 107_500}


@pytest.mark.parametrize(
    ("fps", "resolution", "most", "count"),
    [("0.2", "low", 50, 4), ("1", "low", 50, 20), ("2", "low", 50, 40), ("2", "low", 16, 16), ("2", "high", 50, 8)],
)
def test_the_rate_the_resolution_and_the_effort_bound_the_frames(
    fps: str, resolution: str, most: int, count: int
) -> None:
    checker = looks(finding(), max_frames=64)
    toolbox = toolbox_over(filmed([n / 2 for n in range(240)]), checker=checker)

    use(frame_inspect(most), toolbox, question="who", ranges=RANGES, fps=fps, resolution=resolution)

    assert [len(request.frames) for request in checker.observed] == [count]


def test_a_look_that_finds_nothing_says_so_and_counts_its_frames() -> None:
    toolbox = toolbox_over(checker=looks())

    seen = use(frame_inspect(50), toolbox, question="a zeppelin", ranges=[{"start_ms": 0, "end_ms": 6_000}])

    assert (seen.error, len(seen.frames)) == ("nothing_found", 2)
    assert seen.text == "Nothing of this is to be seen in 2 frames."


def test_times_out_of_range_are_answered_with_those_in_range() -> None:
    toolbox = toolbox_over(checker=looks(finding()))

    beyond = use(frame_inspect(50), toolbox, question="who", ranges=[{"start_ms": 24_000, "end_ms": 30_000}])
    across = use(frame_inspect(50), toolbox, question="who", ranges=[{"start_ms": 21_000, "end_ms": 10**12}])

    assert beyond.error == "out_of_range"
    assert "Times go from 0 to 24000 ms." in beyond.text
    assert across.error == ""
    assert [frame.ms for frame in toolbox.evidence.frames.values()] == [22_500]


def test_a_scope_inside_an_event_bounds_the_look() -> None:
    checker = looks(finding())
    toolbox = toolbox_over(filmed([n / 2 for n in range(240)]), checker=checker, span=Span(5_000, 8_000))

    use(frame_inspect(50), toolbox, question="who", ranges=[{"start_ms": 0, "end_ms": 120_000}], fps="2")

    assert {frame.ms for request in checker.observed for frame in request.frames} <= set(range(5_000, 8_000, 500))


def test_a_look_that_fails_is_an_observation_with_the_models_code() -> None:
    def down(request: ObserveRequest) -> ModelError:
        return ModelError("model_unavailable", "down", retryable=True)

    toolbox = toolbox_over(checker=ScriptedChecker(lambda request: "{}", observes=down))
    seen = use(frame_inspect(50), toolbox, question="who", ranges=[{"start_ms": 0, "end_ms": 6_000}])
    assert seen.error == "failed: model_unavailable"

    babbles = toolbox_over(checker=ScriptedChecker(lambda request: "{}", observes=lambda request: "hm"))
    assert use(frame_inspect(50), babbles, question="who", ranges=[{"start_ms": 0, "end_ms": 6_000}]).error == (
        "failed: unreadable"
    )
    assert look_at_frames(toolbox_over(), "who", []) == ([], "no_checker")


def test_a_budget_that_ends_between_two_requests_of_a_look_keeps_what_was_found() -> None:
    toolbox = toolbox_over(checker=looks(finding(end=3_000), max_frames=4), budget=Budget(max_calls=1))
    frames = list(toolbox.asked.graph.frames_between(VIDEO, Span(0, 24_000), limit=8))

    with pytest.raises(BudgetSpent):
        look_at_frames(toolbox, "who", frames)

    assert [found.statement for found in toolbox.evidence.findings] == ["a red coat"]
    assert list(toolbox.evidence.events) == [1]


def test_later_looks_are_told_what_earlier_ones_found() -> None:
    checker = looks(finding(end=3_000))
    toolbox = toolbox_over(checker=checker)
    for start in (0, 6_000):
        use(frame_inspect(50), toolbox, question="who", ranges=[{"start_ms": start, "end_ms": start + 3_000}])

    assert checker.observed[0].known == ()
    assert checker.observed[1].known == ("00:01-00:01 a red coat",)


def test_what_the_videos_are_missing_is_named() -> None:
    whole = toolbox_over(checker=looks())
    silent = toolbox_over(replace(park(speech=None, topics=False, objects=False), frames=[]))

    assert whole.artifacts == {"events", "frames", "transcript", "topics", "objects", "checker"}
    assert silent.artifacts == {"events"}
    assert silent.degraded(whole.artifacts) == (
        "no_eyes",
        "no_object_memory",
        "no_pictures",
        "no_speech",
        "no_summary",
    )
    assert len(PARK) == 8
