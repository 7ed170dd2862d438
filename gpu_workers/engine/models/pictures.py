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


def jpeg_of(picture: Picture, *, longest: int = 640, quality: int = 85) -> bytes:
    """Return the JPEG bytes of an RGB picture, scaled down to longest pixels."""
    import cv2  # as above

    done, data = cv2.imencode(".jpg", shrink(picture, longest)[:, :, ::-1], [cv2.IMWRITE_JPEG_QUALITY, quality])
    if not done:
        raise ValueError("the picture could not be encoded")
    return data.tobytes()
