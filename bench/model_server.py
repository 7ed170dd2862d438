"""A model server with a clock instead of a model: OpenAI's protocol, fixed rates, a fixed number of slots.

    with ModelServer(Rates(), slots=8) as server:
        model = OpenAIChatModel(base_url=server.url, model="scripted")

A request waits for a slot, first come, first served. Then it takes latency + prompt tokens over the prefill rate +
written tokens over the decode rate. The choices of one request are decoded side by side in one slot, as in a batch that
is far from full, and take as long as the longest choice. With slot_per_sample each choice waits for a slot of its own,
and each takes the time of the prompt: the batch is full.
A beginning of the prompt that an earlier request with the same cache_salt had too costs nothing, in blocks of 16
tokens, as on servers with a prefix cache. What the server itself wrote counts only once it comes back in a prompt, and
no prompt is ever forgotten. Answers are JSON that fits the requested schema. The asyncio server has its own process, so
that its work does not count as the client's.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import multiprocessing
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import Any

import httpx

TOKEN_CHARACTERS, BLOCK_TOKENS = 4, 16
"""Characters of a token, and tokens of a block of the prefix cache, as in vLLM."""

Words = Callable[[Mapping[str, Any]], str | Sequence[str]]
"""request body -> one text for every choice, or one text per choice; None as `words` answers by the schema."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Tokens per second in one slot, and the fixed seconds of every request. image_tokens: tokens of one picture."""

    latency_s: float = 0.02
    prefill: float = 8_000.0
    decode: float = 60.0
    image_tokens: int = 300

    def service_s(self, prompt_tokens: int, written_tokens: int) -> float:
        return self.latency_s + prompt_tokens / self.prefill + written_tokens / self.decode


@dataclass(frozen=True, slots=True)
class Served:
    """The server's totals. service_s: time of all requests. busy_s: from the first arrival to the last end."""

    requests: int
    service_s: float
    longest_s: float
    busy_s: float
    most_waiting: int


class ModelServer:
    """Serves until closed. words: a function of a module, because it is sent to the server's process."""

    def __init__(self, rates: Rates, *, slots: int, words: Words | None = None, slot_per_sample: bool = False) -> None:
        context = multiprocessing.get_context("spawn")
        here, there = context.Pipe()
        self._process = context.Process(target=_serve, args=(there, rates, slots, words, slot_per_sample), daemon=True)
        self._process.start()
        there.close()
        self.url = f"http://127.0.0.1:{here.recv()}/v1"

    def served(self) -> Served:
        """Return the totals so far."""
        return Served(**httpx.get(f"{self.url}/served").raise_for_status().json())

    def __enter__(self) -> ModelServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        self._process.join()


def answer_for(schema: Mapping[str, Any], number: int = 0) -> Any:
    """Return a value that schema allows: every property, texts of about ten words, two items in every array."""
    options = schema.get("enum") or schema.get("anyOf")
    if options:
        first = options[number % len(options)]
        return answer_for(first, number) if "anyOf" in schema else first
    kind = schema.get("type")
    if kind == "object":
        return {name: answer_for(part, number) for name, part in schema.get("properties", {}).items()}
    if kind == "array":
        return [answer_for(schema["items"], number + k) for k in range(2)] if "items" in schema else []
    if kind == "integer":
        return 0
    if kind == "number":
        return 0.5
    if kind == "boolean":
        return True
    return f"person {number} in a grey coat walks across the square"


# --- the server's process ----------------------------------------------------------------------------------------


def _serve(pipe: Any, rates: Rates, slots: int, words: Words | None, slot_per_sample: bool) -> None:
    asyncio.run(_Server(rates, slots, words, slot_per_sample).run(pipe))


