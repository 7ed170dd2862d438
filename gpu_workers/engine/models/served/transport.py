"""Requests to model servers by OpenAI's protocol: keys, retries, typed errors and slots, for chat and for vectors.

The openai client is used for transport and types only; its own retries are off, so that one place decides what is
tried again, how often and until when.
"""

from __future__ import annotations

import json
import logging
import math
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypedDict, TypeVar, Unpack

import httpx
import openai
from opentelemetry import propagate, trace
from opentelemetry.trace import SpanKind, Status, StatusCode

from gpu_workers.engine.models.occupancy import Share, occupancy_of
from gpu_workers.engine.models.roles import Meter, ModelCall, ModelError, ModelRefused
from gpu_workers.engine.models.served.limiter import SLOW_SHARE, limiter_of
from gpu_workers.engine.threads import ContextPool
from gpu_workers.engine.tls import tls

logger = logging.getLogger("ava.models")

_CONTEXT_WORDS = (
    "context length",
    "context_length",
    "context size",
    "context window",
    "maximum context",
    "max_model_len",
    "too many tokens",
)
_RETRY_STATUS = frozenset({408, 409, 425, 429})
_MISCONFIGURED_STATUS = frozenset({401, 402, 403, 404, 405, 407, 501})
"""Answers to a wrong key, an unpaid account, a wrong name or path, a proxy without credentials, and a model of another
kind: somebody has to change a setting or the account."""
_REFUSALS = frozenset({"content_filter", "content_policy_violation"})
"""Codes of errors by which providers decline to answer because of the content."""
_WIDEST = 16
"""Maximum number of requests that one call of a client has in flight."""
AUDIO_TOKENS_PER_S = 50
"""Tokens that a second of sound counts for: the positions of Whisper's encoder. Servers report seconds, rounded up."""
_CHARACTERS_PER_TOKEN = 4
"""Characters of English for each token, for an estimate."""

_TRACER = trace.get_tracer("ava.models")

File = tuple[str, bytes, str]
"""Name, content and media type of a file in a form."""
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


class LineOptions(TypedDict, total=False):
    """The options of a Line, which every client passes on."""

    api_key: str
    dependency: str
    concurrency: int
    timeout_s: float
    retry: RetryPolicy | None
    sleep: Callable[[float], None]
    clock: Callable[[], float]
    jitter: Callable[[], float]


class Line:
    """The way to one model of a server: its client, its slots, and what is tried again. Safe to share between threads.

    base_url: with /v1. dependency: the role that the server plays, which its errors name. concurrency: upper limit of
    requests in flight; all clients of a server in this process share one adaptive limit (limiter.AdaptiveLimiter).
    timeout_s: deadline of one call with all of its retries. sleep, clock and jitter are arguments so that a test can
    hold time still.
    """

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        api_key: str = "",
        dependency: str = "",
        concurrency: int = 64,
        timeout_s: float = 300.0,
        retry: RetryPolicy | None = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.model = model
        self.dependency = dependency
        self.retry = retry or RetryPolicy()
        self.clock = clock
        self._timeout_s = timeout_s
        self._sleep, self._jitter = sleep, jitter
        self._limiter = limiter_of(base_url, concurrency)
        self._occupancy = occupancy_of(base_url)
        # Local servers need no key, but the client requires one.
        traced = openai.DefaultHttpxClient(verify=tls(), event_hooks={"request": [_carry_trace]})
        self._client = openai.OpenAI(base_url=base_url, api_key=api_key or "none", max_retries=0, http_client=traced)
        self.alarm = Alarm()

    def deadline(self, timeout_s: float | None = None) -> float:
        """Return the time of the clock at which a call that begins now has failed."""
        return self.clock() + (self._timeout_s if timeout_s is None else timeout_s)

    def acquire(self, deadline: float, *, urgent: bool = False) -> bool:
        """Wait for a slot, before all requests that are not urgent. Returns False if there is none before the
        deadline."""
        remaining = deadline - self.clock()
        return remaining > 0 and self._limiter.acquire(remaining, urgent=urgent)

    def send(
        self, request: Callable[[openai.OpenAI, float], Answer], started: float, share: Share, deadline: float
    ) -> Answer:
        """Send one request in the slot that the caller has acquired, and give the slot back.

        request: called with the client and its time-out in seconds.
        """
        timeout = max(deadline - started, 0.001)
        overloaded = False
        with (
            self._occupancy.call(share),
            _call_span(self.model),
        ):
            try:
                answer = request(self._client, timeout)
                overloaded = self.clock() - started > SLOW_SHARE * timeout
            except openai.APITimeoutError:
                overloaded = True
                raise
            except openai.APIStatusError as error:
                overloaded = error.status_code in {429, 503}
                raise
            finally:
                self._limiter.release(began=started, overloaded=overloaded)
        return answer

    def wait_or_raise(self, failure: ModelError, error: Exception, attempt: int, deadline: float, meter: Meter) -> None:
        """Wait before the attempt after this one, counted from 0; raise failure if there is none."""
        failure.dependency, failure.retry_after_s = self.dependency, retry_after(error)
        if failure.code == "model_misconfigured":
            self.alarm.ring(failure)
        elif failure.retryable:
            pause = self.retry.pause_s(attempt, error, self._jitter)
            if attempt + 1 < self.retry.attempts and self.clock() + pause < deadline:
                self._sleep(pause)
                return
        if failure.retryable:
            meter.outage_of(failure)
        raise failure from error

    def too_late(self, meter: Meter) -> ModelError:
        """Return the error of a request that got no slot before its deadline."""
        failure = ModelError(
            "model_timeout",
            f"{self.model}: no answer before the deadline",
            retryable=True,
            dependency=self.dependency,
        )
        meter.outage_of(failure)
        return failure

    def answered(self, meter: Meter) -> None:
        """Note that the server has answered a request."""
        self.alarm.clear()
        meter.answer_of(self.dependency)

    def ms_since(self, started: float) -> int:
        return round((self.clock() - started) * 1000)


