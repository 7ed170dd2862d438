"""Baselines without an index that a buyer would name: a model is given the video itself and answers once.

`direct_vlm`: evenly spaced frames, as many as the checker's window takes (CHECKER_URL or DESCRIBER_URL).
`frames_and_transcript`: the same frames, and what is said in the video (AVATAAR's baseline, arXiv 2511.15578).
`agentic_vlm`: a hosted model with a video switch of its own, behind OpenAI's protocol. AGENTIC_VLM_URL, _MODEL and
_API_KEY name it; AGENTIC_VLM_BODY is a JSON object of the fields that turn the switch on; AGENTIC_VLM_VIDEOS is the
address under which the files can be fetched. Without it a file travels inside each request.

They are no methods of the service: nothing of them can be kept for the next question, and none cites an event.
"""

from __future__ import annotations

import base64
import json
import mimetypes
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import openai

from bench.evaluation.deciding import NOTHING, SINGLE_CALL
from bench.evaluation.videos.engine import VideoIndexes
from bench.evaluation.videos.manifest import VideoQuestion
from bench.evaluation.videos.results import VideoAnswer
from gpu_workers.engine.answering.budget import Spending
from gpu_workers.engine.answering.contract import Budget, Price
from gpu_workers.engine.answering.parsing import answer_schema, parse_answer
from gpu_workers.engine.answering.wording import answer_form, choice_lines
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.indexing.probe import probe
from gpu_workers.engine.indexing.sampling import sample_frames
from gpu_workers.engine.indexing.thumbnails import thumbnail
from gpu_workers.engine.models.roles import Checker, CheckRequest, FrameEvidence, Meter, ModelCall, ModelError

DIRECT, TRANSCRIPT, AGENTIC = "direct_vlm", "frames_and_transcript", "agentic_vlm"
BARE_ARMS = (DIRECT, TRANSCRIPT, AGENTIC)
MAX_SIDE = 480
"""Longest side in pixels of a frame, as the index stores it."""
MOST_IN_A_REQUEST = 20_000_000
"""Maximum bytes of a file that travels inside a request, as hosted models take them."""


class NotConfigured(ValueError):
    """The environment lacks what a baseline needs."""


@dataclass(frozen=True, slots=True)
class FramesArm:
    """Shows frames of the file to the checker. indexes: for the spoken lines, None to show none."""

    name: str
    checker: Checker
    files: Mapping[str, Path]
    prices: Mapping[str, Price]
    indexes: VideoIndexes | None = None
    kept: dict[str, tuple[FrameEvidence, ...]] = field(default_factory=dict)

    @property
    def settings(self) -> str:
        return repr((self.name, self.checker.name, self.checker.max_frames, MAX_SIDE))

    def ask(self, question: VideoQuestion) -> VideoAnswer:
        frames = self._frames(question.video)
        # With notes the prompt does not speak of earlier answers, of which there are none.
        known: tuple[str, ...] = (f"The last frame is at {frames[-1].ms // 1000} s.",) if frames else ()
        if self.indexes is not None:
            known += spoken_lines(self.indexes, question)
        request = CheckRequest(question.text, question.choices, (), frames, known)
        schema = answer_schema(question.choices, abstain=False)
        meter, began = Meter(), time.monotonic()
        text, error = "", ""
        try:
            text = self.checker.check(request, n=1, schema=schema, meter=meter)[0].text
        except ModelError as failed:
            error = failed.code
        return _answer(question, text, error, meter, self.prices, began=began, frames=len(frames))

    def _frames(self, video: str) -> tuple[FrameEvidence, ...]:
        if video not in self.kept:
            self.kept.clear()
            self.kept[video] = even_frames(self.files[video], self.checker.max_frames)
        return self.kept[video]


def even_frames(path: Path, count: int) -> tuple[FrameEvidence, ...]:
    """Return about count frames of a file, evenly spaced. Raises ProbeError, SourceUnreadable."""
    duration_ms = probe(str(path)).duration_ms
    with sample_frames(str(path), Span(0, duration_ms), fps=1000 * count / duration_ms, max_side=MAX_SIDE) as frames:
        return tuple(FrameEvidence(frame.ms, thumbnail(frame.picture)) for frame in frames)[:count]


def spoken_lines(indexes: VideoIndexes, question: VideoQuestion) -> tuple[str, ...]:
    """Return what is said in a video, a line each with its second."""
    graph = indexes.graph(question.video, profile=question.profile)
    lines = []
    for video_id, extent in graph.extents().items():
        for chunk in graph.chunks_between(video_id, extent, limit=1_000_000):
            lines += [f"{line.span.start_ms // 1000} s: {line.text}" for line in chunk.transcript]
    return tuple(dict.fromkeys(lines))


