"""The small JPEG that is stored of a sampled frame; customers and the checking model see it."""

from __future__ import annotations

from io import BytesIO

from PIL import Image

from gpu_workers.engine.ekg import Picture

MAX_WIDTH = 480


def thumbnail(picture: Picture, *, quality: int = 80, max_width: int = MAX_WIDTH) -> bytes:
    """Return picture as JPEG, at most max_width wide; the aspect ratio is kept, and it is never enlarged."""
    image = Image.fromarray(picture)
    if image.width > max_width:
        image = image.resize((max_width, max(1, round(image.height * max_width / image.width))), Image.Resampling.BOX)
    out = BytesIO()
    image.save(out, "JPEG", quality=quality)
    return out.getvalue()
