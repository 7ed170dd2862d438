"""Labels and features of a picture or a crop: EfficientNet-lite3 over 1000 ImageNet labels."""

from __future__ import annotations

import ast
import re
import threading
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from ai_edge_litert.interpreter import Interpreter
from numpy.typing import NDArray

from gpu_workers.engine.ekg import Picture, Vector, unit

FEATURES = 1280


class SceneClassifier:
    """Loaded from a folder with the tflite file and its labels. Safe to share between threads (one call at a time)."""

    def __init__(self, folder: Path, *, threads: int = 1) -> None:
        with warnings.catch_warnings():
            # Kept for features(): the tensor that the labels are computed from. Keeping it costs no measurable time.
            warnings.simplefilter("ignore", UserWarning)
            self._interpreter = Interpreter(
                str(folder / "efficientnet_lite3.tflite"), num_threads=threads, experimental_preserve_all_tensors=True
            )
        self._interpreter.allocate_tensors()
        self._input = self._interpreter.get_input_details()[0]
        self._output = self._interpreter.get_output_details()[0]
        self._pooled = next(
            tensor
            for tensor in self._interpreter.get_tensor_details()
            if tensor["shape"].tolist() == [1, 1, 1, FEATURES] and "AvgPool" in tensor["name"]
        )
        self._lock = threading.Lock()
        self.labels = _read_labels(folder / "efficientnet_labels.txt")

    def probabilities(self, picture: Picture) -> NDArray[np.float32]:
        """Return an array of shape (len(labels),) with sum 1. The picture is cropped to its central square."""
        height, width = picture.shape[:2]
        side = min(height, width)
        y, x = (height - side) // 2, (width - side) // 2
        square = picture[y : y + side, x : x + side]
        return self._run(square, self._output)

    def features(self, crop: Picture) -> Vector:
        """Return the look of one thing, a unit vector of FEATURES dimensions. All of crop is seen, on a grey square."""
        height, width = crop.shape[:2]
        side = max(height, width)
        y, x = (side - height) // 2, (side - width) // 2
        square = np.full((side, side, 3), 127, dtype=np.uint8)
        square[y : y + height, x : x + width] = crop
        return unit(self._run(square, self._pooled))

    def _run(self, square: Picture, tensor: Mapping[str, Any]) -> NDArray[np.float32]:
        """Return the values of tensor for a square picture of any size, flat."""
        _, rows, columns, _ = self._input["shape"]
        small = cv2.resize(square, (int(columns), int(rows)), interpolation=cv2.INTER_AREA)
        kind = self._input["dtype"]
        batch = small.astype(kind) if kind == np.uint8 else ((small.astype(np.float32) - 127.0) / 128.0).astype(kind)
        with self._lock:
            self._interpreter.set_tensor(self._input["index"], batch[None])
            self._interpreter.invoke()
            raw = np.array(self._interpreter.get_tensor(tensor["index"]), dtype=np.float32).ravel()
        scale, zero = tensor["quantization"]
        return np.asarray((raw - zero) * scale if scale else raw, dtype=np.float32)

    def tags(self, picture: Picture, *, floor: float = 0.4, limit: int = 2) -> list[tuple[str, float]]:
        """Return the labels at or above floor, best first."""
        scores = self.probabilities(picture)
        best = np.argsort(-scores)[:limit]
        return [(self.labels[k], round(float(scores[k]), 2)) for k in best if scores[k] >= floor]


def _read_labels(path: Path) -> tuple[str, ...]:
    text = path.read_text(encoding="utf-8").strip()
    if text.startswith("{"):
        table = ast.literal_eval(text)
        names = [str(table[key]) for key in sorted(table, key=int)]
    else:
        names = [re.sub(r"^\d+[:\s]+", "", line).strip() for line in text.splitlines()]
    return tuple(name.split(",")[0].strip().strip("'\"") for name in names)
