"""Chat models over the OpenAI protocol: every LLM and VLM call of the engine goes through here.

The openai client is used for transport and types only; its own retries are off, so that one place decides what is
tried again, how often and until when.
"""

from __future__ import annotations

import base64
import logging
import random
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import openai
from openai.types.chat import ChatCompletion

from gpu_workers.engine.models.roles import (
    ChatCapabilities,
    ChatModel,
    Image,
    Message,
    Meter,
    ModelCall,
    ModelError,
    ModelRefused,
    Sample,
    Video,
)
from gpu_workers.engine.models.served.dialect import Dialect
from gpu_workers.engine.models.served.limiter import SLOW_SHARE, limiter_of
from gpu_workers.engine.models.served.replies import NoSamples, count, samples_of, thought, written_tokens

logger = logging.getLogger("ava.models")

_CONTEXT_WORDS = (
    "context length",
    "context_length",
    "context size",
    "context window",
    "maximum context",
    "too many tokens",
)
_RETRY_STATUS = frozenset({408, 409, 425, 429})
_MISCONFIGURED_STATUS = frozenset({401, 403, 404})
TEXT_MODEL = ChatCapabilities(32_768)
"""What a server is taken to do if nobody says: text, in a window that most models have."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Waits between tries grow as base_s * 2**k up to cap_s, scaled by full jitter; Retry-After wins. attempts: maximum
    number of tries."""

    attempts: int = 5
    base_s: float = 0.5
    cap_s: float = 20.0


