"""Captions by time, speech by meaning, and exact words in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from gpu_workers.engine.answering.agent.caption_tools import (
    LINES,
    TERM_FREQUENCY,
    TRANSCRIPT_SEARCH,
    caption_retrieval,
    words_of,
)
from gpu_workers.engine.answering.agent.tool import BadArguments, Observation
from gpu_workers.engine.ekg import Chunk, Event, EventRecord, Span, TranscriptLine
from gpu_workers.engine.memory_graph import InMemoryGraph, MemoryVideo
from tests.engine.answering.recordings import PARK, SECOND, graph_of, park
from tests.engine.answering.toolboxes import toolbox_of, use
from tests.engine.answering.world import VIDEO, embed, event_id, make_video

WINDOW = 15
LONG = tuple(f"person number {n} walks" for n in range(20))


def captions(graph: InMemoryGraph, *, window: int = WINDOW, **arguments: Any) -> Observation:
    return use(toolbox_of(graph), caption_retrieval(window), **arguments)


def test_fifteen_slices_are_shown_and_the_time_of_the_others_is_named() -> None:
    found = captions(graph_of(park(LONG, speech={0: "good morning"})), start_ms=0, end_ms=60_000)
    lines = found.text.splitlines()
    assert len(lines) == 16
    assert lines[0] == 'E1 0:00:00-0:00:03: seen: person number 0 walks Speech: "good morning"'
    assert lines[14].startswith("E15 0:00:42-0:00:45: seen: person number 14 walks")
    assert lines[15] == "0:00:45-0:01:00 is not shown: ask again from 45000 ms."
    assert found.cut
    assert found.events == tuple(event_id(n) for n in range(15))


def test_the_paper_reads_ten_slices_of_three_seconds() -> None:
    found = captions(graph_of(park(LONG)), window=10, start_ms=0, end_ms=30_000)
    assert (len(found.text.splitlines()), found.cut) == (10, False)
    assert captions(graph_of(park(LONG)), window=10, start_ms=0, end_ms=30_001).cut


def test_a_span_is_half_open() -> None:
    assert captions(graph_of(park(LONG)), start_ms=3_000, end_ms=6_000).events == (event_id(1),)
    assert captions(graph_of(park(LONG)), start_ms=2_999, end_ms=6_001).events == tuple(map(event_id, (0, 1, 2)))


@pytest.mark.parametrize(("start_ms", "end_ms"), [(5, 2), (5, 5)])
def test_times_run_forward(start_ms: int, end_ms: int) -> None:
    with pytest.raises(BadArguments, match="end_ms must be greater than start_ms"):
        captions(graph_of(park()), start_ms=start_ms, end_ms=end_ms)


@pytest.mark.parametrize("time", ["0:42", float("nan"), True, 3.5, None, [1]])
def test_times_are_whole_milliseconds(time: object) -> None:
    with pytest.raises(BadArguments, match="start_ms must be a time in whole milliseconds"):
        captions(graph_of(park()), start_ms=time, end_ms=50_000)


def test_a_negative_time_is_the_beginning() -> None:
    assert captions(graph_of(park()), start_ms=-4, end_ms=3_000).events == (event_id(0),)


def test_beyond_the_end_names_the_end() -> None:
    found = captions(graph_of(park()), start_ms=24_000, end_ms=30_000)
    assert found.error == "out_of_range"
    assert "0 to 24000 ms" in found.text
    assert captions(graph_of(park()), start_ms=23_999, end_ms=90_000).events == (event_id(7),)


def test_a_gap_is_named_and_not_left_out() -> None:
    video = park()
    chunks = [
        replace(chunk, description=None, gap="model_refused") if chunk.n == 1 else chunk for chunk in video.chunks
    ]
    found = captions(graph_of(replace(video, chunks=chunks)), start_ms=3_000, end_ms=6_000)
    assert found.text == 'E1 0:00:03-0:00:06: not described (model_refused) Speech: "this juice is cold"'


def test_several_videos_need_a_number() -> None:
    both = graph_of(park(), park(PARK[::-1], video_id=SECOND))
    toolbox = toolbox_of(both)
    with pytest.raises(BadArguments, match="video is missing"):
        use(toolbox, caption_retrieval(15), start_ms=0, end_ms=3_000)
    for wrong in (0, 3, "first", None):
        with pytest.raises(BadArguments, match="video must be the number of a video, from 1 to 2"):
            use(toolbox, caption_retrieval(15), video=wrong, start_ms=0, end_ms=3_000)
    number = next(number for number, video in toolbox.videos.items() if video == SECOND)
    found = use(toolbox, caption_retrieval(15), video=number, start_ms=0, end_ms=3_000)
    assert found.text.startswith(f"E1 video {number} 0:00:00-0:00:03: seen: the boy sleeps on the bench")


def test_the_scope_cuts_what_is_read() -> None:
    found = captions(graph_of(park(), span=Span(3_000, 6_000)), start_ms=0, end_ms=24_000)
    assert found.events == (event_id(1),)
    assert captions(graph_of(park(), span=Span(3_000, 6_000)), start_ms=0, end_ms=3_000).error == "out_of_range"


def test_slices_of_a_longer_event_may_be_rested_on() -> None:
    video = park()
    first = video.events[0]
    merged = replace(first, event=replace(first.event, span=Span(0, 6_000), end_chunk=2))
    graph = graph_of(replace(video, events=[merged, *video.events[2:]]))
    toolbox = toolbox_of(graph)
    use(toolbox, caption_retrieval(15), start_ms=0, end_ms=9_000)
    assert toolbox.evidence.notes == [
        "0:00:00-0:00:03: seen: a boy enters the park",
        '0:00:03-0:00:06: seen: the boy drinks orange juice on a bench Speech: "this juice is cold"',
    ], "the third slice is an event of its own"


def test_a_small_window_shows_every_slice_in_its_share() -> None:
    graph = graph_of(park([f"person {n} {'walks ' * 40}" for n in range(20)]))
    found = use(toolbox_of(graph, window=2_048), caption_retrieval(15), start_ms=0, end_ms=45_000)
    assert len(found.text.splitlines()) == 15
    assert 200 <= len(found.text.split()) <= 300


# --- speech --------------------------------------------------------------------------------------------------------


def spoken(
    *lines: tuple[int, int, str] | TranscriptLine, until_ms: int = 30_000, span: Span | None = None
) -> InMemoryGraph:
    """Return a video of one event in which these lines (start_ms, end_ms, text) are spoken."""
    made = [
        line
        if isinstance(line, TranscriptLine)
        else TranscriptLine(Span(line[0], line[1]), line[2], embedding=embed(line[2]))
        for line in lines
    ]
    count = until_ms // 3_000
    chunks = [
        Chunk(
            n,
            Span(3_000 * n, 3_000 * n + 3_000),
            "people talk",
            transcript=tuple(line for line in made if line.span.overlaps(Span(3_000 * n, 3_000 * n + 3_000))),
        )
        for n in range(count)
    ]
    events = [
        EventRecord(Event(event_id(n), n, chunk.span, n, n + 1, "people talk", embed("people talk")), (), (), ())
        for n, chunk in enumerate(chunks)
    ]
    return InMemoryGraph([MemoryVideo(VIDEO, events, chunks)], span=span)


def counted(graph: InMemoryGraph, term: str) -> str:
    return use(toolbox_of(graph), TERM_FREQUENCY, term=term).text.splitlines()[0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('Ow! Now how… "Ow," he said. OW-OW!', ["ow", "now", "how", "ow", "he", "said", "ow", "ow"]),
        ("Don’t — don't!", ["don't", "don't"]),
        ("Café CAFE\u0301", ["café", "café"]),
        ("3.5 m", ["3", "5", "m"]),
        ("…", []),
    ],
)
def test_words(text: str, words: Sequence[str]) -> None:
    assert words_of(text) == words


def test_a_word_counts_where_it_stands_alone() -> None:
    graph = spoken((0, 2_000, 'Ow! Now how… "Ow," he said. OW-OW!'), (4_000, 5_000, "An owl. Wow, below!"))
    assert counted(graph, "Ow!").startswith('"ow" is said 4 times')
    assert counted(graph, "owl").startswith('"owl" is said 1 time;')


def test_a_phrase_counts_word_for_word() -> None:
    graph = spoken((0, 2_000, "Fishing rod? A fishing-rod! No fishing rods."))
    assert counted(graph, "fishing rod").startswith('"fishing rod" is said 2 times')


def test_a_phrase_runs_over_lines_that_follow_each_other() -> None:
    near = spoken((0, 2_000, "That is my fishing"), (2_300, 4_000, "rod, not yours"))
    far = spoken((0, 2_000, "That is my fishing"), (3_001, 4_000, "rod, not yours"))
    assert counted(near, "fishing rod") == '"fishing rod" is said 1 time; at 0:00:00-0:00:04.'
    assert counted(far, "fishing rod") == '"fishing rod" is not said: 0 times.'


def test_places_do_not_overlap() -> None:
    assert counted(spoken((0, 2_000, "no no no no no")), "no no").startswith('"no no" is said 2 times')


def timed(text: str, start_ms: int, each_ms: int) -> TranscriptLine:
    words = tuple(
        (start_ms + each_ms * n, start_ms + each_ms * (n + 1), f" {word}") for n, word in enumerate(text.split())
    )
    span = Span(start_ms, start_ms + each_ms * len(words))
    return TranscriptLine(span, text, words, embed(text))


def test_a_scope_that_ends_inside_a_line_counts_by_the_times_of_words() -> None:
    line = timed("one ow two ow three ow", 4_000, 1_000)
    assert counted(spoken(line), "ow").startswith('"ow" is said 3 times')
    assert counted(spoken(line, span=Span(0, 8_000)), "ow").startswith('"ow" is said 2 times')
    assert counted(spoken(line, span=Span(6_000, 12_000)), "ow").startswith('"ow" is said 2 times')


def test_a_line_without_timed_words_counts_where_it_begins() -> None:
    graph = spoken((4_000, 8_000, "ow ow"), span=Span(0, 6_000))
    assert counted(graph, "ow").startswith('"ow" is said 2 times')
    later = spoken((4_000, 8_000, "ow ow"), span=Span(6_000, 12_000))
    assert counted(later, "ow") == '"ow" is not said: 0 times.'


def test_the_first_five_places_are_named_and_can_be_cited() -> None:
    graph = spoken(*((3_000 * n, 3_000 * n + 1_000, f"ow {n}") for n in range(7)))
    toolbox = toolbox_of(graph)
    found = use(toolbox, TERM_FREQUENCY, term="ow")
    lines = found.text.splitlines()
    assert lines[0].startswith('"ow" is said 7 times; first 0:00:00-0:00:01, 0:00:03-0:00:04, ')
    assert lines[1:] == [f'L{n + 1} 0:00:{3 * n:02}-0:00:{3 * n + 1:02} in E{n + 1}: "ow {n}"' for n in range(5)]
    assert len(found.lines) == LINES
    assert found.events == tuple(event_id(n) for n in range(5))
    assert toolbox.evidence.notes == [lines[0]]


def test_a_term_without_words_is_refused() -> None:
    with pytest.raises(BadArguments, match="term must be a word or a phrase"):
        counted(spoken((0, 1_000, "ow")), "!?")


def test_speech_is_found_by_meaning() -> None:
    toolbox = toolbox_of(graph_of(park()))
    found = use(toolbox, TRANSCRIPT_SEARCH, query="is the juice cold")
    assert found.text.splitlines()[0] == 'L1 0:00:03-0:00:06 in E1: "this juice is cold"'
    assert found.events[0] == event_id(1)
    assert toolbox.top_similarity == pytest.approx(3 / 4)


def test_what_nobody_says_is_not_found() -> None:
    found = use(toolbox_of(graph_of(park())), TRANSCRIPT_SEARCH, query="quartz")
    assert (found.error, found.seen) == ("nothing_found", ())


def test_a_silent_video_has_no_transcript() -> None:
    silent = toolbox_of(graph_of(park(speech=None)))
    assert "transcript" not in silent.artifacts
    assert silent.degraded(TRANSCRIPT_SEARCH.needs) == ("no_speech",)
    assert "transcript" in toolbox_of(graph_of(make_speaking())).artifacts


def make_speaking() -> MemoryVideo:
    return make_video(PARK[:1], speech={0: "hello"})
