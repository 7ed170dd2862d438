"""Decoding and sampling against ffmpeg decoding the same file to nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path

import av

from bench.figures import Figures, at_least, ratio, side_by_side
from bench.videos import HD, HD_WITHOUT_B_FRAMES, Recipe, pure_decode, video
from gpu_workers.engine.ekg import CHUNK_MS, Span
from gpu_workers.engine.indexing.frame_samples import DECODER_THREADS, FrameSamples
from gpu_workers.engine.indexing.sampling import sample_frames
from gpu_workers.engine.indexing.segments import plan_segments
from gpu_workers.engine.models.frame_grid import SamplingGrid

TARGET = 0.9
FPS, MAX_SIDE = 2.0, 768
"""Frame rate and largest side, as in the service."""
REPEATS = 3


def hd() -> Figures:
    yield from _figures(HD, "the same 720p H.264 file with B-frames")


def hd_without_b_frames() -> Figures:
    yield from _figures(HD_WITHOUT_B_FRAMES, "the same 720p H.264 file without B-frames")


def _figures(recipe: Recipe, file: str) -> Figures:
    path, length_ms = video(recipe), recipe.seconds * 1000
    if _pictures_sampled(path, length_ms) != _pictures_of_all(path):
        raise AssertionError(f"{path.name}: passing over frames has changed which pictures are seen")
    whole, cut = [Span(0, length_ms)], plan_segments(length_ms)
    floor, one_span, segments, all_decoded, in_process = side_by_side(
        REPEATS,
        partial(pure_decode, path, DECODER_THREADS),
        partial(_sample, path, whole),
        partial(_sample, path, cut),
        partial(_decode_all, path),
        partial(_sample_in_process, path, cut),
    )
    name = recipe.name.replace("-", "_")
    against = f"ffmpeg -threads {DECODER_THREADS} -f null on {file} ({floor.median:.2f} s)"
    for suffix, taken, how in (("", one_span, "in one span"), ("_segments", segments, "in 30 s segments")):
        reference = f"{against}; sampled {how} with {DECODER_THREADS} decoder threads"
        yield at_least(f"decode_sample_{name}{suffix}", ratio(floor, taken), TARGET, reference)
    reference = (
        f"decoding every frame of {file} in this process, {DECODER_THREADS} threads, for the same {FPS:g} pictures "
        f"per second ({all_decoded.median:.2f} s); the pictures are equal, so the events are"
    )
    yield at_least(f"decode_skip_{name}", ratio(all_decoded, one_span), TARGET, reference)
    reference = (
        f"the same sampler in this process instead of in boxes, {file} in 30 s segments ({in_process.median:.2f} s); "
        "a box for each segment, its start included"
    )
    yield at_least(f"decode_box_{name}", ratio(in_process, segments), TARGET, reference)


def _sample(path: Path, spans: list[Span]) -> None:
    for span in spans:
        for _ in sample_frames(str(path), span, fps=FPS, max_side=MAX_SIDE, hold_ms=CHUNK_MS):
            pass


def _sample_in_process(path: Path, spans: list[Span]) -> None:
    for span in spans:
        for _ in FrameSamples(str(path), span, fps=FPS, max_side=MAX_SIDE, hold_ms=CHUNK_MS):
            pass


def _decode_all(path: Path, look: Callable[[int, bytes], None] | None = None) -> None:
    """Decode every frame in the plainest way, and shrink the frames on the grid as the sampler does."""
    grid = SamplingGrid(FPS, 0)
    shrink = av.video.reformatter.VideoReformatter()
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        stream.thread_type = "AUTO"
        stream.codec_context.thread_count = DECODER_THREADS
        scale = Fraction(MAX_SIDE, stream.width)
        size = MAX_SIDE, round(stream.height * scale)
        for frame in container.decode(stream):
            if grid.takes(round(frame.time * 1000)):
                picture = shrink.reformat(frame, *size, format="rgb24").to_ndarray()
                if look is not None:
                    look(round(frame.time * 1000), picture.tobytes())


def _pictures_of_all(path: Path) -> list[tuple[int, str]]:
    pictures: list[tuple[int, str]] = []
    _decode_all(path, lambda ms, data: pictures.append((ms, hashlib.sha256(data).hexdigest())))
    return pictures


def _pictures_sampled(path: Path, length_ms: int) -> list[tuple[int, str]]:
    frames = sample_frames(str(path), Span(0, length_ms), fps=FPS, max_side=MAX_SIDE, hold_ms=CHUNK_MS)
    return [(frame.ms, hashlib.sha256(frame.picture.tobytes()).hexdigest()) for frame in frames]
