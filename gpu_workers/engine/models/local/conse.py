"""Frames in the text encoder's space through their labels (ConSE, Norouzi et al. 2013): the fallback for CLIP."""

from __future__ import annotations

import hashlib
import os
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gpu_workers.engine.ekg import Picture, Vector, unit
from gpu_workers.engine.models.host_occupancy import on_device
from gpu_workers.engine.models.observer.detection import LABELS
from gpu_workers.engine.models.observer.detector import SsdDetector
from gpu_workers.engine.models.observer.scene import SceneClassifier
from gpu_workers.engine.models.roles import Meter, ModelCall, TextEmbedder

_BEST = 10
_DETECTIONS_WEIGHT = 0.5


class ConseFrameEmbedder:
    """A roles.FrameEmbedder: the sum of "a photo of a {label}" vectors, weighted by probability over the ten best
    ImageNet labels, plus half the score-weighted sum over detected COCO labels. Queries go through the text encoder.

    cache_dir: where label vectors are kept, keyed by encoder and labels. Pictures that neither vocabulary names
    (paintings, cards, facades) land near nothing useful.
    """

    open_vocabulary = False

    def __init__(self, text: TextEmbedder, scene: SceneClassifier, detector: SsdDetector, *, cache_dir: Path) -> None:
        self.name = f"conse-{text.name}"
        self.dimension = text.dimension
        self._text, self._scene, self._detector = text, scene, detector
        self._cache_dir = cache_dir
        self._lock = threading.Lock()
        self._vectors: NDArray[np.float32] | None = None

    def embed_frames(self, pictures: Sequence[Picture], *, meter: Meter) -> NDArray[np.float32]:
        """Return an array of shape (len(pictures), dimension), rows of unit length."""
        vectors = self._label_vectors(meter)
        rows = np.zeros((len(pictures), self.dimension), dtype=np.float32)
        with on_device("cpu") as share:
            started = time.monotonic()
            for k, picture in enumerate(pictures):
                scores = self._scene.probabilities(picture)
                best = np.argsort(-scores)[:_BEST]
                whole = scores[best] @ vectors[best]
                parts = np.zeros(self.dimension, dtype=np.float32)
                for detection in self._detector.detect(picture, floor=0.4):
                    parts += detection.confidence * vectors[len(self._scene.labels) + LABELS.index(detection.category)]
                rows[k] = unit(unit(whole) + _DETECTIONS_WEIGHT * unit(parts))
            wall_ms = round((time.monotonic() - started) * 1000)
        if pictures:
            meter.record(ModelCall("embedding", self.name, wall_ms, items=len(pictures), device_ms=share.ms))
        return rows

    def embed_query(self, text: str, *, meter: Meter) -> Vector:
        return np.asarray(self._text.embed([text], meter=meter)[0], dtype=np.float32)

    def _label_vectors(self, meter: Meter) -> NDArray[np.float32]:
        with self._lock:
            if self._vectors is None:
                self._vectors = self._load_or_make(meter)
            return self._vectors

    def _load_or_make(self, meter: Meter) -> NDArray[np.float32]:
        sentences = [f"a photo of a {label}" for label in (*self._scene.labels, *LABELS)]
        key = hashlib.sha256("\n".join([self._text.name, *sentences]).encode()).hexdigest()[:16]
        path = self._cache_dir / f"label-vectors-{key}.npy"
        if path.is_file():
            return np.asarray(np.load(path, allow_pickle=False), dtype=np.float32)
        vectors = self._text.embed(sentences, meter=meter)
        self._cache_dir.mkdir(parents=True, exist_ok=True)
        # Written under another name and renamed, so that another process never reads half a file.
        with tempfile.NamedTemporaryFile(dir=self._cache_dir, suffix=".part", delete=False) as file:
            np.save(file, vectors)
        os.replace(file.name, path)
        return vectors
