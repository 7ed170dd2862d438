"""Looking at frames where a caption stands for each frame: the reasoner reads the captions of the frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gpu_workers.engine.models.observer.checker import ObserverChecker
from gpu_workers.engine.models.roles import ChatModel, CheckRequest, FrameEvidence, Meter, ObserveRequest, Sample


class CaptionChecker(ObserverChecker):
    """A roles.Checker over frames whose picture is a caption in UTF-8 (bench.evaluation.captions). It has no eyes."""

    def __init__(self, reasoner: ChatModel) -> None:
        super().__init__(reasoner)
        self.name = f"captions read by {reasoner.name}"

    def check(
        self,
        request: CheckRequest,
        *,
        n: int,
        schema: Mapping[str, Any],
        meter: Meter,
        timeout_s: float | None = None,
    ) -> list[Sample]:
        request = replace(request, frames=_read(request.frames))
        return super().check(request, n=n, schema=schema, meter=meter, timeout_s=timeout_s)

    def observe(
        self, request: ObserveRequest, *, schema: Mapping[str, Any], meter: Meter, timeout_s: float | None = None
    ) -> Sample:
        request = replace(request, frames=_read(request.frames))
        return super().observe(request, schema=schema, meter=meter, timeout_s=timeout_s)


def _read(frames: Sequence[FrameEvidence]) -> tuple[FrameEvidence, ...]:
    return tuple(replace(frame, observation=frame.jpeg.decode()) for frame in frames)
