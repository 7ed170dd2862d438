from __future__ import annotations

import av
import numpy as np
import pytest

from gpu_workers.engine.ekg import Picture
from gpu_workers.engine.indexing.hdr import HLG, PQ, is_hdr, to_sdr

BT709_TO_BT2020 = np.array([[0.6274, 0.3293, 0.0433], [0.0691, 0.9195, 0.0114], [0.0164, 0.0880, 0.8956]])


def pq(nits: np.ndarray) -> np.ndarray:
    """Return the code of light by SMPTE ST 2084."""
    power = (nits / 10_000) ** 0.1593017578125
    return np.asarray(((0.8359375 + 18.8515625 * power) / (1 + 18.6875 * power)) ** 78.84375)


def hlg(nits: np.ndarray) -> np.ndarray:
    """Return the code of light on a display of 1000 cd/m2 by BT.2100."""
    scene = (nits / 1000) ** (1 / 1.2)
    logarithm = 0.17883277 * np.log(np.maximum(12 * scene - 0.28466892, 1e-9)) + 0.55991073
    return np.where(scene <= 1 / 12, np.sqrt(3 * scene), logarithm)


def mastered(srgb: tuple[int, int, int], transfer: int) -> av.VideoFrame:
    """Return a plain picture of that colour as HDR: diffuse white at 203 cd/m2, wide primaries (BT.2408)."""
    coded = np.array(srgb) / 255
    linear = np.where(coded <= 0.04045, coded / 12.92, ((coded + 0.055) / 1.055) ** 2.4)
    nits = np.clip(BT709_TO_BT2020 @ linear, 0, None) * 203
    value = (pq(nits) if transfer == PQ else hlg(nits)) * 65535
    frame = av.VideoFrame.from_ndarray(np.full((8, 8, 3), value).astype(np.uint16), format="rgb48le")
    frame.color_trc, frame.color_primaries = transfer, 9
    return frame


def shown(frame: av.VideoFrame) -> np.ndarray:
    picture: Picture = to_sdr(frame, 8, 8)
    assert picture.shape == (8, 8, 3)
    return picture.reshape(-1, 3).mean(axis=0)


@pytest.mark.parametrize("transfer", [PQ, HLG])
@pytest.mark.parametrize("colour", [(0, 0, 0), (128, 128, 128), (192, 48, 48), (32, 96, 192), (224, 224, 224)])
def test_a_scene_in_hdr_has_the_colours_of_the_scene(colour: tuple[int, int, int], transfer: int) -> None:
    frame = mastered(colour, transfer)
    assert is_hdr(frame)
    assert np.abs(shown(frame) - np.array(colour)).max() < 12


def test_highlights_stay_apart() -> None:
    levels = []
    for nits in (203.0, 400.0, 800.0):
        value = np.full((8, 8, 3), pq(np.array(nits)) * 65535).astype(np.uint16)
        frame = av.VideoFrame.from_ndarray(value, format="rgb48le")
        frame.color_trc = PQ
        levels.append(float(shown(frame).mean()))
    assert levels[0] < levels[1] < levels[2] <= 255


def test_an_ordinary_picture_is_left_alone() -> None:
    assert not is_hdr(av.VideoFrame(8, 8, "yuv420p10le"))
