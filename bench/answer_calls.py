"""The model calls of a question against a model server with fixed rates: how many, how large, how long they take."""

from __future__ import annotations

import json
import random
import statistics
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import count
from typing import Any

from bench.figures import Figure, Figures, at_least, at_most, ratio, side_by_side
from bench.instant_models import EqualTexts, InstantEmbedder
from bench.long_day import filler, long_day
from bench.model_server import ModelServer, Rates
from gpu_workers.engine.answering.answer import answer_question
from gpu_workers.engine.answering.contract import Answer, Budget, Effort, QuestionInput
from gpu_workers.engine.answering.presets import SearchSettings, changed, settings_for
from gpu_workers.engine.models.calibration import UNMEASURED
from gpu_workers.engine.models.roles import AnswerModels, ChatModel, Message, Meter, ModelCall, Sample
from gpu_workers.engine.models.served.chat import OpenAIChatModel

CHOICES = ("to the left", "to the right", "into the shop", "nowhere")
TRACE_CHARACTERS = 600
"""100 words, of the 120 that the prompt allows."""
RATES = Rates(latency_s=0.02, prefill=8_000.0, decode=60.0)
SLOTS = 16
IN_DOUBT = "Or is that in doubt"
"""In a question: its samples never agree."""

PAPER = settings_for("paper", UNMEASURED)
OURS = settings_for("medium", UNMEASURED)


def tokens() -> Figures:
    """Prompt tokens and requests of a question, in preset paper and in ours when the samples agree."""
    questions = 5
    with ModelServer(_faster(50), slots=SLOTS, words=words) as server:
        paper = [ask(server, PAPER) for _ in range(questions)]
        requests = server.served().requests / questions
        ours = [ask(server, OURS) for _ in range(questions)]
    if any(len(_of(answer, "answer")) != 1 for answer in ours):
        raise AssertionError("depth 1 was to agree")
    answers, requeries = (statistics.mean(len(_of(a, stage)) for a in paper) for stage in ("answer", "requery"))
    shown = statistics.mean(call.prompt_tokens for answer in paper for call in _of(answer, "answer"))
    written = f"an answer's prompt has {shown:.0f} tokens (4 characters each)"
    prompt, little = (statistics.mean(a.usage.prompt_tokens for a in some) for some in (paper, ours))
    yield at_most(
        "paper_prompt_tokens",
        prompt,
        90_000,
        f"{answers:g} answers and {requeries:g} re-queries, each context sent once; {written}. The published "
        "code sends an answer's context once per sample, 13 x 8 times: about 680,000 tokens, measured at its commit "
        "4a58382 with stubbed models and without its frame check",
    )
    yield at_most(
        "paper_calls",
        requests,
        18,
        f"HTTP requests: {answers:g} answers of 8 samples, {requeries:g} re-queries, 1 rewrite; no checker. The "
        "published code makes 123 calls without its frame check, measured at its commit 4a58382 with stubbed models",
    )
    cached = statistics.mean(answer.usage.cached_tokens / answer.usage.prompt_tokens for answer in paper)
    yield Figure(
        "paper_cached_prompt_share",
        float(f"{cached:.4g}"),
        "none",
        True,
        "prompt tokens of beginnings that were sent before: the rules, and nodes that show the first events of "
        "another, such as F/B and B/F; the samples of a node share one request and are no hits",
    )
    yield at_most(
        "ours_prompt_tokens_share",
        little / prompt,
        0.25,
        f"preset paper ({prompt:.0f} tokens); effort medium, whose samples agree at depth 1: {little:.0f} tokens in "
        f"{len(ours[0].usage.calls) - len(_of(ours[0], 'embedding'))} calls",
    )


def speedup() -> Figures:
    """Measure preset paper against our own tree asked one sample after another.

    The published code is not serial. Preset paper was 5.6 times as fast as that code with 16 slots, and 1.3 times where
    every sample takes a slot (docs/lab/benchmarks.md).
    """
    speed, turns = 10, 2
    long_day()
    with ModelServer(_faster(speed), slots=SLOTS, words=words) as server:
        paper, apart = side_by_side(
            turns, partial(ask, server, PAPER), partial(ask, server, replace(PAPER, in_flight=1), one_by_one=True)
        )
    yield at_least(
        "paper_speedup",
        ratio(apart, paper),
        8,
        f"our own tree in single requests, one after another: {apart.median * speed:.0f} s over "
        f"{paper.median * speed:.1f} s at the rates of one server ({_rates()}; measured on a clock {speed} times as "
        "fast). Repeated prompts are cached on both sides. The published code sends batches of 64: against it 5.6 with "
        "16 slots, 1.3 where every sample takes a slot, 2.4 to 2.8 with 128 slots",
    )


def depth() -> Figures:
    """What depth costs in time when the server has room for all calls."""
    long_day()
    made: dict[str, list[Answer]] = {"shallow": [], "deep": []}
    with ModelServer(RATES, slots=SLOTS, words=words) as server:
        shallow, deep = side_by_side(
            3,
            lambda: made["shallow"].append(ask(server, changed(PAPER, max_depth=1))),
            lambda: made["deep"].append(ask(server, PAPER)),
        )
    yield Figure(
        "depth_3_over_depth_1",
        float(f"{ratio(deep, shallow):.4g}"),
        "none",
        True,
        f"preset paper, all 13 answers ({deep.median:.1f} s), over its depth 1 ({shallow.median:.1f} s): a level waits "
        f"for the one before. {_rates()}; tokens written: "
        + ", ".join(f"{stage} {_written(made['deep'], stage):.0f}" for stage in STAGES),
    )