@dataclass(frozen=True, slots=True)
class AgenticArm:
    """Sends the video file and the question to a hosted model. body: fields that turn its own agent on. videos: address
    of the files, "" to send them inside the request."""

    url: str
    model: str
    key: str
    body: Mapping[str, Any]
    videos: str
    files: Mapping[str, Path]
    prices: Mapping[str, Price]

    @classmethod
    def of_environment(cls, files: Mapping[str, Path], prices: Mapping[str, Price]) -> AgenticArm:
        """Return the arm that the environment describes. Raises NotConfigured."""
        named = {name: os.environ.get(f"AGENTIC_VLM_{name}", "") for name in ("URL", "MODEL", "API_KEY", "VIDEOS")}
        if not named["URL"] or not named["MODEL"]:
            raise NotConfigured(f"{AGENTIC} needs AGENTIC_VLM_URL and AGENTIC_VLM_MODEL")
        try:
            body = json.loads(os.environ.get("AGENTIC_VLM_BODY") or "{}")
        except ValueError as error:
            raise NotConfigured(f"AGENTIC_VLM_BODY is no JSON: {error}") from error
        if not isinstance(body, dict):
            raise NotConfigured("AGENTIC_VLM_BODY is no JSON object")
        large = [path.name for path in files.values() if path.stat().st_size > MOST_IN_A_REQUEST]
        if large and not named["VIDEOS"]:
            raise NotConfigured(f"{large[0]} is too large for a request: set AGENTIC_VLM_VIDEOS to where it is served")
        return cls(named["URL"], named["MODEL"], named["API_KEY"], body, named["VIDEOS"], files, prices)

    @property
    def settings(self) -> str:
        return repr((AGENTIC, self.model, sorted(self.body.items())))

    def ask(self, question: VideoQuestion) -> VideoAnswer:
        words = [question.text, choice_lines(question.choices)]
        words.append(f"Answer with {answer_form(question.choices, abstain=False)}")
        content: list[dict[str, Any]] = [
            {"type": "video_url", "video_url": {"url": self._address(self.files[question.video])}},
            {"type": "text", "text": "\n".join(part for part in words if part)},
        ]
        meter, began = Meter(), time.monotonic()
        text, error = "", ""
        try:
            text = self._reply(content, meter)
        except openai.OpenAIError as failed:
            error = type(failed).__name__
            meter.record(ModelCall("answer", self.model, _since(began), ok=False))
        return _answer(question, text, error, meter, self.prices, began=began, frames=0)

    def _reply(self, content: list[dict[str, Any]], meter: Meter) -> str:
        began = time.monotonic()
        client = openai.OpenAI(base_url=self.url, api_key=self.key or "none", timeout=1_800)
        messages: Any = [{"role": "user", "content": content}]
        reply = client.chat.completions.create(model=self.model, messages=messages, extra_body=dict(self.body))
        used = reply.usage
        cached = used.prompt_tokens_details.cached_tokens if used and used.prompt_tokens_details else 0
        meter.record(
            ModelCall(
                "answer",
                self.model,
                _since(began),
                used.prompt_tokens if used else 0,
                cached or 0,
                used.completion_tokens if used else 0,
            )
        )
        return reply.choices[0].message.content or ""

    def _address(self, path: Path) -> str:
        if self.videos:
            return f"{self.videos.rstrip('/')}/{quote(path.name)}"
        kind = mimetypes.guess_type(path.name)[0] or "video/mp4"
        return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"


def bare_arm(
    name: str, checker: Checker | None, indexes: VideoIndexes, prices: Mapping[str, Price]
) -> FramesArm | AgenticArm:
    """Return a baseline. Raises NotConfigured if the environment has no model for it."""
    if name == AGENTIC:
        return AgenticArm.of_environment(indexes.files, prices)
    if checker is None or not checker.sees:
        raise NotConfigured(f"{name} needs a model that sees pictures: set CHECKER_URL or DESCRIBER_URL")
    return FramesArm(name, checker, indexes.files, prices, indexes if name == TRANSCRIPT else None)


def _answer(
    question: VideoQuestion,
    text: str,
    error: str,
    meter: Meter,
    prices: Mapping[str, Price],
    *,
    began: float,
    frames: int,
) -> VideoAnswer:
    latency_ms = _since(began)
    parsed = parse_answer(text, question.choices)
    if parsed is None and not question.choices and text.strip() and not error:
        given, choice = text.strip(), None
    else:
        given, choice = (parsed.text, parsed.choice) if parsed is not None and parsed.sufficient else ("", None)
    clock: Callable[[], float] = time.monotonic
    usage = Spending(Budget(prices=prices), meter, clock=clock, should_stop=None).usage()
    return VideoAnswer(
        given,
        choice,
        "answered" if given else "error" if error else "insufficient_evidence",
        SINGLE_CALL if given else NOTHING,
        error or ("" if given else "unreadable"),
        calls=len(usage.calls),
        failed_calls=sum(not call.ok for call in usage.calls),
        prompt_tokens=usage.prompt_tokens,
        cached_tokens=usage.cached_tokens,
        completion_tokens=usage.completion_tokens,
        frames=frames,
        cost=usage.cost if prices else None,
        latency_ms=latency_ms,
        model_ms=sum(call.wall_ms for call in usage.calls),
        version="1",
    )


def _since(began: float) -> int:
    return round(1000 * (time.monotonic() - began))
