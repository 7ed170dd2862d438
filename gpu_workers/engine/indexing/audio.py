"""The sound of a span of a video, for speech recognition."""

from __future__ import annotations

import subprocess

import ffmpeg
import numpy as np
from numpy.typing import NDArray

from gpu_workers.engine.ekg import Span
from gpu_workers.engine.indexing.container import FORMATS, input_options
from gpu_workers.engine.indexing.sampling import SourceUnreadable

SAMPLE_RATE = 16_000
_IN_TIME = f"aresample={SAMPLE_RATE}:async=1:first_pts=0"
"""Filter that fills holes with silence. Raw samples carry no time, so without it late sound would move forward."""
_NO_AUDIO = (b"does not contain any stream", b"matches no streams")


def read_audio(url_or_path: str, span: Span, ffmpeg_binary: str, *, timeout_s: float = 300.0) -> NDArray[np.float32]:
    """Return mono samples at 16 kHz of the first audio stream in span; empty if the video has none there.

    Sound that begins late, or has holes, keeps its time: silence fills the time before it.
    Raises SourceUnreadable when ffmpeg fails or takes longer than timeout_s.
    """
    options = input_options(url_or_path) | {"format_whitelist": ",".join(FORMATS)}
    source = ffmpeg.input(url_or_path, ss=span.start_ms / 1000, t=span.duration_ms / 1000, **options)
    samples = source.output(
        "pipe:", format="f32le", acodec="pcm_f32le", ac=1, ar=SAMPLE_RATE, map="0:a:0?", vn=None, af=_IN_TIME
    )
    # In a transport stream the clock begins with the first stream that is read, so one picture is read as well.
    picture = source.output("-", format="null", vcodec="copy", map="0:v:0", **{"frames:v": 1})
    command = (
        ffmpeg.merge_outputs(samples, picture)
        .global_args("-nostdin", "-hide_banner", "-loglevel", "error")
        .compile(cmd=ffmpeg_binary)
    )
    try:
        done = subprocess.run(command, capture_output=True, timeout=timeout_s, check=False)
    except subprocess.TimeoutExpired as error:
        raise SourceUnreadable(f"reading the sound took longer than {timeout_s:g} s") from error
    if done.returncode and not done.stdout:
        if any(sign in done.stderr for sign in _NO_AUDIO):
            return np.zeros(0, dtype=np.float32)
        raise SourceUnreadable("the sound cannot be read")
    return np.frombuffer(done.stdout[: len(done.stdout) // 4 * 4], dtype="<f4").astype(np.float32)
