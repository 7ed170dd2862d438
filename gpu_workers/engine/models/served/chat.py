"""Chat models over the OpenAI protocol: every LLM and VLM call of the engine goes through here."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Unpack

import openai
from openai.types.chat import ChatCompletion

from gpu_workers.engine.models.occupancy import Share
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
from gpu_workers.engine.models.served.replies import NoSamples, count, samples_of, thought, written_tokens
from gpu_workers.engine.models.served.transport import Line, LineOptions, about, typed, was_read
from gpu_workers.engine.models.token_counts import tokens_of
from gpu_workers.engine.threads import ContextPool

TEXT_MODEL = ChatCapabilities(32_768)
"""What a server is taken to do if nobody says: text, in a window that most models have."""


class OpenAIChatModel(ChatModel):
    """One model behind an OpenAI-compatible endpoint. Safe to share between threads.

    capabilities: what the server does; what it turns out not to do is learned from its refusals. options: see
    transport.Line; of concurrency 8 is the default.
    """

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        capabilities: ChatCapabilities = TEXT_MODEL,
        **options: Unpack[LineOptions],
    ) -> None:
        self.name = model
        self.capabilities = capabilities
        options.setdefault("concurrency", 8)
        self.concurrency = options["concurrency"]
        self._dialect = Dialect(model, capabilities)
        self._line = Line(base_url=base_url, model=model, **options)

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
        deadline = self._line.deadline(timeout_s)
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
            with ContextPool(min(missing, self.concurrency)) as pool:
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
        return tokens_of(text)

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
        line, shown = self._line, _pictures_of(wanted)
        failure: ModelError | None = None
        attempt = 0
        # Hundreds of descriptions wait at once. Events that wait behind them would all be left for the video's end.
        while attempt < line.retry.attempts and line.acquire(deadline, urgent=stage != "description"):
            # The wait for a slot is not the model's time.
            started, share = line.clock(), Share()
            body = self._dialect.body(wanted)

            def request(client: openai.OpenAI, timeout: float, body: dict[str, Any] = body) -> ChatCompletion:
                answer: ChatCompletion = client.chat.completions.create(**body, timeout=timeout)
                return answer

            try:
                answer = line.send(request, started, share, deadline)
                samples = samples_of(answer)
            except (openai.OpenAIError, ValueError) as error:
                if isinstance(error, NoSamples):
                    self._record(error.answer, stage, meter, started, share, items=0, pictures=shown)
                else:
                    wall_ms, cut = line.ms_since(started), was_read(error)
                    meter.record(
                        ModelCall(
                            stage,
                            self.name,
                            wall_ms,
                            prompt_tokens=about(_text_of(wanted)) if cut else 0,
                            items=0,
                            ok=False,
                            device_ms=share.ms,
                            pictures=shown if cut else 0,
                        )
                    )
                failure = typed(error, self.name)
                if failure.code == "model_bad_request" and self._dialect.learn(error, body):
                    continue
                line.wait_or_raise(failure, error, attempt, deadline, meter)
                attempt += 1
                continue
            line.answered(meter)
            self._record(answer, stage, meter, started, share, items=len(samples), pictures=shown)
            if thought(answer) and self._dialect.thought() and not any(s.text or s.refused for s in samples):
                # It spent its tokens on reasoning. From now on it is asked not to, or given room.
                continue
            return samples
        raise failure or line.too_late(meter)

    def _record(
        self,
        answer: ChatCompletion,
        stage: str,
        meter: Meter,
        started: float,
        share: Share,
        *,
        items: int,
        pictures: int,
    ) -> None:
        usage = answer.usage
        call = ModelCall(
            stage,
            self.name,
            self._line.ms_since(started),
            prompt_tokens=count(usage, "prompt_tokens"),
            cached_tokens=count(getattr(usage, "prompt_tokens_details", None), "cached_tokens"),
            completion_tokens=written_tokens(answer) if items else count(usage, "completion_tokens"),
            items=items,
            ok=items > 0,
            device_ms=share.ms,
            pictures=pictures,
            cache_shared=self._dialect.shares_cache(),
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


def _parts_of(body: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for message in body["messages"]:
        content = message["content"]
        yield from [{"type": "text", "text": content}] if isinstance(content, str) else content


def _text_of(body: Mapping[str, Any]) -> str:
    return "".join(part["text"] for part in _parts_of(body) if part["type"] == "text")


def _pictures_of(body: Mapping[str, Any]) -> int:
    """Return the number of pictures of a request; each frame of a video is one."""
    # A comma stands before each frame.
    frames = [str(part["video_url"]["url"]).count(",") for part in _parts_of(body) if part["type"] == "video_url"]
    return sum(frames, sum(1 for part in _parts_of(body) if part["type"] == "image_url"))


def _times_of(video: Video) -> dict[str, Any]:
    """Return the settings by which vLLM learns when each frame of a video was taken."""
    times = video.times_ms
    fps = round((len(times) - 1) * 1000 / (times[-1] - times[0]), 3) if len(times) > 1 else 1.0
    places = [round(ms * fps / 1000) for ms in times]
    return {"fps": fps, "num_frames": -1, "frames_indices": places, "total_num_frames": places[-1] + 1}