class OpenAIChatModel(ChatModel):
    """One model behind an OpenAI-compatible endpoint. Safe to share between threads.

    capabilities: what the server does; what it turns out not to do is learned from its refusals. concurrency: upper
    limit of requests in flight; all clients of a server in this process share one adaptive limit (AdaptiveLimiter).
    timeout_s: default deadline of one call with all of its retries. sleep, clock and jitter are arguments so that a
    test can hold time still.
    """

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        api_key: str = "",
        capabilities: ChatCapabilities = TEXT_MODEL,
        concurrency: int = 8,
        timeout_s: float = 300.0,
        retry: RetryPolicy | None = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.name = model
        self.capabilities = capabilities
        self.concurrency = concurrency
        self._timeout_s = timeout_s
        self._retry = retry or RetryPolicy()
        self._sleep, self._clock, self._jitter = sleep, clock, jitter
        self._limiter = limiter_of(base_url, concurrency)
        self._dialect = Dialect(model, capabilities)
        self._alarmed = False
        # Local servers need no key, but the client requires one.
        self._client = openai.OpenAI(base_url=base_url, api_key=api_key or "none", max_retries=0)

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
        """See roles.ChatModel.sample. A server that returns fewer than n choices gets further requests in parallel. If
        one of these fails, only its own sample is lost.

        The server decides whether a prompt fits its window (ModelError context_exceeded).
        """
        if n < 1:
            raise ValueError(f"n is at least 1, got {n}")
        kinds = {type(part) for message in messages for part in message.parts}
        if (Image in kinds and not self.capabilities.images) or (Video in kinds and not self.capabilities.video):
            raise ModelError("model_bad_request", f"{self.name} takes no pictures", retryable=False)
        deadline = self._clock() + (self._timeout_s if timeout_s is None else timeout_s)
        body: dict[str, Any] = {
            "model": self.name,
            "messages": [_wire(message) for message in messages],
            "temperature": temperature,
            "max_tokens": max_tokens,
        }
        if schema is not None:
            body["schema"] = {"name": str(schema.get("title") or stage), "schema": dict(schema)}
        if seed is not None:
            body["seed"] = seed
        if alternatives:
            body |= {"logprobs": True, "top_logprobs": alternatives}
        if meter.cache_salt:
            body["cache_salt"] = meter.cache_salt
        videos = [part for message in messages for part in message.parts if isinstance(part, Video)]
        if videos:
            body["media_io_kwargs"] = {"video": _times_of(videos[0])}
        samples: list[Sample] = []
        failures: list[ModelError] = []
        if n == 1 or self._dialect.takes("n"):
            samples = self._request({**body, "n": n}, stage, meter, deadline)
        missing = n - len(samples)
        if missing > 0:
            # The limiter bounds the requests in flight; this pool only has to be wide enough.
            with ThreadPoolExecutor(min(missing, self.concurrency)) as pool:
                seeds = [None if seed is None else seed + n - missing + k for k in range(missing)]
                bodies = [{**body, "n": 1} if s is None else {**body, "n": 1, "seed": s} for s in seeds]
                for more in pool.map(lambda b: self._one_more(b, stage, meter, deadline), bodies):
                    if isinstance(more, ModelError):
                        failures.append(more)
                    else:
                        samples.extend(more)
        if failures and not samples:
            raise failures[0]
        if all(s.refused for s in samples):
            raise ModelRefused(f"{self.name} declined to answer ({stage})")
        return samples[:n]

    def count_tokens(self, text: str) -> int:
        """Return the bytes of UTF-8 over 3, rounded up: more than BPE vocabularies need for prose and JSON."""
        return (len(text.encode()) + 2) // 3

    # --- one request with its retries ---------------------------------------------------------------------------

    def _one_more(
        self, wanted: Mapping[str, Any], stage: str, meter: Meter, deadline: float
    ) -> list[Sample] | ModelError:
        try:
            return self._request(wanted, stage, meter, deadline)[:1]
        except ModelError as error:
            # The meter has recorded the failure.
            return error

    def _request(self, wanted: Mapping[str, Any], stage: str, meter: Meter, deadline: float) -> list[Sample]:
        failure: ModelError | None = None
        attempt = 0
        while attempt < self._retry.attempts:
            remaining = deadline - self._clock()
            if remaining <= 0 or not self._limiter.acquire(remaining):
                break
            # The wait for a slot is not the model's time.
            started = self._clock()
            body = self._dialect.body(wanted)
            try:
                answer = self._complete(body, started, deadline)
                samples = samples_of(answer)
            except (openai.OpenAIError, ValueError) as error:
                if isinstance(error, NoSamples):
                    self._record(error.answer, stage, meter, started, items=0)
                else:
                    meter.record(ModelCall(stage, self.name, self._ms(started), items=0, ok=False))
                failure = _typed(error, self.name)
                if failure.code == "model_bad_request" and self._dialect.learn(error, body):
                    continue
                if failure.code == "model_misconfigured":
                    self._alarm(failure)
                    raise failure from error
                if not failure.retryable:
                    raise failure from error
                pause = self._pause(attempt, error)
                if attempt + 1 == self._retry.attempts or self._clock() + pause >= deadline:
                    raise failure from error
                self._sleep(pause)
                attempt += 1
                continue
            self._alarmed = False
            self._record(answer, stage, meter, started, items=len(samples))
            if thought(answer) and self._dialect.thought() and not any(s.text or s.refused for s in samples):
                # It spent its tokens on reasoning. From now on it is asked not to, or given room.
                continue
            return samples
        raise failure or ModelError("model_timeout", f"{self.name}: no answer before the deadline", retryable=True)

    def _complete(self, body: Mapping[str, Any], started: float, deadline: float) -> ChatCompletion:
        """Send one request in the slot that the caller has acquired, and give the slot back."""
        timeout = max(deadline - started, 0.001)
        overloaded = False
        try:
            answer: ChatCompletion = self._client.chat.completions.create(**body, timeout=timeout)
            overloaded = self._clock() - started > SLOW_SHARE * timeout
        except openai.APITimeoutError:
            overloaded = True
            raise
        except openai.APIStatusError as error:
            overloaded = error.status_code in {429, 503}
            raise
        finally:
            self._limiter.release(began=started, overloaded=overloaded)
        return answer

    def _alarm(self, failure: ModelError) -> None:
        """Log a fault of the configuration, once until the server answers again."""
        if not self._alarmed:
            self._alarmed = True
            logger.error("model server misconfigured: %s", failure)

    def _pause(self, attempt: int, error: Exception) -> float:
        retry_after_s = _retry_after(error)
        if retry_after_s is not None:
            # A little extra jitter, or every client comes back in the same instant.
            return retry_after_s + self._jitter() * self._retry.base_s
        return float(min(self._retry.cap_s, self._retry.base_s * 2**attempt) * self._jitter())

    def _ms(self, started: float) -> int:
        return round((self._clock() - started) * 1000)

    def _record(self, answer: ChatCompletion, stage: str, meter: Meter, started: float, *, items: int) -> None:
        usage = answer.usage
        call = ModelCall(
            stage,
            self.name,
            self._ms(started),
            prompt_tokens=count(usage, "prompt_tokens"),
            cached_tokens=count(getattr(usage, "prompt_tokens_details", None), "cached_tokens"),
            completion_tokens=written_tokens(answer) if items else count(usage, "completion_tokens"),
            items=items,
            ok=items > 0,
        )
        meter.record(call)


