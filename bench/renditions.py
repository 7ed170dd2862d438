"""What a rendition costs against ffmpeg alone, how large a playlist of ten hours is, and what a seek in it reads.

The cost is a ratio: time of the service's own way, which cuts packets in one box and encodes in another, to the time of
ffmpeg alone that makes the same from the file itself, with the same options. Copy and transcode are measured without
the storyboard, which has a figure of its own: what it adds to a copy, over ffmpeg alone that makes the same sheets.
"""

from __future__ import annotations

import gzip
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import ffmpeg

from backend.playback.playlists import PlayedPiece, entries_of, playlist
from bench.figures import Figures, at_most
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.indexing.probe import probe
from gpu_workers.engine.media import renditions, storyboards
from gpu_workers.engine.media.binary import ffmpeg_binary
from gpu_workers.engine.media.encoding import THREADS
from gpu_workers.engine.media.renditions import Recording, render_piece
from gpu_workers.engine.media.storyboards import tile_ms_of

SECONDS, PIECE_S, HOUR_S, ROUNDS = 122, 120, 3_600, 5
TEN_HOURS_MS = 10 * HOUR_S * 1000
SPAN = Span(2_000, 2_000 + PIECE_S * 1000)
TILE_MS, NO_TILE_MS = tile_ms_of(TEN_HOURS_MS), TEN_HOURS_MS
"""Time between pictures of the storyboard of ten hours, and a time at which the piece has none."""
TARGET = 1.15


def rendition_cost() -> Figures:
    """Yield the time for 720p video, copied, transcoded and pictured, over that of ffmpeg alone."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "source.mp4"
        _source(source)
        recording = _recording(source)
        # A container that is never copied, so that the same file is encoded.
        encoded = replace(recording, container="avi")
        seconds = _fastest({
            "copy": partial(_ours, recording, NO_TILE_MS),
            "copy alone": partial(_alone, _copied(source), Path(folder)),
            "transcode": partial(_ours, encoded, NO_TILE_MS),
            "transcode alone": partial(_alone, _transcoded(source), Path(folder)),
            "pictured": partial(_ours, recording, TILE_MS),
            "pictures alone": partial(_alone, _pictured(source), Path(folder)),
        })  # fmt: skip
    seconds["storyboard"] = seconds["pictured"] - seconds["copy"]
    for kind, alone in (("copy", "copy alone"), ("transcode", "transcode alone"), ("storyboard", "pictures alone")):
        hour = HOUR_S * 1000 / SPAN.duration_ms
        where = f"ffmpeg alone, {seconds[alone] * hour:.0f} s for an hour of 720p; here {seconds[kind] * hour:.0f} s"
        yield at_most(f"playback_cost_{kind}", seconds[kind] / seconds[alone], TARGET, where)


def playlist_size() -> Figures:
    """Yield the size of a playlist of ten hours, and what a seek to 9:59:00 reads at most."""
    rate = 500_000 // 8
    pieces = [
        PlayedPiece(
            n, None, n * PIECE_S * 1000, (n + 1) * PIECE_S * 1000, 1_300,
            tuple((rate * 6 + (n * 7919 + k * 104_729) % 90_000, (n * PIECE_S + k * 6) * 1_000_000) for k in range(20)),
        )
        for n in range(10 * HOUR_S // PIECE_S)
    ]  # fmt: skip
    entries = list(entries_of(pieces))
    recorded: dict[UUID | None, tuple[int, datetime]] = {None: (0, datetime(2026, 11, 29, tzinfo=UTC))}
    text = playlist(entries, is_complete=True, token=uuid4().hex + "a" * 18, recorded_at=recorded).encode()
    at = next(entry for entry in entries if entry.end_us > (10 * HOUR_S - 60) * 1_000_000)
    packed = len(gzip.compress(text)) / 1000
    yield at_most("playlist_kb", packed, 64, f"ten hours in {len(entries)} entries, compressed; {len(text)} bytes")
    # The first part of the piece, and one fragment.
    read = (at.piece.init_bytes + at.size + len(text)) / 1e6
    yield at_most("seek_mb", read, 3, "bytes for a picture at 9:59:00, with the playlist; two media requests")


def _source(path: Path) -> None:
    pictures = f"testsrc2=s=1280x720:r=25:d={SECONDS},noise=alls=8:allf=t"
    made = ["-f", "lavfi", "-i", pictures, "-f", "lavfi", "-i", f"sine=d={SECONDS}"]
    codecs = ["-c:v", "libx264", "-preset", "ultrafast", "-crf", "30", "-g", "50", "-c:a", "aac", "-pix_fmt", "yuv420p"]
    subprocess.run([ffmpeg_binary(), "-nostdin", "-y", "-v", "error", *made, *codecs, str(path)], check=True)


def _recording(path: Path) -> Recording:
    found = probe(str(path))
    track = found.audio_tracks[0]
    return Recording(
        url=str(path), clock=found.clock, container=found.container, codec=found.codec, width=found.width,
        height=found.height, fps=float(found.fps or 25), rotation=found.rotation, bitrate=2_000_000,
        pictures=found.pictures, track=track.number, audio_codec=track.codec,
    )  # fmt: skip


def _ours(recording: Recording, tile_ms: int) -> None:
    render_piece(recording, SPAN, tile_ms=tile_ms)


def _alone(graph: Any, folder: Path) -> None:
    """Run ffmpeg without a box on the file itself."""
    argv = [ffmpeg_binary(), "-nostdin", "-y", "-v", "error", *ffmpeg.get_args(graph)]
    subprocess.run(argv, check=True, cwd=folder)


def _opened(source: Path, **options: Any) -> Any:
    return ffmpeg.input(str(source), ss=SPAN.start_ms / 1000, t=SPAN.duration_ms / 1000, **options)


def _copied(source: Path) -> Any:
    return ffmpeg.output(_opened(source), "alone.mp4", c="copy", **renditions.FRAGMENTED)


def _transcoded(source: Path) -> Any:
    opened = _opened(source, threads=THREADS)
    pictures = opened.video.filter("scale", *renditions.shown_size(1280, 720)).filter("setsar", 1)
    options = {**renditions.ENCODED_PICTURES, **renditions.ENCODED_SOUND, **renditions.FRAGMENTED}
    return ffmpeg.output(pictures, opened.audio, "alone.mp4", **options)


def _pictured(source: Path) -> Any:
    board = storyboards.output(_opened(source, skip_frame="nokey").video, SPAN, TILE_MS)
    if board is None:
        raise RuntimeError("the piece has no picture of the storyboard")
    return board


def _fastest(works: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """Return the shortest time of each work, of several runs in turns."""
    taken: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(ROUNDS):
        for name, work in works.items():
            began = time.monotonic()
            work()
            taken[name].append(time.monotonic() - began)
    return {name: min(times) for name, times in taken.items()}
