"""Videos of 10 hours in a real PostgreSQL, for many tenants: frames, events, entities, spoken lines and the graph.

Everything is made from a seed. Rows are written by COPY in PostgreSQL's binary format, which numpy lays out as a whole.
The superuser writes them, past triggers and row-level security. The graph is written as the service writes it.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg import sql

from bench.figures import show_progress
from bench.stack import IndexedVideo

DIMENSION = 384
HOURS_MS = 10 * 3_600_000
FRAMES, SCENE = 36_000, 60
"""One frame per second, in scenes of a minute whose frames are nearly the same."""
EVENTS, ENTITIES, MENTIONS, LINES = 1_500, 1_000, 3, 6_000
"""Numbers for 10 hours; MENTIONS per event, by Zipf's law: a few entities are in hundreds of events."""
BLOCK = 2_048
TENANTS = 10
PARTS = ("event", "chunk", "frame", "framevector", "entity", "mention", "transcriptline", "sketchblock", "posting")
VOCABULARY, EVENT_WORDS = 8_000, 40
"""Spoken words by the law of Zipf and Mandelbrot: the most common one is in every fourth event, most are in a few."""
TEXT_MODEL, FRAME_MODEL = "bench-text", "bench-frame"

Rows = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Recording:
    """The video that is queried. frames, events, entities, lines: float32, shape (n, DIMENSION), unit rows; the ids of
    frames and events are in the same order."""

    tenant_id: UUID
    video_id: UUID
    frames: NDArray[np.float32]
    events: NDArray[np.float32]
    entities: NDArray[np.float32]
    lines: NDArray[np.float32]
    frame_ids: Sequence[UUID]
    event_ids: Sequence[UUID]
    words: NDArray[np.int64]
    """Numbers of the words of each event, shape (EVENTS, EVENT_WORDS)."""


def fill(first: IndexedVideo, *, videos: int, seed: int = 11) -> Recording:
    """Write this number of videos and return the middle one, whose tenant has other videos too."""
    from backend.ekg.graph_store import GraphStore
    from backend.library.indexing.begin import create_video
    from backend.tenancy.context import tenant_scope
    from backend.tenancy.creation import create_tenant

    owners = [first.tenant_id] + [create_tenant(name=f"T{n}", slug=f"t{n}").id for n in range(1, TENANTS)]
    middle: Recording | None = None
    with psycopg.connect(os.environ["DATABASE_SUPERUSER_URL"], autocommit=True) as server:
        # Foreign keys are triggers: a million look-ups that no read needs.
        server.execute("SET session_replication_role = replica")
        for number in range(videos):
            tenant_id = owners[number % TENANTS]
            with tenant_scope(tenant_id):
                key = f"t/{tenant_id}/{number}"
                video_id = UUID(str(create_video(object_key=key, size_bytes=1, duration_ms=HOURS_MS).id))
            random = np.random.default_rng([seed, number])
            recording, edges = write_rows(server, random, tenant_id, video_id)
            with tenant_scope(tenant_id):
                write_graph(GraphStore(), video_id, recording, edges)
            if number == 0:
                # With the statistics of empty tables, the joins that write edges read everything.
                server.execute('ANALYZE ekg."Event", ekg."Entity"')
            if number == videos // 2:
                middle = recording
            show_progress(f"  video {number + 1} of {videos}")
        server.execute("VACUUM (ANALYZE)")
    assert middle is not None
    return middle


@dataclass(frozen=True, slots=True)
class Edges:
    entity_ids: Sequence[UUID]
    mentions: NDArray[np.int64]
    """Numbers of the entities, shape (EVENTS, MENTIONS)."""


def _unit(rows: NDArray[Any]) -> NDArray[np.float32]:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def _noise(random: np.random.Generator, count: int) -> NDArray[np.float32]:
    """Return random rows of length about 1."""
    return random.standard_normal((count, DIMENSION), dtype=np.float32) / np.float32(DIMENSION**0.5)


def near(random: np.random.Generator, row: NDArray[np.float32], *, share: float) -> NDArray[np.float32]:
    """Return a unit vector whose cosine with row is about share, as between a text and the picture it describes."""
    return np.asarray(_unit(share * row + (1 - share**2) ** 0.5 * _noise(random, 1))[0])


