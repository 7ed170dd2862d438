"""The best picture of each tracked thing, as a vector that words can be compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from gpu_workers.engine.ekg import Crop, Picture, SampledFrame, TrackObservation
from gpu_workers.engine.models.observer.boxes import area, crop_of
from gpu_workers.engine.models.roles import FrameEmbedder, Meter


def with_crops(
    tracks: Sequence[TrackObservation], frames: Sequence[SampledFrame], embedder: FrameEmbedder, *, meter: Meter
) -> tuple[TrackObservation, ...]:
    """Return the tracks of a segment, each with its crop; one that is on none of frames has no crop.

    frames: those that the tracks were measured on. The largest box of a track counts, the first one of several. Raises
    ModelError.
    """
    pictures = {frame.ms: frame.picture for frame in frames}
    best = [_largest(track, pictures) for track in tracks]
    crops = [crop_of(pictures[box[0]], box[1:]) for box in best if box is not None]
    vectors = iter(embedder.embed_frames(crops, meter=meter) if crops else ())
    return tuple(
        track if box is None else replace(track, crop=Crop(box[0], next(vectors)))
        for track, box in zip(tracks, best, strict=True)
    )


def _largest(track: TrackObservation, pictures: Mapping[int, Picture]) -> tuple[int, float, float, float, float] | None:
    return max((box for box in track.boxes if box[0] in pictures), key=lambda box: area(box[1:]), default=None)
