"""Whisper base as a worker has it: in its process, or behind a server that replies as vLLM does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from faster_whisper import WhisperModel

from gpu_workers.engine.models import weights
from gpu_workers.engine.models.local.whisper import WhisperTranscriber
from gpu_workers.engine.models.roles import Transcriber
from gpu_workers.engine.models.served.transcription import ServedTranscriber
from tests.scripted_speech import ScriptedSpeechServer, vllm_of


@contextmanager
def whisper_base(*, served: bool) -> Iterator[Transcriber]:
    """Yield a transcriber for the block."""
    if not served:
        yield _in_process()
        return
    with ScriptedSpeechServer(vllm_of(_model())) as server:
        yield ServedTranscriber(base_url=server.url, model="whisper-base")


@cache
def _in_process() -> WhisperTranscriber:
    return WhisperTranscriber(weights.fetch("whisper-base"), name="whisper-base")


@cache
def _model() -> WhisperModel:
    return WhisperModel(str(weights.fetch("whisper-base")), device="cpu", compute_type="int8", cpu_threads=1)
