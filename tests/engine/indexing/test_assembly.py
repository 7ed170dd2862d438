from __future__ import annotations

import itertools
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import replace
from uuid import UUID

import numpy as np
import pytest

from gpu_workers.engine.ekg import (
    CHUNK_MS,
    Chunk,
    EntityMention,
    EventRecord,
    Extraction,
    Span,
    TranscriptLine,
    stable_id,
)
from gpu_workers.engine.indexing.assembly import (
    EMBEDDED_CHARACTERS,
    AssemblySettings,
    EventAssembler,
    embedded_text,
)
from gpu_workers.engine.indexing.memory_index import MemoryIndex
from gpu_workers.engine.models.roles import EventText, IndexModels, Meter, ModelError, ModelRefused
from tests.engine.indexing.scripted import ScriptedExtractor, ScriptedSummariser, chunk, scripted_models
from tests.engine.retrieval.views import search

VIDEO = UUID(int=7)
STORY = [
    "dog runs fast", "dog runs slow", "dog runs slow", "cat sleeps", None, None, "cat sleeps", "dog runs slow",
    "bird sings", "bird sings loud", "bird sings loud now", "bird sings", "cat sleeps",
]  # fmt: skip


def story() -> list[Chunk]:
    return [chunk(n, text, gap="decode_error" if text is None else None) for n, text in enumerate(STORY)]


def assembler(
    index: MemoryIndex,
    models: IndexModels | None = None,
    *,
    version: int = 1,
    next_event_n: int = 0,
    pending: Sequence[Chunk] = (),
    settings: AssemblySettings | None = None,
) -> EventAssembler:
    return EventAssembler(
        VIDEO,
        version,
        models or scripted_models(),
        index,
        index,
        profile="general",
        meter=Meter(),
        frames_for=index.frames_for,
        settings=settings or AssemblySettings(threshold=0.5),
        next_event_n=next_event_n,
        pending_chunks=pending,
    )


def assembled(chunks: Sequence[Chunk], models: IndexModels | None = None) -> MemoryIndex:
    index = MemoryIndex(VIDEO)
    work = assembler(index, models)
    work.push(chunks)
    work.flush()
    return index


def plain(records: Sequence[EventRecord]) -> list[object]:
    """Return everything of the records that a store writes, comparable."""
    return [
        (
            record.event.id, record.event.n, record.event.span, record.event.first_chunk, record.event.end_chunk,
            record.event.summary, record.event.embedding.tolist(),
            [(e.id, e.name, e.aliases, e.weight, e.centroid.tolist()) for e in record.entities],
            [(m.id, m.entity_id, m.mention) for m in record.mentions], record.relations,
        )
        for record in records
    ]  # fmt: skip


def test_every_chunk_belongs_to_exactly_one_event_and_events_touch() -> None:
    events = [record.event for record in assembled(story()).events]
    assert [n for e in events for n in range(e.first_chunk, e.end_chunk)] == list(range(len(STORY)))
    assert [e.n for e in events] == list(range(len(events)))
    assert events[0].span.start_ms == 0
    assert events[-1].span.end_ms == len(STORY) * CHUNK_MS
    assert all(a.span.end_ms == b.span.start_ms for a, b in itertools.pairwise(events))


def test_a_summary_is_made_from_all_member_chunks() -> None:
    models = scripted_models()
    assembled(story(), models)
    assert isinstance(models.summariser, ScriptedSummariser)
    described = [n for n, text in enumerate(STORY) if text is not None]
    assert sorted(n for call in models.summariser.seen for n in call) == described


@pytest.mark.parametrize("cut", range(len(STORY) + 1))
def test_resuming_from_every_checkpoint_gives_the_same_index(cut: int) -> None:
    index = MemoryIndex(VIDEO)
    first = assembler(index)
    first.push(story()[:cut])
    second = assembler(index, next_event_n=first.next_event_n, pending=first.pending)
    second.push(story()[cut:])
    second.flush()
    assert plain(index.events) == plain(assembled(story()).events)


def test_a_second_build_changes_nothing() -> None:
    index = assembled(story())
    before = plain(index.events), [(e.id, e.weight) for e in index.entities]
    again = assembler(index)
    again.push(story())
    again.flush()
    assert (plain(index.events), [(e.id, e.weight) for e in index.entities]) == before


def test_another_version_has_other_events() -> None:
    index = MemoryIndex(VIDEO)
    for version in (1, 2):
        work = assembler(index, version=version)
        work.push(story())
        work.flush()
    assert len(index.events) == 2 * len(assembled(story()).events)


def test_no_chunks_are_no_work() -> None:
    index = MemoryIndex(VIDEO)
    work = assembler(index)
    assert work.push([]) == 0
    assert work.flush() == 0
    assert work.flush() == 0
    assert index.events == []
    assert work.next_event_n == 0


def test_identical_descriptions_keep_distinct_events() -> None:
    index = assembled([chunk(n, "a car" if n == 8 else "empty road") for n in range(17)])
    ids = [record.event.id for record in index.events]
    assert len(ids) == 3 == len(set(ids))
    assert ids[2] == stable_id("event", VIDEO, 1, 27_000, 51_000)
    road = next(e for e in index.entities if e.name == "road")
    assert road.weight == 2, "one entity in two events"


