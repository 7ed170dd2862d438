"""Video files for measurements, made once by ffmpeg and cached, and the cost of pure decoding."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bench.figures import show_progress
from gpu_workers.engine.models.weights import cache_dir
from infra.local import ffmpeg


@dataclass(frozen=True, slots=True)
class Recipe:
    """A picture that moves everywhere, with noise, as H.264 with x264's settings.

    b_frames: maximum in a row; x264's own default is 3. sound: a tone, as AAC.
    """

    name: str
    seconds: int
    size: str = "1280x720"
    fps: int = 25
    kilobits: int = 4_000
    b_frames: int = 3
    sound: bool = False


HD = Recipe("hd", 60)
HD_WITHOUT_B_FRAMES = Recipe("hd-without-b-frames", 60, b_frames=0)
TEN_MINUTES = Recipe("ten-minutes", 600, size="320x180", fps=5, kilobits=200)
HOUR = Recipe("hour", 3_600, size="320x180", fps=5, kilobits=150)


@cache
def unchanged_hour() -> Path:
    """Return an hour of an empty room with the noise of a camera."""
    path = cache_dir() / "bench" / f"unchanged-320x180-2-{HOUR.seconds}.mp4"
    if not path.exists():
        show_progress(f"making {path.name}")
        room = f"color=c=0x70705c:size=320x180:rate=2:duration={HOUR.seconds},noise=alls=6:allf=t"
        encoder = ["-c:v", "libx264", "-preset", "veryfast", "-b:v", "100k", "-pix_fmt", "yuv420p"]
        _keep(path, ["-f", "lavfi", "-i", room, *encoder])
    return path


VISIT_S = (200, 230)
"""Seconds between which somebody is in the room of still_camera()."""


@cache
def still_camera() -> Path:
    """Return ten minutes of an empty room with the noise of a camera, into which a person in red comes once."""
    path = cache_dir() / "bench" / f"still-camera-640x360-5-{TEN_MINUTES.seconds}.mp4"
    if not path.exists():
        show_progress(f"making {path.name}")
        start, end = VISIT_S
        room = f"color=c=0x70705c:size=640x360:rate=5:duration={TEN_MINUTES.seconds}"
        person = f"color=c=red:size=40x110:rate=5:duration={TEN_MINUTES.seconds}"
        walk = f"overlay=x='20*(t-{start})':y=180:enable='between(t,{start},{end})',noise=alls=6:allf=t"
        inputs = ["-f", "lavfi", "-i", room, "-f", "lavfi", "-i", person, "-filter_complex", f"[0][1]{walk}"]
        _keep(path, [*inputs, "-c:v", "libx264", "-preset", "veryfast", "-b:v", "300k", "-pix_fmt", "yuv420p"])
    return path


@cache
def video(recipe: Recipe) -> Path:
    """Return the file of recipe; make it if it is not there yet."""
    shape = f"{recipe.size}-{recipe.fps}-{recipe.seconds}-{recipe.kilobits}-{recipe.b_frames}-{int(recipe.sound)}"
    path = cache_dir() / "bench" / f"{recipe.name}-{shape}.mp4"
    if not path.exists():
        show_progress(f"making {path.name}")
        picture = f"testsrc2=size={recipe.size}:rate={recipe.fps}:duration={recipe.seconds},noise=alls=6:allf=t"
        sound = ["-f", "lavfi", "-i", f"sine=frequency=220:duration={recipe.seconds}"] if recipe.sound else []
        encoder = ["-c:v", "libx264", "-preset", "veryfast", "-b:v", f"{recipe.kilobits}k", "-g", str(2 * recipe.fps)]
        encoder += ["-bf", str(recipe.b_frames), "-pix_fmt", "yuv420p"]
        _keep(path, ["-f", "lavfi", "-i", picture, *sound, *encoder])
    return path


def repeated(path: Path, times: int) -> Path:
    """Return the video at path, repeated times times, without encoding again."""
    looped = path.with_name(f"{path.stem}-x{times}.mp4")
    if not looped.exists():
        _keep(looped, ["-stream_loop", str(times - 1), "-i", str(path), "-c", "copy"])
    return looped


def with_sound(path: Path, sound: Path) -> Path:
    """Return the pictures of path with the sound, repeated as often as needed."""
    joined = cache_dir() / "bench" / f"{path.stem}-{sound.stem}.mkv"
    if not joined.exists():
        both = ["-i", str(path), "-stream_loop", "-1", "-i", str(sound), "-map", "0:v:0", "-map", "1:a:0"]
        _keep(joined, [*both, "-c:v", "copy", "-c:a", "aac", "-shortest"])
    return joined


def _keep(path: Path, arguments: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{os.getpid()}-{path.name}")
    try:
        run_ffmpeg(*arguments, str(part))
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def run_ffmpeg(*arguments: str) -> None:
    """Run ffmpeg. Raises CalledProcessError."""
    subprocess.run([str(ffmpeg.ffmpeg()), "-nostdin", "-y", "-loglevel", "error", *arguments], check=True)


def pure_decode(path: Path, threads: int) -> None:
    """Decode every picture of path to nothing: the minimum for any program that decodes every picture."""
    run_ffmpeg("-threads", str(threads), "-i", str(path), "-map", "0:v:0", "-f", "null", "-")
