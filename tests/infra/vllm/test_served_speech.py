"""Speech by a real vLLM with the real Whisper base, next to the same model in the worker: `make test-vllm`."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
import pytest
from faster_whisper import decode_audio
from numpy.typing import NDArray

from gpu_workers.engine.models import bindings
from gpu_workers.engine.models.capabilities import forget_reports
from gpu_workers.engine.models.roles import Meter, Transcriber
from gpu_workers.engine.models.served.transcription import ServedTranscriber
from gpu_workers.engine.models.served.transport import AUDIO_TOKENS_PER_S
from gpu_workers.engine.models.settings import ModelSettings
from gpu_workers.engine.models.status import model_status
from infra.vllm import servers
from tests.engine.models.whisper_base import whisper_base
from tests.infra.vllm.conftest import Notes, running
from tests.shared_data import SHARED_DATA, needs

if not os.environ.get("AVA_TEST_VLLM"):
    pytest.skip("make test-vllm sets up and starts the vLLM servers of these tests", allow_module_level=True)

SPEECH = SHARED_DATA / "audio" / "jfk.flac"


@pytest.fixture(scope="module")
def settings(notes: Notes) -> Iterator[ModelSettings]:
    with running(notes, transcriber="transcriber") as served:
        yield ModelSettings.from_env(servers.environment_of(served))
    forget_reports()


@pytest.fixture(scope="module")
def served(settings: ModelSettings) -> Transcriber:
    return bindings.transcriber(settings)


def speech() -> NDArray[np.float32]:
    return np.asarray(decode_audio(str(SPEECH)), dtype=np.float32)


@needs(SPEECH)
def test_served_speech_has_the_words_and_the_language_of_the_model(served: Transcriber, notes: Notes) -> None:
    assert isinstance(served, ServedTranscriber)
    meter = Meter()
    lines = served.transcribe(speech(), offset_ms=0, meter=meter)
    with whisper_base(served=False) as whisper:
        own = whisper.transcribe(speech(), offset_ms=0, meter=Meter())
    assert "what your country can do for you" in " ".join(line.text for line in lines).lower()
    assert {line.language for line in lines} == {line.language for line in own} == {"en"}
    assert lines[0].span.start_ms == pytest.approx(own[0].span.start_ms, abs=150)
    assert lines[-1].span.end_ms == pytest.approx(own[-1].span.end_ms, abs=1_000)
    assert all(call.prompt_tokens and call.prompt_tokens % AUDIO_TOKENS_PER_S == 0 for call in meter.calls)
    apart = word_distances(lines, own)
    notes.add(
        f"estimated word times against Whisper's own: {len(apart)} words, median {np.median(apart):.0f} ms, "
        f"largest {np.max(apart):.0f} ms; {len(meter.calls)} requests"
    )
    assert np.median(apart) < 500


@needs(SPEECH)
def test_a_language_that_is_told_is_not_detected(served: Transcriber) -> None:
    meter = Meter()
    lines = served.transcribe(speech()[: 5 * 16_000], offset_ms=1_000, meter=meter, language="en")
    assert {line.language for line in lines} == {"en"}
    assert len(meter.calls) == len(lines), "one request a line, and none for the language"
    assert lines[0].span.start_ms >= 1_000


@needs(SPEECH)
def test_speech_up_to_the_end_of_the_model_s_window_is_not_lost(served: Transcriber) -> None:
    """Half a second before 30 s, vLLM's segments hold none of the words (ADR 60)."""
    samples = np.concatenate([speech()] * 3)[: round(29.5 * 16_000)]
    text = " ".join(line.text for line in served.transcribe(samples, offset_ms=0, meter=Meter())).lower()
    assert text.count("fellow americans") == 3


def test_the_status_of_the_role_and_the_check_of_its_server(settings: ModelSettings) -> None:
    (status,) = [one for one in model_status(settings) if one.role == "transcriber"]
    assert (status.runs, status.error) == ("served", "")


def word_distances(lines: list, own: list) -> NDArray[np.float64]:  # type: ignore[type-arg]
    """Return how far the middle of each word that both heard is apart, in milliseconds."""
    ours, theirs = ([(word.strip(",.").lower(), (a + b) / 2) for one in many for a, b, word in one.words]
                    for many in (lines, own))  # fmt: skip
    paired = [(a, b) for a, b in zip(ours, theirs, strict=False) if a[0] == b[0]]
    assert len(paired) > 15
    return np.asarray([abs(a[1] - b[1]) for a, b in paired])