def test_a_gap_is_an_event_that_says_so() -> None:
    index = MemoryIndex(VIDEO)
    work = assembler(index)
    work.push(story())
    work.flush()
    gap = next(record for record in index.events if record.event.first_chunk == 4)
    assert gap.event.end_chunk == 6
    assert gap.event.summary == "0:00:12 to 0:00:18 could not be described: decode_error"
    assert gap.entities == ()
    assert gap.mentions == ()
    assert gap.relations == ()
    assert [(w.event_id, w.stage, w.code) for w in work.warnings] == [(gap.event.id, "description", "decode_error")]


def test_an_event_whose_summary_fails_keeps_its_descriptions() -> None:
    models = scripted_models()
    calls = []

    def fail(chunks: Sequence[Chunk]) -> None:
        if chunks[0].n == 0:
            calls.append(chunks[0].n)
            raise ModelError("bad_output", "not JSON", retryable=False)

    assert isinstance(models.summariser, ScriptedSummariser)
    assert isinstance(models.extractor, ScriptedExtractor)
    models.summariser.fail = models.extractor.fail = fail
    index = MemoryIndex(VIDEO)
    work = assembler(index, models)
    work.push(story()[:4])
    work.flush()
    assert index.events[0].event.summary == "[0:00:00] dog runs fast [0:00:03] dog runs slow"
    assert index.events[0].mentions == ()
    assert index.events[1].mentions != ()
    assert [(w.stage, w.code) for w in work.warnings] == [("summary", "bad_output"), ("entities", "bad_output")]
    assert len(calls) == 4, "each was asked twice"


class OneCall:
    """Writes an event at once, with a graph that was cut; raises what it was given for the event of chunk 0."""

    name = "one call"

    def __init__(self, error: ModelError) -> None:
        self.error, self.calls = error, 0

    def write(
        self, chunks: Sequence[Chunk], frames: Sequence[tuple[int, bytes]], *, profile: str, meter: Meter
    ) -> EventText:
        if chunks[0].n == 0:
            self.calls += 1
            raise self.error
        dog = EntityMention("dog", "animal", "brown", "runs")
        return EventText("A dog runs.", Extraction((dog,), (), cut=True))


class UntakenCall:
    """Writes an event at once, unless fail raises."""

    name = "one call"

    def __init__(self, fail: Callable[[Sequence[Chunk]], None]) -> None:
        self.fail = fail

    def write(
        self, chunks: Sequence[Chunk], frames: Sequence[tuple[int, bytes]], *, profile: str, meter: Meter
    ) -> EventText:
        self.fail(chunks)
        return EventText("A dog runs.", Extraction((), ()))


def test_an_event_is_written_at_once_where_a_model_does_that_and_every_loss_is_a_warning() -> None:
    writer = OneCall(ModelError("output_truncated", "cut off", retryable=False))
    index = MemoryIndex(VIDEO)
    work = assembler(index, replace(scripted_models(), event_writer=writer))
    work.push(story()[:4])
    work.flush()
    first, second = index.events
    assert first.event.summary == "[0:00:00] dog runs fast [0:00:03] dog runs slow"
    assert (second.event.summary, len(second.mentions)) == ("A dog runs.", 1)
    assert [(w.event_id, w.stage, w.code) for w in work.warnings] == [
        (first.event.id, "event", "output_truncated"),
        (second.event.id, "entities", "output_truncated"),
    ]
    assert writer.calls == 1, "the model had its tries"


def test_a_refusal_is_not_asked_again() -> None:
    models = scripted_models()
    calls = []

    def refuse(chunks: Sequence[Chunk]) -> None:
        calls.append(chunks[0].n)
        raise ModelRefused("declined")

    assert isinstance(models.extractor, ScriptedExtractor)
    models.extractor.fail = refuse
    index = MemoryIndex(VIDEO)
    work = assembler(index, models)
    work.push([chunk(0)])
    work.flush()
    assert calls == [0]
    assert [w.code for w in work.warnings] == ["model_refused"]
    assert index.events[0].event.summary == "a street"


@pytest.mark.parametrize("parallel", [1, 4])
def test_a_model_that_cannot_be_reached_stops_the_job_and_it_resumes(parallel: int) -> None:
    models = scripted_models()
    broken = [True]

    def fail(chunks: Sequence[Chunk]) -> None:
        if broken[0] and chunks[0].n == 6:
            raise ModelError("model_unavailable", "503", retryable=True)

    assert isinstance(models.summariser, ScriptedSummariser)
    models.summariser.fail = fail
    settings = AssemblySettings(threshold=0.5, parallel=parallel)
    index = MemoryIndex(VIDEO)
    work = assembler(index, models, settings=settings)
    with pytest.raises(ModelError, match="503"):
        work.push(story())
    assert len(index.events) == 3 == work.next_event_n, "what came before is with the sink"

    broken[0] = False
    again = assembler(index, models, settings=settings)
    again.push(story())
    again.flush()
    assert [r.event.id for r in index.events] == [r.event.id for r in assembled(story()).events]