class ModelServer:
    """One model behind the JSON routes of an OpenAI-compatible server. options: see Line. Safe to share between
    threads."""

    def __init__(self, *, base_url: str, model: str, **options: Unpack[LineOptions]) -> None:
        self.model = model
        self.base_url = base_url.rstrip("/")
        self._line = Line(base_url=base_url, model=model, **options)
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
        files: Mapping[str, File] | None = None,
    ) -> Answer:
        """Send one JSON request, or with files one form, and return what read() makes of the reply.

        read: raises ValueError if the reply is no answer, and ModelError if it shows a fault of the settings.

        path: below /v1 ("/embeddings"), or with "//" below the server's root ("//pooling"). items: see Usage.
        optional: fields that only some servers know; one that a server refuses is left out from then on.
        Raises ModelError (codes model_unavailable, model_timeout, model_misconfigured, model_bad_request,
        context_exceeded).
        """
        line = self._line
        deadline = line.deadline()
        url = self.base_url.removesuffix("/v1") + path[1:] if path.startswith("//") else path
        failure: ModelError | None = None
        attempt = 0
        while attempt < line.retry.attempts and line.acquire(deadline):
            extra = {name: value for name, value in (optional or {}).items() if name not in self._refused}
            whole = {"model": self.model, **body, **extra}
            # The wait for a slot is not the model's time.
            started, share = line.clock(), Share()

            def request(client: openai.OpenAI, timeout: float, whole: Mapping[str, Any] = whole) -> object:
                options: openai.RequestOptions = {"timeout": timeout}
                if files:
                    options["headers"] = {"Content-Type": "multipart/form-data"}
                return client.post(url, cast_to=object, body=whole, files=files, options=options)

            try:
                reply = line.send(request, started, share, deadline)
                answer = read(_object(reply))
            except (openai.OpenAIError, ValueError, KeyError, TypeError) as error:
                read_tokens = about(json.dumps(body)) if was_read(error) else 0
                meter.record(self._call(stage, started, share, Usage(0, read_tokens)))
                named = _named(error, extra)
                if named:
                    self._refused.add(named)
                    continue
                failure = typed(error, self.model)
                line.wait_or_raise(failure, error, attempt, deadline, meter)
                attempt += 1
                continue
            except ModelError as fault:
                # The server answered, and its answer shows that it serves another kind of model.
                meter.record(self._call(stage, started, share, usage_of(reply, items)))
                line.alarm.ring(fault)
                fault.dependency = line.dependency
                meter.outage_of(fault)
                raise
            line.answered(meter)
            meter.record(self._call(stage, started, share, usage_of(reply, items)))
            return answer
        raise failure or line.too_late(meter)

    def _call(self, stage: str, started: float, share: Share, usage: Usage) -> ModelCall:
        return ModelCall(
            stage,
            self.model,
            self._line.ms_since(started),
            prompt_tokens=usage.prompt_tokens,
            cached_tokens=usage.cached_tokens,
            items=usage.items,
            ok=usage.items > 0,
            device_ms=share.ms,
            cache_shared="cache_salt" in self._refused,
        )


