"""What the probe says about the coding of pictures, which decides whether a browser plays them."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_workers.engine.indexing.picture_format import PictureFormat
from gpu_workers.engine.indexing.probe import probe
from tests.engine.indexing.media import run_ffmpeg

H264 = ("-c:v", "libx264", "-sc_threshold", "0")
PQ = "setparams=color_primaries=bt2020:color_trc=smpte2084:colorspace=bt2020nc"


@pytest.mark.parametrize(
    ("name", "codec", "expected"),
    [
        ("v.mp4", (*H264, "-g", "50"), PictureFormat("yuv420p", 8, 5_000)),
        # The decoding times of Matroska are guessed, two pictures late at the beginning.
        ("v.mkv", (*H264, "-g", "80"), PictureFormat("yuv420p", 8, 7_800)),
        ("once.mp4", (*H264, "-g", "600"), PictureFormat("yuv420p", 8, 11_900)),
        ("v.avi", ("-c:v", "mpeg4", "-g", "20"), PictureFormat("yuv420p", 8, 2_000)),
        ("full.mp4", (*H264, "-g", "20", "-pix_fmt", "yuv444p"), PictureFormat("yuv444p", 8, 2_000)),
        (
            "hdr.mp4",
            (*H264, "-g", "20", "-pix_fmt", "yuv420p10le", "-vf", PQ),
            PictureFormat("yuv420p10le", 10, 2_000, transfer="pq"),
        ),
        ("fields.ts", (*H264, "-g", "20", "-flags", "+ilme+ildct"), PictureFormat("yuv420p", 8, 2_000, True)),
    ],
)
def test_the_coding_of_pictures(tmp_path: Path, name: str, codec: tuple[str, ...], expected: PictureFormat) -> None:
    run_ffmpeg("-f", "lavfi", "-i", "testsrc2=s=160x96:r=10:d=12", "-pix_fmt", "yuv420p", *codec, str(tmp_path / name))

    assert probe(str(tmp_path / name)).pictures == expected
