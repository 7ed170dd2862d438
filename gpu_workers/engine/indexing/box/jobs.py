"""The jobs of a box: examining a file, and decoding pictures or sound of a span. Each runs after the lockdown."""

from __future__ import annotations

import os
from fractions import Fraction
from importlib import import_module
from io import BytesIO
from pkgutil import walk_packages
from typing import Any

import av
import av.error
import numpy as np

from gpu_workers.engine.ekg import Span
from gpu_workers.engine.indexing.box.channel import Channel
from gpu_workers.engine.indexing.box.supplied import Supplied
from gpu_workers.engine.indexing.container import ProbeError, SourceUnreadable
from gpu_workers.engine.indexing.examination import examine
from gpu_workers.engine.indexing.file_clock import FileClock
from gpu_workers.engine.indexing.frame_samples import FrameSamples
from gpu_workers.engine.indexing.sound_samples import sound_samples


def probe(arguments: dict[str, Any], recording: Supplied | None, channel: Channel) -> None:
    """Share the clock and send the other fields of ProbeResult, or code and message of a refusal.

    arguments: container.
    """
    try:
        examined = examine(_given(recording), arguments["container"])
        channel.share(np.asarray(examined.clock.as_rows(), dtype=np.int64), 0)
        channel.send({"result": examined.fields, "stretches": len(examined.clock.stretches)})
    except ProbeError as error:
        channel.send({"refused": error.code, "message": error.message})
    except (av.error.FFmpegError, OverflowError):
        channel.send({"refused": "not_a_video", "message": "The file's structure cannot be read."})


def frames(arguments: dict[str, Any], recording: Supplied | None, channel: Channel) -> None:
    """Share the frames of a span in turn in `slots` parts of the memory, `slot_bytes` long each."""
    os.environ["AVA_HWACCEL"] = arguments["hwaccel"]
    samples = FrameSamples(
        _given(recording),
        Span(*arguments["span"]),
        fps=arguments["fps"],
        max_side=arguments["max_side"],
        clock=_clock_of(arguments),
        hold_ms=arguments["hold_ms"],
    )
    slots, slot_bytes = arguments["slots"], arguments["slot_bytes"]
    try:
        for n, frame in enumerate(samples):
            if n >= slots:
                channel.wait()
            channel.share(frame.picture, n % slots * slot_bytes)
            height, width = frame.picture.shape[:2]
            times = {"ms": frame.ms, "held_since_ms": frame.held_since_ms}
            channel.send({**times, "size": [width, height], "skipped": samples.skipped})
    except SourceUnreadable as error:
        channel.send({"error": "unreadable", "message": str(error)})
        return
    damage = {"packets": samples.damage.packets, "damaged": samples.damage.damaged}
    channel.send({"end": samples.skipped, **damage, "hardware_failure": samples.hardware_failure})


def sound(arguments: dict[str, Any], recording: Supplied | None, channel: Channel) -> None:
    """Share the sound of a span as float32. arguments: span, track, clock."""
    span, track = Span(*arguments["span"]), arguments["track"]
    try:
        samples = sound_samples(_given(recording), span, track=track, clock=_clock_of(arguments))
    except SourceUnreadable as error:
        channel.send({"error": "unreadable", "message": str(error)})
        return
    channel.share(samples, 0)
    channel.send({"samples": int(samples.size)})


def warm_up() -> None:
    """Use every part once: what Python or the decoders load on first use cannot be loaded in a box."""
    for module in walk_packages(av.__path__, "av."):
        if not module.name.endswith("__main__"):
            import_module(module.name)  # PyAV loads those of subtitles when a file has some
    file = BytesIO()
    with av.open(file, "w", format="matroska") as container:
        video, audio = container.add_stream("mpeg4", rate=25), container.add_stream("pcm_s16le", rate=8_000)
        video.width, video.height, video.pix_fmt = 64, 48, "yuv420p"
        for n in range(2):
            frame = av.VideoFrame.from_ndarray(np.zeros((48, 64, 3), dtype=np.uint8), format="rgb24")
            frame.pts, frame.time_base = n, Fraction(1, 25)
            container.mux(video.encode(frame))
        container.mux(video.encode(None))
        noise = av.AudioFrame.from_ndarray(np.zeros((1, 800), dtype=np.int16), format="s16", layout="mono")
        noise.sample_rate, noise.pts = 8_000, 0
        container.mux([*audio.encode(noise), *audio.encode(None)])
    recording = _InMemory(file.getvalue())
    examine(recording, "matroska")
    list(FrameSamples(recording, Span(0, 80), fps=25, max_side=32))
    sound_samples(recording, Span(0, 80))
    os.environ["AVA_HWACCEL"] = "off"


class _InMemory(BytesIO):
    """An open recording in memory."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.size: int | None = len(data)


def _clock_of(arguments: dict[str, Any]) -> FileClock | None:
    return None if arguments["clock"] is None else FileClock.of_rows(arguments["clock"])


def _given(recording: Supplied | None) -> Supplied:
    if recording is None:
        raise ValueError("this job needs a recording")
    return recording
