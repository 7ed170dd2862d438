"""A scripted OpenAI-compatible server: real HTTP on a free port, words and faults chosen by the test.

    with ScriptedOpenAIServer(lambda request: Reply('{"answer": "B"}')) as server:
        model = OpenAIChatModel(base_url=server.url, model="scripted")

The script is a callable (request -> reply), a list of replies (used in order, the last one repeats) or one reply.
A reply is a str or dict (the text of every choice), a list (one text per choice), a Reply, or a Fault. Everything
that arrived is in server.requests, images decoded to their bytes.
"""

from __future__ import annotations

import base64
import json
import math
import socket
import struct
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.abilities import Abilities, is_probe


@dataclass(frozen=True)
class ScriptedRequest:
    """One chat completion request as it arrived. index counts from 0 in order of arrival.

    texts: every text part of every message in order; images: the bytes of every picture in order; videos: the frames of
    every video in order.
    """

    index: int
    body: Mapping[str, Any]
    headers: Mapping[str, str]
    texts: tuple[str, ...]
    images: tuple[bytes, ...]
    videos: tuple[tuple[bytes, ...], ...] = ()

    @property
    def text(self) -> str:
        return "\n".join(self.texts)

    @property
    def system(self) -> str:
        return "\n".join(_texts(m) for m in self.body["messages"] if m["role"] == "system")

    @property
    def user(self) -> str:
        return "\n".join(_texts(m) for m in self.body["messages"] if m["role"] == "user")

    @property
    def n(self) -> int:
        return int(self.body.get("n") or 1)

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """The JSON schema asked for, if any."""
        wanted = self.body.get("response_format") or {}
        found = wanted.get("json_schema", {}).get("schema")
        return found if isinstance(found, Mapping) else None

    @property
    def schema_name(self) -> str:
        wanted = self.body.get("response_format") or {}
        return str(wanted.get("json_schema", {}).get("name", ""))


@dataclass(frozen=True)
class Reply:
    """A completion. texts: one text for all choices, or one per choice (fewer than n: the server returns fewer).
    logprobs: of every choice, as the protocol returns them. reasoning: of every choice, apart from its text. extra:
    fields that some servers send next to the protocol's."""

    texts: Any
    finish_reason: str = "stop"
    refusal: str | None = None
    prompt_tokens: int | None = None
    cached_tokens: int = 0
    completion_tokens: int | None = None
    logprobs: Any = None
    reasoning: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


def odds(yes: float, *, spelled: str = "yes") -> Reply:
    """Return a first token that is yes with this probability, else no."""
    tokens = [{"token": spelled, "logprob": math.log(yes), "bytes": None}]
    tokens.append({"token": " No", "logprob": math.log(1 - yes), "bytes": None})
    return Reply(spelled, logprobs={"content": [{**tokens[0], "top_logprobs": tokens}], "refusal": None})


@dataclass(frozen=True)
class Fault:
    """What goes wrong instead of an answer.

    status: HTTP error with an OpenAI error body (code, message) and headers such as Retry-After.
    drop: the connection is reset without a byte. half_body: the body stops in the middle.
    body: these bytes as a success, under content_type: what a proxy or a broken server may send.
    hang: no answer until this event is set (or the server closes), for time-outs without sleeping. param: the field of
    the request that the error names.
    """

    status: int = 500
    code: str = "server_error"
    message: str = "scripted fault"
    headers: Mapping[str, str] = field(default_factory=dict)
    drop: bool = False
    half_body: bool = False
    body: bytes | None = None
    content_type: str = "application/json"
    hang: threading.Event | None = None
    param: str | None = None


def invalid(message: str, param: str | None = None) -> Fault:
    """A request that the server does not take, as OpenAI says it."""
    return Fault(400, "invalid_request_error", message, param=param)


def rate_limited(retry_after: str = "0") -> Fault:
    return Fault(429, "rate_limit_exceeded", "slow down", {"Retry-After": retry_after})


Words = Callable[[ScriptedRequest], Any]
"""What a model would answer, whatever server it runs on."""
Script = Callable[[ScriptedRequest], Any] | Sequence[Any] | str | Mapping[str, Any] | Reply | Fault


# --- servers that lack something -------------------------------------------------------------------------------------


def refusing(words: Words, **refusals: str) -> Words:
    """A server that refuses each of these fields of a request with its message."""

    def script(request: ScriptedRequest) -> Any:
        for name, message in refusals.items():
            if name in request.body:
                return invalid(message, param=name)
        return words(request)

    return script


