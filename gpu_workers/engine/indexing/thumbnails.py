"""The small JPEG that is stored of a sampled frame; customers and the checking model see it."""

from __future__ import annotations

from io import BytesIO

from PIL import Image

from gpu_workers.engine.ekg import Picture

MAX_WIDTH = 480


def thumbnail(picture: Picture, *, quality: int = 80) -> bytes:
    """Return picture as JPEG, at most MAX_WIDTH wide; the aspect ratio is kept, and it is never enlarged."""
    image = Image.fromarray(picture)
    if image.width > MAX_WIDTH:
        image = image.resize((MAX_WIDTH, max(1, round(image.height * MAX_WIDTH / image.width))), Image.Resampling.BOX)
    out = BytesIO()
    image.save(out, "JPEG", quality=quality)
    return out.getvalue()