def waits() -> Figures:
    """Seconds to an answer at each effort."""
    long_day()
    efforts: Sequence[tuple[Effort, bool]] = (
        ("low", False), ("medium", False), ("medium", True), ("high", False), ("high", True), ("paper", False),
    )  # fmt: skip
    for effort, doubt in efforts:
        with ModelServer(RATES, slots=SLOTS, words=words) as server:
            taken, answers = [], []
            for _ in range(3):
                begun = time.perf_counter()
                answers.append(ask(server, settings_for(effort, UNMEASURED), doubt=doubt))
                taken.append(time.perf_counter() - begun)
            requests = server.served().requests / len(taken)
        prompt = statistics.mean(answer.usage.prompt_tokens for answer in answers)
        yield Figure(
            f"answer_p50_s_{effort}" + "_in_doubt" * doubt,
            float(f"{statistics.median(taken):.4g}"),
            "none",
            True,
            f"{'samples that never agree' if doubt else 'samples that agree'}: {prompt:.0f} prompt tokens, requests: "
            f"{requests:.3g}; {_rates()}",
        )


# --- a question --------------------------------------------------------------------------------------------------

STAGES = ("rewrite", "requery", "answer")

_NUMBER = count()


def ask(
    server: ModelServer,
    settings: SearchSettings,
    *,
    doubt: bool = False,
    one_by_one: bool = False,
    budget: Budget | None = None,
    through: Callable[[ChatModel], ChatModel] = lambda model: model,
) -> Answer:
    """A question that was never asked before, so that the server has cached none of its prompts. through: wraps the
    reasoner. Raises AssertionError if it ends in another way than it should."""
    model: ChatModel = _model(server.url)
    model = through(OneByOne(model) if one_by_one else model)
    embedder = InstantEmbedder()
    models = AnswerModels(model, embedder, embedder, EqualTexts(), UNMEASURED)
    text = f"Where does person {next(_NUMBER)} go after the bell?{f' {IN_DOUBT}?' if doubt else ''}"
    answer = answer_question(QuestionInput(text, CHOICES), long_day(), models, settings=settings, budget=budget)
    if answer.finish_reason != "answered" and not (doubt and answer.detail == "no_consensus"):
        raise AssertionError(f"{text}: {answer.finish_reason} {answer.detail}")
    return answer


@cache
def _model(url: str) -> OpenAIChatModel:
    return OpenAIChatModel(base_url=url, model="scripted", concurrency=SLOTS)


class OneByOne(ChatModel):
    """A chat model that sends each sample as a request of its own, and the next one when it has been answered."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self.name, self.capabilities = model.name, model.capabilities

    def sample(self, messages: Sequence[Message], *, n: int = 1, meter: Meter, **other: Any) -> list[Sample]:
        return [sample for _ in range(n) for sample in self._model.sample(messages, n=1, meter=meter, **other)]

    def count_tokens(self, text: str) -> int:
        return self._model.count_tokens(text)


def words(request: Mapping[str, Any]) -> str | Sequence[str]:
    """What the prompt asks for, as long as it asks for, different for every prompt and seed; all samples of a node say
    the same unless the question is in doubt."""
    prompt = "\n".join(message["content"] for message in request["messages"])
    said = partial(filler, random.Random(zlib.crc32(f"{prompt}{request.get('seed')}".encode())))
    stage = request["response_format"]["json_schema"]["name"]
    queries = {"keywords": said(33), "entity": said(12), "scene": said(50)}
    if stage == "rewrite":
        return json.dumps(queries)
    if stage == "requery":
        asked = request["response_format"]["json_schema"]["schema"]["properties"]
        fields = {"missing": said(25), "sub_query": said(40), **queries}
        return json.dumps({name: fields[name] for name in asked})
    if stage == "verify":
        return json.dumps({"verdicts": [{"statement": 1, "passage": 1, "verdict": "supported"}]})
    if IN_DOUBT not in prompt:
        return json.dumps({"reasoning": said(TRACE_CHARACTERS), "answer": "A", "evidence": [1, 2]})
    return [
        json.dumps({"reasoning": said(TRACE_CHARACTERS), "answer": "ABCD"[k % 4], "evidence": [1, 2]})
        for k in range(request.get("n") or 1)
    ]


# --- what was called ---------------------------------------------------------------------------------------------


def _of(answer: Answer, stage: str) -> list[ModelCall]:
    return [call for call in answer.usage.calls if call.stage == stage]


def _all_of(answers: Sequence[Answer], stage: str) -> list[ModelCall]:
    return [call for answer in answers for call in _of(answer, stage)]


def _written(answers: Sequence[Answer], stage: str) -> float:
    """Tokens of one sample."""
    return statistics.mean(call.completion_tokens / call.items for call in _all_of(answers, stage))


def _service_s(call: ModelCall) -> float:
    written = round(call.completion_tokens / call.items)
    return RATES.service_s(call.prompt_tokens - call.cached_tokens, written)


def _faster(times: float) -> Rates:
    return Rates(RATES.latency_s / times, RATES.prefill * times, RATES.decode * times)


def _rates() -> str:
    return (
        f"{1000 * RATES.latency_s:.0f} ms a request, {RATES.prefill:,.0f} tokens/s read, {RATES.decode:.0f} written by "
        f"each sample, {SLOTS} requests at once"
    )
