"""Pictures on their way to a model: size and JPEG."""

from __future__ import annotations

import numpy as np

from gpu_workers.engine.ekg import Picture


def shrink(picture: Picture, longest: int) -> Picture:
    """Return picture scaled down so that its longest side is at most longest pixels; the aspect ratio is kept."""
    height, width = picture.shape[:2]
    scale = longest / max(height, width)
    if scale >= 1:
        return picture
    import cv2  # in the ml extra, which query workers with served models lack

    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    return np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)


def jpeg_of(picture: Picture, *, longest: int = 640) -> bytes:
    """Return the JPEG bytes of an RGB picture, scaled down to longest pixels."""
    import cv2  # as above

    done, data = cv2.imencode(".jpg", shrink(picture, longest)[:, :, ::-1], [cv2.IMWRITE_JPEG_QUALITY, 85])
    if not done:
        raise ValueError("the picture could not be encoded")
    return data.tobytes()


def picture_tokens(width: int, height: int, *, patch: int) -> int:
    """Return the tokens of a picture of this size in pixels for a Qwen VLM, with those that mark its ends.

    patch: side of the square that costs one token (ChatCapabilities.picture_patch).
    """
    return max(1, round(width / patch)) * max(1, round(height / patch)) + 2


def jpeg_tokens(jpeg: bytes, *, patch: int) -> int:
    """Return the tokens of a JPEG; of a square of 480 pixels, the side of a thumbnail, if its size cannot be read."""
    width, height = jpeg_size(jpeg) or (480, 480)
    return picture_tokens(width, height, patch=patch)


def jpeg_size(jpeg: bytes) -> tuple[int, int] | None:
    """Return width and height of a JPEG in pixels, from its header; None if it has none."""
    at = 2
    while jpeg[:2] == b"\xff\xd8" and at + 9 <= len(jpeg) and jpeg[at] == 0xFF:
        marker, length = jpeg[at + 1], int.from_bytes(jpeg[at + 2 : at + 4], "big")
        # Start of frame, in any of its codings; C4, C8 and CC are tables.
        if 0xC0 <= marker <= 0xCF and marker not in {0xC4, 0xC8, 0xCC}:
            return int.from_bytes(jpeg[at + 7 : at + 9], "big"), int.from_bytes(jpeg[at + 5 : at + 7], "big")
        at += 2 + length
    return None
