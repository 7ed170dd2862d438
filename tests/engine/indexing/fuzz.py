"""Damaged and hostile files through probe, frames and sound: `make fuzz-media FILES=1000 SEED=1`.

Each file must be a typed refusal or a legal video inside its limits. Prints one JSON line for each kind of file.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import struct
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from gpu_workers.engine.ekg import Span
from gpu_workers.engine.indexing.audio import read_audio
from gpu_workers.engine.indexing.box.boxes import ZYGOTE
from gpu_workers.engine.indexing.container import ProbeError, SourceUnreadable
from gpu_workers.engine.indexing.probe import ProbeLimits, ProbeResult, probe
from gpu_workers.engine.indexing.sampling import sample_frames
from tests.engine.indexing.media import run_ffmpeg

LIMITS = ProbeLimits(max_duration_ms=48 * 3_600_000, wall_s=60.0)
LOOKED_AT_MS = 4_000
MOST_SECONDS = LIMITS.wall_s + 60.0
"""Longest time of one file through probe, frames and sound; the probe alone may take its wall time."""
MOST_WORKER_MIB = 256
"""Memory by which one file may raise the peak of the worker, which holds no more than pictures and sound."""
Mutation = Callable[[bytearray, random.Random], None]

_NUMBERS = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 2**63 - 1, 2**64 - 1)


def seeds(folder: Path) -> list[bytes]:
    """Make a small recording with sound in every container that is accepted."""
    kinds = {
        "mp4": "-c:v libx264 -bf 2 -c:a aac", "mov": "-c:v mjpeg -c:a pcm_s16le", "mkv": "-c:v libx265 -c:a libopus",
        "webm": "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -c:a libvorbis", "avi": "-c:v mpeg4 -c:a mp3",
        "ts": "-c:v libx264 -c:a aac", "flv": "-c:v flv -c:a mp3 -ar 22050", "ogv": "-c:v libtheora -c:a libvorbis",
        "fragmented.mp4": "-c:v libx264 -c:a aac -movflags frag_keyframe+empty_moov", "ffv1.mkv": "-c:v ffv1 -c:a flac",
        "mpg": "-c:v mpeg2video -r 25 -c:a mp2", "gif": "-c:v gif",
    }  # fmt: skip
    made = []
    for name, codecs in kinds.items():
        path = folder / f"seed.{name}"
        run_ffmpeg("-f", "lavfi", "-i", "testsrc2=duration=2:rate=10:size=96x64", "-f", "lavfi", "-i",
                   "sine=duration=2", *codecs.split(), str(path))  # fmt: skip
        made.append(path.read_bytes())
    return made


def flip_bytes(data: bytearray, chance: random.Random) -> None:
    for _ in range(chance.randint(1, 60)):
        data[chance.randrange(len(data))] = chance.randrange(256)


def damage_header(data: bytearray, chance: random.Random) -> None:
    for _ in range(chance.randint(1, 12)):
        data[chance.randrange(min(len(data), 1_500))] ^= 1 << chance.randrange(8)


def write_numbers(data: bytearray, chance: random.Random) -> None:
    """Write extreme numbers of 1 to 8 bytes, which are lengths, counts or times somewhere."""
    for _ in range(chance.randint(1, 8)):
        form, size = chance.choice(((">B", 1), (">H", 2), (">I", 4), (">Q", 8), ("<I", 4), ("<H", 2)))
        at = chance.randrange(max(1, len(data) - size))
        data[at : at + size] = struct.pack(form, chance.choice(_NUMBERS) % 256**size)


def cut(data: bytearray, chance: random.Random) -> None:
    del data[chance.randrange(1, len(data)) :]


def remove_block(data: bytearray, chance: random.Random) -> None:
    at = chance.randrange(len(data))
    del data[at : at + chance.randrange(1, 4_000)]


def repeat_block(data: bytearray, chance: random.Random) -> None:
    at = chance.randrange(len(data))
    data[at:at] = data[at : at + chance.randrange(1, 4_000)] * chance.randint(1, 40)


def swap_blocks(data: bytearray, chance: random.Random) -> None:
    size = max(1, min(len(data) // 3, chance.randrange(1, 4_000)))
    a, b = chance.randrange(len(data) - size), chance.randrange(len(data) - size)
    data[a : a + size], data[b : b + size] = data[b : b + size], data[a : a + size]


MUTATIONS: tuple[Mutation, ...] = (
    flip_bytes, damage_header, write_numbers, cut, remove_block, repeat_block, swap_blocks,
)  # fmt: skip


def hostile(folder: Path, recordings: list[bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield files that were made with intent: (kind, content)."""
    yield "playlist", b"#EXTM3U\n#EXTINF:5\nfile:///etc/passwd\n"
    yield "playlist", b"ffconcat version 1.0\nfile '/etc/passwd'\n"
    yield "playlist", b'<?xml version="1.0"?><MPD><BaseURL>http://169.254.169.254/</BaseURL></MPD>'
    for recording in recordings[::3]:
        yield "polyglot", recording + b"\n#EXTM3U\nfile:///etc/passwd\n"
        yield "polyglot", b"#EXTM3U\nfile:///etc/passwd\n" + recording
        yield "polyglot", recording[:4_096] + recordings[0]
        yield "two in one", recording + recording
    # A data reference of a QuickTime file that names another file.
    yield "reference", recordings[0].replace(b"url \x00\x00\x00\x01", b"alis\x00\x00\x00\x00")
    late = "N*172740000"  # the second picture is shown after two days
    for name, graph, codecs in (
        ("dimensions", "color=gray:size=9000x16:rate=1:duration=1", "-c:v ffv1"),
        ("dimensions", "color=gray:size=7000x6000:rate=1:duration=1", "-c:v mpeg4"),
        ("rate", "color=gray:size=16x16:rate=1000:duration=1", "-c:v mpeg4"),
        (
            "duration",
            "color=gray:size=16x16:rate=1:duration=2",
            f"-c:v mjpeg -bsf:v setts=pts={late}:dts={late}",
        ),
    ):
        path = folder / f"hostile-{name}.mkv"
        run_ffmpeg("-f", "lavfi", "-i", graph, *codecs.split(), str(path))
        yield name, path.read_bytes()


