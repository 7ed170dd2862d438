"""Whether two audio tracks are the same recording, as files have one sound in several codecs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpu_workers.engine.indexing.audio import SAMPLE_RATE

_SHIFT = SAMPLE_RATE // 10
"""Maximum distance by which codecs shift the same sound."""
_WINDOW = SAMPLE_RATE // 2
"""Length of the parts that are compared: a spoken comment over the same background is another sound."""
_AUDIBLE = 0.1
"""Share of the loudest part's volume from which a part counts: codecs write quiet parts differently."""
_SAME = 0.8
"""Minimum correlation of each part; an initial value."""


def is_same_sound(one: NDArray[np.float32], other: NDArray[np.float32]) -> bool:
    """Whether two sounds of one span (mono, SAMPLE_RATE) are the same but for codec, volume and a small shift."""
    length = min(one.size, other.size)
    if length < _WINDOW or max(one.size, other.size) - length > _WINDOW:
        return False
    lag = _lag(one[:length], other[:length])
    one, other = one[max(0, lag) : length + min(0, lag)], other[max(0, -lag) : length - max(0, lag)]
    count = one.size // _WINDOW
    first, second = (sound[: count * _WINDOW].reshape(count, _WINDOW) for sound in (one, other))
    volumes = [np.linalg.norm(parts, axis=1) for parts in (first, second)]
    if not count or any(volume.max() == 0 for volume in volumes):
        return False
    audible = np.maximum(*(volume / volume.max() for volume in volumes)) >= _AUDIBLE
    products = np.einsum("ij,ij->i", first, second)
    return bool(np.all(products[audible] >= _SAME * (volumes[0] * volumes[1])[audible]))


def _lag(one: NDArray[np.float32], other: NDArray[np.float32]) -> int:
    """Return by how many samples `one` is later than `other`, at most _SHIFT either way."""
    size = 1 << (one.size + _SHIFT).bit_length()
    likeness = np.fft.irfft(np.fft.rfft(one, size) * np.conj(np.fft.rfft(other, size)), size)
    near = np.concatenate([likeness[-_SHIFT:], likeness[: _SHIFT + 1]])
    return int(near.argmax()) - _SHIFT
