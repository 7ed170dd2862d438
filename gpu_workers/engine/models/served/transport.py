"""Requests to model servers by OpenAI's protocol: keys, retries, typed errors and slots, for chat and for vectors.

The openai client is used for transport and types only; its own retries are off, so that one place decides what is
tried again, how often and until when.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import openai

from gpu_workers.engine.models.roles import Meter, ModelCall, ModelError

logger = logging.getLogger(__name__)

CONTEXT_WORDS = (
    "context length",
    "context_length",
    "context size",
    "context window",
    "maximum context",
    "max_model_len",
    "too many tokens",
)
_RETRY_STATUS = frozenset({408, 409, 425, 429})
MISCONFIGURED_STATUS = frozenset({401, 403, 404, 501})
"""Answers to a wrong key, a wrong name or path, and a model of another kind: somebody has to change a setting."""
_REPORT_EVERY_S = 60.0
_WIDEST = 16
"""Maximum number of requests that one call of a client has in flight."""
_BYTES_PER_TOKEN = 3
"""Bytes of UTF-8 for each token of a window. Texts have more bytes per token, so one that is cut to this fits."""

Answer = TypeVar("Answer")
Part = TypeVar("Part")


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Waits between tries grow as base_s * 2**k up to cap_s, scaled by full jitter; Retry-After wins. attempts: maximum
    number of tries."""

    attempts: int = 5
    base_s: float = 0.5
    cap_s: float = 20.0

    def pause_s(self, attempt: int, error: Exception, jitter: Callable[[], float]) -> float:
        """Return the wait after the attempt that failed with error, counted from 0."""
        retry_after_s = retry_after(error)
        if retry_after_s is not None:
            # A little extra jitter, or every client comes back in the same instant.
            return retry_after_s + jitter() * self.base_s
        return float(min(self.cap_s, self.base_s * 2**attempt) * jitter())


@dataclass(frozen=True, slots=True)
class Usage:
    """What one reply consumed. items: number of texts, pictures or pairs that it answers."""

    items: int
    prompt_tokens: int = 0
    cached_tokens: int = 0


class ModelServer:
    """One model behind an OpenAI-compatible server. Safe to share between threads.

    base_url: with /v1. concurrency: maximum number of requests in flight; clients of one server in one process share
    the slots of slots_of(). timeout_s: deadline of one call with all of its retries. sleep, clock and jitter are
    arguments so that a test can hold time still.
    """

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        api_key: str = "",
        concurrency: int = 64,
        timeout_s: float = 300.0,
        retry: RetryPolicy | None = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.model = model
        self.base_url = base_url.rstrip("/")
        self.concurrency = concurrency
        self._timeout_s = timeout_s
        self._retry = retry or RetryPolicy()
        self._sleep, self._clock, self._jitter = sleep, clock, jitter
        self._slots = slots_of(self.base_url, concurrency)
        # Local servers need no key, but the client requires one.
        self._client = openai.OpenAI(base_url=base_url, api_key=api_key or "none", max_retries=0)
        self._refused: set[str] = set()

    def post(
        self,
        path: str,
        body: Mapping[str, Any],
        read: Callable[[Mapping[str, Any]], Answer],
        *,
        stage: str,
        meter: Meter,
        items: int,
        optional: Mapping[str, Any] | None = None,
    ) -> Answer:
        """Send one JSON request and return what read() makes of the reply, which raises ValueError if it is no answer.

        path: below /v1 ("/embeddings"), or with "//" below the server's root ("//pooling"). items: see Usage.
        optional: fields that only some servers know; one that a server refuses is left out from then on.
        Raises ModelError (codes model_unavailable, model_timeout, model_misconfigured, model_bad_request,
        context_exceeded).
        """
        deadline = self._clock() + self._timeout_s
        url = self.base_url.removesuffix("/v1") + path[1:] if path.startswith("//") else path
        failure: ModelError | None = None
        attempt = 0
        while attempt < self._retry.attempts:
            remaining = deadline - self._clock()
            if remaining <= 0 or not self._slots.acquire(timeout=remaining):
                break
            extra = {name: value for name, value in (optional or {}).items() if name not in self._refused}
            started = self._clock()
            try:
                timeout = max(deadline - self._clock(), 0.001)
                reply = self._client.post(
                    url, cast_to=object, body={"model": self.model, **body, **extra}, options={"timeout": timeout}
                )
                answer = read(_object(reply))
                meter.record(self._call(stage, started, usage_of(reply, items)))
                return answer
            except (openai.OpenAIError, ValueError, KeyError, TypeError) as error:
                meter.record(self._call(stage, started, Usage(items=0)))
                named = _named(error, extra)
                if named:
                    self._refused.add(named)
                    continue
                failure = typed(error, self.model, self.base_url)
                if not failure.retryable or failure.code == "model_misconfigured":
                    raise failure from error
                pause = self._retry.pause_s(attempt, error, self._jitter)
                attempt += 1
                if attempt == self._retry.attempts or self._clock() + pause >= deadline:
                    raise failure from error
            finally:
                self._slots.release()
            # The slot is free while this call waits.
            self._sleep(pause)
        raise failure or ModelError("model_timeout", f"{self.model}: no answer before the deadline", retryable=True)

    def _call(self, stage: str, started: float, usage: Usage) -> ModelCall:
        return ModelCall(
            stage,
            self.model,
            round((self._clock() - started) * 1000),
            prompt_tokens=usage.prompt_tokens,
            cached_tokens=usage.cached_tokens,
            items=usage.items,
            ok=usage.items > 0,
        )


