"""Object detection: SSD-MobileNet-v2 (COCO) in cv2.dnn, on the whole picture and on one tile of it."""

from __future__ import annotations

import threading
import weakref
from pathlib import Path

import cv2

from gpu_workers.engine.ekg import Picture
from gpu_workers.engine.models.observer.detection import FLOOR, LABELS, Detection, plausible, suppress

_WHOLE = (0.0, 0.0, 1.0, 1.0)
_TILE = 0.58
"""Side of a tile over the side of the picture: 2 x 2 tiles that overlap by 0.16."""


class SsdDetector:
    """Loaded from a folder with the frozen graph and its pbtxt. Safe to share between threads (one call at a time)."""

    name = "ssd-mobilenet-v2"
    tiles = 4

    def __init__(self, folder: Path) -> None:
        graph, layout = folder / "frozen_inference_graph.pb", folder / "ssd_mobilenet_v2_coco_2018_03_29.pbtxt"
        self._net = cv2.dnn.readNetFromTensorflow(str(graph), str(layout))
        self._lock = threading.Lock()
        self._kept: dict[int, tuple[weakref.ref[Picture], list[Detection]]] = {}

    def detect(self, picture: Picture, *, tile: int | None = None, floor: float = FLOOR) -> list[Detection]:
        """Return the objects of the whole picture, joined with those of one tile (0 to 3), which enlarges small ones.

        floor: lowest confidence, at least FLOOR. The picture must not change afterwards. Raises ValueError for an
        empty picture.
        """
        if picture.size == 0:
            raise ValueError("the picture is empty")
        detections = [detection for detection in self._whole(picture) if detection.confidence >= floor]
        if tile is not None:
            x, y = (tile % 2) * (1 - _TILE), (tile // 2) * (1 - _TILE)
            detections += self._run(picture, (x, y, _TILE, _TILE), max(floor, 0.45))
        return suppress([d for d in detections if plausible(d)])

    def _whole(self, picture: Picture) -> list[Detection]:
        """Return what the whole picture shows, from FLOOR on. A picture in memory is looked at once."""
        key = id(picture)
        kept = self._kept.get(key)
        # Another picture may have taken the place of one that is gone.
        if kept is None or kept[0]() is not picture:
            forget = weakref.ref(picture, lambda _: self._kept.pop(key, None))
            kept = self._kept[key] = (forget, self._run(picture, _WHOLE, FLOOR))
        return kept[1]

    def _run(self, picture: Picture, region: tuple[float, float, float, float], floor: float) -> list[Detection]:
        height, width = picture.shape[:2]
        x, y, w, h = region
        crop = picture[int(y * height) : int((y + h) * height), int(x * width) : int((x + w) * width)]
        blob = cv2.dnn.blobFromImage(crop, size=(300, 300), swapRB=False)
        with self._lock:
            self._net.setInput(blob)
            rows = self._net.forward()[0, 0]
        detections = []
        for _, label, score, x0, y0, x1, y1 in rows[rows[:, 2] >= floor].tolist():
            x0, y0, x1, y1 = (min(1.0, max(0.0, v)) for v in (x0, y0, x1, y1))
            # An object that touches an inner edge of a tile is cut off; the whole picture or another tile shows all of
            # it.
            cut = (
                (x > 0 and x0 < 0.01) or (y > 0 and y0 < 0.01) or (x + w < 1 and x1 > 0.99) or (y + h < 1 and y1 > 0.99)
            )
            name = LABELS[int(label)] if 0 < label < len(LABELS) else "-"
            if cut or name == "-":
                continue
            detections.append(Detection(name, score, (x + x0 * w, y + y0 * h, x + x1 * w, y + y1 * h)))
        return detections
