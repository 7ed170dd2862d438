"""Text on screen by RapidOCR, without lines of low confidence."""

from __future__ import annotations

import re
import threading
from typing import Any

from gpu_workers.engine.ekg import Picture
from gpu_workers.engine.models.pictures import shrink

_SURE = 0.8


class TextReader:
    """Loads on first use. Safe to share between threads (one call at a time)."""

    def __init__(self, *, threads: int = 1) -> None:
        self._threads = threads
        self._lock = threading.Lock()
        self._engine: Any = None

    def read(self, picture: Picture) -> tuple[str, ...]:
        """Return lines of at least two letters or digits, from top to bottom, each once."""
        with self._lock:
            if self._engine is None:
                from rapidocr_onnxruntime import RapidOCR

                self._engine = RapidOCR(intra_op_num_threads=self._threads, inter_op_num_threads=1)
            # Rotated text is rare, and its classifier costs a pass per line.
            readings, _ = self._engine(shrink(picture, 960)[:, :, ::-1], use_cls=False)
        lines = [" ".join(str(text).split()) for _, text, score in readings or [] if float(score) >= _SURE]
        return tuple(dict.fromkeys(line for line in lines if len(re.findall(r"\w", line)) >= 2))