def vectors_of(random: np.random.Generator) -> tuple[NDArray[np.float32], ...]:
    """Return the frames, events, entities and lines of one video."""
    scenes = _unit(_noise(random, FRAMES // SCENE))
    # Frames of a scene have a cosine of 0.96 to each other.
    frames = _unit(np.repeat(scenes, SCENE, axis=0) + 0.2 * _noise(random, FRAMES))
    return frames, _unit(_noise(random, EVENTS)), _unit(_noise(random, ENTITIES)), _unit(_noise(random, LINES))


def write_rows(
    server: psycopg.Connection[Any],
    random: np.random.Generator,
    tenant_id: UUID,
    video_id: UUID,
    *,
    parts: Collection[str] = PARTS,
    vectors: tuple[NDArray[np.float32], ...] | None = None,
) -> tuple[Recording, Edges]:
    """Write the rows of one video. parts: the tables that are filled, without the prefix ekg_. vectors: as those of
    vectors_of(), which makes them otherwise."""
    frames, events, entities, lines = vectors or vectors_of(random)
    ids = {name: _ids(random, n) for name, n in (("f", FRAMES), ("e", EVENTS), ("u", ENTITIES), ("t", LINES))}
    ms = np.arange(FRAMES) * (HOURS_MS // FRAMES)
    length, line_ms = HOURS_MS // EVENTS, HOURS_MS // LINES
    starts = np.arange(EVENTS) * length
    commonness = 1.0 / np.arange(1, ENTITIES + 1)
    mentions = np.stack(
        [random.choice(ENTITIES, MENTIONS, replace=False, p=commonness / commonness.sum()) for _ in range(EVENTS)]
    )

    words = random.choice(VOCABULARY, (EVENTS, EVENT_WORDS), p=_how_common())
    said = np.array([" ".join(map(word, line)).encode() for line in words.reshape(LINES, -1).tolist()])

    def copy(table: str, count: int, **columns: Rows) -> None:
        if table.removeprefix("ekg_") not in parts:
            return
        here = {"tenant_id": _all(count, tenant_id.bytes), "video_id": _all(count, video_id.bytes)}
        _copy(server, table, here | {"index_version": _all(count, np.array(1, dtype=">i4"))} | columns)

    copy(
        "ekg_event", EVENTS, id=ids["e"], n=_int4(range(EVENTS)), start_ms=_int8(starts), end_ms=_int8(starts + length),
        first_chunk=_int4(starts // 3_000), end_chunk=_int4((starts + length) // 3_000),
        summary=_text("event {:05d}: someone walks from left to right past the entrance, out of the picture", EVENTS),
        searched=_text("event {:05d} someone walks from left to right past the entrance out of the picture", EVENTS),
        embedding=_half(events), embedding_model=_all(EVENTS, TEXT_MODEL.encode()),
    )  # fmt: skip
    chunk_ms = np.arange(0, HOURS_MS, 3_000)
    chunks = len(chunk_ms)
    copy(
        "ekg_chunk", chunks, id=_ids(random, chunks), n=_int4(range(chunks)), start_ms=_int8(chunk_ms),
        end_ms=_int8(chunk_ms + 3_000), segment_n=_int4(chunk_ms // 30_000), event_id=ids["e"][chunk_ms // length],
        description=_text("chunk {:05d}: a person in black walks left, two stand", chunks), facts=_all(chunks, b"\1{}"),
        on_screen_text=_all(chunks, b"\1[]"), inherited=_all(chunks, b"\0"),
    )  # fmt: skip
    copy(
        "ekg_frame", FRAMES, id=ids["f"], ms=_int8(ms), event_id=ids["e"][ms // length],
        thumbnail_key=_text(f"t/{tenant_id}/v/{video_id}/1/{{:09d}}.jpg", FRAMES),
    )  # fmt: skip
    copy(
        "ekg_framevector", FRAMES, id=ids["f"], ms=_int8(ms), embedding=_half(frames),
        embedding_model=_all(FRAMES, FRAME_MODEL.encode()),
    )  # fmt: skip
    copy(
        "ekg_entity", ENTITIES, id=ids["u"], name=_text("entity {:04d}", ENTITIES), type=_all(ENTITIES, b"person"),
        description=_all(ENTITIES, b"in a grey coat with a bag"), aliases=_all(ENTITIES, b"\1[]"),
        weight=_int4([1] * ENTITIES), centroid=_half(entities), embedding_model=_all(ENTITIES, TEXT_MODEL.encode()),
    )  # fmt: skip
    who, pairs = mentions.reshape(-1), EVENTS * MENTIONS
    copy(
        "ekg_mention", pairs, id=_ids(random, pairs), entity_id=ids["u"][who],
        event_id=np.repeat(ids["e"], MENTIONS), name=_text("entity {:04d}", pairs, who), type=_all(pairs, b"person"),
        description=_all(pairs, b"in a grey coat"), role=_all(pairs, b"participant"),
        confidence=_all(pairs, np.array(1.0, dtype=">f8")), frame_ms=_all(pairs, b"\1[]"),
        embedding=_half(entities[who]), embedding_model=_all(pairs, TEXT_MODEL.encode()),
    )  # fmt: skip
    copy(
        "ekg_transcriptline", LINES, id=ids["t"], start_ms=_int8(np.arange(LINES) * line_ms),
        end_ms=_int8(np.arange(1, LINES + 1) * line_ms), text=said,
        track=_all(LINES, np.array(1, dtype=">i2")), words=_all(LINES, b"\1[]"), language=_all(LINES, b"en"),
        embedding=_half(lines), embedding_model=_all(LINES, TEXT_MODEL.encode()),
    )  # fmt: skip
    frame_ids, event_ids, entity_ids = (_uuids(ids[name]) for name in "feu")
    recording = Recording(tenant_id, video_id, frames, events, entities, lines, frame_ids, event_ids, words)
    if "sketchblock" in parts:
        _write_sketches(server, recording, entity_ids, _uuids(ids["t"]))
    if "posting" in parts:
        _write_postings(server, recording)
    return recording, Edges(entity_ids, mentions)


def _write_sketches(
    server: psycopg.Connection[Any], recording: Recording, entity_ids: Sequence[UUID], line_ids: Sequence[UUID]
) -> None:
    """Write the blocks that the service writes step by step, with the events of one step in a scene of 30 s."""
    from gpu_workers.engine.retrieval.sketches import centre_of, means, scenes, sketch

    length, line_ms, frame_ms = HOURS_MS // EVENTS, HOURS_MS // LINES, HOURS_MS // FRAMES
    runs = []
    for first in range(0, FRAMES, length // frame_ms):
        found = scenes(recording.frames[first : first + length // frame_ms])
        runs += [range(first + run.start, first + run.stop) for run in found]
    views = {
        "event": (recording.event_ids, _stretches(EVENTS, length), recording.events, TEXT_MODEL),
        "entity": (entity_ids, [(0, 2**62)] * ENTITIES, recording.entities, TEXT_MODEL),
        "frame": (
            [UUID(int=0)] * len(runs),
            [(run.start * frame_ms, run.stop * frame_ms) for run in runs],
            means(recording.frames, runs),
            FRAME_MODEL,
        ),
        "transcript": (line_ids, _stretches(LINES, line_ms), recording.lines, TEXT_MODEL),
    }
    for view, (ids, times, vectors, model) in views.items():
        for n, first in enumerate(range(0, len(ids), BLOCK)):
            part = slice(first, first + BLOCK)
            centre = centre_of(vectors[part][:2])
            items = sketch([item_id.bytes for item_id in ids[part]], times[part], vectors[part], centre)
            server.execute(
                "INSERT INTO ekg_sketchblock (id, tenant_id, video_id, index_version, view, n, items, centre, packed, "
                "embedding_model) VALUES (gen_random_uuid(), %s, %s, 1, %s, %s, %s, %s, %s, %s)",
                [recording.tenant_id, recording.video_id, view, n, len(items), centre.astype("<f2").tobytes(),
                 items.tobytes(), model],
            )  # fmt: skip


@cache
def word(number: int) -> str:
    """Return a word that nobody has ever said, of three syllables and six letters."""
    syllables = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
    first, rest = divmod(number, len(syllables))
    return syllables[first // len(syllables)] + syllables[first % len(syllables)] + syllables[rest]


@cache
def _how_common() -> NDArray[np.float64]:
    shares = 1.0 / (np.arange(VOCABULARY) + 20)
    return np.asarray(shares / shares.sum())


@cache
def _terms_of(number: int) -> tuple[str, ...]:
    from gpu_workers.engine.retrieval.word_terms import EventWords, event_terms

    return tuple(event_terms(EventWords(word(number))))


def _write_postings(server: psycopg.Connection[Any], recording: Recording) -> None:
    """Write the postings of the words, with the impacts of word_terms on events of usual length."""
    from gpu_workers.engine.retrieval.word_terms import MAX_IMPACT, SATURATION

    postings: dict[str, dict[int, int]] = {}
    for n, numbers in enumerate(recording.words.tolist()):
        for number in numbers:
            for term in _terms_of(number):
                events = postings.setdefault(term, {})
                events[n] = events.get(n, 0) + 1
    statement = (
        "COPY ekg_posting (id, tenant_id, video_id, index_version, term, events, impacts) FROM STDIN (FORMAT text)"
    )
    with server.cursor() as cursor, cursor.copy(statement) as copy:
        for term, counts in sorted(postings.items()):
            impacts = [int(MAX_IMPACT * count / (count + SATURATION)) for count in counts.values()]
            copy.write_row((uuid4(), recording.tenant_id, recording.video_id, 1, term, list(counts), impacts))


def _stretches(count: int, length: int) -> list[tuple[int, int]]:
    return [(n * length, (n + 1) * length) for n in range(count)]


def write_graph(graph: Any, video_id: UUID, recording: Recording, edges: Edges) -> None:
    from backend.ekg.graph_store import Participation, RelatedTo

    events, entities = recording.event_ids, edges.entity_ids
    graph.add_events(video_id, 1, events)
    graph.add_entities(video_id, 1, entities)
    graph.link_next(video_id, 1, list(pairwise(events)))
    graph.add_participations(
        video_id,
        1,
        [Participation(entities[who], events[n], "participant") for n, row in enumerate(edges.mentions) for who in row],
    )
    # Every other event relates two of its entities.
    graph.add_relations(
        video_id,
        1,
        [
            RelatedTo(entities[row[0]], entities[row[1]], "near", events[n])
            for n, row in enumerate(edges.mentions)
            if n % 2 == 0
        ],
    )


# --- columns in PostgreSQL's binary format: every value of a column has the same length ------------------------------


def _ids(random: np.random.Generator, count: int) -> Rows:
    return np.frombuffer(random.bytes(16 * count), dtype="V16")


def _uuids(column: Rows) -> list[UUID]:
    return [UUID(bytes=bytes(value)) for value in column]


def _all(count: int, value: Any) -> Rows:
    cell = np.frombuffer(value, dtype=f"V{len(value)}") if isinstance(value, bytes) else value.reshape(1)
    return np.repeat(cell, count)


def _int4(values: Any) -> Rows:
    return np.asarray(values, dtype=">i4")


def _int8(values: Any) -> Rows:
    return np.asarray(values, dtype=">i8")


def _text(pattern: str, count: int, numbers: Any = None) -> Rows:
    return np.array([pattern.format(n).encode() for n in (range(count) if numbers is None else numbers)])


def _half(rows: NDArray[np.float32]) -> Rows:
    column = np.zeros(len(rows), dtype=[("dim", ">i2"), ("unused", ">i2"), ("values", ">f2", (DIMENSION,))])
    column["dim"], column["values"] = DIMENSION, rows
    return column


def _copy(server: psycopg.Connection[Any], table: str, columns: Mapping[str, Rows]) -> None:
    layout: list[tuple[str, Any]] = [("fields", ">i2")]
    for name, column in columns.items():
        layout += [(f"length of {name}", ">i4"), (name, column.dtype)]
    count = len(next(iter(columns.values())))
    rows = np.zeros(count, dtype=layout)
    rows["fields"] = len(columns)
    for name, column in columns.items():
        rows[f"length of {name}"], rows[name] = column.dtype.itemsize, column
    statement = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT binary)").format(
        sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, columns))
    )
    with server.cursor() as cursor, cursor.copy(statement) as copy:
        copy.write(b"PGCOPY\n\xff\r\n\0" + bytes(8))
        copy.write(rows.tobytes())
        copy.write(b"\xff\xff")
