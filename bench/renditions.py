"""What a rendition costs against ffmpeg alone, how large a playlist of ten hours is, and what a seek in it reads.

The cost is a ratio: time of the service's own way, which cuts packets in one box and encodes in another, to the time of
ffmpeg alone that makes the same from the file itself.
"""

from __future__ import annotations

import gzip
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from uuid import UUID, uuid4

import ffmpeg

from backend.playback.playlists import PlayedPiece, entries_of, playlist
from bench.figures import Figures, at_most
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.indexing.probe import probe
from gpu_workers.engine.media import renditions
from gpu_workers.engine.media.binary import ffmpeg_binary
from gpu_workers.engine.media.renditions import Recording, render_piece
from gpu_workers.engine.media.storyboards import tile_ms_of

SECONDS, PIECE_S, HOUR_S = 120, 120, 3_600
TEN_HOURS_MS = 10 * HOUR_S * 1000


def rendition_cost() -> Figures:
    """Yield the time for an hour of 720p video, copied and transcoded, and its ratio to ffmpeg alone."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "source.mp4"
        _source(source)
        recording = _recording(source)
        spans = [Span(start * 1000, (start + PIECE_S) * 1000) for start in range(0, SECONDS, PIECE_S)]
        for kind, container in (("copy", recording.container), ("transcode", "avi")):
            # A container that is never copied, so that the same file is encoded.
            one = replace(recording, container=container)
            ours = _seconds(partial(_ours, one, spans))
            alone = _seconds(partial(_alone, source, spans, kind, Path(folder)))
            hour = HOUR_S / SECONDS
            where = f"ffmpeg alone, {alone * hour:.0f} s for an hour of 720p; here {ours * hour:.0f} s"
            yield at_most(f"playback_cost_{kind}", ours / alone, 1.15, where)


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


def _ours(recording: Recording, spans: Sequence[Span]) -> None:
    for span in spans:
        render_piece(recording, span, tile_ms=tile_ms_of(TEN_HOURS_MS))


def _alone(path: Path, spans: Sequence[Span], kind: str, folder: Path) -> None:
    for span in spans:
        _piece_alone(path, span, kind, folder)


def _piece_alone(path: Path, span: Span, kind: str, folder: Path) -> None:
    """Run ffmpeg without a box on the file itself, with the same encoder, filters and pictures of the storyboard."""
    tile_s = tile_ms_of(TEN_HOURS_MS) / 1000
    opened = ffmpeg.input(str(path), ss=span.start_ms / 1000, t=span.duration_ms / 1000)
    looked = ffmpeg.input(str(path), ss=span.start_ms / 1000, t=span.duration_ms / 1000, skip_frame="nokey")
    fragmented = {"format": "mp4", "movflags": "+frag_keyframe+empty_moov+default_base_moof"}
    if kind == "copy":
        played = ffmpeg.output(opened, str(folder / "alone.mp4"), c="copy", **fragmented)
        pictures = looked.video
    else:
        both = opened.video.filter("scale", 960, 540).split()
        options = {
            "vcodec": "libx264", "preset": "veryfast", "crf": renditions.CRF, "threads": 2, "acodec": "aac", "ac": 2,
            "force_key_frames": "expr:gte(t,n_forced*2)",
        }  # fmt: skip
        played = ffmpeg.output(both[0], opened.audio, str(folder / "alone.mp4"), **options, **fragmented)
        pictures = both[1]
    sheet = pictures.filter("fps", fps=1 / tile_s).filter("scale", 160, 90).filter("tile", "5x5")
    board = ffmpeg.output(sheet, str(folder / "alone-%d.jpg"), format="image2", vcodec="mjpeg", qscale=5, vframes=1)
    argv = ffmpeg.get_args(ffmpeg.merge_outputs(played, board))
    subprocess.run([ffmpeg_binary(), "-nostdin", "-y", "-v", "error", *argv], check=True)


def _seconds(work: Callable[[], object]) -> float:
    """Return the faster of two runs."""
    taken = []
    for _ in range(2):
        began = time.monotonic()
        work()
        taken.append(time.monotonic() - began)
    return min(taken)
