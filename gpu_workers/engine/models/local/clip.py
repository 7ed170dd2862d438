"""CLIP-type encoders through transformers: text and frames in one space (gpu profile)."""

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
from transformers import AutoModel, AutoProcessor

from gpu_workers.engine.ekg import Picture, Vector
from gpu_workers.engine.models.local.encoders import limit_torch_threads
from gpu_workers.engine.models.roles import Meter, ModelCall


class ClipEmbedder:
    """A roles.TextEmbedder and roles.FrameEmbedder over any model with get_text_features and get_image_features.

    source: a local folder or a hub id. trust_code: run the model code that comes with the weights (jina-clip needs it);
    only for a source and revision that the profile pins. Safe to share between threads (one call at a time).
    """

    def __init__(
        self,
        source: Path | str,
        *,
        name: str,
        device: str = "cpu",
        batch: int = 32,
        trust_code: bool = False,
        revision: str | None = None,
    ) -> None:
        limit_torch_threads()
        self.name = name
        self._device, self._batch = device, batch
        options: dict[str, Any] = {"trust_remote_code": trust_code}
        if revision is not None:
            options["revision"] = revision
        self._processor = AutoProcessor.from_pretrained(str(source), **options)  # type: ignore[no-untyped-call]
        self._model = AutoModel.from_pretrained(str(source), **options).eval().to(device)
        self._lock = threading.Lock()
        self.dimension = int(self._features("text", ["a"]).shape[1])

    def embed(self, texts: Sequence[str], *, meter: Meter) -> NDArray[np.float32]:
        filled = [k for k, text in enumerate(texts) if text.strip()]
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        if filled:
            rows[filled] = self._timed("text", [texts[k] for k in filled], meter)
        return rows

    def embed_query(self, text: str, *, meter: Meter) -> Vector:
        return np.asarray(self.embed([text], meter=meter)[0], dtype=np.float32)

    def embed_frames(self, pictures: Sequence[Picture], *, meter: Meter) -> NDArray[np.float32]:
        if not pictures:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return self._timed("image", [PILImage.fromarray(picture) for picture in pictures], meter)

    def _timed(self, kind: str, items: Sequence[Any], meter: Meter) -> NDArray[np.float32]:
        started = time.monotonic()
        batches = [self._features(kind, items[at : at + self._batch]) for at in range(0, len(items), self._batch)]
        wall_ms = round((time.monotonic() - started) * 1000)
        meter.record(ModelCall("embedding", self.name, wall_ms, items=len(items)))
        return np.concatenate(batches)

    def _features(self, kind: str, items: Sequence[Any]) -> NDArray[np.float32]:
        with self._lock, torch.inference_mode():
            if kind == "text":
                inputs = self._processor(text=list(items), padding=True, truncation=True, return_tensors="pt")
                outputs = self._model.get_text_features(**inputs.to(self._device))
            else:
                inputs = self._processor(images=list(items), return_tensors="pt")
                outputs = self._model.get_image_features(**inputs.to(self._device))
            # transformers 5 returns an output object, earlier ones and remote code a tensor.
            vectors = outputs if isinstance(outputs, torch.Tensor) else outputs.pooler_output
            rows = torch.nn.functional.normalize(vectors.float(), dim=1).cpu().numpy()
        return np.asarray(rows, dtype=np.float32)