_slots: dict[str, threading.BoundedSemaphore] = {}
_slots_lock = threading.Lock()


def slots_of(base_url: str, concurrency: int) -> threading.BoundedSemaphore:
    """Return the slots of a server, which all its clients in this process share; the first client sets their number."""
    with _slots_lock:
        return _slots.setdefault(base_url.rstrip("/"), threading.BoundedSemaphore(concurrency))


def typed(error: Exception, model: str, base_url: str = "") -> ModelError:
    """Return the engine's error for an exception of the openai client or an unreadable reply.

    A configuration fault is logged as an error, so that an alarm fires, at most once a minute for each server and
    model.
    """
    if isinstance(error, openai.APITimeoutError):
        return ModelError("model_timeout", f"{model}: the request timed out", retryable=True)
    if isinstance(error, openai.APIStatusError):
        text = str(error)
        if error.status_code in {400, 413, 422} and any(word in text.lower() for word in CONTEXT_WORDS):
            return ModelError("context_exceeded", f"{model}: the prompt does not fit the window", retryable=False)
        if error.status_code in MISCONFIGURED_STATUS:
            message = f"{model}: HTTP {error.status_code}: check the model's URL, name and key"
            _report(message, base_url)
            return ModelError("model_misconfigured", message, retryable=True)
        if error.status_code in _RETRY_STATUS or error.status_code >= 500:
            return ModelError("model_unavailable", f"{model}: HTTP {error.status_code}", retryable=True)
        return ModelError("model_bad_request", f"{model}: HTTP {error.status_code}: {text[:300]}", retryable=False)
    # The connection was lost, or the body is half or has other fields than the protocol's.
    return ModelError("model_unavailable", f"{model}: {type(error).__name__}: {str(error)[:200]}", retryable=True)


_reported: dict[str, float] = {}


def _report(message: str, base_url: str) -> None:
    now, fault = time.monotonic(), f"{base_url} {message}"
    if now - _reported.get(fault, -_REPORT_EVERY_S) >= _REPORT_EVERY_S:
        _reported[fault] = now
        logger.error("model_misconfigured at %s: %s", base_url or "a model server", message)


def retry_after(error: Exception) -> float | None:
    """Return the seconds that a server asks to wait, None if it names none."""
    if not isinstance(error, openai.APIStatusError):
        return None
    try:
        return max(0.0, float(error.response.headers["retry-after"]))
    except (KeyError, ValueError):
        return None


def usage_of(reply: object, items: int) -> Usage:
    """Return the tokens that a reply reports, 0 where it reports none."""
    usage = reply.get("usage") if isinstance(reply, Mapping) else None
    if not isinstance(usage, Mapping):
        return Usage(items)
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else 0
    prompt = usage.get("prompt_tokens")
    return Usage(items, prompt if isinstance(prompt, int) else 0, cached if isinstance(cached, int) else 0)


def _object(reply: object) -> Mapping[str, Any]:
    """Return a reply that is a JSON object; a proxy's page arrives as text."""
    if not isinstance(reply, Mapping):
        raise ValueError("the reply is no JSON object")  # noqa: TRY004 - the server's fault, not the caller's
    return reply


def _named(error: Exception, fields: Mapping[str, Any]) -> str:
    """Return the field that a server refuses by name, "" if it refuses none of them."""
    if not isinstance(error, openai.APIStatusError) or error.status_code not in {400, 422}:
        return ""
    text = str(error)
    return next((name for name in fields if name in text), "")


# --- parts of requests and replies ------------------------------------------------------------------------------------


def at_once(ask: Callable[[Part], Answer], parts: Sequence[Part]) -> list[Answer]:
    """Return ask(part) of each part, in order, with several requests in flight. Raises the first failure."""
    if len(parts) < 2:
        return [ask(part) for part in parts]
    with ThreadPoolExecutor(min(len(parts), _WIDEST)) as pool:
        return list(pool.map(ask, parts))


def cut(text: str, tokens: int) -> str:
    """Return the beginning of text that fits into that many tokens, by its bytes."""
    longest = tokens * _BYTES_PER_TOKEN
    return text if len(text) * 4 <= longest else text.encode()[:longest].decode(errors="ignore")


def salted(meter: Meter) -> Mapping[str, Any]:
    """Return the tenant's salt of the server's prefix cache as a field of a request, if the meter has one."""
    salt = getattr(meter, "cache_salt", "")
    return {"cache_salt": salt} if salt else {}


def rows_of(rows: Sequence[Mapping[str, Any]], count: int) -> list[Mapping[str, Any]]:
    """Return the entries of a reply in the order of the request. Raises ValueError unless there is one for each input.

    rows: each has its input's index, from 0 to count - 1.
    """
    ordered = sorted(rows, key=lambda row: int(row["index"]))
    if [row["index"] for row in ordered] != list(range(count)):
        raise ValueError(f"{len(ordered)} rows for {count} inputs")
    return ordered
