"""Conversion of high dynamic range to the ordinary picture that models were trained on (ITU-R BT.2100, BT.2408).

Decoded as they are, PQ and HLG pictures look grey and dark, and colours measured on them are wrong.
"""

from __future__ import annotations

from functools import cache

import av
import numpy as np
from numpy.typing import NDArray

from gpu_workers.engine.ekg import Picture

PQ, HLG = 16, 18
"""Transfer characteristics of ITU-T H.273."""
_BT2020 = 9
_UNSPECIFIED, _HD_LINES = 2, 720
_WHITE_NITS, _HLG_PEAK_NITS = 203.0, 1000.0
_KNEE = 0.75
"""Brightness up to which values are kept; above it they are compressed, so that highlights still differ."""
_TO_BT709 = np.array(
    [[1.6605, -0.5876, -0.0728], [-0.1246, 1.1329, -0.0083], [-0.0182, -0.1006, 1.1187]], dtype=np.float32
)
"""Matrix from linear light of BT.2020 primaries to BT.709 primaries (ITU-R BT.2087)."""
_STEPS = 4096


def is_hdr(frame: av.VideoFrame) -> bool:
    return frame.color_trc in (PQ, HLG)


def is_untagged_hd(frame: av.VideoFrame) -> bool:
    """Whether a frame does not name its colours and is so large that they are those of BT.709, as in every player."""
    return frame.colorspace == _UNSPECIFIED and min(frame.width, frame.height) >= _HD_LINES


def to_sdr(frame: av.VideoFrame, width: int, height: int) -> Picture:
    """Return frame, for which is_hdr holds, as RGB of the given size; diffuse white becomes nearly white."""
    coded = frame.reformat(width, height, format="rgb48le").to_ndarray()
    light = _linear(frame.color_trc)[coded]
    if frame.color_primaries == _BT2020:
        light = light @ _TO_BT709.T
    steps = np.clip(light / _brightest() * (_STEPS - 1), 0, _STEPS - 1).astype(np.int32)
    picture: Picture = _shown()[steps]
    return picture


@cache
def _linear(transfer: int) -> NDArray[np.float32]:
    """Return linear light by 16-bit code value, 1.0 for diffuse white."""
    code = np.linspace(0.0, 1.0, 65536)
    if transfer == PQ:
        root = code ** (1 / 78.84375)
        nits = 10_000 * (np.maximum(root - 0.8359375, 0) / (18.8515625 - 18.6875 * root)) ** (1 / 0.1593017578125)
    else:
        scene = np.where(code <= 0.5, code**2 / 3, (np.exp((code - 0.55991073) / 0.17883277) + 0.28466892) / 12)
        nits = _HLG_PEAK_NITS * scene**1.2
    return (nits / _WHITE_NITS).astype(np.float32)


def _brightest() -> float:
    return _HLG_PEAK_NITS / _WHITE_NITS


@cache
def _shown() -> Picture:
    """Return the sRGB value by light, in _STEPS from none to the brightest light that is distinguished."""
    light = np.linspace(0.0, _brightest(), _STEPS)
    above = np.maximum(light - _KNEE, 0) / (1 - _KNEE)
    bent = np.minimum(light, _KNEE) + (1 - _KNEE) * above / (1 + above)
    coded = np.where(bent <= 0.0031308, 12.92 * bent, 1.055 * bent ** (1 / 2.4) - 0.055)
    return np.asarray(np.round(coded * 255), dtype=np.uint8)
