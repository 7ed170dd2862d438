"""SigLIP2 through transformers' own class: frames and search texts in one space, on a GPU or a CPU."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image as PILImage
from transformers import AutoProcessor, SiglipModel

from gpu_workers.engine.ekg import Picture, Vector
from gpu_workers.engine.models.host_occupancy import on_device
from gpu_workers.engine.models.local.encoders import limit_torch_threads
from gpu_workers.engine.models.roles import Meter, ModelCall

TEXT_TOKENS = 64
"""Length to which the model pads every text, as it was trained; longer texts are cut."""


class SiglipEmbedder:
    """A roles.FrameEmbedder over a folder of a SigLIP model. Safe to share between threads (one call at a time)."""

    open_vocabulary = True

    def __init__(self, folder: Path | str, *, name: str, device: str = "cpu", batch: int = 32) -> None:
        limit_torch_threads()
        self.name = name
        self._device, self._batch = device, batch
        self._processor = AutoProcessor.from_pretrained(str(folder))  # type: ignore[no-untyped-call]
        self._model = SiglipModel.from_pretrained(str(folder)).eval().to(device)  # type: ignore[no-untyped-call]
        self._lock = threading.Lock()
        self.dimension = int(self._model.config.vision_config.hidden_size)

    def embed_frames(self, pictures: Sequence[Picture], *, meter: Meter) -> NDArray[np.float32]:
        """See roles.FrameEmbedder: an array of shape (len(pictures), dimension), rows of unit length."""
        started, device_ms = time.monotonic(), 0.0
        rows = np.zeros((len(pictures), self.dimension), dtype=np.float32)
        for at in range(0, len(pictures), self._batch):
            images = [PILImage.fromarray(picture) for picture in pictures[at : at + self._batch]]
            inputs = self._processor(images=images, return_tensors="pt")
            rows[at : at + self._batch], ms = self._run("get_image_features", inputs)
            device_ms += ms
        if pictures:
            call = ModelCall("embedding", self.name, _ms(started), items=len(pictures), device_ms=device_ms)
            meter.record(call)
        return rows

    def embed_query(self, text: str, *, meter: Meter) -> Vector:
        """See roles.FrameEmbedder."""
        started = time.monotonic()
        # It learnt from texts in lower case.
        inputs = self._processor(
            text=[text.lower()], padding="max_length", max_length=TEXT_TOKENS, truncation=True, return_tensors="pt"
        )
        # It learnt without a mask: the padding is part of the text.
        inputs.pop("attention_mask", None)
        rows, device_ms = self._run("get_text_features", inputs)
        meter.record(ModelCall("embedding", self.name, _ms(started), items=1, device_ms=device_ms))
        row: Vector = rows[0]
        return row

    def _run(self, method: str, inputs: Any) -> tuple[NDArray[np.float32], float]:
        """Return what the model makes of the inputs, and the milliseconds of the device that it took."""
        with self._lock, on_device(self._device) as share, torch.inference_mode():
            outputs = getattr(self._model, method)(**inputs.to(self._device)).pooler_output
            rows = torch.nn.functional.normalize(outputs.float(), dim=1).cpu().numpy()
        return np.asarray(rows, dtype=np.float32), share.ms


def _ms(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
