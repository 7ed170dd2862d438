from typing import Literal

ClipCaptions = Literal["burnt", "file", "none"]

CLIP_CAPTIONS_VALUES: set[ClipCaptions] = {
    "burnt",
    "file",
    "none",
}


def check_clip_captions(value: str) -> ClipCaptions:
    if value in CLIP_CAPTIONS_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CLIP_CAPTIONS_VALUES!r}")
