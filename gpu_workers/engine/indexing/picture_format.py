"""How the pictures of a file are coded, as far as a player and an encoder need to know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

TRANSFERS = {16: "pq", 18: "hlg"}
"""Names of the transfer characteristics of ITU-T H.273 with a high dynamic range."""


@dataclass(frozen=True, slots=True)
class PictureFormat:
    """Properties of coded pictures. pixel_format: ffmpeg's name, "" if unknown. bit_depth: of one component.

    keyframe_ms: longest time between two keyframes of the part that was looked at, None if unknown. transfer: "pq" or
    "hlg" for a high dynamic range, else "".
    """

    pixel_format: str = ""
    bit_depth: int = 0
    keyframe_ms: int | None = None
    is_interlaced: bool = False
    transfer: str = ""

    @classmethod
    def of_fields(cls, fields: Mapping[str, Any]) -> PictureFormat:
        """Return the format that as_fields() wrote; the empty one for a file that was probed without it."""
        return cls(**fields)

    def as_fields(self) -> dict[str, Any]:
        return asdict(self)


UNKNOWN_FORMAT = PictureFormat()
