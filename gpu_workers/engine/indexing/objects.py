"""The object memory joins tracks of one thing over a video, segment by segment (re-identification).

Two tracks that share a frame are two things and never join, not even through a third track: a track is compared with
all spans in which an object is visible. A track joins, in this order, the object that it continues (position and time),
the thing that stood in its position, the object that it looks like, if no other known object looks as similar, or the
only one that came in and did not go out, if it appears where that one was last seen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from gpu_workers.engine.ekg import Chunk, ObjectState, Span, TrackObservation, Vector, stable_id, unit
from gpu_workers.engine.models.observer.boxes import iou
from gpu_workers.engine.models.observer.categories import kind_of, moves_itself
from gpu_workers.engine.models.observer.identity import GoingOn, continuation, last_place
from gpu_workers.engine.ports import ObjectDirectory

VISIBLE_GAP_MS = 1_000
"""Maximum gap between two sightings of one track within one visible span."""
CANDIDATES = 8
TRACKS = GoingOn(gap_ms=1_000, near=0.0, reach=0.3, similarity=0.75)
"""Limits between tracks that the tracker kept apart."""
_TOGETHER_MS = 400
"""Maximum distance of the beginnings of tracks that are assigned to objects together, the surest pair first."""
_JOINED_BY_LOOKS, _FOUND_AGAIN, _UNSURE = 0.7, 0.7, 0.5


@dataclass(frozen=True, slots=True)
class ReidentificationSettings:
    """Thresholds for a track to be a known object.

    tau: minimum cosine of appearance; margin: minimum lead over the next candidate. The highest cosine of two things
    that are surely different was 0.943 in three videos (docs/lab/quality.md).
    going_on: for a track that continues where an object was last seen; a walker makes 0.8 heights per second. In a
    crowd joins over 0.4 s were right, over 1.2 s wrong.
    tau_in_place, overlap: for a thing that does not move itself, where such a thing was before.
    missing_ms, tau_missing, overlap_missing: for one that moves itself, came in and did not go out: maximum time for
    which it was not seen, minimum cosine, and minimum overlap of its last box and the new one.
    """

    tau: float = 0.95
    margin: float = 0.02
    going_on: GoingOn = TRACKS
    tau_in_place: float = 0.85
    overlap: float = 0.5
    missing_ms: int = 30_000
    tau_missing: float = 0.75
    overlap_missing: float = 0.3


@dataclass(frozen=True, slots=True)
class LinkedTracks:
    """objects: every object that the segment touches, with its state after it, by number. object_of: the object of each
    track, in the order in which they were given."""

    segment_n: int
    objects: tuple[ObjectState, ...]
    object_of: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class _Join:
    """A known object that a track can be. rule, cost: the lower, the surer. track: index of the track."""

    rule: int
    cost: float
    n: int
    track: int
    object_id: UUID
    confidence: float


class ObjectLinker:
    """Joins the tracks of one segment after another to objects, with a directory that sees earlier joins.

    All state is in the directory's rows, so a new linker continues without a difference.
    """

    def __init__(
        self,
        video_id: UUID,
        index_version: int,
        directory: ObjectDirectory,
        settings: ReidentificationSettings | None = None,
    ) -> None:
        self._scope = (video_id, index_version)
        self._directory = directory
        self._settings = settings or ReidentificationSettings()

    def link(self, segment_n: int, tracks: Sequence[TrackObservation]) -> LinkedTracks:
        """Return the objects of a segment's tracks. No object holds the tracks yet; each has at least one box."""
        known = self._candidates(tracks)
        touched: set[UUID] = set()
        object_of: dict[int, UUID] = {}
        count = self._directory.count() if tracks else 0
        for batch in _batches(tracks):
            waiting = list(batch)
            while waiting:
                # Compared again after each join, since a join changes the candidates of the others.
                joins = [join for k in waiting for join in [self._best(k, tracks[k], known)] if join is not None]
                best = min(joins, key=lambda join: (join.rule, join.cost, join.n, join.track), default=None)
                if best is None:
                    break
                known[best.object_id] = _grown(known[best.object_id], tracks[best.track], segment_n, best.confidence)
                object_of[best.track] = best.object_id
                waiting.remove(best.track)
            for k in waiting:
                object_id = stable_id("object", *self._scope, segment_n, k)
                unsure = bool(self._alike(tracks[k], known))
                known[object_id] = _founded(object_id, count, tracks[k], segment_n, _UNSURE if unsure else 1.0)
                object_of[k] = object_id
                count += 1
            touched |= {object_of[k] for k in batch}
        objects = sorted((known[object_id] for object_id in touched), key=lambda state: state.n)
        return LinkedTracks(segment_n, tuple(objects), tuple(object_of[k] for k in range(len(tracks))))

    def _candidates(self, tracks: Sequence[TrackObservation]) -> dict[UUID, ObjectState]:
        """Return every known object that one of the tracks may be."""
        if not tracks:
            return {}
        begins = min(track.span.start_ms for track in tracks)
        candidates = {state.id: state for state in self._directory.recent(max(0, begins - self._settings.missing_ms))}
        for track in tracks:
            if track.appearance is not None:
                kind = kind_of(track.category)
                for state, _ in self._directory.alike(kind, track.appearance, limit=CANDIDATES):
                    candidates.setdefault(state.id, state)
        return candidates

    def _best(self, k: int, track: TrackObservation, known: Mapping[UUID, ObjectState]) -> _Join | None:
        """Return the surest join of this track; None if it is a new object or if two objects are about as likely."""
        settings = self._settings
        joins = []
        for state in known.values():
            if state.category not in kind_of(track.category) or _share_time(state, track):
                continue
            similarity = _similarity(state, track)
            going_on = continuation(
                state.last,
                state.category,
                state.embedding,
                track.boxes[0],
                track.category,
                track.appearance,
                settings.going_on,
            )
            if going_on is not None:
                joins.append(_Join(0, going_on.distance, state.n, k, state.id, 0.95))
            overlap = iou(state.last.box, track.boxes[0][1:])
            stays = not moves_itself(track.category) and overlap >= settings.overlap
            if stays and similarity >= settings.tau_in_place and _over(state, track):
                joins.append(_Join(1, -overlap, state.n, k, state.id, 0.8))
        similar = self._alike(track, known)
        if similar and (len(similar) == 1 or similar[0][0] - similar[1][0] >= settings.margin):
            similarity, state = similar[0]
            joins.append(_Join(2, -similarity, state.n, k, state.id, _JOINED_BY_LOOKS))
        missing = self._missing(track, known)
        if missing is not None:
            joins.append(_Join(3, -_similarity(missing, track), missing.n, k, missing.id, _FOUND_AGAIN))
        return min(joins, key=lambda join: (join.rule, join.cost, join.n), default=None)

    def _missing(self, track: TrackObservation, known: Mapping[UUID, ObjectState]) -> ObjectState | None:
        """Return the object that came in, did not go out, and is not seen any more, if it is the only one of its kind
        and the track appears where it was last seen; else None."""
        if not moves_itself(track.category) or track.entered:
            return None
        settings, kind, begins = self._settings, kind_of(track.category), track.boxes[0][0]
        missing = [
            state
            for state in known.values()
            if state.category in kind
            and state.entries > state.exits
            and 0 < begins - state.last.ms <= settings.missing_ms
            and not _share_time(state, track)
        ]
        if len(missing) != 1 or _similarity(missing[0], track) < settings.tau_missing:
            return None
        return missing[0] if iou(missing[0].last.box, track.boxes[0][1:]) >= settings.overlap_missing else None

    def _alike(self, track: TrackObservation, known: Mapping[UUID, ObjectState]) -> list[tuple[float, ObjectState]]:
        """Return the objects that the track can be by its looks, most similar first, down to the margin below tau; none
        if no object reaches tau."""
        similar = [
            (similarity, state)
            for state in known.values()
            if state.category in kind_of(track.category)
            and (similarity := _similarity(state, track)) >= self._settings.tau - self._settings.margin
            and not _share_time(state, track)
        ]
        similar.sort(key=lambda pair: (-pair[0], pair[1].n))
        return similar if similar and similar[0][0] >= self._settings.tau else []


