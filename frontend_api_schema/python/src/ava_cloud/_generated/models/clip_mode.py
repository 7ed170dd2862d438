from typing import Literal

ClipMode = Literal["exact", "fast"]

CLIP_MODE_VALUES: set[ClipMode] = {
    "exact",
    "fast",
}


def check_clip_mode(value: str) -> ClipMode:
    if value in CLIP_MODE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CLIP_MODE_VALUES!r}")
