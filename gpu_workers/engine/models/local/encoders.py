"""Sentence encoders (MiniLM) by transformers, with mean pooling over tokens."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoModel, AutoTokenizer

from gpu_workers.engine.models.host_occupancy import on_device
from gpu_workers.engine.models.roles import Meter, ModelCall

_threads_set = threading.Lock()


def limit_torch_threads() -> None:
    """Obey AVA_TORCH_THREADS (a whole number) for torch's own threads; without it torch decides."""
    threads = os.environ.get("AVA_TORCH_THREADS")
    if threads:
        with _threads_set:
            torch.set_num_threads(int(threads))


class MiniLMTextEmbedder:
    """A roles.TextEmbedder over a folder with a BERT-like encoder. Safe to share between threads (one call at a time).

    name: identifies the vector space, stored with every vector. Texts longer than 256 tokens are cut, as the
    model was trained.
    """

    def __init__(
        self, folder: Path | str, *, name: str = "all-MiniLM-L6-v2", device: str = "cpu", batch: int = 32
    ) -> None:
        limit_torch_threads()
        self.name = name
        self._device, self._batch = device, batch
        self._tokenizer = AutoTokenizer.from_pretrained(str(folder))
        self._model = AutoModel.from_pretrained(str(folder)).eval().to(device)
        self.dimension = int(self._model.config.hidden_size)
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str], *, meter: Meter) -> NDArray[np.float32]:
        """See roles.TextEmbedder.embed."""
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        # Texts of similar length share a batch, so that padding costs little.
        order = sorted((k for k, text in enumerate(texts) if text.strip()), key=lambda k: len(texts[k]))
        tokens = 0
        with self._lock, on_device(self._device) as share, torch.inference_mode():
            started = time.monotonic()
            for at in range(0, len(order), self._batch):
                members = order[at : at + self._batch]
                encoded = self._tokenizer(
                    [texts[k] for k in members], padding=True, truncation=True, max_length=256, return_tensors="pt"
                ).to(self._device)
                hidden = self._model(**encoded).last_hidden_state
                mask = encoded["attention_mask"].unsqueeze(-1).to(hidden.dtype)
                mean = (hidden * mask).sum(1) / mask.sum(1)
                rows[members] = torch.nn.functional.normalize(mean.float(), dim=1).cpu().numpy()
                tokens += int(encoded["attention_mask"].sum())
            wall_ms = round((time.monotonic() - started) * 1000)
        if texts:
            call = ModelCall("embedding", self.name, wall_ms, tokens, items=len(texts), device_ms=share.ms)
            meter.record(call)
        return rows
