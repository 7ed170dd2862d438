"""Blocks of sketches in the database: written with the rows that they stand for, kept in memory for searches.

Every search asks the database which blocks its scope holds, under the tenant's policy. Memory only spares reading the
contents of a block again: a block's key is its id and its number of items, and items are only ever appended.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Protocol, TypeVar, cast
from uuid import UUID

import numpy as np
from django.db import connection

from backend.ekg.models import FrameVector, SketchBlock, TranscriptLine
from backend.ekg.stored_rows import stored_vector
from backend.tenancy.context import current_tenant_id
from gpu_workers.engine.ekg import Event, EventRecord, Span, Vector
from gpu_workers.engine.ports import ViewName
from gpu_workers.engine.retrieval.sketches import (
    Block,
    Rows,
    centre_of,
    item_type,
    means,
    scenes,
    sketch,
)

BLOCK_ITEMS = 2_048
CACHE_BYTES = 256 * 2**20
"""Blocks kept in the memory of one process: those of some 2,000 hours. The last scopes take up to as much again."""
_NO_ID = UUID(int=0)
ALWAYS = Span(0, 2**62)
"""The time of an item without one: an entity."""


class SketchWriter:
    """Appends the sketches of one index version, in the caller's transaction and under the video's lock."""

    def __init__(self, video_id: UUID, version: int, *, text_model: str, frame_model: str) -> None:
        self._rows = {"video_id": video_id, "index_version": version}
        self._text_model, self._frame_model = text_model, frame_model

    def add_events(self, records: Sequence[EventRecord]) -> None:
        """Sketch events that follow each other, with the stored pictures and spoken lines of their time."""
        events = [record.event for record in records]
        self._append(
            "event",
            self._text_model,
            [event.id for event in events],
            [event.span for event in events],
            np.stack([event.embedding for event in events]),
        )
        during = Span(events[0].span.start_ms, events[-1].span.end_ms)
        frames = FrameVector.objects.filter(**self._rows, ms__gte=during.start_ms, ms__lt=during.end_ms).order_by("ms")
        shown = [(Span(ms, ms + 1), stored_vector(half)) for ms, half in frames.values_list("ms", "embedding")]
        if shown:
            self._append_groups("frame", self._frame_model, shown, scenes(np.stack([row for _, row in shown])))
        # A line that begins before these events may have been stored after the events before them.
        lines = TranscriptLine.objects.filter(
            **self._rows, start_ms__lt=during.end_ms, end_ms__gt=during.start_ms, embedding__isnull=False
        ).order_by("start_ms", "end_ms")
        said = list(lines.values_list("id", "start_ms", "end_ms", "embedding"))
        if said:
            self._append(
                "transcript",
                self._text_model,
                [line_id for line_id, *_ in said],
                [_with_events(Span(start_ms, end_ms), events) for _, start_ms, end_ms, _ in said],
                np.stack([stored_vector(half) for *_, half in said]),
            )

    def add_entities(self, entities: Mapping[UUID, Vector]) -> None:
        """Sketch the centroids of entities. An entity may be sketched again when its centroid has moved."""
        if entities:
            vectors = np.stack(list(entities.values()))
            self._append("entity", self._text_model, list(entities), [ALWAYS] * len(entities), vectors)

    def drop_entities(self) -> None:
        SketchBlock.objects.filter(**self._rows, view="entity").delete()

    def _append_groups(
        self, view: ViewName, model: str, items: Sequence[tuple[Span, Vector]], groups: Sequence[range]
    ) -> None:
        times = [Span(items[group.start][0].start_ms, max(items[n][0].end_ms for n in group)) for group in groups]
        self._append(view, model, [_NO_ID] * len(groups), times, means(np.stack([row for _, row in items]), groups))

    def _append(self, view: ViewName, model: str, ids: Sequence[UUID], times: Sequence[Span], vectors: Rows) -> None:
        begun = SketchBlock.objects.filter(**self._rows, view=view).defer("packed").order_by("-n").first()
        block = begun
        if begun is None or begun.items >= BLOCK_ITEMS or begun.embedding_model != model:
            block = SketchBlock.objects.create(
                tenant_id=current_tenant_id(),
                **self._rows,
                view=view,
                n=0 if begun is None else begun.n + 1,
                centre=centre_of(vectors).astype("<f2").tobytes(),
                embedding_model=model,
            )
        assert block is not None
        items = sketch(
            [item_id.bytes for item_id in ids],
            [(span.start_ms, span.end_ms) for span in times],
            vectors,
            _centre(block.centre),
        )
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE ekg_sketchblock SET items = items + %s, packed = packed || %s WHERE tenant_id = %s AND id = %s",
                [len(items), items.tobytes(), current_tenant_id(), block.id],
            )


def _with_events(line: Span, events: Sequence[Event]) -> Span:
    """Return the time of a line and of the events during which it is spoken, which bring it into a scope."""
    spans = [line, *(event.span for event in events if event.span.overlaps(line))]
    return Span(min(span.start_ms for span in spans), max(span.end_ms for span in spans))


def _centre(stored: bytes) -> Rows:
    return np.frombuffer(bytes(stored), dtype="<f2").astype(np.float32)


@dataclass(frozen=True, slots=True)
class BlockKey:
    """A block as a scope holds it."""

    id: UUID
    items: int
    video_id: UUID
    index_version: int


class Together(Protocol):
    """What a search makes of all blocks of a scope."""

    @property
    def nbytes(self) -> int: ...


T = TypeVar("T", bound=Together)


class BlockCache:
    """Blocks and whole scopes in memory, the least recently used removed first. Safe between threads."""

    def __init__(self, limit_bytes: int = CACHE_BYTES) -> None:
        self._limit = limit_bytes
        self._lock = Lock()
        self._blocks: OrderedDict[tuple[UUID, int], Block] = OrderedDict()
        self._bytes = 0
        self._scopes: OrderedDict[tuple[object, tuple[tuple[UUID, int], ...]], Together] = OrderedDict()

    def together(
        self, keys: Sequence[BlockKey], make: Callable[[Sequence[Block]], T]
    ) -> tuple[list[BlockKey], T | None]:
        """Return what make returns for the blocks with these keys, and the keys of these blocks, in their order.

        Blocks that are not in memory are read. A block whose version was dropped since its key was read is left out;
        None if none is left.
        """
        wanted = tuple((key.id, key.items) for key in keys)
        with self._lock:
            if (make, wanted) in self._scopes:
                self._scopes.move_to_end((make, wanted))
                return list(keys), cast(T, self._scopes[make, wanted])
            known = {key: self._blocks[key] for key in wanted if key in self._blocks}
        found = known | _read([key for key in wanted if key not in known])
        there = [key for key in keys if (key.id, key.items) in found]
        if not there:
            return [], None
        made = make([found[key.id, key.items] for key in there])
        with self._lock:
            for place, block in found.items():
                self._keep(place, block)
            self._scopes[make, tuple((key.id, key.items) for key in there)] = made
            while len(self._scopes) > 1 and sum(scope.nbytes for scope in self._scopes.values()) > self._limit:
                self._scopes.popitem(last=False)
        return there, made

    def _keep(self, key: tuple[UUID, int], block: Block) -> None:
        if key not in self._blocks:
            self._bytes += block.items.nbytes
        self._blocks[key] = block
        self._blocks.move_to_end(key)
        while self._bytes > self._limit and len(self._blocks) > 1:
            _, oldest = self._blocks.popitem(last=False)
            self._bytes -= oldest.items.nbytes


def _read(keys: Sequence[tuple[UUID, int]]) -> dict[tuple[UUID, int], Block]:
    """Return the blocks with these ids as they were when they had this number of items, as far as they exist."""
    if not keys:
        return {}
    rows = SketchBlock.objects.filter(id__in=[block_id for block_id, _ in keys])
    stored = {row.id: row for row in rows}
    blocks = {}
    for block_id, items in keys:
        if block_id not in stored:
            continue
        centre = _centre(stored[block_id].centre)
        packed = np.frombuffer(bytes(stored[block_id].packed), dtype=item_type(len(centre)))
        blocks[block_id, items] = Block(centre, packed[:items])
    return blocks
