"""Speech to text behind /v1/audio/transcriptions: the voice detector gives the times, the server the words.

vLLM 0.32 times no words and gives no probability of silence or of a language. The times of its segments cannot be used
either: it leaves out a text whose last time the model did not write, which loses whole parts
(docs/adr/0060-one-transcriber-for-all-workers.md). So each stretch of speech is a request and a line.
"""

from __future__ import annotations

import threading
import wave
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Unpack

import numpy as np
from faster_whisper.tokenizer import _LANGUAGE_CODES as WHISPER_LANGUAGES
from faster_whisper.vad import VadOptions, get_speech_timestamps
from numpy.typing import NDArray

from gpu_workers.engine.ekg import Span, TranscriptLine
from gpu_workers.engine.languages.codes import LANGUAGES
from gpu_workers.engine.models.roles import Meter, ModelError
from gpu_workers.engine.models.served.transport import LineOptions, ModelServer, at_once

_RATE, _PER_MS = 16_000, 16
_PAUSE_MS, _PADDING_MS = 500, 200
"""Shortest silence between two stretches of speech, and what is sent around each of them."""
_LONGEST_S = 15
"""Longest stretch. The shorter it is, the nearer are the estimated times of its words; each costs one pass of the
encoder over 30 s."""
_DETECTED_IN_S = 25
"""Most speech in which the language is detected. The model hears 30 s at once."""
_CERTAIN_S = 5.0
"""Least speech of which a detected language is certain, since servers give no probability; an initial value."""


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Speech without a pause. samples: with silence around it."""

    start_ms: int
    end_ms: int
    samples: NDArray[np.float32]


class ServedTranscriber:
    """A roles.Transcriber behind /v1/audio/transcriptions of vLLM or of a hosted provider. Safe to share between
    threads.

    The times of words are estimates: they share the time of their stretch by their letters. options: see
    transport.Line.
    """

    def __init__(self, *, base_url: str, model: str, **options: Unpack[LineOptions]) -> None:
        self.name = model
        self._server = ModelServer(base_url=base_url, model=model, **options)
        self._detects = True
        self._lock = threading.Lock()

    def transcribe(
        self, samples: NDArray[np.float32], *, offset_ms: int, meter: Meter, language: str = ""
    ) -> Sequence[TranscriptLine]:
        """Return one line for each stretch of speech, in order of time. Sound without a voice costs no request.

        language: see roles.Transcriber. The lines carry a detected language if at least _CERTAIN_S were spoken. Raises
        ModelError.
        """
        stretches = _stretches(samples)
        if not stretches:
            return []
        known = language if language in WHISPER_LANGUAGES else ""
        spoken = known or self._detected(stretches, meter)
        seconds = sum(len(one.samples) for one in stretches) / _RATE
        certain = spoken if spoken in LANGUAGES and (known or seconds >= _CERTAIN_S) else ""
        texts = at_once(lambda one: self._heard(one.samples, spoken, meter), stretches)
        return [
            _line(text, Span(offset_ms + one.start_ms, offset_ms + one.end_ms), certain)
            for text, one in zip(texts, stretches, strict=True)
            if text
        ]

    def _heard(self, samples: NDArray[np.float32], language: str, meter: Meter) -> str:
        body = {"response_format": "json", "temperature": 0, **({"language": language} if language else {})}
        return self._ask(samples, body, lambda reply: " ".join(str(reply["text"]).split()), meter)

    def _detected(self, stretches: Sequence[_Stretch], meter: Meter) -> str:
        """Return the language of the speech, "" if the server does not detect it or does not say it as a code."""
        with self._lock:
            if not self._detects:
                return ""
        joined = np.concatenate([one.samples for one in stretches])[: _DETECTED_IN_S * _RATE]
        body = {"response_format": "verbose_json", "temperature": 0}
        try:
            # The text is not needed, so the server writes one token of it.
            found = self._ask(joined, body, _language_in, meter, optional={"max_completion_tokens": 1})
        except ModelError as error:
            if error.code != "model_bad_request":
                raise
            with self._lock:
                self._detects = False
            return ""
        return found if found in WHISPER_LANGUAGES else ""

    def _ask(
        self,
        samples: NDArray[np.float32],
        body: Mapping[str, Any],
        read: Any,
        meter: Meter,
        optional: Mapping[str, Any] | None = None,
    ) -> str:
        return str(
            self._server.post(
                "/audio/transcriptions",
                body,
                read,
                stage="transcription",
                meter=meter,
                items=1,
                optional=optional,
                files={"file": ("speech.wav", _wav(samples), "audio/wav")},
            )
        )


def _stretches(samples: NDArray[np.float32]) -> list[_Stretch]:
    """Return the stretches of speech in order of time."""
    options = VadOptions(speech_pad_ms=0, min_silence_duration_ms=_PAUSE_MS, max_speech_duration_s=_LONGEST_S)
    found = []
    for one in get_speech_timestamps(samples, options):
        begin, end = int(one["start"]), int(one["end"])
        around = samples[max(0, begin - _PADDING_MS * _PER_MS) : end + _PADDING_MS * _PER_MS]
        found.append(_Stretch(begin // _PER_MS, max(begin // _PER_MS + 1, end // _PER_MS), around))
    return found


def _line(text: str, span: Span, language: str) -> TranscriptLine:
    """Return a line whose words share its time by their letters."""
    words = text.split()
    ends = np.cumsum([len(word) + 1 for word in words])
    times = [span.start_ms, *(span.start_ms + np.rint(ends / ends[-1] * span.duration_ms).astype(int))]
    timed = tuple((int(times[n]), int(times[n + 1]), word) for n, word in enumerate(words))
    return TranscriptLine(span, text, timed, language=language)


def _language_in(reply: Mapping[str, Any]) -> str:
    return str(reply.get("language") or "")


def _wav(samples: NDArray[np.float32]) -> bytes:
    written = BytesIO()
    with wave.open(written, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(_RATE)
        file.writeframes((np.clip(samples, -1, 1) * 32_767).astype("<i2").tobytes())
    return written.getvalue()
