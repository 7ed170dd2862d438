"""One question being answered: its models, graph and settings, and the gate its model calls pass."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from typing import Any, TypeVar

from gpu_workers.answering.budget import Halt, Spending
from gpu_workers.answering.contract import Progress, QuestionInput
from gpu_workers.answering.presets import SearchSettings
from gpu_workers.models.roles import AnswerModels, CheckRequest, Message, Meter, ModelError, Sample
from gpu_workers.ports import KnowledgeGraph

Result = TypeVar("Result")

MESSAGE_TOKENS = 8
"""A chat template's own tokens around one message, an upper estimate."""

FRAME_TOKENS = 312
"""A picture's tokens with its label, an upper estimate (about 247 to 300 measured on Qwen2.5-VL)."""

CHECK_TOKENS = 768
"""The most one sample of a checker is let to write."""


class QuestionRun:
    """State shared by the stages of one question. Only ask() and check_frames() may be called off the asking thread."""

    def __init__(
        self,
        question: QuestionInput,
        graph: KnowledgeGraph,
        models: AnswerModels,
        settings: SearchSettings,
        *,
        spending: Spending,
        meter: Meter,
        on_progress: Progress,
    ) -> None:
        self.question = question
        self.graph = graph
        self.models = models
        self.settings = settings
        self.spending = spending
        self.meter = meter
        self.on_progress = on_progress
        self.timings: dict[str, int] = {}
        self.halted: Halt | None = None

    def seed_of(self, path: str) -> int:
        """A seed per node: fixed by the question's seed, different for each path."""
        return (self.question.seed * 1_000_003 + zlib.crc32(path.encode())) % 2**31

    def ask(
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
    ) -> list[Sample]:
        """Samples of the reasoner: n, or fewer if the budget holds only fewer. Raises Halt, ModelError."""
        reasoner = self.models.reasoner
        prompt = count_prompt(reasoner.count_tokens, messages)
        max_tokens = min(max_tokens, reasoner.context_tokens - prompt)
        if max_tokens < 1:
            raise ModelError("context_exceeded", f"a prompt of {prompt} tokens leaves no room", retryable=False)
        with self.spending.admitted(reasoner.name, prompt_tokens=prompt, sample_tokens=max_tokens, n=n) as admission:
            return reasoner.sample(
                messages,
                stage=stage,
                meter=meter,
                schema=schema,
                n=admission.samples,
                temperature=temperature,
                max_tokens=max_tokens,
                seed=seed,
                timeout_s=admission.timeout_s,
            )

    def check_frames(self, request: CheckRequest, *, n: int, schema: Mapping[str, Any], meter: Meter) -> list[Sample]:
        """Samples of the checker. Raises Halt, ModelError (code no_checker when the profile has none)."""
        checker = self.models.checker
        if checker is None:
            raise ModelError("no_checker", "this model profile has no model that looks at frames", retryable=False)
        words = [request.question, *request.choices, *request.hypotheses]
        words += [frame.observation for frame in request.frames]
        pictures = sum(not frame.observation for frame in request.frames)
        prompt = self.models.reasoner.count_tokens("\n".join(words)) + pictures * FRAME_TOKENS
        with self.spending.admitted(checker.name, prompt_tokens=prompt, sample_tokens=CHECK_TOKENS, n=n) as admission:
            return checker.check(request, n=admission.samples, schema=schema, meter=meter)

    def together(
        self, stage: str, tasks: Sequence[Callable[[], Result]], *, details: Sequence[str] = ()
    ) -> list[Result]:
        """Runs the tasks in flight together, bounded by settings.in_flight; results in the order of tasks.

        Progress is reported as each ends. A task decides itself what its failure means; an exception it lets through
        is raised here after the others have ended.
        """
        if not tasks:
            return []
        results: dict[int, Result] = {}
        with ThreadPoolExecutor(max_workers=min(len(tasks), self.settings.in_flight)) as pool:
            futures = {pool.submit(task): place for place, task in enumerate(tasks)}
            for done, future in enumerate(as_completed(futures), start=1):
                place = futures[future]
                results[place] = future.result()
                self.on_progress(stage, done, len(tasks), details[place] if details else "")
        return [results[place] for place in range(len(tasks))]

    def halt(self, halt: Halt) -> None:
        """Remembers the first reason why no further call is made."""
        self.halted = self.halted or halt

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        began = self.spending.elapsed_ms()
        try:
            yield
        finally:
            self.timings[stage] = self.timings.get(stage, 0) + self.spending.elapsed_ms() - began


def count_prompt(count_tokens: Callable[[str], int], messages: Iterable[Message]) -> int:
    """An upper estimate of a prompt's tokens; pictures count FRAME_TOKENS each."""
    total = 0
    for message in messages:
        texts = [part for part in message.parts if isinstance(part, str)]
        total += MESSAGE_TOKENS + count_tokens("\n".join(texts)) + FRAME_TOKENS * (len(message.parts) - len(texts))
    return total