def files(folder: Path, count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """Yield count files, the same for the same seed: (kind, content)."""
    chance = random.Random(seed)
    recordings = seeds(folder)
    made = 0
    for kind, content in hostile(folder, recordings):
        if made == count:
            return
        made += 1
        yield kind, content
    for n in range(count - made):
        data = bytearray(recordings[n % len(recordings)])
        mutation = MUTATIONS[n // len(recordings) % len(MUTATIONS)]
        mutation(data, chance)
        yield mutation.__name__, bytes(data)


def outcome(path: Path) -> str:
    """Return what becomes of a file: the code of a refusal, or "video". Raises AssertionError for an illegal video."""
    try:
        found = probe(str(path), limits=LIMITS)
    except ProbeError as refusal:
        return refusal.code if not refusal.retryable else f"retryable {refusal.code}"
    _check(found)
    span = Span(0, LOOKED_AT_MS)
    try:
        with sample_frames(str(path), span, fps=2, max_side=128, hold_ms=3_000) as frames:
            for frame in frames:
                assert span.contains(frame.ms)
                assert max(frame.picture.shape[:2]) <= 128
        assert read_audio(str(path), span).size <= 16 * LOOKED_AT_MS
    except SourceUnreadable as fault:
        return f"video, then {fault.code}"
    return "video"


def _check(found: ProbeResult) -> None:
    assert 1 <= found.duration_ms <= LIMITS.max_duration_ms
    assert found.width * found.height >= 1
    assert found.rotation in (0, 90, 180, 270)
    assert found.fps is None or 0 < found.fps <= 970


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    outcomes: dict[str, Counter[str]] = {}
    slowest: tuple[float, str] = (0.0, "")
    over: list[dict[str, object]] = []
    before_mib = _peak_mib(resource.RUSAGE_SELF)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind, content in files(folder, chosen.files, chosen.seed):
            path = folder / "file"
            path.write_bytes(content)
            began = time.monotonic()
            outcomes.setdefault(kind, Counter())[outcome(path)] += 1
            seconds, worker_mib = time.monotonic() - began, _peak_mib(resource.RUSAGE_SELF)
            slowest = max(slowest, (seconds, kind))
            if seconds > MOST_SECONDS or worker_mib - before_mib > MOST_WORKER_MIB:
                over.append({"over": kind, "seconds": round(seconds, 2), "grew_mib": worker_mib - before_mib})
            before_mib = worker_mib
    for kind, counts in outcomes.items():
        print(json.dumps({"kind": kind, "files": counts.total(), "outcomes": dict(counts.most_common())}))
    # The boxes are children of the zygote, and count as this process's when it has ended.
    ZYGOTE.stop()
    peak = {"worker_mib": _peak_mib(resource.RUSAGE_SELF), "box_mib": _peak_mib(resource.RUSAGE_CHILDREN)}
    if peak["box_mib"] > LIMITS.memory_bytes // 2**20:
        over.append({"over": "box", **peak})
    for one in over:
        print(json.dumps(one))
    bounds = {"most_s": MOST_SECONDS, "most_worker_mib_a_file": MOST_WORKER_MIB, "over": len(over)}
    time_of_slowest = {"slowest_s": round(slowest[0], 2), "slowest_kind": slowest[1]}
    print(json.dumps({"files": chosen.files, "seed": chosen.seed, **time_of_slowest, **peak, **bounds}))
    sys.exit(1 if over else 0)


def _peak_mib(who: int) -> int:
    return resource.getrusage(who).ru_maxrss // 1024


if __name__ == "__main__":
    main()
