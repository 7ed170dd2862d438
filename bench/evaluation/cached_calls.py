"""Model calls cached by their input, so that a stopped evaluation resumes where it was."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gpu_workers.engine.ekg import Vector
from gpu_workers.engine.models.roles import (
    ChatModel,
    Image,
    Message,
    Meter,
    ModelCall,
    ModelError,
    QueryEmbedder,
    Sample,
    TextEmbedder,
    Video,
)


class _Embed(Protocol):
    def __call__(self, texts: Sequence[str], *, meter: Meter) -> NDArray[np.float32]: ...


class CallCache:
    """Answers by the digest of their input, in one file that several processes may share."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._database = sqlite3.connect(path, timeout=60, check_same_thread=False)
        self._lock = threading.Lock()
        with self._lock, self._database:
            self._database.execute("PRAGMA journal_mode=WAL")
            self._database.execute("CREATE TABLE IF NOT EXISTS calls (key TEXT PRIMARY KEY, answer BLOB NOT NULL)")

    def get(self, keys: Sequence[str]) -> dict[str, bytes]:
        """Return the answers of the keys that have one."""
        listed = "SELECT key, answer FROM calls WHERE key IN (SELECT value FROM json_each(?))"
        with self._lock:
            rows = self._database.execute(listed, (json.dumps(list(keys)),)).fetchall()
        return {key: bytes(answer) for key, answer in rows}

    def put(self, answers: Mapping[str, bytes]) -> None:
        """Store all answers in one transaction, because each transaction costs a write to the disk."""
        with self._lock, self._database:
            self._database.executemany("INSERT OR REPLACE INTO calls VALUES (?, ?)", answers.items())


class CachedChat(ChatModel):
    """A chat model that asks each question once. The meter gets the tokens and time of a cached call every time."""

    def __init__(self, model: ChatModel, cache: CallCache) -> None:
        self._model, self._cache = model, cache
        self.name, self.capabilities = model.name, model.capabilities

    def sample(
        self,
        messages: Sequence[Message],
        *,
        stage: str,
        meter: Meter,
        schema: Mapping[str, Any] | None = None,
        n: int = 1,
        temperature: float = 0.0,
        max_tokens: int = 512,
        seed: int | None = None,
        timeout_s: float | None = None,
        alternatives: int = 0,
    ) -> list[Sample]:
        request = [[_plain(m) for m in messages], stage, schema, n, temperature, max_tokens, seed]
        key = _digest(self.name, *request, *([alternatives] if alternatives else []))
        stored = self._cache.get([key]).get(key)
        if stored is None:
            spent = Meter(meter.cache_salt)
            try:
                samples = self._model.sample(
                    messages,
                    stage=stage,
                    meter=spent,
                    schema=schema,
                    n=n,
                    temperature=temperature,
                    max_tokens=max_tokens,
                    seed=seed,
                    timeout_s=timeout_s,
                    alternatives=alternatives,
                )
            except ModelError:
                # A failed call is not stored, but it counts.
                for call in spent.calls:
                    meter.record(call)
                raise
            rows = {"samples": [asdict(sample) for sample in samples], "calls": [asdict(call) for call in spent.calls]}
            stored = json.dumps(rows).encode()
            self._cache.put({key: stored})
        answer = json.loads(stored)
        for call in answer["calls"]:
            meter.record(ModelCall(**call))
        return [Sample(**sample) for sample in answer["samples"]]

    def count_tokens(self, text: str) -> int:
        return self._model.count_tokens(text)


class CachedTextEmbedder:
    """A TextEmbedder, and a FrameEmbedder if captions replace frames, that embeds each text once."""

    open_vocabulary = False

    def __init__(self, embedder: TextEmbedder, cache: CallCache) -> None:
        self._embedder, self._cache = embedder, cache
        self.name, self.dimension = embedder.name, embedder.dimension

    def embed(self, texts: Sequence[str], *, meter: Meter) -> NDArray[np.float32]:
        """See roles.TextEmbedder.embed."""
        return self._once(texts, self._embedder.embed, self.name, meter)

    def embed_queries(self, texts: Sequence[str], *, meter: Meter) -> NDArray[np.float32]:
        """See roles.QueryEmbedder.embed_queries."""
        if isinstance(self._embedder, QueryEmbedder):
            return self._once(texts, self._embedder.embed_queries, f"{self.name} query", meter)
        return self.embed(texts, meter=meter)

    def _once(self, texts: Sequence[str], embed: _Embed, space: str, meter: Meter) -> NDArray[np.float32]:
        """Return the vectors of the texts, of which only the new ones are embedded. space: part of their keys."""
        keys = {text: _digest(space, text) for text in texts}
        stored = self._cache.get(list(keys.values()))
        missing = [text for text, key in keys.items() if key not in stored]
        if missing:
            fresh = embed(missing, meter=meter).astype(np.float32)
            made = {keys[text]: row.tobytes() for text, row in zip(missing, fresh, strict=True)}
            self._cache.put(made)
            stored |= made
        rows = [np.frombuffer(stored[keys[text]], dtype=np.float32) for text in texts]
        return np.stack(rows) if rows else np.zeros((0, self.dimension), dtype=np.float32)

    def embed_frames(self, pictures: Sequence[Any], *, meter: Meter) -> NDArray[np.float32]:
        raise NotImplementedError("captions have no pictures")

    def embed_query(self, text: str, *, meter: Meter) -> Vector:
        row: Vector = self.embed_queries([text], meter=meter)[0]
        return row


def _plain(message: Message) -> list[str]:
    return [message.role, *map(_plain_part, message.parts)]


def _plain_part(part: str | Image | Video) -> str:
    if isinstance(part, Image):
        return hashlib.sha256(part.jpeg).hexdigest() + part.label
    if isinstance(part, Video):
        return hashlib.sha256(b"".join(part.frames)).hexdigest() + f"{part.times_ms}{part.label}"
    return part


def _digest(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