def without_schemas(words: Words) -> Words:
    """A server that takes no JSON schema; its model answers in prose around the object."""

    def script(request: ScriptedRequest) -> Any:
        if "response_format" in request.body:
            return invalid("'response_format' of type 'json_schema' is not supported with this model")
        return f"Sure, here it is:\n```json\n{_as_text(words(request))}\n```"

    return script


def without_samples(words: Words) -> Words:
    """A server that gives one sample a request."""

    def script(request: ScriptedRequest) -> Any:
        return invalid("Only one completion choice is allowed") if request.n > 1 else words(request)

    return script


def without_log_probabilities(words: Words) -> Words:
    """A server that refuses log-probabilities."""
    return refusing(words, logprobs="logprobs are not supported with reasoning models")


def with_window(words: Words, tokens: int) -> Words:
    """A server whose window holds this number of tokens: four characters each, 300 for a picture or two frames."""

    def script(request: ScriptedRequest) -> Any:
        pictures = len(request.images) + sum((len(frames) + 1) // 2 for frames in request.videos)
        wanted = len(request.text) // 4 + 300 * pictures + _most_tokens(request)
        if wanted > tokens:
            return invalid(f"This model's maximum context length is {tokens} tokens, and {wanted} were requested")
        return words(request)

    return script


def looping(beginning: str, item: str) -> Words:
    """A model that never closes a list: its beginning, then item after item until max_tokens."""

    def script(request: ScriptedRequest) -> Any:
        room = 4 * _most_tokens(request)
        return Reply((beginning + item * room)[:room], finish_reason="length")

    return script


def thinking_first(words: Words, *, obeys: bool = True, apart: bool = False, thought_tokens: int = 400) -> Words:
    """A model that reasons before it answers. obeys: unless enable_thinking is false. apart: as reasoning_content."""

    def script(request: ScriptedRequest) -> Any:
        answer = _as_text(words(request))
        if obeys and not request.body.get("chat_template_kwargs", {}).get("enable_thinking", True):
            return answer
        cut = _most_tokens(request) <= thought_tokens
        thought = "The question is " + "so hard " * 20
        if apart:
            return Reply("" if cut else answer, "length" if cut else "stop", reasoning=thought)
        return Reply(f"<think>{thought}", "length") if cut else f"<think>{thought}</think>\n\n{answer}"

    return script


def missing_until(ready: threading.Event, words: Words) -> Words:
    """A server that does not have the model until the event is set."""

    def script(request: ScriptedRequest) -> Any:
        if not ready.is_set():
            return Fault(404, "NotFoundError", "The model `scripted` does not exist.")
        return words(request)

    return script


def _most_tokens(request: ScriptedRequest) -> int:
    return int(request.body.get("max_tokens") or request.body.get("max_completion_tokens") or 0)


def _as_text(answer: Any) -> str:
    return answer if isinstance(answer, str) else json.dumps(answer)


class ScriptedOpenAIServer:
    """Serves /v1/chat/completions, /v1/models and /health until closed. max_choices caps n, as some servers do.

    abilities: what it shows to a probe, whose requests are in probes and not in requests.
    """

    def __init__(
        self,
        script: Script = "{}",
        *,
        model: str = "scripted",
        max_choices: int | None = None,
        abilities: Abilities | None = None,
    ) -> None:
        self.script = script
        self.abilities = abilities or Abilities()
        self.probes: list[Mapping[str, Any]] = []
        self.model = model
        self.max_choices = max_choices
        self.requests: list[ScriptedRequest] = []
        self.in_flight = 0
        self.most_in_flight = 0
        self.closed = threading.Event()
        self._lock = threading.Lock()
        handler = type("BoundHandler", (_Handler,), {"scripted": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """The base URL a client is given, ending in /v1."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def __enter__(self) -> ScriptedOpenAIServer:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        self.closed.set()
        self._http.shutdown()
        self._http.server_close()

    def reply_to(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> tuple[ScriptedRequest, Reply | Fault]:
        texts: list[str] = []
        images: list[bytes] = []
        videos: list[tuple[bytes, ...]] = []
        for message in body["messages"]:
            _collect(message, texts, images, videos)
        with self._lock:
            request = ScriptedRequest(len(self.requests), body, headers, tuple(texts), tuple(images), tuple(videos))
            self.requests.append(request)
        script = self.script
        if callable(script):
            chosen: Any = script(request)
        elif isinstance(script, Sequence) and not isinstance(script, str):
            chosen = script[min(request.index, len(script) - 1)]
        else:
            chosen = script
        return request, chosen if isinstance(chosen, (Reply, Fault)) else Reply(chosen)

    def enter(self) -> None:
        with self._lock:
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)

    def leave(self) -> None:
        with self._lock:
            self.in_flight -= 1


class _Handler(BaseHTTPRequestHandler):
    scripted: ScriptedOpenAIServer
    protocol_version = "HTTP/1.1"
    # Headers and body are two writes; held together they would wait for the client's delayed acknowledgement.
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: Any) -> None:
        return

    def do_GET(self) -> None:
        if self.path.endswith("/models"):
            self._send(*self.scripted.abilities.models(self.scripted.model, self.headers.get("Authorization", "")))
        elif self.path.endswith("/health"):
            self._send(200, {"status": "ok"})
        else:
            self._send(404, {"error": {"message": "no such path", "code": "not_found"}})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self.path.endswith("/chat/completions"):
            self._send(404, {"error": {"message": "no such path", "code": "not_found"}})
            return
        if is_probe(body):
            self.scripted.probes.append(body)
            authorization = self.headers.get("Authorization", "")
            self._send(*self.scripted.abilities.answer(body, self.scripted.model, authorization))
            return
        self.scripted.enter()
        try:
            request, reply = self.scripted.reply_to(body, dict(self.headers.items()))
            if isinstance(reply, Fault):
                self._fail(reply)
            else:
                self._send(200, _completion(request, reply, self.scripted))
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            self.scripted.leave()

    def _fail(self, fault: Fault) -> None:
        if fault.hang is not None:
            while not fault.hang.wait(0.02) and not self.scripted.closed.is_set():
                continue
            self.close_connection = True
        elif fault.drop:
            # Linger 0 makes close() send a reset instead of a clean end.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
        elif fault.half_body:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", "4096")
            self.end_headers()
            self.wfile.write(b'{"id": "half", "choices": [{"message": {"content": "cut')
            self.close_connection = True
        elif fault.body is not None:
            self._write(200, fault.body, {"Content-Type": fault.content_type})
        else:
            error = {"error": {"message": fault.message, "code": fault.code, "type": fault.code, "param": fault.param}}
            self._send(fault.status, error, fault.headers)

    def _send(self, status: int, payload: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> None:
        self._write(status, json.dumps(payload).encode(), {"Content-Type": "application/json", **(headers or {})})

    def _write(self, status: int, data: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


def _completion(request: ScriptedRequest, reply: Reply, server: ScriptedOpenAIServer) -> dict[str, Any]:
    wanted = request.n if server.max_choices is None else min(request.n, server.max_choices)
    texts = reply.texts if isinstance(reply.texts, (list, tuple)) else [reply.texts] * wanted
    texts = [text if isinstance(text, str) or text is None else json.dumps(text) for text in texts[:wanted]]
    prompt = reply.prompt_tokens if reply.prompt_tokens is not None else len(request.text) // 4 + 1
    completion = reply.completion_tokens
    if completion is None:
        completion = sum(len(text or "") // 4 + 1 for text in texts)
    return {
        "id": f"chatcmpl-{request.index}",
        "object": "chat.completion",
        "created": 0,
        "model": request.body.get("model", server.model),
        "choices": [
            {
                "index": index,
                "finish_reason": reply.finish_reason,
                "logprobs": reply.logprobs,
                "message": {
                    "role": "assistant",
                    "content": None if reply.refusal else text,
                    "refusal": reply.refusal,
                    **({} if reply.reasoning is None else {"reasoning_content": reply.reasoning}),
                },
            }
            for index, text in enumerate(texts)
        ],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
            "prompt_tokens_details": {"cached_tokens": reply.cached_tokens},
        },
        **reply.extra,
    }


def _texts(message: Mapping[str, Any]) -> str:
    texts: list[str] = []
    _collect(message, texts, [], [])
    return "\n".join(texts)


def _collect(
    message: Mapping[str, Any], texts: list[str], images: list[bytes], videos: list[tuple[bytes, ...]]
) -> None:
    content = message["content"]
    if isinstance(content, str):
        texts.append(content)
        return
    for part in content or []:
        if part["type"] == "text":
            texts.append(part["text"])
        elif part["type"] == "image_url":
            images.append(base64.b64decode(part["image_url"]["url"].split(",", 1)[1], validate=True))
        elif part["type"] == "video_url":
            kind, *frames = part["video_url"]["url"].split(",")
            if kind == "data:video/jpeg;base64":
                videos.append(tuple(base64.b64decode(frame, validate=True) for frame in frames))
            else:
                # A whole file, or its address: as hosted models take it.
                assert kind.startswith(("data:video/", "https://"))
