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

TICKING_SHARE = 0.5
"""Minimum share of the seconds of a segment in which a block of a clock or a blinking lamp changes."""
TICKING_AREA = 0.03
"""Maximum share of the picture that such blocks fill together with those around them; more is something that happens.
"""
_AROUND = np.ones((3, 7), dtype=np.uint8)
"""Blocks around a ticking block that tick with it: the other digits of a clock, three blocks to each side."""
_TICKING_PAIRS = 8
"""Minimum number of pairs of frames, a second apart, that show what ticks."""
_PAIR_MS = 900
"""Minimum time between the frames of such a pair: a clock shows another second in each."""

Grey = NDArray[np.float32]
Blocks = NDArray[np.bool_]


def unchanged_since(chunks: Sequence[ChunkView]) -> list[int | None]:
    """Return for each chunk the index of the chunk whose description it may keep, None if it needs its own.

    A chunk keeps the description of the last described chunk if neither of them shows any motion and their pictures are
    equal up to noise. So a chunk that follows motion is always described, and slow changes add up against the described
    chunk until they count. A chunk without frames needs its own. A few blocks that change all the time, such as the
    seconds of a clock in the picture, are left out of the comparison.
    """
    greys = [[(frame.ms, small_grey(frame.picture)) for frame in chunk.frames] for chunk in chunks]
    ticking = _ticking([frame for frames in greys for frame in frames])
    kept: list[int | None] = []
    anchor: int | None = None
    still: Grey | None = None
    for index, of_chunk in enumerate(greys):
        frames = [grey for _, grey in of_chunk]
        motionless = bool(frames) and all(same_picture(frames[0], frame, ticking) for frame in frames[1:])
        if motionless and still is not None and all(same_picture(still, frame, ticking) for frame in frames):
            kept.append(anchor)
            continue
        kept.append(None)
        anchor, still = index, (frames[0] if motionless else None)
    return kept


def same_picture(one: Grey, other: Grey, ticking: Blocks | None = None) -> bool:
    """Whether two grey pictures differ by no more than noise in every block that does not tick."""
    changed = _changed(one, other)
    if changed is None:
        return False
    if ticking is not None and ticking.shape == changed.shape:
        changed = changed & ~ticking
    return not changed.any()


def _ticking(frames: Sequence[tuple[int, Grey]]) -> Blocks | None:
    """Return the blocks that change every second, None if there are none or too many. frames: (ms, picture)."""
    import cv2  # in the ml extra, which query workers with served models lack

    pairs: list[Blocks] = []
    before = 0
    for ms, grey in frames:
        while frames[before][0] + _PAIR_MS <= ms:
            changed = _changed(frames[before][1], grey)
            before += 1
            if frames[before][0] + _PAIR_MS > ms and changed is not None:
                pairs.append(changed)
    if len(pairs) < _TICKING_PAIRS or len({pair.shape for pair in pairs}) > 1:
        return None
    often = (np.mean(pairs, axis=0) >= TICKING_SHARE).astype(np.uint8)
    ticking: Blocks = cv2.dilate(often, _AROUND).astype(np.bool_)
    return ticking if 0 < ticking.mean() <= TICKING_AREA else None


def _changed(one: Grey, other: Grey) -> Blocks | None:
    """Return which blocks of two grey pictures differ by more than noise; None for pictures of two sizes."""
    import cv2

    if one.shape != other.shape:
        return None
    height, width = one.shape
    blocks = (max(1, width // _BLOCK), max(1, height // _BLOCK))
    changed: Blocks = cv2.resize(cv2.absdiff(one, other), blocks, interpolation=cv2.INTER_AREA) >= CHANGED_BLOCK
    return changed


def small_grey(picture: Picture) -> Grey:
    """Return the grey copy of a picture that same_picture() compares."""
    import cv2

    height, width = picture.shape[:2]
    size = (_WIDTH, max(1, round(height * _WIDTH / width)))
    grey = cv2.cvtColor(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), cv2.COLOR_RGB2GRAY)
    return np.asarray(grey, dtype=np.float32)
