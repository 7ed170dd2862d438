"""A describer with eyes of its own, and next to it a detector and a tracker that make the object memory."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from gpu_workers.engine.ekg import TrackObservation
from gpu_workers.engine.models.frame_grid import SamplingGrid
from gpu_workers.engine.models.host_occupancy import on_device
from gpu_workers.engine.models.observer.following import Follower, objects_in, observations
from gpu_workers.engine.models.observer.movement import thumbnail
from gpu_workers.engine.models.roles import Describer, Meter, ModelCall, SegmentDescription, SegmentView


class TrackedDescriber:
    """A roles.Describer around another one, which describes as it would alone; the tracks are added.

    Both work at once: the detector on this machine, the inner describer usually on a server. The follower sees the
    frames of its rate, the inner describer those of its own. name: the inner one's with "+tracks"; only objects carry
    it.
    """

    def __init__(self, describer: Describer, follower: Follower) -> None:
        self._describer, self._follower = describer, follower
        self.name = f"{describer.name}+tracks"
        self.sample_fps = max(follower.fps, describer.sample_fps)
        self.sample_rates = (follower.fps, describer.sample_fps)

    def describe(self, view: SegmentView, *, meter: Meter) -> SegmentDescription:
        """Describe the chunks as the inner describer does. Raises what it raises, after the tracker has ended."""
        with ThreadPoolExecutor(1, "tracks") as pool:
            tracks = pool.submit(self._tracks, at_rate(view, self._follower.fps), meter)
            described = self._describer.describe(at_rate(view, self._describer.sample_fps), meter=meter)
            return replace(described, tracks=tracks.result())

    def _tracks(self, view: SegmentView, meter: Meter) -> tuple[TrackObservation, ...]:
        started, still = time.monotonic(), []
        with on_device("cpu") as share:
            thumbnails = {frame.ms: thumbnail(frame.picture) for chunk in view.chunks for frame in chunk.frames}
            followed = self._follower.follow(view, thumbnails, meter=meter)
            for chunk in view.chunks:
                _, moving = objects_in(chunk, [thumbnails[frame.ms] for frame in chunk.frames], followed, view.span)
                if chunk.frames and not moving:
                    still.append(chunk.span)
        wall_ms = round((time.monotonic() - started) * 1000)
        call = ModelCall("tracking", self._follower.detector_name, wall_ms, items=len(thumbnails), device_ms=share.ms)
        meter.record(call)
        return observations(followed, view.span, still)


def at_rate(view: SegmentView, fps: float) -> SegmentView:
    """Return the segment with the frames that a describer of this rate would be shown."""
    grid = SamplingGrid(fps, view.span.start_ms)
    chunks = (
        replace(chunk, frames=tuple(frame for frame in chunk.frames if grid.takes(frame.ms))) for chunk in view.chunks
    )
    return replace(view, chunks=tuple(chunks))