@contextmanager
def _call_span(model: str) -> Iterator[None]:
    """Open the span of one request, which carries no text of the request, of the reply or of an error."""
    attributes = {"gen_ai.request.model": model}
    with _TRACER.start_as_current_span(
        f"model {model}",
        kind=SpanKind.CLIENT,
        attributes=attributes,
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        try:
            yield
        except Exception as error:
            span.set_status(Status(StatusCode.ERROR, type(error).__name__))
            raise


def _carry_trace(request: httpx.Request) -> None:
    """Let the server's own spans join the trace of the job, if the job has one."""
    propagate.inject(request.headers)


def typed(error: Exception, model: str) -> ModelError:
    """Return the engine's error for an exception of the openai client or an unreadable reply."""
    if isinstance(error, openai.APITimeoutError):
        return ModelError("model_timeout", f"{model}: the request timed out", retryable=True)
    if isinstance(error, openai.APIStatusError):
        text = str(error)
        if error.status_code in {400, 413, 422} and any(word in text.lower() for word in _CONTEXT_WORDS):
            return ModelError("context_exceeded", f"{model}: the prompt does not fit the window", retryable=False)
        if error.code in _REFUSALS:
            return ModelRefused(f"{model} declined to answer (HTTP {error.status_code})")
        if error.status_code in _MISCONFIGURED_STATUS:
            message = f"{model}: HTTP {error.status_code}: the key or account is refused, or no such model served"
            return ModelError("model_misconfigured", message, retryable=True)
        if error.status_code in _RETRY_STATUS or error.status_code >= 500:
            return ModelError("model_unavailable", f"{model}: HTTP {error.status_code}", retryable=True)
        return ModelError("model_bad_request", f"{model}: HTTP {error.status_code}: {text[:300]}", retryable=False)
    # The connection was lost, or the body is half or has other fields than the protocol's.
    return ModelError("model_unavailable", f"{model}: {type(error).__name__}: {str(error)[:200]}", retryable=True)


class Alarm:
    """Logs a fault of the configuration as an error, once until the server answers again."""

    def __init__(self) -> None:
        self._rung = False

    def ring(self, failure: ModelError) -> None:
        if not self._rung:
            self._rung = True
            logger.error("model server misconfigured: %s", failure)

    def clear(self) -> None:
        self._rung = False


def was_read(error: Exception) -> bool:
    """Whether a server may have worked on the request of this failure: it was cut, or its reply is unreadable.

    A server that answers with an error has refused the request before its model read it.
    """
    if isinstance(error, openai.APIStatusError):
        return False
    return not isinstance(error.__cause__, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout)


def about(text: str) -> int:
    """Return about the tokens of a text, by its characters; token_counts.tokens_of() returns the most."""
    return len(text) // _CHARACTERS_PER_TOKEN


def retry_after(error: Exception) -> float | None:
    """Return the seconds that a server asks to wait, None if it names none."""
    if not isinstance(error, openai.APIStatusError):
        return None
    try:
        return max(0.0, float(error.response.headers["retry-after"]))
    except (KeyError, ValueError):
        return None


def usage_of(reply: object, items: int) -> Usage:
    """Return the tokens that a reply reports, 0 where it reports none. Sound has AUDIO_TOKENS_PER_S a second."""
    usage = reply.get("usage") if isinstance(reply, Mapping) else None
    if not isinstance(usage, Mapping):
        return Usage(items, _tokens_of_sound(reply.get("duration")) if isinstance(reply, Mapping) else 0)
    if usage.get("type") == "duration":
        return Usage(items, _tokens_of_sound(usage.get("seconds")))
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else 0
    prompt = usage.get("prompt_tokens", usage.get("input_tokens"))
    return Usage(items, prompt if isinstance(prompt, int) else 0, cached if isinstance(cached, int) else 0)


def _tokens_of_sound(seconds: object) -> int:
    return math.ceil(seconds) * AUDIO_TOKENS_PER_S if isinstance(seconds, int | float) else 0


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
    with ContextPool(min(len(parts), _WIDEST)) as pool:
        return list(pool.map(ask, parts))


def of_vllm(meter: Meter) -> Mapping[str, Any]:
    """Return the fields of a pooling request that vLLM alone knows: the cut of texts to its window, special tokens
    included, and the tenant's salt of its prefix cache, if the meter has one."""
    salt = {"cache_salt": meter.cache_salt} if meter.cache_salt else {}
    return {"truncate_prompt_tokens": -1, **salt}


def rows_of(rows: Sequence[Mapping[str, Any]], count: int) -> list[Mapping[str, Any]]:
    """Return the entries of a reply in the order of the request. Raises ValueError unless there is one for each input.

    rows: each has its input's index, from 0 to count - 1.
    """
    ordered = sorted(rows, key=lambda row: int(row["index"]))
    if [row["index"] for row in ordered] != list(range(count)):
        raise ValueError(f"{len(ordered)} rows for {count} inputs")
    return ordered
