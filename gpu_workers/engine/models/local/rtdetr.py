"""RT-DETR and RT-DETRv2 through transformers' own classes: the detector of the presets with a GPU."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from transformers import AutoImageProcessor, AutoModelForObjectDetection

from gpu_workers.engine.ekg import Picture
from gpu_workers.engine.models.host_occupancy import on_device
from gpu_workers.engine.models.local.encoders import limit_torch_threads
from gpu_workers.engine.models.observer.detection import FLOOR, LABELS, Detection, plausible, suppress
from gpu_workers.engine.models.roles import Meter, ModelCall
from gpu_workers.engine.models.weights import WeightsCorrupt

_OTHER_NAMES = {
    "aeroplane": "airplane", "diningtable": "dining table", "hair drier": "hair dryer", "motorbike": "motorcycle",
    "mouse": "computer mouse", "pottedplant": "potted plant", "remote": "remote control",
    "scissors": "pair of scissors", "sofa": "couch", "sports ball": "ball", "tv": "television",
    "tvmonitor": "television",
}  # fmt: skip
"""Categories by the names that the published models have for them, where these differ."""


class RtDetrDetector:
    """A detection.BatchDetector over a folder of a model. Safe to share between threads (one call at a time).

    Labels that are no category of the object memory are left out. Raises WeightsCorrupt if the folder holds no such
    model, lacks weights of it, or has none of the categories.
    """

    def __init__(self, folder: Path | str, *, name: str, device: str = "cpu", batch: int = 8) -> None:
        limit_torch_threads()
        self.name, self.batch = name, batch
        self._device = device
        self._lock = threading.Lock()
        try:
            self._processor = AutoImageProcessor.from_pretrained(str(folder))  # type: ignore[no-untyped-call]
            model, report = AutoModelForObjectDetection.from_pretrained(str(folder), output_loading_info=True)
        except (OSError, ValueError, RuntimeError, SafetensorError) as error:
            raise WeightsCorrupt(f"{name}: {folder} has no detector that can be loaded: {error}") from error
        if missing := sorted(report["missing_keys"]):
            raise WeightsCorrupt(f"{name}: {folder} lacks {len(missing)} weights, such as {missing[0]}")
        self._model = model.eval().to(device)
        names = {label: _category(word) for label, word in self._model.config.id2label.items()}
        self._categories = {label: category for label, category in names.items() if category}
        if not self._categories:
            raise WeightsCorrupt(f"{name}: {folder} detects none of the categories of the object memory")

    def detect_all(self, pictures: Sequence[Picture], *, meter: Meter) -> list[list[Detection]]:
        """See detection.BatchDetector."""
        started, device_ms = time.monotonic(), 0.0
        found: list[list[Detection]] = []
        for at in range(0, len(pictures), self.batch):
            part = list(pictures[at : at + self.batch])
            inputs = self._processor(images=part, return_tensors="pt")
            with self._lock, on_device(self._device) as share, torch.inference_mode():
                outputs = self._model(**inputs.to(self._device))
                # Boxes of a picture of 1 x 1 are fractions.
                rows = self._processor.post_process_object_detection(
                    outputs, threshold=FLOOR, target_sizes=[(1, 1)] * len(part)
                )
            device_ms += share.ms
            found += [self._detections(row) for row in rows]
        if pictures:
            wall_ms = round((time.monotonic() - started) * 1000)
            meter.record(ModelCall("detection", self.name, wall_ms, items=len(pictures), device_ms=device_ms))
        return found

    def _detections(self, row: dict[str, Any]) -> list[Detection]:
        detections = []
        for label, score, corners in zip(
            row["labels"].tolist(), row["scores"].tolist(), row["boxes"].tolist(), strict=True
        ):
            x0, y0, x1, y1 = (min(1.0, max(0.0, value)) for value in corners)
            if label in self._categories:
                detections.append(Detection(self._categories[label], score, (x0, y0, x1, y1)))
        return suppress([detection for detection in detections if plausible(detection)])


def _category(label: str) -> str:
    """Return the category of a model's label, "" if there is none."""
    word = label.replace("_", " ").strip().casefold()
    word = _OTHER_NAMES.get(word, word)
    return word if word in LABELS and word != "-" else ""
