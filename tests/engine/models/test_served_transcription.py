"""The client of served speech: what it sends, and what it makes of the replies. The voice detector is real."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from faster_whisper import decode_audio
from numpy.typing import NDArray

from gpu_workers.engine.models.roles import Meter, ModelError
from gpu_workers.engine.models.served.transcription import ServedTranscriber
from gpu_workers.engine.models.served.transport import AUDIO_TOKENS_PER_S, RetryPolicy
from tests.scripted_speech import ScriptedSpeechServer, SpeechRequest
from tests.shared_data import SHARED_DATA, needs

SPEECH = SHARED_DATA / "audio" / "jfk.flac"


def speech() -> NDArray[np.float32]:
    return np.asarray(decode_audio(str(SPEECH)), dtype=np.float32)


def client(server: ScriptedSpeechServer) -> ServedTranscriber:
    return ServedTranscriber(
        base_url=server.url, model="scripted", api_key="k", dependency="transcriber", retry=RetryPolicy(attempts=1)
    )


def english(request: SpeechRequest) -> Mapping[str, Any]:
    if request.fields["response_format"] == "verbose_json":
        return {"text": "", "language": "en", "duration": request.seconds, "segments": []}
    return {"text": " one  two three", "usage": {"type": "duration", "seconds": 3}}


@needs(SPEECH)
def test_each_stretch_of_speech_is_a_request_and_a_line() -> None:
    meter = Meter()
    with ScriptedSpeechServer(english) as server:
        lines = client(server).transcribe(speech(), offset_ms=60_000, meter=meter)
        detection, *parts = server.requests
    assert detection.fields["response_format"] == "verbose_json"
    assert detection.fields["max_completion_tokens"] == "1"
    assert "language" not in detection.fields
    assert {one.fields["language"] for one in parts} == {"en"}
    assert {one.authorization for one in server.requests} == {"Bearer k"}
    assert len(parts) == len(lines) >= 2, "he pauses between his sentences"
    assert [line.text for line in lines] == ["one two three"] * len(parts)
    assert {line.language for line in lines} == {"en"}
    for line in lines:
        (first, *_, last) = line.words
        assert (first[0], last[1]) == (line.span.start_ms, line.span.end_ms)
        assert [word for _, _, word in line.words] == ["one", "two", "three"]
    assert 60_000 <= lines[0].span.start_ms < lines[-1].span.end_ms <= 71_000
    assert sum(one.seconds for one in parts) < 11 + 0.4 * len(parts), "silence is not sent"
    assert [call.stage for call in meter.calls] == ["transcription"] * (1 + len(parts))
    assert [call.prompt_tokens for call in meter.calls[1:]] == [3 * AUDIO_TOKENS_PER_S] * len(parts)


@needs(SPEECH)
def test_a_known_language_is_told_and_not_detected() -> None:
    with ScriptedSpeechServer(english) as server:
        lines = client(server).transcribe(speech(), offset_ms=0, meter=Meter(), language="de")
        assert {request.fields["language"] for request in server.requests} == {"de"}
        assert {request.fields["response_format"] for request in server.requests} == {"json"}
    assert {line.language for line in lines} == {"de"}


@needs(SPEECH)
def test_a_second_of_speech_is_too_little_to_be_certain_of_its_language() -> None:
    with ScriptedSpeechServer(english) as server:
        lines = client(server).transcribe(speech()[: 2 * 16_000], offset_ms=0, meter=Meter())
    assert {line.language for line in lines} == {""}


@needs(SPEECH)
def test_a_server_that_detects_no_language_is_not_asked_again() -> None:
    def without_segments(request: SpeechRequest) -> Mapping[str, Any] | tuple[int, Mapping[str, Any]]:
        if request.fields["response_format"] == "verbose_json":
            return 400, {"error": {"message": "response_format 'verbose_json' is not compatible with model"}}
        return {"text": "one", "usage": {"type": "tokens", "input_tokens": 30, "output_tokens": 4}}

    meter = Meter()
    with ScriptedSpeechServer(without_segments) as server:
        transcriber = client(server)
        lines = [line for _ in range(2) for line in transcriber.transcribe(speech(), offset_ms=0, meter=meter)]
        formats = [request.fields["response_format"] for request in server.requests]
    assert formats.count("verbose_json") == 1
    assert len(lines) == formats.count("json")
    assert {line.language for line in lines} == {""}
    assert {call.prompt_tokens for call in meter.calls if call.ok} == {30}


def test_silence_and_noise_cost_no_request() -> None:
    noise = np.random.default_rng(0).normal(0, 0.02, 32_000).astype(np.float32)
    with ScriptedSpeechServer(english) as server:
        for samples in (np.zeros(16_000, dtype=np.float32), noise, np.zeros(0, dtype=np.float32)):
            assert client(server).transcribe(samples, offset_ms=0, meter=Meter()) == []
        assert server.requests == []


@needs(SPEECH)
def test_a_server_that_is_away_is_an_outage_of_the_transcriber() -> None:
    with (
        ScriptedSpeechServer(lambda request: (503, {"error": {"message": "busy"}})) as server,
        pytest.raises(ModelError) as caught,
    ):
        client(server).transcribe(speech(), offset_ms=0, meter=Meter())
    assert (caught.value.code, caught.value.retryable) == ("model_unavailable", True)
    assert caught.value.dependency == "transcriber"
