"""Speech to text with word times: faster-whisper."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from faster_whisper import WhisperModel
from numpy.typing import NDArray

from gpu_workers.engine.ekg import Span, TranscriptLine
from gpu_workers.engine.models.roles import Meter, ModelCall

_SILENCE = 1e-4
_NO_SPEECH = 0.8


class WhisperTranscriber:
    """A roles.Transcriber over a local folder or a size name. Safe to share between threads (one call at a time)."""

    def __init__(
        self,
        source: Path | str,
        *,
        name: str,
        device: str = "cpu",
        compute_type: str = "int8",
        threads: int = 1,
        language: str | None = None,
    ) -> None:
        self.name = name
        self._language = language
        self._model = WhisperModel(str(source), device=device, compute_type=compute_type, cpu_threads=threads)
        self._lock = threading.Lock()

    def transcribe(self, samples: NDArray[np.float32], *, offset_ms: int, meter: Meter) -> Sequence[TranscriptLine]:
        """Return lines in order of time. Silence, and sound that the model itself takes for no speech, give no line."""
        started = time.monotonic()
        lines: list[TranscriptLine] = []
        if samples.size and float(np.sqrt(np.mean(np.square(samples)))) > _SILENCE:
            with self._lock:
                # Segments are independent: the text of an earlier segment makes the model repeat itself over silence.
                segments, _ = self._model.transcribe(
                    samples,
                    language=self._language,
                    word_timestamps=True,
                    vad_filter=True,
                    condition_on_previous_text=False,
                    beam_size=1,
                )
                for segment in segments:
                    text = segment.text.strip()
                    if not text or segment.no_speech_prob > _NO_SPEECH:
                        continue
                    start = offset_ms + max(0, round(segment.start * 1000))
                    end = max(start + 1, offset_ms + round(segment.end * 1000))
                    words = tuple(
                        (offset_ms + round(w.start * 1000), offset_ms + round(w.end * 1000), w.word.strip())
                        for w in segment.words or []
                    )
                    lines.append(TranscriptLine(Span(start, end), text, words))
        wall_ms = round((time.monotonic() - started) * 1000)
        meter.record(ModelCall("transcription", self.name, wall_ms, items=len(lines)))
        return lines