def _wire(message: Message) -> dict[str, Any]:
    if len(message.parts) == 1 and isinstance(message.parts[0], str):
        return {"role": message.role, "content": message.parts[0]}
    content: list[dict[str, Any]] = []
    for part in message.parts:
        if isinstance(part, str):
            content.append({"type": "text", "text": part})
            continue
        if part.label:
            content.append({"type": "text", "text": part.label})
        if isinstance(part, Image):
            uri = "data:image/jpeg;base64," + base64.b64encode(part.jpeg).decode()
            content.append({"type": "image_url", "image_url": {"url": uri}})
        else:
            uri = "data:video/jpeg;base64," + ",".join(base64.b64encode(jpeg).decode() for jpeg in part.frames)
            content.append({"type": "video_url", "video_url": {"url": uri}})
    return {"role": message.role, "content": content}


def _times_of(video: Video) -> dict[str, Any]:
    """Return the settings by which vLLM learns when each frame of a video was taken."""
    times = video.times_ms
    fps = round((len(times) - 1) * 1000 / (times[-1] - times[0]), 3) if len(times) > 1 else 1.0
    places = [round(ms * fps / 1000) for ms in times]
    return {"fps": fps, "num_frames": -1, "frames_indices": places, "total_num_frames": places[-1] + 1}


def _typed(error: Exception, name: str) -> ModelError:
    if isinstance(error, openai.APITimeoutError):
        return ModelError("model_timeout", f"{name}: the request timed out", retryable=True)
    if isinstance(error, openai.APIStatusError):
        text = str(error)
        if error.status_code in {400, 413, 422} and any(word in text.lower() for word in _CONTEXT_WORDS):
            return ModelError("context_exceeded", f"{name}: the prompt does not fit the window", retryable=False)
        if error.status_code in _MISCONFIGURED_STATUS:
            message = f"{name}: HTTP {error.status_code}: the server refuses the key, or serves no such model"
            return ModelError("model_misconfigured", message, retryable=True)
        if error.status_code in _RETRY_STATUS or error.status_code >= 500:
            return ModelError("model_unavailable", f"{name}: HTTP {error.status_code}", retryable=True)
        return ModelError("model_bad_request", f"{name}: HTTP {error.status_code}: {text[:300]}", retryable=False)
    # The connection was lost, or the body is half or no chat completion.
    return ModelError("model_unavailable", f"{name}: {type(error).__name__}: {str(error)[:200]}", retryable=True)


def _retry_after(error: Exception) -> float | None:
    if not isinstance(error, openai.APIStatusError):
        return None
    try:
        return max(0.0, float(error.response.headers["retry-after"]))
    except (KeyError, ValueError):
        return None