@pytest.mark.parametrize("stage", ["event", "summary", "entities"])
@pytest.mark.parametrize("parallel", [1, 4])
def test_a_server_that_takes_no_request_of_a_push_is_set_up_wrongly_and_no_event_is_stored(
    stage: str, parallel: int
) -> None:
    broken = [True]

    def fail(chunks: Sequence[Chunk]) -> None:
        if broken[0]:
            raise ModelError("model_bad_request", "HTTP 400", retryable=False, dependency="writer")

    models = scripted_models()
    assert isinstance(models.summariser, ScriptedSummariser)
    assert isinstance(models.extractor, ScriptedExtractor)
    if stage == "event":
        models = replace(models, event_writer=UntakenCall(fail))
    elif stage == "summary":
        models.summariser.fail = fail
    else:
        models.extractor.fail = fail
    settings = AssemblySettings(threshold=0.5, parallel=parallel)
    index = MemoryIndex(VIDEO)
    with pytest.raises(ModelError, match="no request is taken: HTTP 400") as caught:
        assembler(index, models, settings=settings).push(story(), ends=True)
    assert (caught.value.code, caught.value.retryable) == ("model_misconfigured", True)
    assert caught.value.dependency == "writer"
    assert index.events == []

    broken[0] = False
    work = assembler(index, models, settings=settings)
    assert work.push(story(), ends=True) == len(index.events) > 1
    assert {warning.stage for warning in work.warnings} == {"description"}


def test_a_request_that_is_not_taken_after_others_that_were_is_a_warning() -> None:
    def fail(chunks: Sequence[Chunk]) -> None:
        if chunks[0].n == 6:
            raise ModelError("model_bad_request", "HTTP 400", retryable=False)

    models = scripted_models()
    assert isinstance(models.extractor, ScriptedExtractor)
    models.extractor.fail = fail
    index = MemoryIndex(VIDEO)
    work = assembler(index, models)
    for piece in story():
        work.push([piece])
    work.flush()
    assert len(index.events) == len(assembled(story()).events)
    assert [w.code for w in work.warnings if w.stage == "entities"] == ["model_bad_request"]


def test_pending_chunks_that_now_score_as_two_events_become_two_events() -> None:
    index = MemoryIndex(VIDEO)
    resumed = assembler(index, pending=story()[:4])
    assert resumed.pending == tuple(story()[:4])
    resumed.push(story()[4:])
    resumed.flush()
    assert [r.event.id for r in index.events] == [r.event.id for r in assembled(story()).events]


class ScriptedStore(MemoryIndex):
    """Keeps counts instead of rows, as a worker that commits and forgets."""

    def __init__(self) -> None:
        super().__init__(VIDEO)
        self.count = 0

    def append(self, record: EventRecord) -> None:
        self.count += 1
        for entity in record.entities:
            self._put(entity)


@pytest.mark.long
def test_ten_hours_of_a_static_camera_need_the_memory_of_a_window() -> None:
    store = ScriptedStore()
    work = assembler(store, settings=AssemblySettings(threshold=0.5, parallel=1))
    work._models.summariser.seen = []  # type: ignore[attr-defined]
    chunks = (chunk(n, "empty road") for n in range(12_000))
    tracemalloc.start()
    for _ in range(1_200):
        work.push([next(chunks) for _ in range(10)])
    work.flush()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert store.count == 60
    assert len(store.entities) == 2
    assert peak < 4_000_000


def test_a_cut_every_chunk_gives_an_event_for_each() -> None:
    index = assembled([chunk(n, f"scene{n} shot{n}") for n in range(200)])
    assert len(index.events) == 200
    assert len({record.event.id for record in index.events}) == 200


def test_what_is_indexed_can_be_read_before_the_end() -> None:
    index = MemoryIndex(VIDEO)
    work = assembler(index)
    work.push(story()[:4])
    graph = index.graph()
    assert [hit.event_id for hit in search(graph, "event", index.events[0].event.embedding, limit=5)] == [
        index.events[0].event.id
    ]
    assert np.isclose(np.linalg.norm(index.events[0].event.embedding), 1.0)


def test_the_vector_of_an_event_has_its_speech_and_writing_each_once() -> None:
    spoken = replace(chunk(0, "dog runs fast"), on_screen_text=("EXIT", "Gate 7"))
    again = replace(
        chunk(1, "dog runs fast"),
        on_screen_text=("EXIT",),
        transcript=(TranscriptLine(Span(3_000, 4_000), "Come  here, Rex"),),
    )
    text = embedded_text("A dog runs past gate 7.", [spoken, again])
    assert text == "A dog runs past gate 7. EXIT Come here, Rex"
    assert embedded_text("A dog runs.", [chunk(0, "dog runs")]) == "A dog runs."
    long = replace(chunk(0, "x"), on_screen_text=("w" * 2_000,))
    assert len(embedded_text("A dog.", [long])) == len("A dog. ") + EMBEDDED_CHARACTERS
