"""Chunks that show nothing new: a fixed camera, a slide, a screen that nobody touches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gpu_workers.engine.ekg import Picture
from gpu_workers.engine.models.roles import ChunkView

_WIDTH = 320
"""Width in pixels to which frames are scaled: sensor noise averages out, a person 20 pixels tall in 1280x720 stays."""
_BLOCK = 8
"""Side in pixels of the blocks whose mean difference is compared."""
CHANGED_BLOCK = 8.0
"""Mean difference in grey levels from which a block has changed. A still camera's noise reached 4.8 in intel_onebyone;
the faintest motion in intel_onebyone, intel_bottle and vtest was 19.8."""

Grey = NDArray[np.float32]


def unchanged_since(chunks: Sequence[ChunkView]) -> list[int | None]:
    """Return for each chunk the index of the chunk whose description it may keep, None if it needs its own.

    A chunk keeps the description of the last described chunk if neither of them shows any motion and their pictures are
    equal up to noise. So a chunk that follows motion is always described, and slow changes add up against the described
    chunk until they count. A chunk without frames needs its own.
    """
    kept: list[int | None] = []
    anchor: int | None = None
    still: Grey | None = None
    for index, chunk in enumerate(chunks):
        frames = [_grey(frame.picture) for frame in chunk.frames]
        motionless = bool(frames) and all(same_picture(frames[0], frame) for frame in frames[1:])
        if motionless and still is not None and all(same_picture(still, frame) for frame in frames):
            kept.append(anchor)
            continue
        kept.append(None)
        anchor, still = index, (frames[0] if motionless else None)
    return kept


def same_picture(one: Grey, other: Grey) -> bool:
    """Whether two grey pictures differ by no more than noise in every block."""
    if one.shape != other.shape:
        return False
    import cv2  # in the ml extra, which query workers with served models lack

    height, width = one.shape
    blocks = (max(1, width // _BLOCK), max(1, height // _BLOCK))
    difference = cv2.resize(cv2.absdiff(one, other), blocks, interpolation=cv2.INTER_AREA)
    return float(difference.max()) < CHANGED_BLOCK


def _grey(picture: Picture) -> Grey:
    import cv2  # as above

    height, width = picture.shape[:2]
    size = (_WIDTH, max(1, round(height * _WIDTH / width)))
    grey = cv2.cvtColor(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), cv2.COLOR_RGB2GRAY)
    return np.asarray(grey, dtype=np.float32)
