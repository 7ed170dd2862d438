"""Evidence in full: the exact frame, in the size of the source."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gpu_workers.engine.indexing.sampling import SourceUnreadable
from gpu_workers.engine.indexing.stills import still
from tests.engine.indexing.media import grey, write_video


def brightness(jpeg: bytes) -> float:
    return float(np.asarray(Image.open(BytesIO(jpeg)).convert("L")).mean())


def test_the_frame_of_that_very_moment_is_shown(tmp_path: Path) -> None:
    video = write_video(tmp_path / "steps.mp4", [i * 100 for i in range(10)], [grey(i * 25) for i in range(10)])
    for n in (0, 4, 9):
        assert brightness(still(str(video), n * 100)) == pytest.approx(n * 25, abs=6)


def test_a_moment_after_the_end_has_no_frame(tmp_path: Path) -> None:
    video = write_video(tmp_path / "short.mp4", [0, 100], [grey(10), grey(10)])
    with pytest.raises(SourceUnreadable):
        still(str(video), 60_000)


def test_text_that_calls_itself_a_video_gives_nothing(tmp_path: Path) -> None:
    (tmp_path / "notes.mp4").write_text("#EXTM3U\nfile:///etc/passwd\n")
    with pytest.raises(SourceUnreadable):
        still(str(tmp_path / "notes.mp4"), 0)
