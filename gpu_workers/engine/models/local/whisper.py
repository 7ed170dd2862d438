"""Speech to text with word times: faster-whisper."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from faster_whisper import WhisperModel
from faster_whisper.vad import VadOptions, get_speech_timestamps
from numpy.typing import NDArray

from gpu_workers.engine.ekg import Span, TranscriptLine
from gpu_workers.engine.languages.codes import LANGUAGES
from gpu_workers.engine.models.host_occupancy import on_device
from gpu_workers.engine.models.roles import Meter, ModelCall

_SILENCE = 1e-4
_NO_SPEECH = 0.8
_CERTAIN = 0.7
"""Minimum probability of a detected language; an initial value."""
_SAMPLES_PER_MS = 16
_PAUSE_MS, _PADDING_MS = 500, 600
"""Shortest silence after which speech begins again, and longest time by which a word may seem to begin before it."""


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
    ) -> None:
        self.name = name
        self._device = device
        self._model = WhisperModel(str(source), device=device, compute_type=compute_type, cpu_threads=threads)
        self._lock = threading.Lock()

    def transcribe(
        self, samples: NDArray[np.float32], *, offset_ms: int, meter: Meter, language: str = ""
    ) -> Sequence[TranscriptLine]:
        """Return lines in order of time. Silence, and sound that the model itself takes for no speech, give no line.

        language: ISO 639-1 code of the speech; "", and a language that the model does not know, detects it. The lines
        carry a detected language if it is at least _CERTAIN.
        """
        lines: list[TranscriptLine] = []
        started, device_ms = time.monotonic(), 0.0
        if samples.size and float(np.sqrt(np.mean(np.square(samples)))) > _SILENCE:
            with self._lock, on_device(self._device) as share:
                # The wait for another call is not this one's time.
                started = time.monotonic()
                # Segments are independent: the text of an earlier segment makes the model repeat itself over silence.
                known = language if language in self._model.supported_languages else None
                segments, heard = self._model.transcribe(
                    samples,
                    language=known,
                    word_timestamps=True,
                    vad_filter=True,
                    condition_on_previous_text=False,
                    beam_size=1,
                )
                certain = known is not None or heard.language_probability >= _CERTAIN
                spoken = heard.language if certain and heard.language in LANGUAGES else ""
                onsets = _onsets(samples)
                for segment in segments:
                    text = segment.text.strip()
                    if not text or segment.no_speech_prob > _NO_SPEECH:
                        continue
                    start = offset_ms + _begun(segment.start, segment.end, onsets)
                    end = max(start + 1, offset_ms + round(segment.end * 1000))
                    words = tuple(
                        (offset_ms + _begun(w.start, w.end, onsets), offset_ms + round(w.end * 1000), w.word.strip())
                        for w in segment.words or []
                    )
                    lines.append(TranscriptLine(Span(start, end), text, words, language=spoken))
            device_ms = share.ms
        wall_ms = round((time.monotonic() - started) * 1000)
        meter.record(ModelCall("transcription", self.name, wall_ms, items=len(lines), device_ms=device_ms))
        return lines


def _onsets(samples: NDArray[np.float32]) -> list[int]:
    """Return where speech begins after silence, in ms. The recogniser hears 400 ms of silence before each of them."""
    found = get_speech_timestamps(samples, VadOptions(speech_pad_ms=0, min_silence_duration_ms=_PAUSE_MS))
    return [int(one["start"]) // _SAMPLES_PER_MS for one in found]


def _begun(start_s: float, end_s: float, onsets: Sequence[int]) -> int:
    """Return when a word or line begins, in ms: not before the speech in it, where it begins in the padding."""
    start, end = max(0, round(start_s * 1000)), round(end_s * 1000)
    return next((ms for ms in onsets if start < ms < min(end, start + _PADDING_MS)), start)
