"""A scripted server of /v1/audio/transcriptions: real HTTP and real forms; what it hears is chosen by the test.

    with ScriptedSpeechServer(lambda request: {"text": "Hello."}) as server:
        transcriber = ServedTranscriber(base_url=server.url, model="scripted")

vllm_of() is a script that hears with a real Whisper and replies as vLLM 0.32 does.
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email import message_from_bytes
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from typing import Any
from wave import open as open_wave

import numpy as np
from faster_whisper import WhisperModel
from numpy.typing import NDArray


@dataclass(frozen=True)
class SpeechRequest:
    """One form as it arrived. samples: its sound at 16 kHz."""

    fields: Mapping[str, str]
    samples: NDArray[np.float32]
    authorization: str

    @property
    def seconds(self) -> float:
        return len(self.samples) / 16_000


Script = Callable[[SpeechRequest], Mapping[str, Any] | tuple[int, Mapping[str, Any]]]


class ScriptedSpeechServer:
    """Answers every form by the script, with a reply or with a status and a reply, until closed."""

    def __init__(self, script: Script, *, model: str = "scripted") -> None:
        self.requests: list[SpeechRequest] = []
        requests, lock = self.requests, threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def log_message(self, format: str, *args: Any) -> None:
                return

            def do_GET(self) -> None:
                self._send(200, {"object": "list", "data": [{"id": model, "object": "model", "max_model_len": 448}]})

            def do_POST(self) -> None:
                content = self.rfile.read(int(self.headers["Content-Length"]))
                if not self.path.endswith("/v1/audio/transcriptions"):
                    self._send(404, {"error": {"message": "no such path"}})
                    return
                request = _request(self.headers["Content-Type"], content, self.headers.get("Authorization", ""))
                with lock:
                    requests.append(request)
                reply = script(request)
                self._send(*(reply if isinstance(reply, tuple) else (200, reply)))

            def _send(self, status: int, payload: Mapping[str, Any]) -> None:
                data = json.dumps(payload).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def __enter__(self) -> ScriptedSpeechServer:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()


def vllm_of(model: WhisperModel) -> Script:
    """Return a script that hears with a Whisper and replies as vLLM does: no words, and a language only if asked for
    segments."""
    lock = threading.Lock()

    def hear(request: SpeechRequest) -> Mapping[str, Any]:
        with lock:
            language = request.fields.get("language") or model.detect_language(request.samples)[0]
            if request.fields["response_format"] == "verbose_json":
                return {"text": "", "language": language, "duration": request.seconds, "segments": [], "words": None}
            heard, _ = model.transcribe(
                request.samples, language=language, beam_size=1, temperature=0, condition_on_previous_text=False
            )
            text = "".join(segment.text for segment in heard)
        return {"text": text, "usage": {"type": "duration", "seconds": math.ceil(request.seconds)}}

    return hear


def _request(kind: str, content: bytes, authorization: str) -> SpeechRequest:
    form = message_from_bytes(f"Content-Type: {kind}\r\n\r\n".encode() + content)
    fields: dict[str, str] = {}
    samples = np.zeros(0, dtype=np.float32)
    parts: Any = form.get_payload()
    for part in parts:
        name = part.get_param("name", header="content-disposition")
        payload = part.get_payload(decode=True)
        if name == "file":
            with open_wave(BytesIO(payload)) as sound:
                assert (sound.getframerate(), sound.getnchannels()) == (16_000, 1)
                samples = np.frombuffer(sound.readframes(sound.getnframes()), "<i2").astype(np.float32) / 32_768
        else:
            fields[name] = payload.decode()
    return SpeechRequest(fields, samples, authorization)
