"""Chat models over the OpenAI protocol: every LLM and VLM call of the engine goes through here.

The openai client is used for transport and types only; its own retries are off, so that one place decides what is
tried again, how often and until when.
"""

from __future__ import annotations

import base64
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import openai
from openai.types.chat import ChatCompletion, ChatCompletionMessage
from openai.types.chat.chat_completion import Choice

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

_CONTEXT_WORDS = (
    "context length",
    "context_length",
    "context size",
    "context window",
    "maximum context",
    "too many tokens",
)
_RETRY_STATUS = frozenset({408, 409, 425, 429})
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

    capabilities: what the server does. concurrency: maximum number of requests in flight; share one instance per
    endpoint so that the bound holds. timeout_s: default deadline of one call with all of its
    retries. sleep, clock and jitter are arguments so that a test can hold time still.
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
        self._slots = threading.BoundedSemaphore(concurrency)
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
            json_schema = {"name": str(schema.get("title") or stage), "schema": dict(schema), "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": json_schema}
        if seed is not None:
            body["seed"] = seed
        if alternatives:
            body |= {"logprobs": True, "top_logprobs": alternatives}
        if meter.cache_salt:
            body["extra_body"] = {"cache_salt": meter.cache_salt}
        samples = self._request(body, n, stage, meter, deadline)
        missing = n - len(samples)
        if missing > 0:
            # The semaphore bounds the requests in flight; this pool only has to be wide enough.
            with ThreadPoolExecutor(min(missing, self.concurrency)) as pool:
                seeds = [None if seed is None else seed + 1 + k for k in range(missing)]
                bodies = [body if s is None else {**body, "seed": s} for s in seeds]
                for more in pool.map(lambda b: self._one_more(b, stage, meter, deadline), bodies):
                    samples.extend(more)
        if all(s.refused for s in samples):
            raise ModelRefused(f"{self.name} declined to answer ({stage})")
        return samples[:n]

    def count_tokens(self, text: str) -> int:
        """Return the bytes of UTF-8 over 3, rounded up: more than BPE vocabularies need for prose and JSON."""
        return (len(text.encode()) + 2) // 3

    # --- one request with its retries ---------------------------------------------------------------------------

    def _one_more(self, body: Mapping[str, Any], stage: str, meter: Meter, deadline: float) -> list[Sample]:
        try:
            return self._request(body, 1, stage, meter, deadline)[:1]
        except ModelError:
            # The meter has recorded the failure.
            return []

    def _request(self, body: Mapping[str, Any], n: int, stage: str, meter: Meter, deadline: float) -> list[Sample]:
        failure: ModelError | None = None
        for attempt in range(self._retry.attempts):
            remaining = deadline - self._clock()
            if remaining <= 0:
                break
            started = self._clock()
            try:
                if not self._slots.acquire(timeout=remaining):
                    break
                try:
                    timeout = max(deadline - self._clock(), 0.001)
                    answer = self._client.chat.completions.create(**body, n=n, timeout=timeout)
                finally:
                    self._slots.release()
                samples = _samples(answer)
                self._record(answer, stage, meter, started, items=len(samples))
                return samples
            except (openai.OpenAIError, ValueError) as error:
                if isinstance(error, _NoSamples):
                    self._record(error.answer, stage, meter, started, items=0)
                else:
                    meter.record(ModelCall(stage, self.name, self._ms(started), items=0, ok=False))
                failure = _typed(error, self.name)
                if not failure.retryable:
                    raise failure from error
                pause = self._pause(attempt, error)
                if attempt + 1 == self._retry.attempts or self._clock() + pause >= deadline:
                    raise failure from error
                self._sleep(pause)
        raise failure or ModelError("model_timeout", f"{self.name}: no answer before the deadline", retryable=True)

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
            prompt_tokens=_count(usage, "prompt_tokens"),
            cached_tokens=_count(getattr(usage, "prompt_tokens_details", None), "cached_tokens"),
            completion_tokens=_written_tokens(answer) if items else _count(usage, "completion_tokens"),
            items=items,
            ok=items > 0,
        )
        meter.record(call)


class _NoSamples(ValueError):
    """A reply without a usable choice. The tokens that it reports were still consumed."""

    def __init__(self, answer: ChatCompletion) -> None:
        super().__init__("the server returned no choices")
        self.answer = answer


def _count(usage: object, name: str) -> int:
    """Return a number of tokens as a server reports it; 0 if it reports none."""
    value = getattr(usage, name, None)
    return value if isinstance(value, int) else 0


def _written_tokens(answer: ChatCompletion) -> int:
    """Return the tokens of all samples. llama.cpp reports only the first sample's: then the others are counted by
    their length.

    Its timings, which count the first sample as well, show that. Behind a proxy that drops them, a count below the
    number of words shows it, since no tokenizer has fewer tokens than words.
    """
    reported = _count(answer.usage, "completion_tokens")
    texts = [str(choice.message.content or "") for choice in answer.choices]
    if len(texts) < 2 or not texts[0]:
        return reported
    timings = (answer.model_extra or {}).get("timings")
    of_the_first = isinstance(timings, dict) and timings.get("predicted_n") == reported
    if not of_the_first and reported >= sum(len(text.split()) for text in texts):
        return reported
    return round(reported * sum(map(len, texts)) / len(texts[0]))


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


def _samples(answer: ChatCompletion) -> list[Sample]:
    # The client does not validate replies: a proxy's page arrives as text, a broken body with any types.
    if not isinstance(answer, ChatCompletion):
        raise ValueError("the reply is no chat completion")  # noqa: TRY004 - the server's fault, not the caller's
    choices: object = answer.choices
    if not isinstance(choices, list) or not choices:
        raise _NoSamples(answer)
    samples = []
    for choice in answer.choices:
        if not isinstance(choice, Choice) or not isinstance(choice.message, ChatCompletionMessage):
            raise _NoSamples(answer)
        if choice.finish_reason == "content_filter" or choice.message.refusal:
            samples.append(Sample("", refused=True))
        else:
            content: object = choice.message.content
            text = content if isinstance(content, str) else ""
            samples.append(Sample(text, truncated=choice.finish_reason == "length", first=_first_tokens(choice)))
    return samples


def _first_tokens(choice: Choice) -> dict[str, float]:
    """Return the log-probability of each first token that the server names; {} if it names none in OpenAI's form."""
    tokens: object = getattr(choice.logprobs, "content", None)
    named: object = getattr(tokens[0], "top_logprobs", None) if isinstance(tokens, list) and tokens else None
    log_probabilities: dict[str, float] = {}
    for candidate in named if isinstance(named, list) else ():
        token, value = getattr(candidate, "token", None), getattr(candidate, "logprob", None)
        if isinstance(token, str) and isinstance(value, int | float) and value <= 0:
            log_probabilities[token] = float(value)
    return log_probabilities


def _typed(error: Exception, name: str) -> ModelError:
    if isinstance(error, openai.APITimeoutError):
        return ModelError("model_timeout", f"{name}: the request timed out", retryable=True)
    if isinstance(error, openai.APIStatusError):
        text = str(error)
        if error.status_code in {400, 413, 422} and any(word in text.lower() for word in _CONTEXT_WORDS):
            return ModelError("context_exceeded", f"{name}: the prompt does not fit the window", retryable=False)
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
