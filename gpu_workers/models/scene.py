"""What a whole picture looks like: EfficientNet-lite3 over 1000 ImageNet labels."""

from __future__ import annotations

import ast
import re
import threading
from pathlib import Path

import cv2
import numpy as np
from ai_edge_litert.interpreter import Interpreter
from numpy.typing import NDArray

from gpu_workers.ekg import Picture


class SceneClassifier:
    """Loaded from a folder with the tflite file and its labels. Safe to share between threads (one call at a time)."""

    def __init__(self, folder: Path, *, threads: int = 1) -> None:
        self._interpreter = Interpreter(str(folder / "efficientnet_lite3.tflite"), num_threads=threads)
        self._interpreter.allocate_tensors()
        self._input = self._interpreter.get_input_details()[0]
        self._output = self._interpreter.get_output_details()[0]
        self._lock = threading.Lock()
        self.labels = _read_labels(folder / "efficientnet_labels.txt")

    def probabilities(self, picture: Picture) -> NDArray[np.float32]:
        """Shape (len(labels),), sums to about 1. The picture is cropped to its central square."""
        height, width = picture.shape[:2]
        side = min(height, width)
        y, x = (height - side) // 2, (width - side) // 2
        _, rows, columns, _ = self._input["shape"]
        square = cv2.resize(
            picture[y : y + side, x : x + side], (int(columns), int(rows)), interpolation=cv2.INTER_AREA
        )
        kind = self._input["dtype"]
        batch = square.astype(kind) if kind == np.uint8 else ((square.astype(np.float32) - 127.0) / 128.0).astype(kind)
        with self._lock:
            self._interpreter.set_tensor(self._input["index"], batch[None])
            self._interpreter.invoke()
            raw = np.array(self._interpreter.get_tensor(self._output["index"])[0], dtype=np.float32)
        scale, zero = self._output["quantization"]
        return np.asarray((raw - zero) * scale if scale else raw, dtype=np.float32)

    def tags(self, picture: Picture, *, floor: float = 0.4, limit: int = 2) -> list[tuple[str, float]]:
        """The labels at or above floor, best first."""
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
