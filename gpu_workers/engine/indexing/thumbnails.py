"""The small JPEG that is kept of a sampled frame: shown to customers and to the checking model."""

from __future__ import annotations

from io import BytesIO

from PIL import Image

from gpu_workers.engine.ekg import Picture

MAX_WIDTH = 480


def thumbnail(picture: Picture, *, quality: int = 80, max_width: int = MAX_WIDTH) -> bytes:
    """picture as JPEG, at most max_width wide, aspect ratio kept; never enlarged."""
    image = Image.fromarray(picture)
    if image.width > max_width:
        image = image.resize((max_width, max(1, round(image.height * max_width / image.width))), Image.Resampling.BOX)
    out = BytesIO()
    image.save(out, "JPEG", quality=quality)
    return out.getvalue()
