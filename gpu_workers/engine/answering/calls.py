"""The gate that every model call of a question passes, and the record of the calls so far."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from contextlib import contextmanager, nullcontext
from typing import Any, TypeVar

from gpu_workers.engine.answering.budget import Halt, Spending
from gpu_workers.engine.answering.contract import NodeRecord, PartialAnswer, Progress, VerdictsInMemory, VerdictStore
from gpu_workers.engine.answering.wording import choice_lines
from gpu_workers.engine.models.pictures import jpeg_tokens
from gpu_workers.engine.models.roles import (
    AnswerModels,
    Checker,
    CheckRequest,
    FrameEvidence,
    Message,
    Meter,
    ModelError,
    ObserveRequest,
    Sample,
)
from gpu_workers.engine.ports import StoredFrame
from gpu_workers.engine.prompts import load
from gpu_workers.engine.threads import ContextPool

Result = TypeVar("Result")

MESSAGE_TOKENS = 8
"""Tokens that a chat template adds to one message, an upper estimate."""

LABEL_TOKENS = 12
"""Tokens of the time that stands before a picture or a measurement."""

_CHECK_PROMPTS = ("check", "check_observed", "check_view")
_NOTED_PROMPTS = ("check_noted", "check_observed_noted", "check_noted_view")
_OBSERVE_PROMPTS = ("observe", "observe_measured", "observe_view")

CHECK_TOKENS = 768
"""Maximum number of tokens of one sample of a checker."""


class Calls:
    """Makes the model calls of one question within its budget, and reports progress to the caller.

    Only ask(), check_frames(), observe_frames() and halt() may be called from threads other than the question's own.
    halted: the first reason why no further call is made. timings: wall ms per stage. closer: returns stored frames as
    pictures in full, None where there is none. verdicts: keeps what was judged about events.
    """

    def __init__(
        self,
        models: AnswerModels,
        *,
        spending: Spending,
        meter: Meter,
        in_flight: int,
        on_progress: Progress | None = None,
        on_partial: Callable[[PartialAnswer], None] | None = None,
        closer: Callable[[Sequence[StoredFrame]], Sequence[bytes | None]] | None = None,
        verdicts: VerdictStore | None = None,
    ) -> None:
        self._models = models
        self._in_flight = in_flight
        self.spending = spending
        self.meter = meter
        self.on_progress = on_progress or _unheard_progress
        self.on_partial = on_partial or _unheard
        self.on_nodes: Callable[[Sequence[NodeRecord]], None] = _unheard_nodes
        self.closer = closer or _no_closer
        self._verdicts = verdicts
        self.timings: dict[str, int] = {}
        self.halted: Halt | None = None

    @property
    def verdicts(self) -> VerdictStore:
        """Return what keeps verdicts about events; one of this question alone if the caller gave none."""
        if self._verdicts is None:
            self._verdicts = VerdictsInMemory()
        return self._verdicts

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
        alternatives: int = 0,
    ) -> list[Sample]:
        """Return samples of the reasoner: n, or fewer if the budget holds only fewer. Raises Halt, ModelError."""
        reasoner = self._models.reasoner
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
                alternatives=alternatives,
            )

    def ask_once(
        self,
        messages: Sequence[Message],
        *,
        stage: str,
        schema: Mapping[str, Any],
        max_tokens: int,
        seed: int,
        temperature: float = 0.0,
        timed: str = "",
    ) -> str | None:
        """Return the text of one reply; None if the call may not be made, fails or is refused. timed: the stage whose
        timing it adds to, "" for none."""
        try:
            with self.timed(timed) if timed else nullcontext():
                sample = self.ask(
                    messages,
                    stage=stage,
                    meter=self.meter,
                    schema=schema,
                    temperature=temperature,
                    max_tokens=max_tokens,
                    seed=seed,
                )[0]
        except Halt as halt:
            self.halt(halt)
            return None
        except ModelError:
            return None
        return None if sample.refused else sample.text

    def check_frames(self, request: CheckRequest, *, n: int, schema: Mapping[str, Any], meter: Meter) -> list[Sample]:
        """Return samples of the checker. Raises Halt, ModelError (code no_checker if there is none)."""
        checker = needed_checker(self._models)
        words = [request.question, choice_lines(request.choices), *request.hypotheses, *request.known]
        prompts = _NOTED_PROMPTS if request.known else _CHECK_PROMPTS
        prompt = self._looking(checker, prompts, words, request.frames)
        with self.spending.admitted(checker.name, prompt_tokens=prompt, sample_tokens=CHECK_TOKENS, n=n) as admission:
            return checker.check(
                request, n=admission.samples, schema=schema, meter=meter, timeout_s=admission.timeout_s
            )

    def observe_frames(self, request: ObserveRequest, *, schema: Mapping[str, Any], meter: Meter) -> Sample:
        """Return one report of the checker. Raises what check_frames() raises."""
        checker = needed_checker(self._models)
        words = [request.question, request.find, request.hypothesis, *request.known]
        prompt = self._looking(checker, _OBSERVE_PROMPTS, words, request.frames)
        with self.spending.admitted(checker.name, prompt_tokens=prompt, sample_tokens=CHECK_TOKENS) as admission:
            return checker.observe(request, schema=schema, meter=meter, timeout_s=admission.timeout_s)

    def _looking(
        self, checker: Checker, prompts: Sequence[str], words: Sequence[str], frames: Sequence[FrameEvidence]
    ) -> int:
        """Return an upper estimate of the prompt tokens of a look: the checker's own words (it sends some of the
        prompts), and per frame a picture, or what was measured on it."""
        instructions = [load(name).template for name in prompts]
        measured = [frame.observation for frame in frames if frame.observation]
        words_tokens = self._models.reasoner.count_tokens("\n".join([*instructions, *words, *measured]))
        patch = checker.capabilities.picture_patch
        pictures = sum(jpeg_tokens(frame.jpeg, patch=patch) for frame in frames if not frame.observation)
        return 2 * MESSAGE_TOKENS + words_tokens + len(frames) * LABEL_TOKENS + pictures

    def together(
        self,
        stage: str,
        tasks: Sequence[Callable[[], Result]],
        *,
        details: Sequence[str] = (),
        landed: Callable[[Result], None] | None = None,
        before: int = 0,
    ) -> list[Result]:
        """Run the tasks in parallel, at most in_flight at once; results are in the order of tasks.

        Progress is reported as each task ends; landed gets its result before that, in this thread. before: number of
        tasks of the stage that ended earlier. A task decides itself what its failure means; an exception that it lets
        through is raised here after the others have ended.
        """
        if not tasks:
            return []
        results: dict[int, Result] = {}
        with ContextPool(max_workers=min(len(tasks), self._in_flight)) as pool:
            futures = {pool.submit(task): index for index, task in enumerate(tasks)}
            for done, future in enumerate(as_completed(futures), start=1):
                index = futures[future]
                results[index] = future.result()
                if landed is not None:
                    landed(results[index])
                self.on_progress(stage, before + done, before + len(tasks), details[index] if details else "")
        return [results[index] for index in range(len(tasks))]

    def timings_so_far(self) -> dict[str, int]:
        """Return the wall ms of each stage, and under "total" those since the question began."""
        return {**self.timings, "total": self.spending.elapsed_ms()}

    def halt(self, halt: Halt) -> None:
        """Record why no further call is made; the first reason stays."""
        self.halted = self.halted or halt

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the time that the block takes to the stage's timing."""
        began = self.spending.clock()
        try:
            yield
        finally:
            self.timings[stage] = self.timings.get(stage, 0) + round((self.spending.clock() - began) * 1000)


def _unheard_progress(stage: str, done: int, total: int, detail: str) -> None:
    """Ignore progress that nobody follows."""


def _unheard_nodes(nodes: Sequence[NodeRecord]) -> None:
    """Report no nodes, for callers that did not ask for them."""


def _unheard(answer: PartialAnswer) -> None:
    """Ignore partial answers that nobody follows."""


def _no_closer(frames: Sequence[StoredFrame]) -> list[None]:
    return [None] * len(frames)


def needed_checker(models: AnswerModels) -> Checker:
    """Return the model that looks at frames. Raises ModelError no_checker if there is none."""
    if models.checker is None:
        raise ModelError("no_checker", "no model is configured that looks at frames", retryable=False)
    return models.checker


def count_prompt(count_tokens: Callable[[str], int], messages: Iterable[Message]) -> int:
    """Return an upper estimate of the tokens of a prompt of texts."""
    texts = ("\n".join(part for part in message.parts if isinstance(part, str)) for message in messages)
    return sum(MESSAGE_TOKENS + count_tokens(text) for text in texts)