def most_alike(
    states: Iterable[ObjectState], categories: Collection[str], appearance: Vector, *, limit: int
) -> list[tuple[ObjectState, float]]:
    """Return the result of ports.ObjectDirectory.alike over states in memory."""
    similar = [
        (state, float(state.embedding @ appearance))
        for state in states
        if state.category in categories and state.embedding is not None and state.embedding.shape == appearance.shape
    ]
    return sorted(similar, key=lambda pair: (-pair[1], pair[0].n))[:limit]


def visible_spans(track: TrackObservation) -> tuple[Span, ...]:
    """Return the spans in which the track was seen, without the time for which it was lost."""
    return _merged(Span(box[0], box[0] + 1) for box in track.boxes)


def _batches(tracks: Sequence[TrackObservation]) -> Iterable[list[int]]:
    """Yield the indices of the tracks in order of time, those that begin together in one list."""
    order = sorted(range(len(tracks)), key=lambda k: (tracks[k].boxes[0], k))
    batch: list[int] = []
    for k in order:
        if batch and tracks[k].boxes[0][0] - tracks[batch[0]].boxes[0][0] > _TOGETHER_MS:
            yield batch
            batch = []
        batch.append(k)
    if batch:
        yield batch


def _merged(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return spans in order; those that touch or nearly touch are merged."""
    merged: list[Span] = []
    for span in sorted(spans):
        if merged and span.start_ms - merged[-1].end_ms <= VISIBLE_GAP_MS:
            merged[-1] = Span(merged[-1].start_ms, max(merged[-1].end_ms, span.end_ms))
        else:
            merged.append(span)
    return tuple(merged)


def _share_time(state: ObjectState, track: TrackObservation) -> bool:
    if state.spans[-1].end_ms <= track.boxes[0][0]:
        return False
    return any(visible.overlaps(other) for visible in visible_spans(track) for other in state.spans)


def _over(state: ObjectState, track: TrackObservation) -> bool:
    """Whether the object was last seen before the track begins, so that its last position can be compared."""
    return state.last.ms < track.boxes[0][0]


def _similarity(state: ObjectState, track: TrackObservation) -> float:
    if state.embedding is None or track.appearance is None or state.embedding.shape != track.appearance.shape:
        return 0.0
    return float(state.embedding @ track.appearance)


def _founded(object_id: UUID, n: int, track: TrackObservation, segment_n: int, confidence: float) -> ObjectState:
    return ObjectState(
        id=object_id,
        n=n,
        categories={track.category: len(track.boxes)},
        colours={track.colour: len(track.boxes)},
        spans=visible_spans(track),
        segments=(segment_n,),
        tracks=1,
        observations=len(track.boxes),
        entries=int(track.entered),
        exits=int(track.left),
        confidence=confidence,
        weight=int(track.appearance is not None),
        embedding=track.appearance,
        last=last_place(track.boxes),
    )


def _grown(state: ObjectState, track: TrackObservation, segment_n: int, confidence: float) -> ObjectState:
    last = last_place(track.boxes)
    return replace(
        state,
        categories=dict(Counter(state.categories) + Counter({track.category: len(track.boxes)})),
        colours=dict(Counter(state.colours) + Counter({track.colour: len(track.boxes)})),
        spans=_merged((*state.spans, *visible_spans(track))),
        segments=tuple(sorted({*state.segments, segment_n})),
        tracks=state.tracks + 1,
        observations=state.observations + len(track.boxes),
        entries=state.entries + track.entered,
        exits=state.exits + track.left,
        confidence=min(state.confidence, confidence),
        weight=state.weight + (track.appearance is not None),
        embedding=_mean_appearance(state, track.appearance),
        last=last if last.ms > state.last.ms else state.last,
    )


def _mean_appearance(state: ObjectState, appearance: Vector | None) -> Vector | None:
    if appearance is None or state.embedding is None:
        return state.embedding if appearance is None else appearance
    if state.embedding.shape != appearance.shape:
        return state.embedding
    return unit(state.embedding * state.weight + appearance)


def with_objects(chunks: Sequence[Chunk], numbers: Mapping[int, int]) -> list[Chunk]:
    """Return the chunks with the object's number in place of each track's in their facts.

    numbers: the object's number by track. So the object memory says what is one thing in an event, over segments too. A
    track without an object keeps a number of its own, below 0.
    """
    return [
        replace(chunk, facts=_with_objects(chunk.facts, numbers)) if "objects" in chunk.facts else chunk
        for chunk in chunks
    ]


def _with_objects(facts: Mapping[str, Any], numbers: Mapping[int, int]) -> dict[str, Any]:
    objects = [{**thing, "track_id": numbers.get(thing["track_id"], -thing["track_id"])} for thing in facts["objects"]]
    return {**facts, "objects": objects}


def numbers_of(linked: LinkedTracks, tracks: Sequence[TrackObservation]) -> dict[int, int]:
    """Return the number of each track's object by the track's number. tracks: those that were linked, in order."""
    n_of = {state.id: state.n for state in linked.objects}
    return {track.track_id: n_of[owner] for track, owner in zip(tracks, linked.object_of, strict=True)}