class _Server:
    def __init__(self, rates: Rates, slots: int, words: Words | None, slot_per_sample: bool) -> None:
        self._rates, self._words, self._slot_per_sample = rates, words, slot_per_sample
        self._slots = asyncio.Semaphore(slots)
        self._seen: set[bytes] = set()
        self._waiting = self._requests = self._most_waiting = 0
        self._service_s = self._longest_s = 0.0
        self._first: float | None = None
        self._last = 0.0

    async def run(self, pipe: Any) -> None:
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0, limit=1 << 26)
        pipe.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                line, *fields = head.decode("latin-1").split("\r\n")
                headers = dict(field.lower().split(": ", 1) for field in fields if field)
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                answer = await self._answer(line.split(" ")[1], body)
                data = json.dumps(answer).encode()
                writer.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(data)
                    + data
                )
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def _answer(self, path: str, body: bytes) -> Mapping[str, Any]:
        if path.endswith("/served"):
            busy = 0.0 if self._first is None else self._last - self._first
            return asdict(Served(self._requests, self._service_s, self._longest_s, busy, self._most_waiting))
        if path.endswith("/models"):
            return {"object": "list", "data": [{"id": "scripted", "object": "model"}]}
        arrived = time.monotonic()
        self._first = arrived if self._first is None else self._first
        return await self._complete(json.loads(body))

    async def _complete(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        number, choices = self._requests, int(request.get("n") or 1)
        self._requests += 1
        schema = (request.get("response_format") or {}).get("json_schema", {}).get("schema")
        answer: str | Sequence[str] = json.dumps(answer_for(schema, number)) if schema else "Yes."
        if self._words is not None:
            answer = self._words(request)
        texts = [answer] * choices if isinstance(answer, str) else answer[:choices]
        prompt, cached = self._prompt_tokens(request)
        written = [_tokens(text) for text in texts]
        lengths = written if self._slot_per_sample else [max(written)]
        await asyncio.gather(*(self._take(self._rates.service_s(prompt - cached, length)) for length in lengths))
        messages = [{"role": "assistant", "content": text, "refusal": None} for text in texts]
        return {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "created": 0,
            "model": "scripted",
            "choices": [{"index": k, "finish_reason": "stop", "message": m} for k, m in enumerate(messages)],
            "usage": {
                "prompt_tokens": prompt,
                "completion_tokens": sum(written),
                "total_tokens": prompt + sum(written),
                "prompt_tokens_details": {"cached_tokens": cached},
            },
        }

    async def _take(self, service_s: float) -> None:
        """Occupy a slot for so many seconds."""
        self._waiting += 1
        self._most_waiting = max(self._most_waiting, self._waiting)
        async with self._slots:
            self._waiting -= 1
            await asyncio.sleep(service_s)
        self._service_s += service_s
        self._longest_s = max(self._longest_s, service_s)
        self._last = time.monotonic()

    def _prompt_tokens(self, request: Mapping[str, Any]) -> tuple[int, int]:
        """Return the number of the prompt's tokens, and of those that an earlier prompt began with."""
        total = cached = 0
        state, cached_prefix = hashlib.sha256(str(request.get("cache_salt")).encode()), True
        for part in _parts(request):
            total += self._tokens_of(part)
            for block, tokens in self._blocks(part):
                state.update(block)
                key = state.digest()
                cached_prefix = cached_prefix and key in self._seen
                self._seen.add(key)
                cached += tokens if cached_prefix else 0
        return total, cached

    def _blocks(self, part: Mapping[str, Any]) -> Iterator[tuple[bytes, int]]:
        """Yield the blocks of a part, each with its tokens, which add up to the part's. A picture is one block."""
        if "text" not in part:
            yield json.dumps(part, sort_keys=True).encode(), self._tokens_of(part)
            return
        text, size = part["text"], BLOCK_TOKENS * TOKEN_CHARACTERS
        for at in range(0, len(text), size):
            piece = text[at : at + size]
            # The end of a part is marked, so that "ab" and "a", "b" are two prompts.
            yield f"{piece}{chr(0) if at + size >= len(text) else ''}".encode(), _tokens(piece)

    def _tokens_of(self, part: Mapping[str, Any]) -> int:
        if part.get("type") == "image_url":
            return self._rates.image_tokens
        if part.get("type") == "video_url":
            # Two frames cost as much as one picture.
            return self._rates.image_tokens * math.ceil(str(part["video_url"]["url"]).count(",") / 2)
        return _tokens(part["text"])


def _parts(request: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for message in request["messages"]:
        content = message["content"]
        yield from [{"type": "text", "text": content}] if isinstance(content, str) else content


def _tokens(text: str) -> int:
    """Return a number of tokens: four characters make a token, near enough for English."""
    return math.ceil(len(text) / TOKEN_CHARACTERS)
